//! Marks: comments of a test program that say which diagnostics it gets.
//!
//! `#~ ERROR E0312` at the end of a line is a diagnostic that starts on this line, `#~^ ERROR E0312` one that starts on
//! the line above, for lines that can't end in a comment. A line may have several marks.

use std::fmt;

/// A diagnostic as a mark states it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    /// The file, empty for the program itself.
    pub(crate) file: String,
    /// The line on which its main place starts, from 1.
    pub(crate) line: u32,
    /// `ERROR` or `WARNING`.
    pub(crate) severity: String,
    /// Its code.
    pub(crate) code: String,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.file.is_empty() { String::new() } else { format!("{} ", self.file) };
        write!(f, "{file}line {}: {} {}", self.line, self.severity, self.code)
    }
}

/// The marks of a program, sorted.
pub(crate) fn marks(text: &str) -> Vec<Mark> {
    let mut out = Vec::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        for mark in line.split("#~").skip(1) {
            let rest = mark.trim_start_matches('^');
            let up = (mark.len() - rest.len()) as u32;
            let mut words = rest.split_whitespace().map(str::to_owned);
            let severity = words.next().unwrap_or_default();
            let code = words.next().unwrap_or_default();
            out.push(Mark { file: String::new(), line: number - up, severity, code });
        }
    }
    out.sort();
    out
}

#[test]
fn marks_stand_on_the_lines_that_they_speak_of() {
    let found = marks("a #~ ERROR E1 #~ WARNING W2\nb\n#~^ ERROR E3\n#~^^ ERROR E4\nc # plain\n");
    let found: Vec<String> = found.iter().map(Mark::to_string).collect();
    assert_eq!(found, ["line 1: ERROR E1", "line 1: WARNING W2", "line 2: ERROR E3", "line 2: ERROR E4"]);
}
