//! Axes of tensors whose rank is not known: a shape pack stands for any number of them, and elements of any type may
//! have axes of their own. What goes over an axis needs one whose position is known.

use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;
use crate::dims::Dim;
use crate::typed::Expr;
use crate::types::Type;

/// The first axis of a tensor, which `what` goes over; reports one that is part of a pack. `None` also for what has
/// no axes at all.
pub(super) fn first_axis(checker: &mut BodyChecker<'_, '_>, value: &Expr, what: &str) -> Option<Dim> {
    let ty = value.ty.clone();
    if ty.front().is_empty() && ty.has_pack() {
        let shown = checker.show_value(value);
        report_axis_in_pack(checker, &ty, &shown, value.span, &format!("the first axis for {}", quoted(what)));
    }
    ty.front().first().cloned()
}

/// The last `n` axes of a tensor of at least that rank, which `what` at `span` goes over; reports those that are not
/// known.
pub(super) fn last_axes(
    checker: &mut BodyChecker<'_, '_>,
    value: &Expr,
    n: usize,
    span: Span,
    what: &str,
) -> Option<Vec<Dim>> {
    let back = value.ty.back();
    if let Some(first) = back.len().checked_sub(n) {
        return Some(back[first..].to_vec());
    }
    let axes = if n == 1 { "the last axis".to_owned() } else { format!("the last {n} axes") };
    let shown = checker.show_value(value);
    report_axis_in_pack(checker, &value.ty, &shown, span, &format!("{axes} for {}", quoted(what)));
    None
}

/// Whether the rank of a type is known, which `what` needs; reports it if not.
pub(super) fn has_known_rank(checker: &mut BodyChecker<'_, '_>, ty: &Type, span: Span, what: &str) -> bool {
    if ty.has_pack() {
        let shown = format!("`{}`", checker.show(ty));
        report_axis_in_pack(checker, ty, &shown, span, &format!("all axes for {}", quoted(what)));
    }
    !ty.has_pack()
}

pub(super) fn report_axis_in_pack(checker: &mut BodyChecker<'_, '_>, ty: &Type, shown: &str, span: Span, axes: &str) {
    let (of, help) = if ty.has_pack() {
        ("a shape pack", "name the axes that are gone through beside the pack, as in `T[N, ..S]` or `T[..S, N]`")
    } else {
        ("its elements", "the elements may be tensors: go over the first axis, with `map`, `fold` or `for`")
    };
    let message = format!("expected {axes} to be known, found {shown}, where it belongs to {of}");
    checker.report(Diagnostic::error(codes::AXIS_IN_PACK, span, message).help(help));
}

/// The name of an operation; a description of one stays as it is.
fn quoted(what: &str) -> String {
    if what.contains(' ') { what.to_owned() } else { format!("`{what}`") }
}
