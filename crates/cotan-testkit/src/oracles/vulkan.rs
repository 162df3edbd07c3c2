//! Plans on a Vulkan device against the core IR on its own, where there is a device.

use super::Verdict;
use super::nest_runs::{Failed, beside_core_ir};
use super::nests::NestPlace;
use super::plain_plans::{plain_agrees, plain_plan};
use super::plans::on_device;
use crate::derived_case::Case;
use cotan_device::{Limits, Plan, RunError, plan};
use cotan_ir::{Elem, Module};
use cotan_loops::VerifiedNests;
use cotan_ops::Value;
use cotan_spirv::kernels::Unsupported;
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::probe;
use cotan_spirv::runner::{CallLimits, LoadPlanError, LoadTimes, LoadedPlan};
use cotan_spirv::vulkan::{Choice, Device, OpenOptions, Vulkan};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A device with its numbers.
type Opened = Result<(Device, Numbers), String>;

/// The device that is chosen by default, opened once.
fn device() -> Result<&'static (Device, Numbers), String> {
    static DEVICE: OnceLock<Opened> = OnceLock::new();
    DEVICE.get_or_init(|| opened(&OpenOptions::default())).as_ref().map_err(Clone::clone)
}

/// The same, used as if it had no `f64`.
fn device_without_f64() -> Result<&'static (Device, Numbers), String> {
    static DEVICE: OnceLock<Opened> = OnceLock::new();
    let options = OpenOptions { is_without_f64: true, ..OpenOptions::default() };
    DEVICE.get_or_init(|| opened(&options)).as_ref().map_err(Clone::clone)
}

fn opened(options: &OpenOptions) -> Opened {
    let vulkan = Vulkan::load().map_err(|e| e.to_string())?;
    let device = vulkan.open(&Choice::Best, options).map_err(|e| e.to_string())?;
    let numbers = probe(&device).map_err(|e| e.to_string())?.numbers;
    Ok((device, numbers))
}

/// Why there is no device, if there is none.
pub fn no_vulkan() -> Option<String> {
    device().err()
}

/// What a run on a device says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnVulkan {
    /// It gives the bits, errors and output of the core IR; and what making its kernels took, of which `cutting` is what comes before
    /// they are written.
    Same {
        /// From the core IR to the plan.
        cutting: Duration,
        /// From there to the driver's kernels.
        loading: LoadTimes,
        /// The first call, in which drivers do what they have left to it.
        first_call: Duration,
    },
    /// A kernel of it has no code yet, for this reason.
    NotYet(String),
}

/// A function, cut for a device, does on a Vulkan device what it does on the interpreter of the core IR, in each of these calls. One
/// that has no `f64` does so on a device without it, too.
pub fn same_on_vulkan(module: &Module, name: &str, calls: &[&[Value]]) -> Result<OnVulkan, String> {
    let start = Instant::now();
    let nests = VerifiedNests::new(NestPlace::on_devices().nests(module, name)?).map_err(|e| e.to_string())?;
    let plan = plan(&nests, name).map_err(|e| format!("`{name}` has no plan: {e}"))?;
    let cutting = start.elapsed();
    let f = &plan.function;
    let elems = f.locals.iter().map(|local| local.elem).chain(f.buffers.iter().map(|buffer| buffer.elem));
    let has_double = elems.into_iter().any(|elem| elem == Elem::F64);
    let outcome = same_on(device()?, module, name, calls, &plan, cutting)?;
    if matches!(outcome, OnVulkan::NotYet(_)) {
        return Ok(outcome);
    }
    same_with_plain_products(module, name, calls, &plan.to_string())?;
    if has_double {
        return Ok(outcome);
    }
    same_on(device_without_f64()?, module, name, calls, &plan, cutting).map_err(|e| format!("without f64: {e}"))
}

fn same_on(
    (device, numbers): &(Device, Numbers),
    module: &Module,
    name: &str,
    calls: &[&[Value]],
    plan: &Plan,
    cutting: Duration,
) -> Result<OnVulkan, String> {
    let (text, regroups) = (plan.to_string(), plan.function.regroups_sums);
    let loaded = match LoadedPlan::new(device, numbers, plan.clone()) {
        Ok(loaded) => loaded,
        Err(LoadPlanError::Unsupported(Unsupported::Size { .. })) => {
            return Ok(OnVulkan::NotYet("a kernel is too large".to_owned()));
        }
        Err(LoadPlanError::Unsupported(what)) => return Ok(OnVulkan::NotYet(what.to_string())),
        Err(LoadPlanError::Device(error)) => return Err(format!("the plan of `{name}`: {error}\n{text}")),
    };
    let (mut first_call, mut not_yet) = (None, None);
    for args in calls {
        let agreed = agrees(&loaded, module, name, args, regroups, &mut first_call);
        not_yet = agreed.map_err(|e| format!("the plan of `{name}` on Vulkan: {e}\n{text}"))?.or(not_yet);
    }
    if let Some(reason) = not_yet {
        return Ok(OnVulkan::NotYet(reason.to_owned()));
    }
    Ok(OnVulkan::Same { cutting, loading: loaded.load_times(), first_call: first_call.unwrap_or_default() })
}

/// The plan with plain products does so, where it has one and its kernels are not too large.
fn same_with_plain_products(module: &Module, name: &str, calls: &[&[Value]], label: &str) -> Result<(), String> {
    let Some(plain) = plain_plan(module, name, label)? else { return Ok(()) };
    let (device, numbers) = device()?;
    let loaded = match LoadedPlan::new(device, numbers, plain.clone()) {
        Ok(loaded) => loaded,
        Err(LoadPlanError::Unsupported(_)) => return Ok(()),
        Err(LoadPlanError::Device(error)) => return Err(format!("the plan of `{name}`: {error}\n{plain}")),
    };
    calls.iter().try_for_each(|args| {
        plain_agrees(module, name, args, &plain, |limits, output| {
            let may = CallLimits { host: Limits { steps: limits.steps, ..Limits::default() }, ..CallLimits::default() };
            loaded.call(args, &may, output).map(|called| called.values)
        })
    })
}

/// Whether a call gives what the core IR gives; or why it has no result.
fn agrees(
    loaded: &LoadedPlan,
    module: &Module,
    name: &str,
    args: &[Value],
    regroups: bool,
    first_call: &mut Option<Duration>,
) -> Result<Option<&'static str>, String> {
    let mut is_for_host = false;
    let agrees = beside_core_ir(module, name, args, regroups, |limits, output| {
        let may = CallLimits { host: Limits { steps: limits.steps, ..Limits::default() }, ..CallLimits::default() };
        // The first call hands over kernels one by one, and later ones in batches.
        let start = Instant::now();
        let first = loaded.call(args, &may, &mut |_| {}).map(|called| called.values);
        first_call.get_or_insert(start.elapsed());
        let called = loaded.call(args, &may, output);
        if first.as_ref() != called.as_ref().map(|called| &called.values) {
            return Err(Failed::Otherwise(format!("the first call gave {first:?}, the second {called:?}")));
        }
        called.map(|called| called.values).map_err(|error| match error {
            RunError::Check { kind, args, span } => Failed::Check(kind, args, span),
            RunError::ForHost => {
                is_for_host = true;
                Failed::Otherwise(error.to_string())
            }
            RunError::Arguments(_)
            | RunError::OutOfMemory(_)
            | RunError::OutOfSteps
            | RunError::Stopped
            | RunError::Needs(_)
            | RunError::Device(_)
            | RunError::Bug(_) => Failed::Otherwise(error.to_string()),
        })
    });
    if is_for_host { Ok(Some("what a host computes was reached")) } else { agrees.map(|()| None) }
}

/// A function of a case, or one of its derivatives, does so; where there is no device or no code for it, that can't be told.
pub fn on_vulkan(case: &Case) -> Verdict {
    if let Err(why) = device() {
        return Verdict::Unusable(why);
    }
    let not_yet = RefCell::new(None);
    let verdict = on_device(case, &|module, name, calls| {
        if let OnVulkan::NotYet(why) = same_on_vulkan(module, name, calls)? {
            *not_yet.borrow_mut() = Some(why);
        }
        Ok(())
    });
    match (verdict, not_yet.into_inner()) {
        (Verdict::Holds, Some(why)) => Verdict::Unusable(why),
        (verdict, _) => verdict,
    }
}
