//! Indices: elements, slices, gathers, and the shape that they leave.

use cotan_syntax::ast::{self, Arg, ExprKind};
use cotan_syntax::{Diagnostic, Span};

use super::meant::Meant;
use super::{BodyChecker, axes, out_of_range, ranges};
use crate::codes;
use crate::dims::Dim;
use crate::typed::{Expr, Index};
use crate::types::Type;
use crate::unify::Elems;

/// The indices in a bracket, and the type of what they select from a value of type `ty`. `name` is what the source
/// calls the value, if it has a name.
pub(super) fn indices(
    checker: &mut BodyChecker<'_, '_>,
    ty: &Type,
    base: (&str, Span),
    name: Option<&str>,
    args: &[Arg],
    span: Span,
) -> Option<(Vec<Index>, Type)> {
    let indices: Vec<Option<Index>> = {
        let is_alone = args.len() == 1 && ty.dims().len() == 1;
        args.iter().map(|arg| one_index(checker, base.1, arg, is_alone)).collect()
    };
    let indices: Option<Vec<Index>> = indices.into_iter().collect();
    let dims = match ty {
        Type::Tensor { dims, .. } => dims.clone(),
        Type::Error => return None,
        Type::Never
        | Type::Scalar(_)
        | Type::Tuple(_)
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Function(_)
        | Type::Param(_) => {
            let help = if matches!(ty, Type::Tuple(_)) {
                "the parts of a tuple are `.0`, `.1` and so on"
            } else if matches!(ty, Type::Struct(_)) {
                "the parts of a struct are its fields"
            } else {
                "only tensors are indexed"
            };
            let message = format!("expected a tensor before the bracket, found {}", base.0);
            checker.report(Diagnostic::error(codes::NOT_INDEXABLE, base.1, message).help(help));
            return None;
        }
    };
    let indices = indices?;
    if indices.is_empty() || indices.len() > dims.len() {
        let plural = if dims.len() == 1 { "index" } else { "indices" };
        let message = format!("expected at most {} {plural}, found {}", dims.len(), indices.len());
        let note = format!("the value is a `{}`", checker.show(ty));
        checker.report(
            Diagnostic::error(codes::INDEX_COUNT, span, message)
                .label(base.1, note)
                .help("give one index or slice for each dim, from the first; the rest stays whole"),
        );
        return None;
    }
    if indices.len() > ty.front().len() {
        axes::report_axis_in_pack(
            checker,
            ty,
            base.0,
            span,
            &format!("the first {} axes for these indices", indices.len()),
        );
        return None;
    }
    let name = name.filter(|_| indices.len() == 1);
    let mut are_in_range = true;
    for (index, dim) in indices.iter().zip(&dims) {
        are_in_range &= !out_of_range::is_out_of_range(checker, index, dim, name);
    }
    if !are_in_range {
        return None;
    }
    let mut left: Vec<Dim> = Vec::new();
    for (index, dim) in indices.iter().zip(&dims) {
        match index {
            Index::At(_) => {}
            Index::Gather(positions) => left.extend(positions.ty.dims().iter().cloned()),
            Index::Slice { lo, hi, inclusive, span } => {
                left.push(slice_extent(checker, lo.as_ref(), hi.as_ref(), *inclusive, dim, *span));
            }
        }
    }
    left.extend(dims[indices.len()..].iter().cloned());
    let selected = Type::tensor(ty.elem().clone(), left);
    Some((indices, selected))
}

fn one_index(checker: &mut BodyChecker<'_, '_>, base: Span, arg: &Arg, is_alone: bool) -> Option<Index> {
    if let Some(name) = &arg.name {
        let message = format!("expected an index, found the named argument `{}`", name.name);
        checker.report(
            Diagnostic::error(codes::INTEGER_EXPECTED, arg.value.span, message).help("indices are given by position"),
        );
        return None;
    }
    if let ExprKind::Range(range) = &arg.value.kind {
        return slice(checker, range, arg.value.span);
    }
    let value = checker.expr(&arg.value);
    if value.ty.has_error() {
        return None;
    }
    match value.ty.scalar() {
        Some(scalar) if checker.infer.vars.require_position(scalar, value.span) => {
            let is_scalar = value.ty.is_scalar();
            Some(if is_scalar { Index::At(value) } else { Index::Gather(value) })
        }
        Some(scalar) if !value.ty.is_scalar() && checker.infer.vars.is_within(scalar, Elems::bool()) => {
            report_mask(checker, (base, is_alone), &value)
        }
        _ => {
            // Reports what is wrong with it.
            ranges::integer(checker, value, "an index");
            None
        }
    }
}

/// Reports `x[x .> 0.0]`. Of a vector the mask, if it is its only index, selects the elements where it holds.
fn report_mask<T>(checker: &mut BodyChecker<'_, '_>, (base, is_alone): (Span, bool), mask: &Expr) -> Option<T> {
    let message = format!("expected an integer for an index, found {}", checker.show_value(mask));
    let tensor = checker.module.written(base).unwrap_or("v");
    let written = checker.module.written(mask.span).unwrap_or("mask");
    let help = format!(
        "a mask selects with `select({written}, {tensor}, 0.0)`, which keeps the shape, or with \
         `index.compress({tensor}, {written})` of `std.index`"
    );
    let diagnostic = Diagnostic::error(codes::INTEGER_EXPECTED, mask.span, message).help(help);
    let is_certain = is_alone && tensor != "v" && written != "mask";
    let (module, imports) = checker.module.module_here("std.index");
    let code = format!("{module}.compress({tensor}, {written})");
    let meant = Meant { imports, ..Meant::call(code, is_certain) };
    let whole = Span { end: mask.span.end + 1, ..base };
    checker.report(checker.module.with_fix(&meant, diagnostic, whole, Some(whole)));
    None
}

fn slice(checker: &mut BodyChecker<'_, '_>, range: &ast::Range, span: Span) -> Option<Index> {
    let mut end = |end: &Option<ast::Expr>| -> Option<Option<Expr>> {
        match end {
            None => Some(None),
            Some(end) => {
                let value = checker.expr(end);
                ranges::integer(checker, value, "an end of the slice").map(Some)
            }
        }
    };
    let (lo, hi) = (end(&range.lo), end(&range.hi));
    Some(Index::Slice { lo: lo?, hi: hi?, inclusive: range.inclusive, span })
}

/// The extent of a slice: a slice out of range is a run-time error, so the difference of the
/// ends is right.
fn slice_extent(
    checker: &mut BodyChecker<'_, '_>,
    lo: Option<&Expr>,
    hi: Option<&Expr>,
    inclusive: bool,
    whole: &Dim,
    span: Span,
) -> Dim {
    if lo.is_none() && hi.is_none() {
        return whole.clone();
    }
    let lo = lo.map_or(Some(Dim::constant(0)), |lo| checker.size_of(lo));
    let hi = match hi {
        Some(hi) => checker.size_of(hi).and_then(|hi| hi.plus(&Dim::constant(i64::from(inclusive)))),
        None => Some(whole.clone()),
    };
    match lo.zip(hi).and_then(|(lo, hi)| hi.minus(&lo)) {
        Some(length) => length.at_run_time(),
        None => checker.infer.sizes.fresh(span),
    }
}
