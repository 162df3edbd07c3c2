//! Format strings: `print("{:.3} {}", x, y)`.
//!
//! The first string of a `print` with further arguments is a format if it has a place for a value, `{}` or `{:...}`. Any
//! other string with braces stands as it is.

use cotan_ops::{DEBUG_MARK, FORMAT_MARK, Format};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;
use crate::typed::PrintPiece;

/// A part of a format string.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Segment {
    Text(String),
    /// A place for a value.
    Value(Format),
}

/// The parts of a string that is a format for so many values, or `None` if it is none. What does not fit is reported.
pub(super) fn format(
    checker: &mut BodyChecker<'_, '_>,
    text: &str,
    span: Span,
    n_values: usize,
) -> Option<Vec<Segment>> {
    expect_plain(checker, text, span);
    let segments = match segments(text) {
        Ok(segments) => segments,
        Err(place) => {
            let message = format!("expected a format such as `{{:.3}}`, found `{place}`");
            let help = "after the colon stand a width, decimals after a point, and `e` for an exponent: `{:10.3e}`";
            checker.report(Diagnostic::error(codes::FORMAT, span, message).help(help));
            return None;
        }
    };
    let n_places = segments.iter().filter(|segment| matches!(segment, Segment::Value(_))).count();
    if n_places == 0 {
        return None;
    }
    if n_places != n_values {
        let message = format!("expected {n_places} values for the places of the format, found {n_values}");
        let help = "each `{}` stands for one value; braces that are none are written twice: `{{}}`";
        checker.report(Diagnostic::error(codes::FORMAT, span, message).help(help));
        return None;
    }
    Some(segments)
}

/// The parts of a text; a place that does not read is the error.
fn segments(text: &str) -> Result<Vec<Segment>, String> {
    let (mut segments, mut plain, mut rest) = (Vec::new(), String::new(), text);
    while let Some(first) = rest.chars().next() {
        let doubled = ["{{", "}}"].into_iter().any(|braces| rest.starts_with(braces));
        let inside = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(inside, _)| inside);
        let spec = inside.and_then(|inside| if inside.is_empty() { Some("") } else { inside.strip_prefix(':') });
        rest = match (doubled, inside, spec) {
            (false, Some(inside), Some(spec)) => {
                let format = Format::from_text(spec).ok_or_else(|| format!("{{{inside}}}"))?;
                segments.push(Segment::Text(std::mem::take(&mut plain)));
                segments.push(Segment::Value(format));
                &rest[inside.len() + 2..]
            }
            (is_doubled, _, _) => {
                plain.push(first);
                &rest[if is_doubled { 2 } else { first.len_utf8() }..]
            }
        };
    }
    segments.push(Segment::Text(plain));
    Ok(segments)
}

/// The format with its values.
pub(super) fn filled(format: Vec<Segment>, values: Vec<PrintPiece>) -> Vec<PrintPiece> {
    let mut values = values.into_iter();
    let pieces = format.into_iter().filter_map(|segment| match segment {
        Segment::Text(text) => Some(PrintPiece::Text(text)),
        Segment::Value(format) => values.next().map(|piece| match piece {
            PrintPiece::Text(text) => PrintPiece::Text(text),
            PrintPiece::Value(value, _) => PrintPiece::Value(value, format),
        }),
    });
    pieces.collect()
}

/// Pieces with a space between two.
pub(super) fn separated(pieces: Vec<PrintPiece>) -> Vec<PrintPiece> {
    let mut all = Vec::with_capacity(2 * pieces.len());
    for piece in pieces {
        if !all.is_empty() {
            all.push(PrintPiece::Text(" ".to_owned()));
        }
        all.push(piece);
    }
    all
}

/// Reports the two control characters that mark formats and debugging output on their way to whoever writes them.
pub(super) fn expect_plain(checker: &mut BodyChecker<'_, '_>, text: &str, span: Span) {
    if text.contains([DEBUG_MARK, FORMAT_MARK]) {
        let message = "expected text, found the control characters U+001E or U+001F";
        checker.report(Diagnostic::error(codes::FORMAT, span, message).help("leave them out"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_from_braces() {
        let text = |text: &str| Segment::Text(text.to_owned());
        let value = |format: &str| Segment::Value(Format::from_text(format).expect("a format"));
        assert_eq!(segments("a {} b"), Ok(vec![text("a "), value(""), text(" b")]));
        assert_eq!(segments("{:8.3e}"), Ok(vec![text(""), value("8.3e"), text("")]));
        assert_eq!(segments("{{}} {x} { ü"), Ok(vec![text("{} {x} { ü")]));
        assert_eq!(segments("{:d}"), Err("{:d}".to_owned()));
    }
}
