//! Fixes: the edits that diagnostics carry, applied to the text of a file.

use crate::diagnostic::{Diagnostic, Edit};
use crate::span::FileId;

/// The text of a file after fixes, and how many were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The new text.
    pub text: String,
    /// The number of diagnostics whose fix was made.
    pub n_fixes: usize,
}

/// Makes the fixes of diagnostics in a file. A fix that touches text of one before it is left for the next round, and so
/// is a fix that reaches into another file; none is made in part.
///
/// ```
/// use cotan_syntax::{FileId, fix, parse};
/// let source = "fn f(a: bool, b: bool) -> bool = a and b";
/// let (_, diagnostics) = parse(FileId(0), source);
/// assert_eq!(fix::apply(FileId(0), source, &diagnostics).text, "fn f(a: bool, b: bool) -> bool = a && b");
/// ```
pub fn apply(file: FileId, text: &str, diagnostics: &[Diagnostic]) -> Fixed {
    let mut chosen: Vec<&Edit> = Vec::new();
    let mut n_fixes = 0;
    for diagnostic in diagnostics.iter().filter(|diagnostic| !diagnostic.fix.is_empty()) {
        let fits = |edit: &Edit| edit.span.file == file && text.get(edit.span.range()).is_some();
        let is_apart = |edit: &Edit| chosen.iter().all(|other| are_apart(edit, other));
        if diagnostic.fix.iter().all(|edit| fits(edit) && is_apart(edit)) {
            chosen.extend(&diagnostic.fix);
            n_fixes += 1;
        }
    }
    // The sort is stable: insertions at one place stay in their order.
    chosen.sort_by_key(|edit| (edit.span.start, edit.span.end));
    Fixed { text: with_edits(text, &chosen), n_fixes }
}

/// Whether neither edit touches the text of the other. Of two that insert at one place nobody knows which comes first.
pub(crate) fn are_apart(a: &Edit, b: &Edit) -> bool {
    a.span.end < b.span.start || b.span.end < a.span.start
}

/// The text with edits that are in order and do not overlap.
fn with_edits(text: &str, edits: &[&Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        let range = edit.span.range();
        out.push_str(text.get(done..range.start).unwrap_or(""));
        out.push_str(&edit.text);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or(""));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;
    use crate::span::Span;

    fn diagnostic(edits: &[(u32, u32, &str)]) -> Diagnostic {
        let span = |start, end| Span::new(FileId(0), start, end);
        let error = Diagnostic::error(codes::FOREIGN_OPERATOR, span(0, 0), "expected other text");
        edits.iter().fold(error, |error, (start, end, text)| error.fix(span(*start, *end), *text))
    }

    fn fixed(text: &str, diagnostics: &[Diagnostic]) -> (String, usize) {
        let Fixed { text, n_fixes } = apply(FileId(0), text, diagnostics);
        (text, n_fixes)
    }

    #[test]
    fn edits_of_one_fix_are_made_together_in_any_order() {
        let fix = diagnostic(&[(4, 5, ")"), (0, 1, "("), (2, 2, "-")]);
        assert_eq!(fixed("a b c", &[fix]), ("( -b )".to_owned(), 1));
    }

    #[test]
    fn a_fix_that_touches_another_waits_as_a_whole() {
        let (first, second) = (diagnostic(&[(0, 2, "X")]), diagnostic(&[(2, 3, "Y"), (5, 6, "Z")]));
        assert_eq!(fixed("abcdef", &[first, second.clone()]), ("Xcdef".to_owned(), 1));
        assert_eq!(fixed("abcdef", &[second]), ("abYdeZ".to_owned(), 1));
    }

    #[test]
    fn what_lies_outside_of_the_text_is_not_touched() {
        let elsewhere = Diagnostic::error(codes::FOREIGN_OPERATOR, Span::new(FileId(1), 0, 0), "expected other text")
            .fix(Span::new(FileId(1), 0, 1), "X");
        assert_eq!(
            fixed("é", &[elsewhere, diagnostic(&[(1, 2, "X")]), diagnostic(&[(0, 9, "X")])]),
            ("é".to_owned(), 0)
        );
    }
}
