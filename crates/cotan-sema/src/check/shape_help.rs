//! What to do about shapes that do not fit: a factor that is transposed, a row that is to be repeated, a length that is
//! never the one that is wanted.

use super::BodyChecker;
use crate::codes;
use crate::dims::{Dim, Relation};
use crate::typed::Expr;
use crate::types::Type;
use cotan_syntax::{Diagnostic, Span};

/// For a value with fewer axes than are wanted: those that it has are the last ones, so it can be repeated.
pub(super) fn broadcast(checker: &BodyChecker<'_, '_>, value: &Expr, wanted: &Type) -> Option<String> {
    let (have, want) = (value.ty.dims(), wanted.dims());
    if have.is_empty() || have.len() >= want.len() || !want.ends_with(have) {
        return None;
    }
    let code = checker.module.written(value.span).unwrap_or("v");
    let sizes: Vec<String> = want.iter().map(|dim| checker.show_dim(dim)).collect();
    let is_known = !sizes.iter().any(|size| has_hole(size));
    is_known.then(|| format!("write `broadcast({code}, [{}])`: shapes are not extended silently", sizes.join(", ")))
}

/// Reports operands of which one has the last axes of the other: it is repeated elsewhere, and one has to say so here.
pub(super) fn is_row_reported(
    checker: &mut BodyChecker<'_, '_>,
    (left_span, left): (Span, &Type),
    right: &Expr,
) -> bool {
    let left = Expr { ty: left.clone(), ..Expr::error(left_span) };
    let is_left = left.ty.dims().len() < right.ty.dims().len();
    let (row, whole) = if is_left { (&left, right) } else { (right, &left) };
    let (Some(help), Some(code)) = (broadcast(checker, row, &whole.ty), checker.module.written(row.span)) else {
        return false;
    };
    let sizes: Vec<String> = whole.ty.dims().iter().map(|dim| checker.show_dim(dim)).collect();
    let code = format!("broadcast({code}, [{}])", sizes.join(", "));
    let (side, found) = (if is_left { "left" } else { "right" }, checker.show_value(row));
    let message = format!("expected `{}` for the {side} operand, found {found}", checker.show(&whole.ty));
    let diagnostic = Diagnostic::error(codes::RANK_MISMATCH, row.span, message);
    let diagnostic = diagnostic.label(whole.span, "the other operand has this shape");
    checker.report(diagnostic.help(help).fix(row.span, code));
    true
}

/// Whether a size as it is shown has a part that no source has a name for.
pub(super) fn has_hole(size: &str) -> bool {
    size.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "_")
}

/// For sizes whose difference is a number: they are never equal, whatever the sizes in them are.
pub(super) fn never_equal(checker: &BodyChecker<'_, '_>, found: &Type, wanted: &Dim, size: &Dim) -> Option<String> {
    let more = size.minus(wanted)?.as_constant()?;
    let (count, plural) = (more.unsigned_abs(), if more.unsigned_abs() == 1 { "" } else { "s" });
    let than = if more > 0 { "more" } else { "fewer" };
    let (wanted, found) = (checker.show_dim(wanted), checker.show(found));
    if has_hole(&wanted) {
        return Some(format!("it has {count} element{plural} {than} than is wanted, whatever the sizes are"));
    }
    Some(format!("it has {count} element{plural} {than} than `{wanted}`, whatever `{wanted}` is: declare `{found}`"))
}

/// For a product whose inner sizes differ: the products of the same factors that have a shape.
pub(super) fn other_products(checker: &BodyChecker<'_, '_>, left: (&Type, Span), right: &Expr) -> Option<String> {
    let (m, n) = (left.0.dims(), right.ty.dims());
    let (a, b) = (checker.module.written_operand(left.1)?, checker.module.written_operand(right.span)?);
    let (rows, inner) = (m.get(m.len().saturating_sub(2))?, m.last()?);
    let (first, columns) = (n.get(n.len().saturating_sub(2))?, n.last()?);
    if first.relation(inner) != Relation::Differ {
        return None;
    }
    let candidates = [
        (m.len() >= 2 && rows == first, format!("`transpose({a}) @ {b}`")),
        (n.len() >= 2 && columns == inner, format!("`{a} @ transpose({b})`")),
        (m.len().max(n.len()) >= 2 && columns == rows, format!("`{b} @ {a}`")),
    ];
    let fitting: Vec<String> = candidates.into_iter().filter(|(fits, _)| *fits).map(|(_, code)| code).collect();
    (!fitting.is_empty()).then(|| format!("did you mean {}?", fitting.join(" or ")))
}
