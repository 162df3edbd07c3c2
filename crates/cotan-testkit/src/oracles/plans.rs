//! Plans for devices on the reference device against the core IR on its own: the same bits, errors and output.

use super::Verdict;
use super::nest_runs::agree_on_plan;
use super::nests::NestPlace;
use super::plain_plans::{plain_agrees, plain_plan};
use crate::derived_case::Case;
use crate::tier;
use cotan_device::plan;
use cotan_ir::Module;
use cotan_loops::VerifiedNests;
use cotan_ops::Value;

/// A function, cut for a device, does on the reference device what it does on the interpreter of the core IR, in each of these calls.
/// Gives how many of its independent loops are shared among threads, and how many are not.
pub fn same_on_plan(module: &Module, name: &str, calls: &[&[Value]]) -> Result<[usize; 2], String> {
    let nests = VerifiedNests::new(NestPlace::on_devices().nests(module, name)?).map_err(|e| e.to_string())?;
    let plan = plan(&nests, name).map_err(|e| format!("`{name}` has no plan: {e}"))?;
    for args in calls {
        agree_on_plan(module, name, args, &plan).map_err(|e| format!("the plan of `{name}`: {e}\n{plan}"))?;
    }
    if let Some(plain) = plain_plan(module, name, &plan.to_string())? {
        for args in calls {
            plain_agrees(module, name, args, &plain, |limits, output| {
                cotan_nest::run_plan_with_output(&plain, args, limits, output)
            })?;
        }
    }
    Ok(plan.independent_loops())
}

/// A function of a case, or one of its derivatives, does so; the name of the case chooses which. All of them in the campaign.
pub fn plans(case: &Case) -> Verdict {
    on_device(case, &|module, name, calls| same_on_plan(module, name, calls).map(drop))
}

/// What a device is asked: module and name of a function, and the arguments of each call.
type Ask<'a> = &'a dyn Fn(&Module, &str, &[&[Value]]) -> Result<(), String>;

/// Asks a device for a function of a case or one of its derivatives.
pub(super) fn on_device(case: &Case, ask: Ask<'_>) -> Verdict {
    let (names, subject) = (case.names(), &case.subject);
    Verdict::of((|| {
        let calls: Vec<[Vec<Value>; 3]> =
            case.argument_lists().map(|args| case.calls(args)).collect::<Result<_, _>>()?;
        tier::chosen(&[0, 1, 2], 1, &subject.label).into_iter().try_for_each(|k| {
            let calls: Vec<&[Value]> = calls.iter().map(|of_all| of_all[k].as_slice()).collect();
            ask(&subject.module, &names[k], &calls)
        })
    })())
}
