//! What goes wrong, as text for people on stderr and as JSON for tools on stdout.

use crate::output;
use crate::terminal;
use cotan::syntax::render::{JsonDiagnostic, to_json, to_text};
use cotan::syntax::{Code, Diagnostic, SourceMap};
use std::io::Write;

/// One thing to report, in both forms.
pub(crate) struct Report {
    text: String,
    json: JsonDiagnostic,
}

/// Why a command did not do its job, and the exit code that says so.
pub(crate) struct Failure {
    pub(crate) status: u8,
    reports: Vec<Report>,
}

impl Report {
    /// A diagnostic about a place in a program.
    pub(crate) fn new(diagnostic: &Diagnostic, sources: &SourceMap) -> Report {
        Report { text: to_text(diagnostic, sources, terminal::style()), json: to_json(diagnostic, sources) }
    }

    /// The same with `FILE:LINE:COLUMN:` in front of the message, as editors and terminals make links of.
    fn with_place_first(mut self) -> Report {
        let JsonDiagnostic { file, line, column, .. } = &self.json;
        self.text.insert_str(0, &format!("{file}:{line}:{column}: "));
        self
    }
}

impl Failure {
    /// Errors of a program, with the warnings beside them.
    pub(crate) fn program(status: u8, diagnostics: &[Diagnostic], sources: &SourceMap) -> Failure {
        Failure { status, reports: diagnostics.iter().map(|d| Report::new(d, sources)).collect() }
    }

    /// A run-time error of a program.
    pub(crate) fn run_time(status: u8, diagnostic: &Diagnostic, sources: &SourceMap) -> Failure {
        Failure { status, reports: vec![Report::new(diagnostic, sources).with_place_first()] }
    }

    /// An error of the command line or of a file that is no program.
    pub(crate) fn plain(status: u8, code: Code, message: impl Into<String>) -> Failure {
        Failure::about("<command line>", status, code, message)
    }

    /// An error about a file as a whole.
    pub(crate) fn about(file: &str, status: u8, code: Code, message: impl Into<String>) -> Failure {
        let message = message.into();
        let json = JsonDiagnostic {
            severity: "error",
            code: code.as_str(),
            message: message.clone(),
            file: file.to_owned(),
            line: 1,
            column: 1,
            end_line: 1,
            end_column: 1,
            help: None,
            related: Vec::new(),
        };
        Failure { status, reports: vec![Report { text: format!("error[{code}]: {message}"), json }] }
    }

    /// Adds what to do about it.
    pub(crate) fn help(mut self, text: &str) -> Failure {
        if let Some(last) = self.reports.last_mut() {
            last.text.push_str(&format!("\n  help: {text}"));
            last.json.help = Some(text.to_owned());
        }
        self
    }

    /// What there is to report.
    pub(crate) fn into_reports(self) -> Vec<Report> {
        self.reports
    }

    /// Text on stderr; under `--json` the object on stdout instead.
    pub(crate) fn print(&self, is_json: bool) {
        if is_json {
            // There is nobody to tell that stdout is gone.
            let _ = print_json(&self.reports);
        } else {
            print_text(&self.reports);
        }
    }
}

/// The objects of reports.
pub(crate) fn objects(reports: &[Report]) -> Vec<&JsonDiagnostic> {
    reports.iter().map(|r| &r.json).collect()
}

/// `{"diagnostics": [...]}` on stdout.
pub(crate) fn print_json(reports: &[Report]) -> Result<(), Failure> {
    let object = serde_json::json!({ "diagnostics": objects(reports) });
    output::print(&format!("{object}\n"))
}

/// All reports on stderr, with empty lines between.
pub(crate) fn print_text(reports: &[Report]) {
    let texts: Vec<&str> = reports.iter().map(|r| r.text.as_str()).collect();
    if !texts.is_empty() {
        eprint(&texts.join("\n\n"));
    }
}

/// A line on stderr. Unlike `eprintln!` it does not panic where nobody listens.
pub(crate) fn eprint(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
