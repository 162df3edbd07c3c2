//! `cotan fmt`: programs in the one layout.

use crate::args::FmtArgs;
use crate::diagnostics::{self, Failure};
use crate::exit;
use crate::files::{self, programs};
use crate::output;
use crate::session::{decode_program, read_program};
use cotan::codes;
use cotan::diagnostics::{FileId, SourceMap, visible_line, visible_text};
use cotan::format;
use similar::TextDiff;
use std::io::Read;
use std::path::Path;

pub(crate) fn run(args: &FmtArgs) -> Result<u8, Failure> {
    if let [only] = args.paths.as_slice()
        && only == Path::new("-")
    {
        return standard_input(args.check);
    }
    let mut status = exit::DONE;
    for path in programs(&args.paths)? {
        match file(&path, args.check) {
            Ok(is_fine) => status = status.max(if is_fine { exit::DONE } else { exit::PROGRAM }),
            // The other files can still be formatted.
            Err(failure) if failure.status == exit::PROGRAM => {
                status = exit::PROGRAM;
                diagnostics::print_text(&failure.into_reports());
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(status)
}

/// Formats a file, or compares it. Says whether nothing is left to do.
fn file(path: &Path, is_check: bool) -> Result<bool, Failure> {
    let (name, text) = read_program(path)?;
    let formatted = formatted(&name, &text)?;
    if formatted == text {
        return Ok(true);
    }
    if is_check {
        output::print(&difference(&name, &text, &formatted))?;
        return Ok(false);
    }
    files::replace(path, formatted.as_bytes())
        .map_err(|e| Failure::about(&name, exit::USAGE, codes::UNREADABLE_FILE, format!("writing `{name}`: {e}")))?;
    diagnostics::eprint(&format!("formatted {name}"));
    Ok(true)
}

fn standard_input(is_check: bool) -> Result<u8, Failure> {
    let name = "<stdin>";
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|e| {
        Failure::about(name, exit::USAGE, codes::UNREADABLE_FILE, format!("reading the standard input: {e}"))
    })?;
    let text = decode_program(name, bytes)?;
    let formatted = formatted(name, &text)?;
    if !is_check {
        output::print(&formatted)?;
        return Ok(exit::DONE);
    }
    if formatted == text {
        return Ok(exit::DONE);
    }
    output::print(&difference(name, &text, &formatted))?;
    Ok(exit::PROGRAM)
}

fn formatted(name: &str, text: &str) -> Result<String, Failure> {
    format(FileId(0), text).map_err(|errors| {
        let mut sources = SourceMap::new();
        sources.add(name, text);
        Failure::program(exit::PROGRAM, &errors, &sources)
    })
}

/// Lines between the first and the last that differ, in both texts. The time to find the least difference grows with
/// the square of it.
pub(crate) const MOST_LINES_COMPARED: usize = 10_000;

/// What formatting would change.
fn difference(name: &str, text: &str, formatted: &str) -> String {
    let name = visible_line(name);
    let (before, after) = differing_lines(text, formatted);
    if before + after > MOST_LINES_COMPARED {
        return format!("--- {name}\n+++ {name} (formatted)\n{before} lines would become {after}\n");
    }
    let diff = TextDiff::from_lines(text, formatted);
    let diff = diff.unified_diff().context_radius(2).header(&name, &format!("{name} (formatted)")).to_string();
    visible_text(&diff).into_owned()
}

/// How many lines lie between the first and the last that differ, in each of the texts.
fn differing_lines(a: &str, b: &str) -> (usize, usize) {
    let (n_a, n_b) = (a.lines().count(), b.lines().count());
    let is_same = |(x, y): &(&str, &str)| x == y;
    let head = a.lines().zip(b.lines()).take_while(is_same).count();
    let tail = a.lines().rev().zip(b.lines().rev()).take_while(is_same).count().min(n_a.min(n_b) - head);
    (n_a - head - tail, n_b - head - tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_the_first_to_the_last_that_differs() {
        assert_eq!(differing_lines("a\nb\nc\n", "a\nx\ny\nc\n"), (1, 2));
        assert_eq!(differing_lines("a\n", "a\na\n"), (0, 1));
        assert_eq!(differing_lines("a\na\n", "a\n"), (1, 0));
    }

    /// Defect D10: lines of the source went to the terminal as they were.
    #[test]
    fn d10_lines_of_a_program_are_shown_without_control_characters() {
        let told = difference("a\nb\u{1b}.cot", "x\u{1b}[2J\n", "y\u{9b}\n");
        assert_eq!(
            told,
            "--- a\u{240a}b\u{241b}.cot\n+++ a\u{240a}b\u{241b}.cot (formatted)\n@@ -1 +1 @@\n-x\u{241b}[2J\n+y\u{fffd}\n"
        );
    }

    #[test]
    fn a_large_difference_is_told_in_numbers() {
        let long = "x\n".repeat(MOST_LINES_COMPARED);
        let told = difference("p.cot", &format!("a\n{long}b\n"), &format!("c\n{long}{long}d\n"));
        assert_eq!(told, "--- p.cot\n+++ p.cot (formatted)\n10002 lines would become 20002\n");
    }
}
