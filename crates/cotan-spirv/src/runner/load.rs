//! Loading a plan: its kernels written, or found where they were kept, and compiled by the driver.

use super::batch::MOST;
use super::kept::{KeptKernels, KernelStore, OwnedCode};
use super::{CallMemory, LoadedPlan, LoadedStage, State};
use crate::emit::Kernel as Module;
use crate::kernels::{Stage, Unsupported, emit, layout};
use crate::numbers::Numbers;
use crate::turn::Turn;
use crate::vulkan::{Code, Device, DeviceError, PipelineCache, Recordings};
use cotan_device::{Capacities, Plan};
use cotan_ops::reduce::LANES;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Threads of a workgroup, where nothing else is asked for.
pub const WORKGROUP: u32 = 64;

/// The elements that there is room for at first in each array that grows.
const FIRST_CAPACITY: i64 = 16;

/// How a plan is loaded.
#[derive(Clone, Copy, Default)]
pub struct LoadOptions<'l> {
    /// Threads of a workgroup, or of the nearest multiple of 16 that the device takes; `None` for [`WORKGROUP`]. No bit depends
    /// on it.
    pub workgroup: Option<u32>,
    /// Where kernels are kept between processes.
    pub store: Option<&'l dyn KernelStore>,
}

impl fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadOptions").field("workgroup", &self.workgroup).finish_non_exhaustive()
    }
}

/// What loading a plan took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadTimes {
    /// Writing its modules; nothing where they were kept.
    pub written: Duration,
    /// The instructions of these.
    pub instructions: usize,
    /// The driver's longest pipeline. Drivers may leave work to the first launch.
    pub slowest: Duration,
}

/// Why a plan can't be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadPlanError {
    /// A kernel has no code.
    Unsupported(Unsupported),
    /// The driver refuses a kernel, or something else.
    Device(RefusedKernel),
}

/// What a driver has refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedKernel {
    /// The kernel, for people, if it was one.
    pub kernel: Option<String>,
    /// What it said.
    pub error: DeviceError,
}

impl fmt::Display for RefusedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kernel {
            Some(kernel) => write!(f, "{kernel}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
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

impl From<DeviceError> for LoadPlanError {
    fn from(error: DeviceError) -> LoadPlanError {
        LoadPlanError::Device(RefusedKernel { kernel: None, error })
    }
}

/// A kernel, for people.
pub(super) fn kernel_text(plan: &Plan, kernel: usize) -> String {
    let threads = plan.kernel_summaries().into_iter().nth(kernel).map(|summary| summary.threads);
    format!("kernel {kernel} ({})", threads.unwrap_or_default())
}

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
        LoadedPlan::load(device, numbers, plan, LoadOptions::default())
    }

    /// The same, in workgroups of so many threads.
    pub fn in_workgroups(
        device: &Device,
        numbers: &Numbers,
        plan: Plan,
        workgroup: u32,
    ) -> Result<LoadedPlan, LoadPlanError> {
        let options = LoadOptions { workgroup: Some(workgroup), ..LoadOptions::default() };
        LoadedPlan::load(device, numbers, plan, options)
    }

    /// The same with options.
    pub fn load(
        device: &Device,
        numbers: &Numbers,
        plan: Plan,
        options: LoadOptions<'_>,
    ) -> Result<LoadedPlan, LoadPlanError> {
        // A thread takes the same partial result of different blocks, so its iterations ascend.
        let lanes = LANES as u32;
        let workgroup = options.workgroup.unwrap_or(WORKGROUP).min(device.info().limits.workgroup) / lanes * lanes;
        let workgroup = workgroup.max(lanes);
        let mut kept = KeptKernels::new(device, numbers, &plan, workgroup, options.store);
        let known = kept.load();
        let known = known.filter(|known| known.fit(&plan));
        let mut times = LoadTimes::default();
        let (code, pipelines) = match known {
            Some(known) => (known.code, known.pipelines),
            None => {
                let start = Instant::now();
                let modules = staged_modules(device, numbers, &plan, workgroup);
                let modules = modules.map_err(LoadPlanError::Unsupported)?;
                times.written = start.elapsed();
                times.instructions = modules.iter().flatten().map(Module::n_instructions).sum();
                (modules.iter().flatten().map(OwnedCode::of).collect(), Vec::new())
            }
        };
        let cache = device.pipeline_cache(&pipelines)?;
        let stages = compiled(device, &plan, &code, &cache, &mut times)?;
        kept.store(code, &cache);
        let state = State {
            capacities: Capacities::new(&plan, FIRST_CAPACITY),
            memory: CallMemory::default(),
            recordings: Recordings::new(device)?,
            most: MOST,
        };
        Ok(LoadedPlan { device: device.clone(), plan, stages, workgroup, times, state: Turn::new(state) })
    }
}

/// The stages of each kernel, compiled. Their code lies one after the other.
fn compiled(
    device: &Device,
    plan: &Plan,
    code: &[OwnedCode],
    cache: &PipelineCache,
    times: &mut LoadTimes,
) -> Result<Vec<Vec<LoadedStage>>, LoadPlanError> {
    let mut code = code.iter();
    let mut all = Vec::new();
    for (number, kernel) in plan.kernels.iter().enumerate() {
        let mut stages = Vec::new();
        for (stage, code) in Stage::of(kernel).into_iter().zip(&mut code) {
            let start = Instant::now();
            let pipeline = device.compile_code(Code::from(code), Some(cache)).map_err(|error| {
                LoadPlanError::Device(RefusedKernel { kernel: Some(kernel_text(plan, number)), error })
            })?;
            times.slowest = times.slowest.max(start.elapsed());
            stages.push(LoadedStage {
                stage,
                pipeline,
                layout: layout(plan, kernel, stage),
                was_launched: AtomicBool::new(false),
            });
        }
        all.push(stages);
    }
    Ok(all)
}
