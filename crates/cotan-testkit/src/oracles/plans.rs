//! Plans for devices on the reference device against the core IR on its own: the same bits, errors and output.

use super::nest_runs::agree_on_plan;
use super::nests::NestPlace;
use cotan_device::plan;
use cotan_ir::Module;
use cotan_loops::VerifiedNests;
use cotan_ops::Value;

/// A function, cut for a device, does on the reference device what it does on the interpreter of the core IR.
pub fn same_on_plan(module: &Module, name: &str, args: &[Value]) -> Result<(), String> {
    let nests = VerifiedNests::new(NestPlace::on_devices().nests(module, name)?).map_err(|e| e.to_string())?;
    let plan = plan(&nests, name).map_err(|e| format!("`{name}` has no plan: {e}"))?;
    agree_on_plan(module, name, args, &plan).map_err(|e| format!("the plan of `{name}`: {e}\n{plan}"))
}
