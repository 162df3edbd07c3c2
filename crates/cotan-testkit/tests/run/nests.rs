//! Loop nests of the programs: on their interpreter they do what the core IR does on its own, and for a device their
//! reductions are whole.

use cotan::host::fit_arguments;
use cotan::{DerivativeForm, Program, Request, derivative};
use cotan_ir::Module;
use cotan_ops::Value;
use cotan_testkit::files::tests_folder;
use cotan_testkit::frontend::{loaded, lower, lower_plain, lower_with_calls};
use cotan_testkit::header::{self, Case, named_arguments};
use cotan_testkit::oracles::{OnVulkan, same_on_nests, same_on_plan, same_on_vulkan, whole_on_devices};
use cotan_testkit::tier;

/// What a check asks of a function: module, name, arguments, and the name of the program.
type Ask<'a> = &'a (dyn Fn(&Module, &str, &[Value], &str) -> Result<(), String> + Sync);

/// Runs all cases of a program, optimised or not, by its name; gives what is wrong.
pub(crate) fn check(name: &str, text: &str) -> Vec<String> {
    each_case(name, text, &|module, entry, args, name| {
        whole_on_devices(module)?;
        same_on_nests(module, entry, args, name)
    })
}

/// The same on the reference device, by plans; `tell` hears how many independent loops of each case are shared among threads, and
/// how many are not.
pub(crate) fn check_plans(name: &str, text: &str, tell: &(dyn Fn([usize; 2]) + Sync)) -> Vec<String> {
    each_case(name, text, &|module, entry, args, _| {
        tell(same_on_plan(module, entry, &[args])?);
        Ok(())
    })
}

/// The same on a Vulkan device; `tell` hears what each case became.
pub(crate) fn check_vulkan(name: &str, text: &str, tell: &(dyn Fn(OnVulkan) + Sync)) -> Vec<String> {
    each_case(name, text, &|module, entry, args, _| {
        tell(same_on_vulkan(module, entry, &[args])?);
        Ok(())
    })
}

/// Asks something of all cases of a program, and of their gradients.
fn each_case(name: &str, text: &str, ask: Ask<'_>) -> Vec<String> {
    let cases = match header::cases(text) {
        Ok(cases) => cases,
        Err(e) => return vec![format!("{name}: header: {e}")],
    };
    let program = match loaded(name, text, &tests_folder().join("run")) {
        Ok(program) => program,
        Err(e) => return vec![e],
    };
    let failure =
        |case: &Case| Some(format!("{name}, case `{}`: {}", case.name, runs(name, &program, case, ask).err()?));
    cases.iter().filter_map(failure).collect()
}

fn runs(name: &str, program: &Program, case: &Case, ask: Ask<'_>) -> Result<(), String> {
    let wrt: Vec<&str> = case.wrt.iter().map(String::as_str).collect();
    let gradient = (!wrt.is_empty()).then(|| derivative(&case.function, DerivativeForm::ValueAndGrad, &wrt));
    let has_calls = name.starts_with("calls/");
    let lower = match (tier::hash(name) / 64 % 2, has_calls) {
        (0, false) => lower,
        (0, true) => lower_with_calls,
        (_, _) => lower_plain,
    };
    [Some(Request::function(&case.function)), gradient].into_iter().flatten().try_for_each(|request| {
        let lowered = lower(program, &request)?;
        let args = named_arguments(&case.args, &lowered.entry)?;
        let args = fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())?;
        ask(&lowered.module, &lowered.entry.symbol, &args, name)
    })
}
