//! Grouping of repeated mistakes: what a file does wrong in the same way at several places is told once, with all places.
//!
//! Who reports a mistake says what it is one with ([`Diagnostic::repeated`]). The first place keeps its message; the others
//! are labels of it, and their edits belong to its fix, so that one fix mends them all.

use crate::diagnostic::{Diagnostic, Edit, Label};
use crate::fix::are_apart;
use crate::span::FileId;
use std::collections::{BTreeMap, HashMap};

/// The most places that are labels of a diagnostic; the others are counted.
const MOST_PLACES: usize = 8;

/// Diagnostics in the order of the source, in which each repeated mistake of a file stands once.
///
/// ```
/// use cotan_syntax::repeats::grouped;
/// use cotan_syntax::{Diagnostic, FileId, Span, codes};
/// let error = |at| Diagnostic::error(codes::FOREIGN_OPERATOR, Span::new(FileId(0), at, at + 1), "expected `**`, found `^`");
/// let errors: Vec<Diagnostic> = [3, 7].map(|at| error(at).repeated("power", "and here")).into();
/// let told = grouped(errors);
/// assert_eq!(told.len(), 1);
/// assert_eq!(told[0].labels[0].text, "and here");
/// ```
pub fn grouped(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut first: HashMap<(FileId, String), usize> = HashMap::new();
    let mut n_more: BTreeMap<usize, usize> = BTreeMap::new();
    let mut told: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics {
        let Some(repeated) = &diagnostic.repeated else {
            told.push(diagnostic);
            continue;
        };
        let key = (diagnostic.primary.span.file, repeated.mistake.clone());
        match first.get(&key) {
            Some(&at) if may_join(&told[at], &diagnostic) => {
                let n = n_more.entry(at).or_default();
                *n += 1;
                join(&mut told[at], diagnostic, *n <= MOST_PLACES);
            }
            Some(_) => told.push(diagnostic),
            None => {
                first.insert(key, told.len());
                told.push(diagnostic);
            }
        }
    }
    for (at, n) in n_more {
        if let Some(hidden) = n.checked_sub(MOST_PLACES).filter(|hidden| *hidden > 0) {
            let places = if hidden == 1 { "place" } else { "places" };
            told[at].help.push(format!("the same stands at {hidden} more {places}"));
        }
    }
    told
}

/// Whether the edits of another place leave those of the first alone; edits that are the same are one.
fn may_join(first: &Diagnostic, other: &Diagnostic) -> bool {
    let fits = |edit: &Edit| first.fix.iter().all(|known| known == edit || are_apart(known, edit));
    first.severity == other.severity && other.fix.iter().all(fits)
}

fn join(first: &mut Diagnostic, other: Diagnostic, is_shown: bool) {
    let text = other.repeated.map(|repeated| repeated.remark).unwrap_or_default();
    if is_shown {
        first.labels.push(Label { span: other.primary.span, text });
    }
    let new: Vec<Edit> = other.fix.into_iter().filter(|edit| !first.fix.contains(edit)).collect();
    first.fix.extend(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;
    use crate::span::Span;

    fn error(file: u32, at: u32) -> Diagnostic {
        Diagnostic::error(codes::FOREIGN_OPERATOR, Span::new(FileId(file), at, at + 1), "expected `**`, found `^`")
    }

    fn slip(file: u32, at: u32) -> Diagnostic {
        let slip = error(file, at);
        let place = slip.primary.span;
        slip.fix(place, "**").repeated("power", "write `**` here")
    }

    #[test]
    fn one_fix_mends_all_places_of_a_file() {
        let told = grouped(vec![slip(0, 3), error(0, 5), slip(0, 7), slip(1, 7)]);
        let found: Vec<_> = told.iter().map(|d| (d.primary.span.start, d.labels.len(), d.fix.len())).collect();
        assert_eq!(found, [(3, 1, 2), (5, 0, 0), (7, 0, 1)]);
    }

    #[test]
    fn an_edit_that_touches_another_stays_in_a_diagnostic_of_its_own() {
        let told = grouped(vec![slip(0, 3), slip(0, 4), slip(0, 9)]);
        assert_eq!(told.iter().map(|d| d.fix.len()).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn places_beyond_those_that_are_shown_are_counted_and_mended() {
        let told = grouped((0..12).map(|k| slip(0, 3 * k)).collect());
        assert_eq!((told.len(), told[0].labels.len(), told[0].fix.len()), (1, MOST_PLACES, 12));
        assert_eq!(told[0].help, ["the same stands at 3 more places"]);
    }
}
