//! Plans on a Vulkan device: their kernels compiled once, and calls of them.
//!
//! A call that is like the one before it (equal sizes) takes nothing from the driver: memory is that of the last call
//! (`memory.rs`), results that stay on the device are blocks that others have given back, and what is submitted is what was
//! recorded then (`batch.rs`).

mod arena;
mod array;
mod batch;
mod elements;
mod failures;
mod kept;
mod launch;
mod load;
mod memory;

pub use array::Array;
pub use kept::KernelStore;
pub use load::{LoadOptions, LoadPlanError, LoadTimes, RefusedKernel, WORKGROUP, assembly, modules};
pub(crate) use memory::CallMemory;

use crate::kernels::{Report, Stage, Word};
use crate::turn::Turn;
use crate::vulkan::{Block, Device, DeviceError, Pipeline, Recordings};
use arena::Level;
use batch::Queued;
use cotan_device::{
    ArrayAt, Call, Capacities, Cell, Device as PlanDevice, Found, Given, KernelId, Launch, Limits, Plan, Results,
    RunError, Until, run_call,
};
use cotan_loops::{BufferInfo, BufferKind, Home};
use cotan_ops::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A plan whose kernels a driver has compiled.
#[derive(Debug)]
pub struct LoadedPlan {
    device: Device,
    plan: Plan,
    /// Those of each kernel.
    stages: Vec<Vec<LoadedStage>>,
    workgroup: u32,
    times: LoadTimes,
    state: Turn<State>,
}

/// A stage of a kernel.
#[derive(Debug)]
struct LoadedStage {
    stage: Stage,
    pipeline: Pipeline,
    /// Its arguments.
    layout: Vec<Word>,
    /// Whether it was launched before.
    was_launched: AtomicBool,
}

/// What calls leave to those after them.
#[derive(Debug)]
struct State {
    capacities: Capacities,
    memory: CallMemory,
    recordings: Recordings,
    /// The commands of a batch, at most.
    most: usize,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A value of the host.
    Value(&'a Value),
    /// An array on the device.
    Array(&'a Array),
}

/// A result of a call whose arrays stay on the device.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A scalar.
    Value(Value),
    /// An array.
    Array(Array),
}

impl LoadedPlan {
    /// A stage of a kernel.
    fn stage(&self, id: KernelId, stage: Stage) -> Result<&LoadedStage, RunError> {
        let found = self.stages[id.index()].iter().find(|other| other.stage == stage);
        found.ok_or_else(|| RunError::Bug(format!("kernel {} has no {stage:?}", id.index())))
    }

    /// How many pipelines the driver has made for it.
    pub fn n_pipelines(&self) -> usize {
        self.stages.iter().map(Vec::len).sum()
    }

    /// A kernel, for people.
    fn kernel_text(&self, id: KernelId) -> String {
        load::kernel_text(&self.plan, id.index())
    }

    /// Calls it. What it prints goes to `output`.
    pub fn call(&self, args: &[Value], limits: &CallLimits, output: &mut dyn FnMut(&str)) -> Result<Called, RunError> {
        let args: Vec<Argument<'_>> = args.iter().map(Argument::Value).collect();
        let (found, statistics) = self.run(&args, Results::ToHost, limits, output)?;
        let value = |found| match found {
            Outcome::Value(value) => Ok(value),
            Outcome::Array(_) => Err(RunError::Bug("an array has stayed on the device".to_owned())),
        };
        Ok(Called { values: found.into_iter().map(value).collect::<Result<_, _>>()?, statistics })
    }

    /// Calls it with arrays that lie on its device already, or with values. The arrays that it gives stay there; they share
    /// their memory with no argument and with each other.
    pub fn call_resident(
        &self,
        args: &[Argument<'_>],
        limits: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<(Vec<Outcome>, CallStatistics), RunError> {
        self.run(args, Results::Stay, limits, output)
    }

    fn run(
        &self,
        args: &[Argument<'_>],
        results: Results,
        limits: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<(Vec<Outcome>, CallStatistics), RunError> {
        let start = Instant::now();
        let (mut operands, mut given) = (Vec::new(), Vec::new());
        for (position, arg) in args.iter().enumerate() {
            operands.push(match arg {
                Argument::Value(value) => Given::Value(value),
                Argument::Array(array) if !array.device.is_same(&self.device) => {
                    let message = format!("argument {position} lies on another device");
                    return Err(RunError::Arguments(message));
                }
                Argument::Array(array) => {
                    given.push(array.block.as_ref());
                    Given::Array { elem: array.elem, dims: &array.dims, at: array.block.address() }
                }
            });
        }
        let mut state = self.state.take(limits.host.stop.as_ref()).ok_or(RunError::Stopped)?;
        let State { capacities, memory, recordings, most } = &mut *state;
        // A call whose output panicked has released nothing.
        memory.end_call(Level::default());
        let n_pieces = memory.n_pieces();
        let mut running = Running {
            loaded: self,
            memory: &mut *memory,
            recordings,
            most,
            given: &given,
            blocks: Vec::new(),
            results,
            cells: 0,
            report: 0,
            numbers: None,
            n_launches: 0,
            limits,
            callers_bytes: 0,
            queued: Vec::new(),
            words: Vec::new(),
            failure: None,
            statistics: CallStatistics::default(),
        };
        let call = Call { plan: &self.plan, args: &operands, results, limits: &limits.host };
        let found = run_call(&call, &mut running, capacities, output)?;
        let mut statistics = running.statistics;
        statistics.launches = running.n_launches;
        statistics.allocations += (memory.n_pieces() - n_pieces) as u64;
        let outcome = |found: Found<Arc<Block>>| match found {
            Found::Value(value) => Outcome::Value(value),
            Found::Array { elem, dims, kept } => {
                Outcome::Array(Array { device: self.device.clone(), block: kept, elem, dims })
            }
        };
        let found = found.into_iter().map(outcome).collect();
        statistics.time = start.elapsed();
        Ok((found, statistics))
    }

    /// What loading it took.
    pub fn load_times(&self) -> LoadTimes {
        self.times
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// What a call may use.
#[derive(Clone, Debug)]
pub struct CallLimits {
    /// What its host may use.
    pub host: Limits,
    /// Bytes of memory of the device, beside arguments and results.
    pub bytes: u64,
}

impl Default for CallLimits {
    fn default() -> CallLimits {
        CallLimits { host: Limits::default(), bytes: u64::MAX }
    }
}

/// The results of a call, and what it took.
#[derive(Clone, Debug)]
pub struct Called {
    /// The results.
    pub values: Vec<Value>,
    /// What it took.
    pub statistics: CallStatistics,
}

/// What a call took. Where a capacity was too small, all its runs count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallStatistics {
    /// How many times kernels were launched.
    pub launches: u64,
    /// How many times work was handed over.
    pub submissions: u64,
    /// How many times the host waited for scalars or a name.
    pub read_backs: u64,
    /// Bytes that were written to the device and read from it, as arrays.
    pub moved_bytes: u64,
    /// How often the driver was asked for memory: never by a call that is like the one before it.
    pub allocations: u64,
    /// How many pipelines the driver made: those of a device that was opened anew.
    pub pipelines: u64,
    /// How many submissions had to be recorded: none of a call that is like the one before it.
    pub recordings: u64,
    /// From its beginning to its end.
    pub time: Duration,
}

/// A call.
struct Running<'r> {
    loaded: &'r LoadedPlan,
    memory: &'r mut CallMemory,
    recordings: &'r mut Recordings,
    most: &'r mut usize,
    /// The arguments that lie on the device already.
    given: &'r [&'r Block],
    /// The memory of results that stay there, and whether one has it already.
    blocks: Vec<(Arc<Block>, bool)>,
    results: Results,
    /// The address of the cells.
    cells: u64,
    /// The address of the report.
    report: u64,
    /// Where the launches of the batch leave the numbers of a check that fails, and how many bytes there are.
    numbers: Option<(u64, u64)>,
    n_launches: u64,
    limits: &'r CallLimits,
    /// Bytes of arguments and results in the memory of the call.
    callers_bytes: u64,
    /// What the device is still to do, and the arguments of its launches.
    queued: Vec<Queued>,
    words: Vec<u64>,
    /// What went wrong on the device: what its memory holds from then on is not what the call asked for.
    failure: Option<RunError>,
    statistics: CallStatistics,
}

fn failed(error: DeviceError) -> RunError {
    if error == DeviceError::Stopped { RunError::Stopped } else { RunError::Device(error.to_string()) }
}

impl Running<'_> {
    /// Memory of a result that stays on the device.
    fn block(&mut self, info: &BufferInfo, bytes: u64) -> Result<Arc<Block>, RunError> {
        let block = self.loaded.device.block(bytes).map_err(|error| failures::no_memory(info, bytes, error));
        let (block, is_new) = block?;
        self.statistics.allocations += u64::from(is_new);
        Ok(Arc::new(block))
    }
}

impl PlanDevice for Running<'_> {
    type Address = u64;
    type Mark = Level;
    type Kept = Arc<Block>;

    fn allocate(&mut self, info: &BufferInfo, count: i64, until: Until) -> Result<u64, RunError> {
        let bytes = (count.max(0) as u64).saturating_mul(info.elem.bytes() as u64);
        let (is_the_callers, is_result) = match info.kind {
            BufferKind::Allocated(Home::Result(_)) => (true, true),
            BufferKind::Param(_) => (true, false),
            BufferKind::Allocated(Home::Arena | Home::Frame) | BufferKind::Stack | BufferKind::Bound => (false, false),
        };
        if is_result && self.results == Results::Stay {
            let block = self.block(info, bytes)?;
            let at = block.address();
            self.blocks.push((block, false));
            return Ok(at);
        }
        if is_the_callers {
            self.callers_bytes = self.callers_bytes.saturating_add(bytes);
        } else {
            let held = (self.memory.scopes.held() + self.memory.kept.held()).saturating_sub(self.callers_bytes);
            if held.saturating_add(bytes) > self.limits.bytes {
                return Err(failures::over_limit(info, bytes, held, self.limits.bytes));
            }
        }
        let arena = match until {
            Until::ScopeEnds => &mut self.memory.scopes,
            Until::CallEnds => &mut self.memory.kept,
        };
        arena.allocate(&self.loaded.device, bytes).map_err(|error| failures::no_memory(info, bytes, error))
    }

    fn extend(&mut self, at: u64, info: &BufferInfo, [old, new]: [i64; 2]) -> Result<u64, RunError> {
        let to = self.allocate(info, new, Until::CallEnds)?;
        self.copy(at, to, info, old)?;
        Ok(to)
    }

    fn mark(&self) -> Level {
        self.memory.scopes.level()
    }

    fn release(&mut self, mark: Level) {
        self.memory.scopes.release(mark);
    }

    fn end_call(&mut self, mark: Level) {
        self.queued.clear();
        self.words.clear();
        self.blocks.clear();
        self.failure = None;
        self.memory.end_call(mark);
        self.callers_bytes = 0;
    }

    fn plus(&self, at: u64, info: &BufferInfo, elements: i64) -> u64 {
        at.wrapping_add_signed(elements.wrapping_mul(info.elem.bytes() as i64))
    }

    fn write(&mut self, to: u64, info: &BufferInfo, elements: &[u64]) -> Result<(), RunError> {
        if elements.is_empty() {
            return Ok(());
        }
        let bytes = elements::narrowed(info.elem, elements);
        self.statistics.moved_bytes += bytes.len() as u64;
        self.put(to, &bytes)
    }

    fn read(&mut self, from: u64, info: &BufferInfo, count: usize) -> Result<Vec<u64>, RunError> {
        let found = self.finish_with(&[ArrayAt { at: from, info, count }])?;
        found.into_iter().next().ok_or_else(|| RunError::Bug("nothing was read".to_owned()))
    }

    fn copy(&mut self, from: u64, to: u64, info: &BufferInfo, count: i64) -> Result<(), RunError> {
        if count <= 0 || from == to {
            return Ok(());
        }
        let bytes = (count as u64).saturating_mul(info.elem.bytes() as u64);
        self.enqueue(Queued::Copy { from, to, bytes })
    }

    fn open_cells(&mut self, count: usize) -> Result<(), RunError> {
        let n_cells = count.max(1);
        let mut words = vec![0; n_cells + Report::NEEDS + self.loaded.plan.growing.len()];
        for word in [Report::CHECK, Report::LAUNCH, Report::HOST] {
            words[n_cells + word] = u64::MAX;
        }
        let at = self.memory.kept.allocate(&self.loaded.device, 8 * words.len() as u64).map_err(failed)?;
        (self.cells, self.report) = (at, at + 8 * n_cells as u64);
        self.put(at, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
    }

    fn scalars<const N: usize>(&mut self, cells: [Cell; N]) -> Result<[u64; N], RunError> {
        let found = self.fetch(&cells.map(|cell| (self.cells + 8 * u64::from(cell.0), 8)))?;
        self.statistics.read_backs += 1;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(&found) {
            let bytes = bytes.first_chunk().ok_or_else(|| RunError::Bug("nothing was read".to_owned()))?;
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(words)
    }

    fn name(&mut self, cell: Cell) -> Result<u64, RunError> {
        self.scalars([cell]).map(|[address]| address)
    }

    fn launch(&mut self, plan: &Plan, id: KernelId, launch: &Launch<'_, u64>) -> Result<(), RunError> {
        self.launch_kernel(plan, id, launch)
    }

    fn finish(&mut self) -> Result<(), RunError> {
        self.flush()
    }

    fn finish_with(&mut self, arrays: &[ArrayAt<'_, u64>]) -> Result<Vec<Vec<u64>>, RunError> {
        let range = |array: &ArrayAt<'_, u64>| (array.at, array.count.saturating_mul(array.info.elem.bytes()));
        // Of no elements the place may be anywhere.
        let ranges: Vec<(u64, usize)> = arrays.iter().map(range).filter(|(_, bytes)| *bytes > 0).collect();
        let mut found = self.fetch(&ranges)?.into_iter();
        self.statistics.moved_bytes += ranges.iter().map(|(_, bytes)| *bytes as u64).sum::<u64>();
        let elements = |array: &ArrayAt<'_, u64>| match range(array) {
            (_, 0) => Vec::new(),
            _ => found.next().map_or_else(Vec::new, |bytes| elements::widened(array.info.elem, &bytes)),
        };
        Ok(arrays.iter().map(elements).collect())
    }

    fn keep(&mut self, array: &ArrayAt<'_, u64>) -> Result<Arc<Block>, RunError> {
        let bytes = (array.count as u64).saturating_mul(array.info.elem.bytes() as u64);
        let is_it = |block: &Block| block.address() == array.at && bytes <= block.bytes();
        if let Some((block, is_kept)) = self.blocks.iter_mut().find(|(block, is_kept)| !is_kept && is_it(block)) {
            *is_kept = true;
            return Ok(Arc::clone(block));
        }
        // It is a part of something, or an argument, or kept as another result.
        let block = self.block(array.info, bytes)?;
        self.blocks.push((Arc::clone(&block), true));
        self.copy(array.at, block.address(), array.info, array.count as i64)?;
        Ok(block)
    }
}
