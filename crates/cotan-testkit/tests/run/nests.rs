//! Loop nests of the programs: on their interpreter they do what the core IR does on its own, and for a device their
//! reductions are whole.

use cotan::host::fit_arguments;
use cotan::{DerivativeForm, Program, Request, derivative};
use cotan_testkit::files::tests_folder;
use cotan_testkit::frontend::{loaded, lower, lower_plain, lower_with_calls};
use cotan_testkit::header::{self, Case, named_arguments};
use cotan_testkit::oracles::{same_on_nests, same_on_plan, whole_on_devices};
use cotan_testkit::tier;

/// Runs all cases of a program, optimised or not, by its name; gives what is wrong.
pub(crate) fn check(name: &str, text: &str) -> Vec<String> {
    let cases = match header::cases(text) {
        Ok(cases) => cases,
        Err(e) => return vec![format!("{name}: header: {e}")],
    };
    let program = match loaded(name, text, &tests_folder().join("run")) {
        Ok(program) => program,
        Err(e) => return vec![e],
    };
    let failure = |case: &Case| Some(format!("{name}, case `{}`: {}", case.name, runs(name, &program, case).err()?));
    cases.iter().filter_map(failure).collect()
}

fn runs(name: &str, program: &Program, case: &Case) -> Result<(), String> {
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
        whole_on_devices(&lowered.module)?;
        let args = named_arguments(&case.args, &lowered.entry)?;
        let args = fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())?;
        same_on_nests(&lowered.module, &lowered.entry.symbol, &args, name)?;
        same_on_plan(&lowered.module, &lowered.entry.symbol, &args)
    })
}
