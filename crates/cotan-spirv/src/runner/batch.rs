//! Batches: what a call asks of the device, handed over by one submission once the host wants to know something.
//!
//! Commands run in their order, each once the writes of those before it can be seen, so memory that a scope has released may be
//! given out again at once. Only what the host itself writes or reads has to wait for them.

use super::memory::CallMemory;
use super::{LoadedPlan, Running, failed, failures};
use crate::kernels::{NUMBERS, Report, Stage};
use crate::vulkan::{Block, Command, DeviceError};
use cotan_device::{KernelId, RunError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The commands of a batch, at most, until it is known how long they take.
pub(super) const MOST: usize = 1024;

/// What that may become, where a full batch takes less than the first time, or more than the second: a host looks between
/// batches whether it is to stop, and a device that does not end one counts as hung.
const RANGE: [usize; 2] = [64, 16_384];
const TIMES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// Something that the device is still to do.
#[derive(Clone, Debug)]
pub(super) enum Queued {
    /// A launch.
    Launch(QueuedLaunch),
    /// A copy of bytes from one address to another one.
    Copy { from: u64, to: u64, bytes: u64 },
}

/// A launch that is still to be made.
#[derive(Clone, Debug)]
pub(super) struct QueuedLaunch {
    /// Its number in the report.
    pub(super) number: u64,
    pub(super) kernel: KernelId,
    pub(super) stage: Stage,
    /// Where its arguments begin among those of the batch.
    pub(super) first_word: usize,
    /// How many threads are wanted, and how many there are in whole workgroups.
    pub(super) wanted: u64,
    pub(super) threads: u64,
    /// Where threads leave the numbers of a check that fails.
    pub(super) numbers: u64,
}

impl Running<'_> {
    /// Has the device do something, now or later.
    pub(super) fn enqueue(&mut self, queued: Queued) -> Result<(), RunError> {
        self.queued.push(queued);
        if self.queued.len() < *self.most { Ok(()) } else { self.flush() }
    }

    /// Waits for all that the device is to do, and says whether a launch failed: each time from then on.
    pub(super) fn flush(&mut self) -> Result<(), RunError> {
        if self.failure.is_none() && !self.queued.is_empty() {
            self.failure = self.submit().err();
        }
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn submit(&mut self) -> Result<(), RunError> {
        let level = self.memory.back.level();
        let bytes = 8 * self.report_words() as u64;
        let report = if self.loaded.device.is_staged() {
            let to = self.memory.back.allocate(&self.loaded.device, bytes).map_err(failed)?;
            self.queued.push(Queued::Copy { from: self.report, to, bytes });
            to
        } else {
            self.report
        };
        let queued = std::mem::take(&mut self.queued);
        let words = std::mem::take(&mut self.words);
        let outcome = self.run_batch(&queued, &words).and_then(|()| self.read_words(report, self.report_words()));
        self.memory.end_batch();
        self.numbers = None;
        self.memory.back.release(level);
        self.outcome(&queued, &outcome?)?;
        // The lists keep their memory.
        (self.queued, self.words) = (queued, words);
        self.queued.clear();
        self.words.clear();
        Ok(())
    }

    fn report_words(&self) -> usize {
        Report::NEEDS + self.loaded.plan.growing.len()
    }

    fn run_batch(&mut self, queued: &[Queued], words: &[u64]) -> Result<(), RunError> {
        let start = Instant::now();
        // Not among the arrays: what a scope has released is still to be written to.
        let arguments = self.memory.arguments.allocate(&self.loaded.device, 8 * words.len() as u64).map_err(failed)?;
        self.memory.write(arguments, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        let (loaded, given) = (self.loaded, self.given);
        let Running { memory, recordings, blocks, limits, .. } = self;
        let (memory, blocks): (&CallMemory, &[(Arc<Block>, bool)]) = (memory, blocks);
        let find = |at, bytes| find(memory, blocks, given, at, bytes);
        let commands = queued.iter().map(|one| command(loaded, &find, arguments, one));
        let commands = commands.collect::<Result<Vec<Command<'_>>, RunError>>()?;
        let ran = recordings.run_of_plan(&commands, limits.host.stop.as_ref(), memory, blocks, given);
        let is_new = ran.map_err(|error| failed_batch(loaded, queued, error))?;
        self.statistics.submissions += 1;
        self.statistics.recordings += u64::from(is_new);
        if queued.len() >= *self.most {
            let (time, [least, greatest]) = (start.elapsed(), RANGE);
            *self.most = match *self.most {
                most if time < TIMES[0] => (most * 2).min(greatest),
                most if time > TIMES[1] => (most / 2).max(least),
                most => most,
            };
        }
        Ok(())
    }

    /// What the launches of a batch report.
    fn outcome(&self, queued: &[Queued], report: &[u64]) -> Result<(), RunError> {
        if report[Report::LAUNCH] == u64::MAX {
            return Ok(());
        }
        let plan = &self.loaded.plan;
        let failed = queued.iter().find_map(|one| match one {
            Queued::Launch(launch) => (report[Report::LAUNCH] == launch.number).then_some(launch),
            Queued::Copy { .. } => None,
        });
        let Some(launch) = failed else {
            let message = format!("launch {} failed, which is not of this batch", report[Report::LAUNCH]);
            return Err(RunError::Bug(message));
        };
        let read_numbers = |thread: u64| self.read_any(launch.numbers + 8 * NUMBERS as u64 * thread, NUMBERS);
        failures::outcome(plan, &plan.kernels[launch.kernel.index()], report, launch.threads, read_numbers)
    }
}

/// What the device is told to do.
fn command<'m>(
    loaded: &'m LoadedPlan,
    find: &dyn Fn(u64, u64) -> Result<(&'m crate::vulkan::Memory, u64), RunError>,
    arguments: u64,
    queued: &Queued,
) -> Result<Command<'m>, RunError> {
    Ok(match queued {
        Queued::Launch(launch) => {
            let arguments = arguments + 8 * launch.first_word as u64;
            let pipeline = &loaded.stage(launch.kernel, launch.stage)?.pipeline;
            Command::Launch { pipeline, arguments, threads: launch.wanted }
        }
        Queued::Copy { from, to, bytes } => {
            Command::Copy { from: find(*from, *bytes)?, to: find(*to, *bytes)?, bytes: *bytes }
        }
    })
}

/// The memory in which a range of addresses lies: of the call, of a result that stays, or of an argument that is there already.
pub(super) fn find<'m>(
    memory: &'m CallMemory,
    blocks: &'m [(Arc<Block>, bool)],
    given: &'m [&'m Block],
    at: u64,
    bytes: u64,
) -> Result<(&'m crate::vulkan::Memory, u64), RunError> {
    let blocks = || blocks.iter().map(|(block, _)| block.as_ref()).chain(given.iter().copied());
    let found = memory.find(at, bytes).or_else(|| blocks().find_map(|block| block.find(at, bytes)));
    found.ok_or_else(|| RunError::Bug(format!("{bytes} bytes at {at:#x} are not the call's")))
}

/// A batch that the device has not done, with the kernels in it.
fn failed_batch(loaded: &LoadedPlan, queued: &[Queued], error: DeviceError) -> RunError {
    let mut kernels: Vec<KernelId> = Vec::new();
    for one in queued {
        if let Queued::Launch(launch) = one
            && !kernels.contains(&launch.kernel)
        {
            kernels.push(launch.kernel);
        }
    }
    let (Some(first), false) = (kernels.first(), error == DeviceError::Stopped) else { return failed(error) };
    let first = loaded.kernel_text(*first);
    RunError::Device(match kernels.len() - 1 {
        0 => format!("{first}: {error}"),
        1 => format!("{first} and another kernel: {error}"),
        n => format!("{first} and {n} other kernels: {error}"),
    })
}
