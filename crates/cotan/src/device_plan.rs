//! From the core IR to a plan for devices.

use cotan_device::{Plan, PlanError, plan};
use cotan_ir::{Function, Module};
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{DEVICE, LoopFunction, NestContext, VerifiedNests, lower};

/// The nest of a function on its way to any device.
pub(crate) fn device_nest(f: &Function) -> LoopFunction {
    let mut nest = lower(f, &DEVICE);
    run(FOR_DEVICES, &mut nest, &NestContext::default());
    nest
}

/// The plan of a function of a module. The error says why there is none; a nest that breaks a rule of nests is a bug.
pub(crate) fn device_plan(module: &Module, symbol: &str) -> Result<Plan, String> {
    let nests = VerifiedNests::new(module.functions().map(|f| device_nest(f)).collect());
    let nests = nests.map_err(|error| error.to_string())?;
    plan(&nests, symbol).map_err(|error: PlanError| error.to_string())
}
