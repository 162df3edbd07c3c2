//! Vulkan as a backend: plans on a device, and the host's backend for what a device does not do.
//!
//! A call runs on the host's backend where its plan has no code, where the device comes to what it has no code for, and where
//! steps are counted, as a device counts none.

mod executable;
mod opened;

pub use executable::Ran;
pub use opened::{NoDevice, OpenedDevice};

use super::{Backend, Capabilities, Engine, Executable};
use crate::device_plan::{device_plan, plain_plan};
use crate::pipeline;
use crate::{CallError, CompileError, DeviceFailure, ReadyModule};
use cotan_device::Plan;
use cotan_ir::Elem;
use cotan_ops::Value;
use cotan_spirv::runner::{Array, LoadPlanError, LoadedPlan};
use cotan_spirv::vulkan::{Choice, OpenOptions};
use cotan_syntax::on_deep_stack;
use executable::{ExactProducts, HostFunction, OnDevice};
pub(crate) use opened::Keep;
use opened::Opener;
use std::sync::Arc;

/// How a device is used.
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    /// Which one.
    pub choice: Choice,
    /// How it is opened.
    pub open: OpenOptions,
    /// What runs on it.
    pub placement: Placement,
    /// Whether fused multiply-adds, quotients and roots are the driver's own, whatever their rounding. Values then depend on the device;
    /// what runs on the host keeps its bits.
    pub fast_math: bool,
}

/// What runs on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Programs with loops whose iterations are independent. Others run on the host, which is faster there.
    #[default]
    WhereParallel,
    /// Whatever has code for it.
    Everything,
}

/// The backend. Its device is opened when it is first wanted.
#[derive(Debug)]
pub(crate) struct VulkanBackend {
    capabilities: Capabilities,
    opener: Arc<Opener>,
    placement: Placement,
    /// What runs what the device does not.
    host: Arc<dyn Backend>,
    /// Bytes that a call may use.
    memory: Option<u64>,
}

impl VulkanBackend {
    pub(crate) fn new(
        options: DeviceOptions,
        host: Arc<dyn Backend>,
        memory: Option<u64>,
        keep: Keep,
    ) -> VulkanBackend {
        let DeviceOptions { choice, open, placement, fast_math } = options;
        let opener = Arc::new(Opener::new(choice, open, fast_math, keep));
        VulkanBackend { capabilities: Capabilities::default(), opener, placement, host, memory }
    }

    /// The device, opened.
    pub(crate) fn device(&self) -> Result<Arc<OpenedDevice>, NoDevice> {
        self.opener.device()
    }

    /// An array with the elements of a value, on the device.
    pub(crate) fn upload(&self, value: &Value) -> Result<Array, CallError> {
        let opened = self.opener.device()?;
        Ok(Array::upload(&opened.device, value).map_err(DeviceFailure::from)?)
    }

    /// Has the driver compile a plan. The text says why it runs on the host instead.
    fn loaded(&self, plan: Plan, opened: &OpenedDevice) -> Result<Result<LoadedPlan, String>, CompileError> {
        if self.placement == Placement::WhereParallel && !plan.is_parallel() {
            return Ok(Err("it has no loop whose iterations are independent".to_owned()));
        }
        match self.opener.load(opened, plan) {
            Ok(loaded) => Ok(Ok(loaded)),
            Err(LoadPlanError::Unsupported(what)) => Ok(Err(what.to_string())),
            Err(LoadPlanError::Device(refused)) => Err(CompileError::NoDevice(NoDevice::refuses(&refused))),
        }
    }
}

impl Backend for VulkanBackend {
    fn name(&self) -> &'static str {
        Engine::VULKAN.name()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, ready: &ReadyModule) -> Result<Arc<dyn Executable>, CompileError> {
        let opened = self.opener.device().map_err(CompileError::NoDevice)?;
        let info = opened.device.info();
        if !info.features.float64 && uses(ready, Elem::F64) {
            return Err(CompileError::NoDevice(NoDevice::without_f64(&info.name)));
        }
        let host = HostFunction::new(Arc::clone(&self.host), ready.clone());
        let symbol = &ready.entry.symbol;
        let plain = match ready.traps {
            Some(_) => None,
            None => pipeline::plain_products(&ready.module, symbol, None),
        };
        let plan = on_deep_stack(|| match &plain {
            Some(plain) => plain_plan(plain, symbol, &opened.numbers),
            None => device_plan(&ready.module, symbol),
        });
        let loaded = match plan {
            Ok(plan) => self.loaded(plan, &opened)?,
            Err(why) => Err(why),
        };
        let exact = plain.map(|_| ExactProducts::new(ready.clone()));
        Ok(Arc::new(OnDevice::new(loaded, exact, Arc::clone(&self.opener), host, self.memory)))
    }
}

/// Whether a program computes with numbers of a type.
fn uses(ready: &ReadyModule, elem: Elem) -> bool {
    ready.module.functions().any(|f| f.vars.iter().any(|var| var.ty.elem == elem))
}
