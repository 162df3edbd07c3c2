//! Launches: how many threads a kernel gets, what memory they have, and the stages of one that takes several launches.

use super::batch::{Queued, QueuedLaunch};
use super::{LoadedPlan, Running, failed, failures};
use crate::kernels::{Growing, NUMBERS, Stage, Word};
use crate::vulkan::Kind;
use cotan_device::{Kernel, KernelId, Launch, Plan, Region, RunError, Shape, Size};
use cotan_loops::Operand;
use cotan_ops::reduce::{BLOCK, LANES};
use std::sync::atomic::Ordering::Relaxed;

/// The most threads of a launch, and on a CPU, whose few cores take longer to begin threads than they gain by more of them.
const MOST_THREADS: u64 = 1 << 14;
const MOST_THREADS_OF_CPU: u64 = 1 << 12;

/// The most bytes that threads of a launch have of their own.
const MOST_SLAB: u64 = 256 << 20;

/// A kernel with what the host knows of its launch.
struct Known<'l> {
    plan: &'l Plan,
    id: KernelId,
    kernel: &'l Kernel,
    launch: &'l Launch<'l, u64>,
    /// How often each index counts.
    counts: Vec<u64>,
    /// How many iterations there are.
    n: u64,
}

/// What the stages of a launch differ in.
struct StageWords {
    stage: Stage,
    /// Values that are reduced, or iterations.
    iterations: u64,
    /// How many threads share them, at most.
    wanted: u64,
    /// Partial results of each sum.
    chains: u64,
    /// Those that there are.
    from: Vec<u64>,
    /// Where others go.
    to: Vec<u64>,
}

impl Running<'_> {
    pub(super) fn launch_kernel(
        &mut self,
        plan: &Plan,
        id: KernelId,
        launch: &Launch<'_, u64>,
    ) -> Result<(), RunError> {
        let known = Known::new(plan, id, launch);
        let sums = match &known.kernel.shape {
            Shape::Each(_) if known.n == 0 => return Ok(()),
            Shape::Reduce { .. } if known.n == 0 => return Ok(()),
            Shape::Reduce { sums, .. } => sums.len(),
            Shape::Each(_) => return self.whole(&known, known.n),
            Shape::One | Shape::InOrder { .. } => return self.whole(&known, 1),
        };
        let mark = self.memory.scopes.level();
        let outcome = self.reduce(&known, sums);
        self.memory.scopes.release(mark);
        outcome
    }

    /// A kernel of one launch.
    fn whole(&mut self, known: &Known<'_>, wanted: u64) -> Result<(), RunError> {
        let (from, to) = (Vec::new(), Vec::new());
        let stage =
            StageWords { stage: Stage::Whole(known.growing()), iterations: known.n, wanted, chains: 0, from, to };
        self.stage(known, &stage)
    }

    /// A reduction: partial results of the values, of the totals of their blocks, and so on up to the last block.
    fn reduce(&mut self, known: &Known<'_>, n_sums: usize) -> Result<(), RunError> {
        let (mut stage, mut iterations, mut from) = (Stage::Chains(known.growing()), known.n, Vec::new());
        loop {
            let n_blocks = iterations.div_ceil(BLOCK as u64);
            let chains = n_blocks.saturating_mul(LANES as u64);
            let to = (0..n_sums).map(|_| self.partials(chains)).collect::<Result<Vec<u64>, RunError>>()?;
            let words = StageWords { stage, iterations, wanted: chains, chains, from, to };
            self.stage(known, &words)?;
            from = words.to;
            if n_blocks == 1 {
                break;
            }
            (stage, iterations) = (Stage::Totals, n_blocks);
        }
        self.stage(known, &StageWords { stage: Stage::Last, iterations: 1, wanted: 1, chains: 0, from, to: Vec::new() })
    }

    /// Memory for partial results.
    fn partials(&mut self, count: u64) -> Result<u64, RunError> {
        self.memory.scopes.allocate(&self.loaded.device, count.saturating_mul(8)).map_err(failed)
    }

    /// Memory for the numbers of a check that fails. Launches of a batch share it, as those behind a failure do nothing.
    fn numbers(&mut self, bytes: u64) -> Result<u64, RunError> {
        if self.numbers.is_none_or(|(_, room)| room < bytes) {
            let address = self.memory.numbers.allocate(&self.loaded.device, bytes).map_err(failed)?;
            self.numbers = Some((address, bytes));
        }
        Ok(self.numbers.map_or(0, |(address, _)| address))
    }

    fn stage(&mut self, known: &Known<'_>, stage: &StageWords) -> Result<(), RunError> {
        let mark = self.memory.scopes.level();
        let outcome = self.dispatch(known, stage);
        self.memory.scopes.release(mark);
        outcome
    }

    fn dispatch(&mut self, known: &Known<'_>, stage: &StageWords) -> Result<(), RunError> {
        let Known { plan, kernel, launch, .. } = *known;
        let loaded: &LoadedPlan = self.loaded;
        let group = u64::from(loaded.workgroup);
        let (regions, row) = known.regions(stage.stage.growing());
        let has_memory = matches!(stage.stage, Stage::Whole(_) | Stage::Chains(_));
        let row = if has_memory { row } else { 0 };
        let most = most_threads(loaded.device.info().kind).min(MOST_SLAB / row.max(1).saturating_mul(8)).max(group);
        let wanted = stage.wanted.min(most);
        let threads = wanted.next_multiple_of(group);
        let bytes = row.saturating_mul(8).saturating_mul(threads);
        let slab =
            self.memory.scopes.allocate(&loaded.device, bytes).map_err(|error| match kernel.regions.first() {
                Some(region) => failures::no_memory(&plan.function.buffers[region.buffer.index()], bytes, error),
                None => failed(error),
            })?;
        let bytes = if has_memory { 8 * NUMBERS as u64 * threads } else { 0 };
        let numbers = self.numbers(bytes)?;
        self.n_launches += 1;
        let first_word = self.words.len();
        for word in &loaded.stage(known.id, stage.stage)?.layout {
            self.words.push(match *word {
                Word::Report => self.report,
                Word::Launch => self.n_launches,
                Word::Cells => self.cells,
                Word::Iterations => stage.iterations,
                Word::Threads => threads,
                Word::Slab => slab,
                Word::Numbers => numbers,
                Word::Count(position) => known.counts[position],
                Word::Scalar(local) => launch.scalars[local.index()],
                Word::Memory(buffer) => {
                    let name = &plan.function.buffers[buffer.index()].name;
                    launch.address(buffer).ok_or_else(|| RunError::Bug(format!("`{name}` has no memory")))?
                }
                Word::Row => row,
                Word::Region(position) => regions[position],
                Word::Capacity(number) => launch.capacities[number] as u64,
                Word::Chains => stage.chains,
                Word::From(position) => stage.from[position],
                Word::To(position) => stage.to[position],
            });
        }
        let (number, kernel, stage) = (self.n_launches, known.id, stage.stage);
        self.enqueue(Queued::Launch(QueuedLaunch { number, kernel, stage, first_word, wanted, threads, numbers }))?;
        // Drivers compile at the first launch, and each has the time limit of a submission for itself.
        if loaded.stage(kernel, stage)?.was_launched.swap(true, Relaxed) { Ok(()) } else { self.flush() }
    }
}

impl<'l> Known<'l> {
    fn new(plan: &'l Plan, id: KernelId, launch: &'l Launch<'l, u64>) -> Known<'l> {
        let kernel = &plan.kernels[id.index()];
        let counts: Vec<u64> = kernel.shape.indices().iter().map(|(_, count)| extent(launch, *count)).collect();
        let n = counts.iter().fold(1_u64, |n, count| n.saturating_mul(*count));
        Known { plan, id, kernel, launch, counts, n }
    }

    /// Where arrays that grow lie: in private memory if all that they are known to need fits in.
    fn growing(&self) -> Growing {
        let fits = |region: &Region| match (&region.size, region.private) {
            (Size::Growing(number), Some(elements)) => self.launch.capacities[*number] <= i64::from(elements),
            (Size::Growing(_) | Size::Known(_), _) => true,
        };
        let has_room = Stage::of(self.kernel).iter().any(|stage| stage.growing() == Growing::Private);
        if has_room && self.kernel.regions.iter().all(fits) { Growing::Private } else { Growing::InMemory }
    }

    /// The first element of each region in the memory of a thread, and how many elements that has.
    fn regions(&self, growing: Growing) -> (Vec<u64>, u64) {
        let mut firsts = Vec::new();
        let mut first = 0_u64;
        for region in &self.kernel.regions {
            firsts.push(first);
            if growing.private(region).is_some() {
                continue;
            }
            let elements = match &region.size {
                Size::Known(extents) => {
                    extents.iter().fold(1_u64, |n, count| n.saturating_mul(extent(self.launch, *count)))
                }
                Size::Growing(number) => self.launch.capacities[*number] as u64,
            };
            first = first.saturating_add(elements);
        }
        (firsts, first)
    }
}

fn most_threads(kind: Kind) -> u64 {
    match kind {
        Kind::Software => MOST_THREADS_OF_CPU,
        Kind::Discrete | Kind::Integrated | Kind::Virtual | Kind::Other => MOST_THREADS,
    }
}

/// An extent that the host knows.
fn extent(launch: &Launch<'_, u64>, operand: Operand) -> u64 {
    let extent = match operand {
        Operand::Const(c) => c.bits() as i64,
        Operand::Local(local) => launch.scalars[local.index()] as i64,
    };
    extent.max(0) as u64
}
