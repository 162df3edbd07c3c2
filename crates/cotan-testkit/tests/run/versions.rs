//! Programs and their gradients in versions for small sizes, beside the code for all sizes; one program of some each time.

use crate::run::check::ALSO_IN_PARALLEL;
use crate::run::parallel::in_parallel;
use cotan::host::fit_arguments;
use cotan::{DerivativeForm, Program, Request, derivative};
use cotan_testkit::files::tests_folder;
use cotan_testkit::frontend::{loaded, lower};
use cotan_testkit::header::{self, Case, named_arguments};
use cotan_testkit::oracles::version_agrees;
use cotan_testkit::tier;

/// One program of so many runs each time.
const ONE_OF: u64 = 16;

/// How a program did.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Functions and gradients that have a version.
    pub(crate) n_versions: usize,
    /// What is wrong.
    pub(crate) failures: Vec<String>,
}

/// Asks it of every case of a program, of loops once more inside a parallel loop.
pub(crate) fn check(name: &str, text: &str) -> Outcome {
    let mut outcome = Outcome::default();
    if tier::takes(name, ONE_OF) {
        match header::cases(text) {
            Ok(cases) => cases.iter().for_each(|case| outcome.take(name, text, case)),
            Err(e) => outcome.failures.push(format!("{name}: header: {e}")),
        }
    }
    outcome
}

impl Outcome {
    fn take(&mut self, name: &str, text: &str, case: &Case) {
        self.alone(name, text, case);
        let inside = if name.starts_with(ALSO_IN_PARALLEL) { in_parallel(text, case) } else { None };
        match inside {
            Some(Ok((text, case))) => self.alone(name, &text, &case),
            Some(Err(e)) => self.failures.push(format!("{name}: {e}")),
            None => {}
        }
    }

    fn alone(&mut self, name: &str, text: &str, case: &Case) {
        match versions_of(name, text, case) {
            Ok(n) => self.n_versions += n,
            Err(e) => self.failures.push(format!("{name}, case `{}`: {e}", case.name)),
        }
    }
}

/// How many of a function and its gradient have a version, each of which does what the general code does.
fn versions_of(name: &str, text: &str, case: &Case) -> Result<usize, String> {
    let program = loaded(name, text, &tests_folder().join("run"))?;
    let wrt: Vec<&str> = case.wrt.iter().map(String::as_str).collect();
    let gradient = (!wrt.is_empty()).then(|| derivative(&case.function, DerivativeForm::ValueAndGrad, &wrt));
    let requests = [Some(Request::function(&case.function)), gradient];
    requests.iter().flatten().try_fold(0, |n, request| Ok(n + usize::from(agrees(&program, request, case)?)))
}

fn agrees(program: &Program, request: &Request, case: &Case) -> Result<bool, String> {
    let lowered = lower(program, request)?;
    let args = named_arguments(&case.args, &lowered.entry)?;
    let args = fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())?;
    version_agrees(&lowered.module, &lowered.entry.symbol, &args)
}
