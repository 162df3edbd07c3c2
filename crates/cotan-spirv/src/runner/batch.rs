//! Batches: what a call asks of the device, handed over by one submission once the host wants to know something.
//!
//! Commands run in their order, each once the writes of those before it can be seen, so memory that a scope has released may be
//! given out again at once. Only what the host itself writes or reads has to wait for them.

use super::arena::Level;
use super::{Running, failed, failures};
use crate::kernels::{NUMBERS, Report, Stage};
use crate::vulkan::Command;
use cotan_device::{KernelId, RunError};

/// The most commands of a batch.
const MOST: usize = 1024;

/// Something that the device is still to do.
#[derive(Clone, Debug)]
pub(super) enum Pending {
    /// A launch.
    Launch(PendingLaunch),
    /// A copy of bytes from one address to another one.
    Copy { from: u64, to: u64, bytes: u64 },
}

/// A launch that is still to be made.
#[derive(Clone, Debug)]
pub(super) struct PendingLaunch {
    /// Its number in the report.
    pub(super) number: u64,
    pub(super) kernel: KernelId,
    pub(super) stage: Stage,
    /// The arguments.
    pub(super) words: Vec<u64>,
    /// How many threads are wanted, and how many there are in whole workgroups.
    pub(super) wanted: u64,
    pub(super) threads: u64,
    /// Where threads leave the numbers of a check that fails.
    pub(super) numbers: u64,
}

impl Running<'_> {
    /// Has the device do something, now or later.
    pub(super) fn enqueue(&mut self, pending: Pending) -> Result<(), RunError> {
        self.pending.push(pending);
        if self.pending.len() < MOST { Ok(()) } else { self.flush() }
    }

    /// Waits for all that the device is to do, and says whether a launch failed.
    pub(super) fn flush(&mut self) -> Result<(), RunError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let outcome = self.run_batch(&pending);
        self.memory.arguments.release(Level::default());
        outcome?;
        self.outcome(&pending)
    }

    fn run_batch(&mut self, pending: &[Pending]) -> Result<(), RunError> {
        let words: Vec<u64> = pending.iter().flat_map(Pending::words).copied().collect();
        let device = &self.loaded.device;
        // Not among the arrays: what a scope has released is still to be written to.
        let block = self.memory.arguments.allocate(device, 8 * words.len() as u64).map_err(failed)?;
        self.write_bytes(block, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        let mut commands = Vec::new();
        let mut arguments = block;
        for one in pending {
            commands.push(match one {
                Pending::Launch(launch) => {
                    let pipeline = self.loaded.pipeline(launch.kernel, launch.stage)?;
                    Command::Launch { pipeline, arguments, threads: launch.wanted }
                }
                Pending::Copy { from, to, bytes } => {
                    let [from, to] = [*from, *to].map(|at| self.find(at, *bytes as usize));
                    Command::Copy { from: from?, to: to?, bytes: *bytes }
                }
            });
            arguments += 8 * one.words().len() as u64;
        }
        self.loaded.device.run_of_plan(&commands, self.memory).map_err(failed)?;
        self.statistics.submissions += 1;
        Ok(())
    }

    /// What the launches of a batch report.
    fn outcome(&self, pending: &[Pending]) -> Result<(), RunError> {
        let plan = &self.loaded.plan;
        let report = self.read_words(self.report, Report::NEEDS + plan.growing.len())?;
        let failed = pending.iter().find_map(|one| match one {
            Pending::Launch(launch) => (report[Report::LAUNCH] == launch.number).then_some(launch),
            Pending::Copy { .. } => None,
        });
        let Some(launch) = failed else {
            return match report[Report::LAUNCH] {
                u64::MAX => Ok(()),
                other => Err(RunError::Bug(format!("launch {other} failed, which is not of this batch"))),
            };
        };
        let read_numbers = |thread: u64| self.read_words(launch.numbers + 8 * NUMBERS as u64 * thread, NUMBERS);
        failures::outcome(plan, &plan.kernels[launch.kernel.index()], &report, launch.threads, read_numbers)
    }
}

impl Pending {
    /// The arguments.
    fn words(&self) -> &[u64] {
        match self {
            Pending::Launch(launch) => &launch.words,
            Pending::Copy { .. } => &[],
        }
    }
}
