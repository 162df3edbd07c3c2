//! What is said of a command line that is none.

use crate::args::Cli;
use crate::diagnostics;
use crate::exit;
use clap::Parser;
use cotan::diagnostics::visible_line;
use std::ffi::OsString;

/// Prints what is wrong, or the help that was asked for; gives the exit code.
pub(crate) fn explain(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        // A closed pipe is no reason to complain about.
        let _ = error.print();
        return exit::DONE;
    }
    match shown(std::env::args_os()) {
        Some(error) => drop(error.print()),
        None => diagnostics::eprint("error: expected arguments without control characters"),
    }
    exit::USAGE
}

/// The error of the same command line with its control characters shown: the parser puts arguments into messages as they
/// are. None if there is nothing wrong with that one.
fn shown(args: impl Iterator<Item = OsString>) -> Option<clap::Error> {
    Cli::try_parse_from(args.map(|arg| visible_line(&arg.to_string_lossy()).into_owned())).err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_stays_in_its_line() {
        let error = |args: &[&str]| shown(args.iter().map(OsString::from)).map(|error| error.render().to_string());
        let message = error(&["cotan", "run", "p.cot", "--x=a\u{1b}[2J\nerror: b"]).expect("an error");
        let first = message.lines().next().unwrap_or_default();
        assert_eq!(first, "error: unexpected argument '--x' found");
        let message = error(&["cotan", "run", "p.cot", "--backend", "a\u{1b}[2J\nerror: b"]).expect("an error");
        let first = message.lines().next().unwrap_or_default();
        assert_eq!(first, "error: invalid value 'a\u{241b}[2J\u{240a}error: b' for '--backend <BACKEND>'");
        assert_eq!(error(&["cotan", "ops"]), None);
    }
}
