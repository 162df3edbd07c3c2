//! From the core IR to a plan for devices.

use cotan_device::{Plan, PlanError, plan, plan_watching};
use cotan_ir::{Elem, Function, Module};
use cotan_loops::pipeline::{FOR_DEVICES, FOR_DEVICES_WITHOUT_FMA, run};
use cotan_loops::{DEVICE, LoopFunction, NestContext, NestPipeline, VerifiedNests, lower};
use cotan_ops::Instruction;
use cotan_spirv::numbers::Numbers;

/// The nest of a function on its way to any device.
pub(crate) fn device_nest(f: &Function) -> LoopFunction {
    nest(f, FOR_DEVICES)
}

fn nest(f: &Function, way: NestPipeline) -> LoopFunction {
    let mut nest = lower(f, &DEVICE);
    run(way, &mut nest, &NestContext::default());
    nest
}

/// The plan of a function of a module. The error says why there is none; a nest that breaks a rule of nests is a bug.
pub(crate) fn device_plan(module: &Module, symbol: &str) -> Result<Plan, String> {
    plan(&nests(module, FOR_DEVICES)?, symbol).map_err(|error: PlanError| error.to_string())
}

/// The plan that runs first, of a module with [plain products](cotan_opt::plain_products): a call in which a result is NaN
/// is to begin anew, with the exact ones.
pub(crate) fn plain_plan(plain: &Module, symbol: &str, numbers: &Numbers) -> Result<Plan, String> {
    let is_fused = [Elem::F32, Elem::F64].into_iter().all(|elem| !numbers.is_replaced(Instruction::Fma, elem));
    let way = if is_fused { FOR_DEVICES } else { FOR_DEVICES_WITHOUT_FMA };
    plan_watching(&nests(plain, way)?, symbol).map_err(|error: PlanError| error.to_string())
}

fn nests(module: &Module, way: NestPipeline) -> Result<VerifiedNests, String> {
    VerifiedNests::new(module.functions().map(|f| nest(f, way)).collect()).map_err(|error| error.to_string())
}
