//! What goes wrong, as text for people on stderr and as JSON for tools on stdout.

use crate::exit;
use crate::terminal;
use cotan::codes;
use cotan::diagnostics::{Code, Diagnostic, HOW_TO_REPORT, JsonDiagnostic, SourceMap, to_json, to_text, visible_line};
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
}

impl Failure {
    /// Errors of a program, with the warnings beside them.
    pub(crate) fn program(status: u8, diagnostics: &[Diagnostic], sources: &SourceMap) -> Failure {
        Failure { status, reports: diagnostics.iter().map(|d| Report::new(d, sources)).collect() }
    }

    /// A run-time error of a program.
    pub(crate) fn run_time(status: u8, diagnostic: &Diagnostic, sources: &SourceMap) -> Failure {
        Failure { status, reports: vec![Report::new(diagnostic, sources)] }
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
            fix: Vec::new(),
        };
        let text = format!("error[{code}]: {}", visible_line(&message));
        Failure { status, reports: vec![Report { text, json }] }
    }

    /// Cotan itself failed.
    pub(crate) fn bug(message: impl std::fmt::Display) -> Failure {
        Failure::plain(exit::BUG, codes::BUG, format!("this is a bug of Cotan: {message}")).help(HOW_TO_REPORT)
    }

    /// The same of what was told on stderr already.
    pub(crate) fn told(mut self) -> Failure {
        self.reports.iter_mut().for_each(|report| report.text.clear());
        self
    }

    /// Adds what to do about it.
    pub(crate) fn help(mut self, text: &str) -> Failure {
        if let Some(last) = self.reports.last_mut() {
            last.text.push_str(&format!("\n  help: {}", visible_line(text)));
            last.json.help = Some(text.to_owned());
        }
        self
    }

    /// What there is to report.
    pub(crate) fn into_reports(self) -> Vec<Report> {
        self.reports
    }

    /// The same without taking it.
    pub(crate) fn reports(&self) -> &[Report] {
        &self.reports
    }
}

/// The objects of reports.
pub(crate) fn objects(reports: &[Report]) -> Vec<&JsonDiagnostic> {
    reports.iter().map(|r| &r.json).collect()
}

/// All reports on stderr, with empty lines between.
pub(crate) fn print_text(reports: &[Report]) {
    let texts: Vec<&str> = reports.iter().map(|r| r.text.as_str()).filter(|text| !text.is_empty()).collect();
    if !texts.is_empty() {
        write(&texts.join("\n\n"));
    }
}

/// The same of all that a command has to report; on a terminal with the way to the page of the first.
pub(crate) fn print_with_page(reports: &[Report]) {
    print_text(reports);
    if let Some(line) = page(reports).filter(|_| terminal::shows_stderr()) {
        write(&format!("\n{line}"));
    }
}

/// Where more is said about the first of the reports.
fn page(reports: &[Report]) -> Option<String> {
    let first = reports.iter().find(|report| !report.text.is_empty())?;
    Some(format!("for more: `cotan explain {}`", first.json.code))
}

/// One line on stderr, whatever names are in it.
pub(crate) fn eprint(text: &str) {
    write(&visible_line(text));
}

/// Text on stderr. Unlike `eprintln!` this does not panic where nobody listens.
fn write(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_that_of_the_first_report_that_is_shown() {
        let failure = |code| Failure::plain(2, code, "message");
        let told = failure(codes::BUG).told();
        let reports: Vec<Report> = [told, failure(codes::LIMIT)].into_iter().flat_map(Failure::into_reports).collect();
        assert_eq!(page(&reports).as_deref(), Some("for more: `cotan explain R0100`"));
        assert_eq!(page(&reports[..1]), None);
    }

    /// Defect D10: messages about the command line kept what they named as it was.
    #[test]
    fn d10_a_message_about_the_command_line_is_one_line_without_control_characters() {
        let failure = Failure::about("a\u{1b}", 2, codes::UNREADABLE_FILE, "reading `a\u{1b}[2J\nerror: b`");
        let failure = failure.help("the functions are `f\u{9b}`");
        let expected = "error[A0006]: reading `a\u{241b}[2J\u{240a}error: b`\n  help: the functions are `f\u{fffd}`";
        assert_eq!(failure.reports[0].text, expected);
    }
}
