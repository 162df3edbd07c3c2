//! `cotan test`: the functions marked `@test`, and the examples in documentation.

use crate::args::TestArgs;
use crate::diagnostics::{self, Failure, Report, eprint};
use crate::exit;
use crate::files::programs;
use crate::output;
use crate::session::{Session, read_program};
use crate::terminal;
use cotan::diagnostics::visible_line;
use cotan::host::{Arguments, Const};
use cotan::testing::{Test, tests, with_sides};
use cotan::{Request, Written};
use serde_json::json;
use std::path::{Path, PathBuf};

/// What became of a test.
struct Outcome {
    test: Test,
    file: String,
    /// Why it failed; nothing where it passed. Without reports the result was `false`.
    failure: Option<Vec<Report>>,
    /// What it compared, if the result was `false`: a line for each operand.
    compared: Vec<String>,
    /// What the failure means for the exit code.
    status: u8,
}

pub(crate) fn run(args: &TestArgs) -> Result<u8, Failure> {
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let mut outcomes = Vec::new();
    let mut unread = Vec::new();
    let files = programs(paths)?;
    let bar = terminal::bar(files.len(), "files");
    for path in &files {
        match file(path, args, &mut |outcome| {
            if !args.json {
                bar.suspend(|| print(&outcome))?;
            }
            outcomes.push(outcome);
            Ok(())
        }) {
            Ok(()) => {}
            Err(failure) if failure.status == exit::PROGRAM => unread.extend(failure.into_reports()),
            Err(failure) => return Err(failure),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let n_failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    let n_passed = outcomes.len() - n_failed;
    let of_files = if unread.is_empty() { exit::DONE } else { exit::PROGRAM };
    // A bug of Cotan outweighs errors of the program.
    let status = outcomes.iter().map(|outcome| outcome.status).fold(of_files, u8::max);
    if args.json {
        let tests: Vec<_> = outcomes.iter().map(Outcome::json).collect();
        let object = json!({
            "tests": tests, "passed": n_passed, "failed": n_failed, "diagnostics": diagnostics::objects(&unread),
        });
        output::print_json(&object.to_string())?;
    } else {
        diagnostics::print_text(&unread);
        output::print(&format!("{n_passed} passed, {n_failed} failed\n"))?;
    }
    Ok(status)
}

/// Runs the tests of a file whose titles contain the filter.
fn file(path: &Path, args: &TestArgs, report: &mut dyn FnMut(Outcome) -> Result<(), Failure>) -> Result<(), Failure> {
    let (name, text) = read_program(path)?;
    let (exposed, mut tests) = tests(&text);
    tests.retain(|test| args.filter.as_ref().is_none_or(|filter| test.title.contains(filter.as_str())));
    if tests.is_empty() {
        return Ok(());
    }
    let session = Session::check(&name, &exposed, &args.engine)?;
    for test in tests {
        let mut compared = Vec::new();
        let (status, failure) = match outcome(&session, &test.function) {
            Ok(true) => (exit::DONE, None),
            Ok(false) => {
                compared = sides(&name, &exposed, &test.function, args);
                (exit::PROGRAM, Some(Vec::new()))
            }
            Err(failure) if failure.status == exit::BUG => (exit::BUG, Some(failure.into_reports())),
            Err(failure) => (exit::PROGRAM, Some(failure.into_reports())),
        };
        report(Outcome { test, file: name.clone(), failure, compared, status })?;
    }
    Ok(())
}

fn outcome(session: &Session, name: &str) -> Result<bool, Failure> {
    let function = session.function(&Request::function(name))?;
    let written = &mut |written: Written<'_>| match written {
        Written::Debug(text) => output::debugged(text),
        Written::Output(_) => {}
    };
    let result = function.call_written(&Arguments::new(), written).map_err(|e| session.call_failure(name, &e))?;
    Ok(result.as_scalar() == Some(Const::bool(true)))
}

/// What a test compares, by a run that shows it; nothing where it can't be shown.
fn sides(name: &str, text: &str, test: &str, args: &TestArgs) -> Vec<String> {
    let run = || {
        let session = Session::check_quietly(name, &with_sides(text, test)?, &args.engine).ok()?;
        let mut shown = String::new();
        let written = &mut |written: Written<'_>| match written {
            Written::Debug(text) => shown.push_str(text),
            Written::Output(_) => {}
        };
        session.function(&Request::function(test)).ok()?.call_written(&Arguments::new(), written).ok()?;
        Some(shown.lines().map(str::to_owned).collect())
    };
    run().unwrap_or_default()
}

/// A line for a test, and below it why it failed.
fn print(outcome: &Outcome) -> Result<(), Failure> {
    let Test { title, line, column, .. } = &outcome.test;
    let file = visible_line(&outcome.file);
    let Some(reports) = &outcome.failure else {
        return output::print(&format!("{} {file}: {title}\n", terminal::good("ok  ")));
    };
    output::print(&format!("{} {file}:{line}:{column}: {title}\n", terminal::bad("FAIL")))?;
    if reports.is_empty() {
        eprint(&format!("{file}:{line}:{column}: `{title}` gave false"));
        outcome.compared.iter().for_each(|operand| eprint(&format!("  {}", visible_line(operand))));
    }
    diagnostics::print_text(reports);
    Ok(())
}

impl Outcome {
    fn json(&self) -> serde_json::Value {
        let (Test { title, line, column, .. }, file) = (&self.test, &self.file);
        let reports = self.failure.as_deref().unwrap_or_default();
        json!({
            "name": title, "file": file, "line": line, "column": column, "ok": self.failure.is_none(),
            "diagnostics": diagnostics::objects(reports), "compared": self.compared,
        })
    }
}
