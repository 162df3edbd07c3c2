//! Positions that are out of range in every run, whatever the sizes are: an error before the program runs.
//!
//! What is known of a position or an extent here is a polynomial over sizes, the same for all instances of the function. So
//! nothing is refused that could be right in some instance, and what a condition around it says does not count: a
//! position that is never right is a mistake where it stands. A position that goes through a variable with a known value
//! is not looked at: a condition on the variable may keep it from ever being used. Of a variable that may have any value
//! none matters, as in `x[n + 1..n]`.

use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;
use crate::dims::Dim;
use crate::typed::{Expr, ExprKind, Index};

/// A slice as it is written, with what is known of its ends.
struct Slice<'e> {
    lo: Option<&'e Expr>,
    hi: Option<&'e Expr>,
    inclusive: bool,
    span: Span,
}

/// Reports an index or a slice that is out of range in every run. `name` is what is indexed, if it has one and the
/// index is the only one.
pub(super) fn is_out_of_range(
    checker: &mut BodyChecker<'_, '_>,
    index: &Index,
    extent: &Dim,
    name: Option<&str>,
) -> bool {
    let error = match index {
        Index::At(at) => bad_index(checker, at, extent, name),
        Index::Slice { lo, hi, inclusive, span } => {
            let slice = Slice { lo: lo.as_ref(), hi: hi.as_ref(), inclusive: *inclusive, span: *span };
            bad_slice(checker, &slice, extent, name)
        }
        Index::Gather(Expr { kind: ExprKind::Array(positions), .. }) => {
            positions.iter().find_map(|at| bad_index(checker, at, extent, None))
        }
        Index::Gather(_) => None,
    };
    let Some(error) = error else { return false };
    checker.report(error);
    true
}

/// The size that an expression is, as far as literals, sizes and variables that may have any value make it.
fn written_size(checker: &BodyChecker<'_, '_>, expr: &Expr) -> Option<Dim> {
    if names_known(checker, expr) { None } else { checker.size_of(expr) }
}

/// Whether a variable with a known value is among the operands of arithmetic.
fn names_known(checker: &BodyChecker<'_, '_>, expr: &Expr) -> bool {
    if let ExprKind::Chain(chain) = &expr.kind {
        return names_known(checker, &chain.first) || chain.rest.iter().any(|link| names_known(checker, &link.operand));
    }
    matches!(expr.kind, ExprKind::Local(local) if checker.locals.known(local).is_some())
}

fn bad_index(checker: &BodyChecker<'_, '_>, at: &Expr, extent: &Dim, name: Option<&str>) -> Option<Diagnostic> {
    let position = written_size(checker, at)?;
    if position.is_surely_negative() {
        let message = format!("expected an index of at least 0, found `{}`", checker.show_dim(&position));
        let error = Diagnostic::error(codes::OUT_OF_RANGE, at.span, message);
        return Some(match position.plus(extent) {
            Some(meant) => {
                let code = checker.show_dim(&meant);
                counted_from_the_end(error, at.span, code, name)
            }
            None => error,
        });
    }
    if !extent.is_surely_below(&position.plus(&Dim::constant(1))?) {
        return None;
    }
    let (shown, limit) = (checker.show_dim(&position), checker.show_dim(extent));
    let message = format!("expected an index below `{limit}`, found `{shown}`");
    let help = match extent.minus(&Dim::constant(1)) {
        Some(last) if *extent != Dim::constant(0) => format!("the last index is `{}`", checker.show_dim(&last)),
        Some(_) | None => "there are no elements along this axis".to_owned(),
    };
    Some(Diagnostic::error(codes::OUT_OF_RANGE, at.span, message).help(help))
}

fn bad_slice(checker: &BodyChecker<'_, '_>, slice: &Slice<'_>, extent: &Dim, name: Option<&str>) -> Option<Diagnostic> {
    let zero = Dim::constant(0);
    let known = |end: Option<&Expr>, missing: &Dim| match end {
        Some(end) => written_size(checker, end),
        None => Some(missing.clone()),
    };
    let (lo, hi) = (known(slice.lo, &zero), known(slice.hi, extent));
    let is_negative = |end: &Option<Dim>| end.as_ref().is_some_and(Dim::is_surely_negative);
    // One past the last position.
    let past = |hi: &Dim| if slice.inclusive { hi.plus(&Dim::constant(1)) } else { Some(hi.clone()) };
    let end = hi.as_ref().filter(|_| slice.hi.is_some()).and_then(past).or_else(|| hi.clone());
    let dots = if slice.inclusive { "..=" } else { ".." };
    for (negative, span) in [(&lo, slice.lo), (&hi, slice.hi)].map(|(end, e)| (end, e.map(|e| e.span))) {
        // `..=-1` has no elements, and is right where nothing is before it.
        if !is_negative(negative) || slice.inclusive && std::ptr::eq(negative, &hi) && !is_negative(&end) {
            continue;
        }
        let shown = negative.as_ref().map(|end| checker.show_dim(end)).unwrap_or_default();
        let message = format!("expected a slice with ends of at least 0, found `{shown}`");
        let from_end = |end: &Option<Dim>, e: Option<&Expr>| match (end, e) {
            (_, None) => Some(String::new()),
            (Some(end), Some(_)) if end.is_surely_negative() => Some(checker.show_dim(&end.plus(extent)?)),
            (Some(end), Some(_)) => Some(checker.show_dim(end)),
            (None, Some(_)) => None,
        };
        let error = Diagnostic::error(codes::OUT_OF_RANGE, span.unwrap_or(slice.span), message);
        return Some(match from_end(&lo, slice.lo).zip(from_end(&hi, slice.hi)) {
            Some((lo, hi)) => {
                let code = format!("{lo}{dots}{hi}");
                counted_from_the_end(error, slice.span, code, name)
            }
            None => error.help(FROM_THE_START),
        });
    }
    let end = end?;
    if let Some(lo) = lo
        && end.is_surely_below(&lo)
    {
        let (limit, start) = (checker.show_dim(extent), checker.show_dim(&lo));
        if slice.hi.is_none() {
            let message =
                format!("expected a slice that starts at `{limit}` at most, found one that starts at `{start}`");
            let help = format!("there are `{limit}` elements along this axis");
            return Some(Diagnostic::error(codes::OUT_OF_RANGE, slice.span, message).help(help));
        }
        let end = hi.map(|hi| checker.show_dim(&hi)).unwrap_or_default();
        let message = format!("expected a slice whose end is not before its start, found `{start}{dots}{end}`");
        let help = "write the smaller end first; `.rev()` reverses what is selected";
        return Some(Diagnostic::error(codes::OUT_OF_RANGE, slice.span, message).help(help));
    }
    if !extent.is_surely_below(&end) {
        return None;
    }
    let (limit, shown) = (checker.show_dim(extent), checker.show_dim(&end));
    let message = format!("expected a slice that ends at `{limit}` at most, found one that ends at `{shown}`");
    let help = "leave the end out for all that is behind the start, as in `x[1..]`";
    Some(Diagnostic::error(codes::OUT_OF_RANGE, slice.span, message).help(help))
}

const FROM_THE_START: &str = "indices do not count from the end";

/// The error with what to write in place of an index that counts from the end, a mistake that is told once.
fn counted_from_the_end(error: Diagnostic, span: Span, meant: String, name: Option<&str>) -> Diagnostic {
    let help = match name {
        Some(name) => format!("{FROM_THE_START}: write `{name}[{meant}]`"),
        None => format!("{FROM_THE_START}: write `{meant}`"),
    };
    let remark = format!("write `{meant}` here");
    error.help(help).fix(span, meant).repeated(FROM_THE_START, remark)
}
