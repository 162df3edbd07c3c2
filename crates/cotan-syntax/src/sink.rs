//! Diagnostics while they are collected: of a file with more errors than anybody reads, the rest is counted only.

use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::span::Span;

/// Diagnostics, at most so many of them.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    list: Vec<Diagnostic>,
    most: usize,
    n_found: usize,
    /// Where the first one stands that is not kept.
    more_from: Option<Span>,
}

impl Sink {
    pub(crate) fn new(most: usize) -> Sink {
        Sink { list: Vec::new(), most, n_found: 0, more_from: None }
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.n_found += 1;
        if self.list.len() < self.most {
            self.list.push(diagnostic);
        } else {
            self.more_from.get_or_insert(diagnostic.primary.span);
        }
    }

    /// How many were found, kept or not.
    pub(crate) fn n_found(&self) -> usize {
        self.n_found
    }

    /// Those that are kept, in the order of the source, and a last one that counts the others.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let Sink { mut list, most, n_found, more_from } = self;
        list.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        let n_more = n_found - list.len();
        list.extend(more_from.map(|span| others(Severity::Error, most, &format!("{n_more} more"), span)));
        list
    }
}

/// Keeps the first `most` errors, as many warnings and as many notes, in their order, and tells at the end how many are not shown; only
/// that there are more where not all were looked for.
pub fn cap(diagnostics: &mut Vec<Diagnostic>, most: usize, are_all_found: bool) {
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let mut n = 0;
        let mut more_from = None;
        diagnostics.retain(|diagnostic| {
            // What the parser counted of a file stays.
            if diagnostic.severity != severity || diagnostic.code == codes::TOO_MANY_DIAGNOSTICS {
                return true;
            }
            n += 1;
            if n > most {
                more_from.get_or_insert(diagnostic.primary.span);
            }
            n <= most
        });
        if severity == Severity::Error && !are_all_found {
            // Few are left where mistakes are repeated.
            more_from = more_from.or_else(|| last_error(diagnostics));
        }
        let more = if are_all_found { format!("{} more", n.saturating_sub(most)) } else { "more".to_owned() };
        diagnostics.extend(more_from.map(|span| others(severity, most, &more, span)));
    }
}

fn last_error(diagnostics: &[Diagnostic]) -> Option<Span> {
    diagnostics.iter().rev().find(|diagnostic| diagnostic.is_error()).map(|diagnostic| diagnostic.primary.span)
}

/// What stands for diagnostics that are not shown, of which the first is at `span`.
fn others(severity: Severity, most: usize, found: &str, span: Span) -> Diagnostic {
    let message = format!("expected at most {most} {}s, found {found}, from here on", severity.as_str());
    let diagnostic = match severity {
        Severity::Error => Diagnostic::error(codes::TOO_MANY_DIAGNOSTICS, span, message),
        Severity::Warning => Diagnostic::warning(codes::TOO_MANY_DIAGNOSTICS, span, message),
        Severity::Note => Diagnostic::info(codes::TOO_MANY_DIAGNOSTICS, span, message),
    };
    diagnostic.help("mend the first ones: many of the others often follow from them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;

    fn error(at: u32) -> Diagnostic {
        Diagnostic::error(codes::UNKNOWN_CHARACTER, Span::new(FileId(0), at, at), "expected less")
    }

    #[test]
    fn a_sink_keeps_the_first_and_counts_the_others() {
        let mut sink = Sink::new(2);
        (0..5).for_each(|at| sink.push(error(at)));
        assert_eq!(sink.n_found(), 5);
        let list = sink.finish();
        assert_eq!(list.len(), 3);
        assert_eq!(list[2].message, "expected at most 2 errors, found 3 more, from here on");
        assert_eq!(list[2].primary.span.start, 2);
    }

    #[test]
    fn errors_and_warnings_are_counted_apart() {
        let warning = |at| Diagnostic { severity: Severity::Warning, ..error(at) };
        let mut list: Vec<Diagnostic> = (0..4).flat_map(|at| [error(at), warning(at)]).collect();
        cap(&mut list, 3, true);
        let more: Vec<_> = list[6..].iter().map(|d| (d.severity, d.message.as_str())).collect();
        let of = |what: &str| format!("expected at most 3 {what}s, found 1 more, from here on");
        assert_eq!(more, [(Severity::Error, of("error").as_str()), (Severity::Warning, of("warning").as_str())]);
        let mut few = list[..2].to_vec();
        cap(&mut few, 3, true);
        assert_eq!(few, list[..2]);
        cap(&mut few, 3, false);
        assert_eq!(few[2].message, "expected at most 3 errors, found more, from here on");
    }
}
