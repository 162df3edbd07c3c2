//! `cotan check`: everything that is wrong with programs.

use crate::args::CheckArgs;
use crate::diagnostics::{self, Failure, Report};
use crate::exit;
use crate::files::{self, programs};
use crate::output;
use crate::session::{FileLoader, read_program};
use cotan::codes;
use cotan::diagnostics::{Severity, mend};
use cotan::{Program, ProgramLimits};
use std::path::Path;

/// What was found so far.
#[derive(Default)]
struct Findings {
    reports: Vec<Report>,
    n_errors: usize,
    n_warnings: usize,
}

pub(crate) fn run(args: &CheckArgs) -> Result<u8, Failure> {
    let mut found = Findings::default();
    for path in programs(&args.paths)? {
        match program(&path, args.fix) {
            Ok(program) => found.add(&program),
            Err(failure) if failure.status == exit::PROGRAM => {
                found.n_errors += 1;
                found.reports.extend(failure.into_reports());
            }
            Err(failure) => return Err(failure),
        }
    }
    let Findings { reports, n_errors, n_warnings } = found;
    if args.json {
        output::print_reports(&reports)?;
    } else {
        diagnostics::print_with_page(&reports);
        diagnostics::eprint(&format!("{}, {}", counted(n_errors, "error"), counted(n_warnings, "warning")));
    }
    let is_denied = args.deny.is_some() && n_warnings > 0;
    Ok(if n_errors > 0 || is_denied { exit::PROGRAM } else { exit::DONE })
}

impl Findings {
    fn add(&mut self, program: &Program) {
        for diagnostic in &program.diagnostics {
            match diagnostic.severity {
                Severity::Error => self.n_errors += 1,
                Severity::Warning => self.n_warnings += 1,
                Severity::Note => {}
            }
            self.reports.push(Report::new(diagnostic, &program.sources));
        }
    }
}

/// Checks a file; with `is_fix`, mends it first.
fn program(path: &Path, is_fix: bool) -> Result<Program, Failure> {
    let (name, text) = read_program(path)?;
    let (library, limits) = (cotan::library::standard(), ProgramLimits::default());
    if !is_fix {
        return Ok(Program::load(&name, &text, &FileLoader, &library, &limits));
    }
    let mended = mend(&name, &text, &FileLoader, &library, &limits);
    if mended.n_fixes > 0 {
        files::replace(path, mended.text.as_bytes()).map_err(|e| {
            Failure::about(&name, exit::USAGE, codes::UNREADABLE_FILE, format!("writing `{name}`: {e}"))
        })?;
        diagnostics::eprint(&format!("{name}: {}", counted_fixes(mended.n_fixes)));
    }
    Ok(mended.program)
}

fn counted_fixes(n: usize) -> String {
    if n == 1 { "made 1 fix".to_owned() } else { format!("made {n} fixes") }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
