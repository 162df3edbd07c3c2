//! Plans with plain products, which run first: where no result is NaN they give the numbers of the core IR, and where one is
//! the device says so.

use super::nest_runs::{Failed, beside_core_ir, lowered};
use crate::tier;
use cotan_device::{Plan, RunError, plan_watching};
use cotan_ir::Module;
use cotan_loops::pipeline::{FOR_DEVICES_WITHOUT_FMA, run};
use cotan_loops::{DEVICE, NestContext, VerifiedNests};
use cotan_ops::Value;
use cotan_opt::passes::relax_products::relax_products;

/// One function of so many is asked each time.
const ONE_OF: u64 = 4;

/// The plan of a function with plain products, if it has such products and its turn has come; all have in the campaign.
pub(super) fn plain_plan(module: &Module, name: &str, label: &str) -> Result<Option<Plan>, String> {
    if !tier::takes(label, ONE_OF) {
        return Ok(None);
    }
    let Some(plain) = relax_products(module, name) else { return Ok(None) };
    let mut nests = lowered(&plain, name, &DEVICE)?;
    let way = [DEVICE.after_lowering, FOR_DEVICES_WITHOUT_FMA].concat();
    nests.iter_mut().for_each(|nest| run(&way, nest, &NestContext::default()));
    let nests = VerifiedNests::new(nests).map_err(|e| format!("with plain products, {e}"))?;
    plan_watching(&nests, name).map(Some).map_err(|e| format!("`{name}` has no plan with plain products: {e}"))
}

/// A call of such a plan by a device that tells of a NaN in an array.
pub(super) fn plain_agrees(
    module: &Module,
    name: &str,
    args: &[Value],
    plan: &Plan,
    call: impl FnOnce(&cotan_nest::Options, &mut dyn FnMut(&str)) -> Result<Vec<Value>, RunError>,
) -> Result<(), String> {
    let mut is_exact = false;
    let agreed = beside_core_ir(module, name, args, true, |limits, output| match call(limits, output) {
        Ok(values) if values.iter().any(|value| !value.dims.is_empty() && has_nan(value)) => {
            Err(Failed::Otherwise(format!("a NaN in {values:?} that nobody is told of")))
        }
        Ok(values) => {
            is_exact = values.iter().any(has_nan);
            Ok(values)
        }
        Err(RunError::Check { kind, args, span }) => Err(Failed::Check(kind, args, span)),
        Err(error) => {
            is_exact = error == RunError::ForHost;
            Err(Failed::Otherwise(error.to_string()))
        }
    });
    if is_exact {
        return Ok(());
    }
    agreed.map_err(|e| format!("the plan of `{name}` with plain products: {e}\n{plan}"))
}

fn has_nan(value: &Value) -> bool {
    value.floats().is_some_and(|numbers| numbers.iter().any(|x| x.is_nan()))
}
