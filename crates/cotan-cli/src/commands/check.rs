//! `cotan check`: everything that is wrong with programs.

use crate::args::CheckArgs;
use crate::diagnostics::{self, Failure, Report};
use crate::exit;
use crate::output;
use crate::session::{FileLoader, read_program};
use cotan::diagnostics::Severity;
use cotan::{Program, ProgramLimits};

pub(crate) fn run(args: &CheckArgs) -> Result<u8, Failure> {
    let mut reports = Vec::new();
    let (mut n_errors, mut n_warnings) = (0, 0);
    for path in &args.files {
        let (name, text) = match read_program(path) {
            Ok(program) => program,
            Err(failure) if failure.status == exit::PROGRAM => {
                n_errors += 1;
                reports.extend(failure.into_reports());
                continue;
            }
            Err(failure) => return Err(failure),
        };
        let program = Program::load(&name, &text, &FileLoader, &cotan::library::standard(), &ProgramLimits::default());
        for diagnostic in &program.diagnostics {
            match diagnostic.severity {
                Severity::Error => n_errors += 1,
                Severity::Warning => n_warnings += 1,
                Severity::Note => {}
            }
            reports.push(Report::new(diagnostic, &program.sources));
        }
    }
    if args.json {
        output::print_reports(&reports)?;
    } else {
        diagnostics::print_text(&reports);
        diagnostics::eprint(&format!("{n_errors} errors, {n_warnings} warnings"));
    }
    let is_denied = args.deny.is_some() && n_warnings > 0;
    Ok(if n_errors > 0 || is_denied { exit::PROGRAM } else { exit::DONE })
}
