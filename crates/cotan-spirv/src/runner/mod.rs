//! Plans on a Vulkan device: their kernels compiled once, and calls of them.

mod arena;
mod batch;
mod elements;
mod failures;
mod launch;

use crate::emit::Kernel as Module;
use crate::kernels::{Report, Stage, Unsupported, emit};
use crate::numbers::Numbers;
use crate::vulkan::{Device, DeviceError, Pipeline};
use arena::{Arena, Level};
use batch::Pending;
use cotan_device::{Capacities, Cell, Device as PlanDevice, KernelId, Launch, Limits, Plan, RunError, Until, run};
use cotan_loops::{BufferInfo, BufferKind, Home};
use cotan_ops::Value;
use cotan_ops::reduce::LANES;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Threads of a workgroup, where nothing else is asked for.
pub const WORKGROUP: u32 = 64;

/// The elements that there is room for at first in each array that grows.
const FIRST_CAPACITY: i64 = 16;

/// A plan whose kernels a driver has compiled.
#[derive(Debug)]
pub struct LoadedPlan {
    device: Device,
    plan: Plan,
    /// Those of each kernel, by its stages.
    pipelines: Vec<Vec<Pipeline>>,
    workgroup: u32,
    state: Mutex<State>,
}

/// What calls leave to those after them.
#[derive(Debug)]
struct State {
    capacities: Capacities,
    memory: CallMemory,
}

/// The memory of a call.
#[derive(Debug, Default)]
pub(crate) struct CallMemory {
    scopes: Arena,
    kept: Arena,
    /// The arguments of the launches of a batch.
    arguments: Arena,
}

/// Why a plan can't be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadPlanError {
    /// A kernel has no code.
    Unsupported(Unsupported),
    /// The driver refuses a kernel.
    Device(DeviceError),
}

impl fmt::Display for LoadPlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadPlanError::Unsupported(error) => error.fmt(f),
            LoadPlanError::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LoadPlanError {}

/// The modules of the kernels of a plan, for a device with these numbers.
pub fn modules(device: &Device, numbers: &Numbers, plan: &Plan) -> Result<Vec<Module>, Unsupported> {
    Ok(staged_modules(device, numbers, plan, WORKGROUP)?.into_iter().flatten().collect())
}

/// The modules of each kernel, by its stages.
fn staged_modules(
    device: &Device,
    numbers: &Numbers,
    plan: &Plan,
    workgroup: u32,
) -> Result<Vec<Vec<Module>>, Unsupported> {
    let features = device.info().features;
    plan.kernels.iter().map(|kernel| emit(plan, kernel, features, numbers, workgroup)).collect()
}

/// The kernels of a plan as text, or why one has no code.
pub fn assembly(device: &Device, numbers: &Numbers, plan: &Plan) -> Vec<Result<String, String>> {
    let features = device.info().features;
    let text = |kernel| {
        let modules = emit(plan, kernel, features, numbers, WORKGROUP).map_err(|error| error.to_string())?;
        Ok(modules.iter().map(Module::assembly).collect())
    };
    plan.kernels.iter().map(text).collect()
}

impl LoadedPlan {
    /// Has the driver compile the kernels of a plan.
    pub fn new(device: &Device, numbers: &Numbers, plan: Plan) -> Result<LoadedPlan, LoadPlanError> {
        LoadedPlan::in_workgroups(device, numbers, plan, WORKGROUP)
    }

    /// The same, in workgroups of so many threads, or of the nearest multiple of 16 that the device takes. No bit depends on
    /// it.
    pub fn in_workgroups(
        device: &Device,
        numbers: &Numbers,
        plan: Plan,
        workgroup: u32,
    ) -> Result<LoadedPlan, LoadPlanError> {
        // A thread takes the same partial result of different blocks, so its iterations ascend.
        let lanes = LANES as u32;
        let workgroup = workgroup.min(device.info().limits.workgroup) / lanes * lanes;
        let workgroup = workgroup.max(lanes);
        let modules = staged_modules(device, numbers, &plan, workgroup).map_err(LoadPlanError::Unsupported)?;
        let compiled = |stages: &Vec<Module>| stages.iter().map(|module| device.compile(module)).collect();
        let pipelines: Result<_, DeviceError> = modules.iter().map(compiled).collect();
        let state = State { capacities: Capacities::new(&plan, FIRST_CAPACITY), memory: CallMemory::default() };
        let pipelines = pipelines.map_err(LoadPlanError::Device)?;
        Ok(LoadedPlan { device: device.clone(), plan, pipelines, workgroup, state: Mutex::new(state) })
    }

    /// What the driver has made of a stage of a kernel.
    fn pipeline(&self, id: KernelId, stage: Stage) -> Result<&Pipeline, RunError> {
        let stages = Stage::of(&self.plan.kernels[id.index()]);
        let position = stages.iter().position(|other| *other == stage);
        let pipeline = position.and_then(|position| self.pipelines[id.index()].get(position));
        pipeline.ok_or_else(|| RunError::Bug(format!("kernel {} has no {stage:?}", id.index())))
    }

    /// Calls it. What it prints goes to `output`.
    pub fn call(&self, args: &[Value], limits: &CallLimits, output: &mut dyn FnMut(&str)) -> Result<Called, RunError> {
        let start = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { capacities, memory } = &mut *state;
        let mut running = Running {
            loaded: self,
            memory,
            cells: 0,
            report: 0,
            n_launches: 0,
            limits,
            callers_bytes: 0,
            pending: Vec::new(),
            statistics: CallStatistics::default(),
        };
        let values = run(&self.plan, &mut running, args, &limits.host, capacities, output)?;
        let mut statistics = running.statistics;
        (statistics.launches, statistics.time) = (running.n_launches, start.elapsed());
        Ok(Called { values, statistics })
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
    /// How many scalars and names the host waited for.
    pub read_backs: u64,
    /// Bytes that were written to the device and read from it, as arrays.
    pub moved_bytes: u64,
    /// From its beginning to its end.
    pub time: Duration,
}

/// A call.
struct Running<'r> {
    loaded: &'r LoadedPlan,
    memory: &'r mut CallMemory,
    /// The address of the cells.
    cells: u64,
    /// The address of the report.
    report: u64,
    n_launches: u64,
    limits: &'r CallLimits,
    /// Bytes of arguments and results.
    callers_bytes: u64,
    /// What the device is still to do.
    pending: Vec<Pending>,
    statistics: CallStatistics,
}

fn failed(error: DeviceError) -> RunError {
    RunError::Device(error.to_string())
}

impl Running<'_> {
    fn words(&mut self, words: &[u64]) -> Result<u64, RunError> {
        let at = self.memory.kept.allocate(&self.loaded.device, 8 * words.len() as u64).map_err(failed)?;
        self.write_bytes(at, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        Ok(at)
    }

    fn read_words(&self, at: u64, count: usize) -> Result<Vec<u64>, RunError> {
        let bytes = self.read_bytes(at, 8 * count)?;
        let (words, _) = bytes.as_chunks();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    fn write_bytes(&self, at: u64, bytes: &[u8]) -> Result<(), RunError> {
        let (memory, offset) = self.find(at, bytes.len())?;
        self.loaded.device.write(memory, offset, bytes).map_err(failed)
    }

    fn read_bytes(&self, at: u64, count: usize) -> Result<Vec<u8>, RunError> {
        let mut bytes = vec![0; count];
        let (memory, offset) = self.find(at, count)?;
        self.loaded.device.read(memory, offset, &mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn find(&self, at: u64, bytes: usize) -> Result<(&crate::vulkan::Memory, u64), RunError> {
        let CallMemory { scopes, kept, arguments } = &*self.memory;
        let found = [kept, scopes, arguments].into_iter().find_map(|arena| arena.find(at, bytes as u64));
        found.ok_or_else(|| RunError::Bug(format!("{bytes} bytes at {at:#x} are not the call's")))
    }
}

impl PlanDevice for Running<'_> {
    type Address = u64;
    type Mark = Level;

    fn allocate(&mut self, info: &BufferInfo, count: i64, until: Until) -> Result<u64, RunError> {
        let bytes = (count.max(0) as u64).saturating_mul(info.elem.bytes() as u64);
        let is_the_callers = match info.kind {
            BufferKind::Param(_) | BufferKind::Allocated(Home::Result(_)) => true,
            BufferKind::Allocated(Home::Arena | Home::Frame) | BufferKind::Stack | BufferKind::Bound => false,
        };
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
        self.pending.clear();
        self.memory.scopes.release(mark);
        self.memory.kept.release(Level::default());
        self.callers_bytes = 0;
    }

    fn plus(&self, at: u64, info: &BufferInfo, elements: i64) -> u64 {
        at.wrapping_add_signed(elements.wrapping_mul(info.elem.bytes() as i64))
    }

    fn write(&mut self, to: u64, info: &BufferInfo, elements: &[u64]) -> Result<(), RunError> {
        if elements.is_empty() {
            return Ok(());
        }
        self.flush()?;
        let bytes = elements::narrowed(info.elem, elements);
        self.statistics.moved_bytes += bytes.len() as u64;
        self.write_bytes(to, &bytes)
    }

    fn read(&mut self, from: u64, info: &BufferInfo, count: usize) -> Result<Vec<u64>, RunError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        self.flush()?;
        let bytes = self.read_bytes(from, count.saturating_mul(info.elem.bytes()))?;
        self.statistics.moved_bytes += bytes.len() as u64;
        Ok(elements::widened(info.elem, &bytes))
    }

    fn copy(&mut self, from: u64, to: u64, info: &BufferInfo, count: i64) -> Result<(), RunError> {
        if count <= 0 || from == to {
            return Ok(());
        }
        let bytes = (count as u64).saturating_mul(info.elem.bytes() as u64);
        self.enqueue(Pending::Copy { from, to, bytes })
    }

    fn open_cells(&mut self, count: usize) -> Result<(), RunError> {
        self.cells = self.words(&vec![0; count.max(1)])?;
        let mut report = vec![0; Report::NEEDS + self.loaded.plan.growing.len()];
        for word in [Report::CHECK, Report::LAUNCH, Report::HOST] {
            report[word] = u64::MAX;
        }
        self.report = self.words(&report)?;
        Ok(())
    }

    fn scalar(&mut self, cell: Cell) -> Result<u64, RunError> {
        self.flush()?;
        self.statistics.read_backs += 1;
        Ok(self.read_words(self.cells + 8 * u64::from(cell.0), 1)?[0])
    }

    fn name(&mut self, cell: Cell) -> Result<u64, RunError> {
        self.scalar(cell)
    }

    fn launch(&mut self, plan: &Plan, id: KernelId, launch: &Launch<'_, u64>) -> Result<(), RunError> {
        self.launch_kernel(plan, id, launch)
    }

    fn finish(&mut self) -> Result<(), RunError> {
        self.flush()
    }
}
