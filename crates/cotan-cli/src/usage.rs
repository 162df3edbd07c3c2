//! What is said of a command line that is none.

use crate::exit;
use cotan::syntax::render::{visible_line, visible_text};
use std::io::Write;

/// Prints what is wrong, or the help that was asked for; gives the exit code.
pub(crate) fn explain(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        // A closed pipe is no reason to complain about.
        let _ = error.print();
        return exit::DONE;
    }
    let args: Vec<String> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let _ = match shown(&error.render().to_string(), &args) {
        Some(text) => std::io::stderr().write_all(text.as_bytes()),
        // With colours, where there is a terminal.
        None => error.print(),
    };
    exit::USAGE
}

/// The text of an error, if an argument in it has control characters: with those shown. Line breaks that are not of
/// arguments are of the text.
fn shown(text: &str, args: &[String]) -> Option<String> {
    let values = args.iter().filter_map(|arg| arg.split_once('=')).map(|(_, value)| value);
    let parts = args.iter().map(String::as_str).chain(values);
    let hostile: Vec<&str> = parts.filter(|part| visible_line(part) != *part).collect();
    if hostile.is_empty() {
        return None;
    }
    let text = hostile.iter().fold(text.to_owned(), |text, part| text.replace(part, &visible_line(part)));
    Some(visible_text(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_stays_in_its_line() {
        let args = ["cotan", "run", "--x=a\u{1b}[2J\nerror: b", "-\u{9b}"].map(str::to_owned);
        let text =
            "error: unexpected argument '--x=a\u{1b}[2J\nerror: b' found\n\ntip: a\u{1b}[2J\nerror: b, -\u{9b}\n";
        let expected = "error: unexpected argument '--x=a\u{241b}[2J\u{240a}error: b' found\n\n\
                        tip: a\u{241b}[2J\u{240a}error: b, -\u{fffd}\n";
        assert_eq!(shown(text, &args).as_deref(), Some(expected));
        assert_eq!(shown("error\n", &args[..2]), None);
    }
}
