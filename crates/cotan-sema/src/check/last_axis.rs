//! Functions of the prelude that go along the last axis of a tensor, as folds do: sorting, positions of extremes,
//! running totals. Beside them the other functions that say in words what syntax also says: `gather`, `wrapping_as`.

use cotan_ir::Elem;
use cotan_syntax::Diagnostic;

use super::arguments::Source;
use super::builtin_arguments::Site;
use super::{BodyChecker, axes, builtin_arguments, combinators, storage};
use crate::codes;
use crate::prelude;
use crate::typed::{Arg, Expr};
use crate::types::{Bound, Scalar, Type};
use crate::unify::Elems;

/// `sort(v)`: the elements are moved, not computed with.
pub(super) fn sort(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let (value, ty) = builtin_arguments::on_tensor(checker, site, sources, 1)?;
    if !checker.infer.has_elems(&ty, Elems::of_bound(Bound::Ord)) {
        return no_numbers(checker, site, &value);
    }
    Some((ty, vec![Arg::Value(value)]))
}

/// `cumsum(v)`, `cumprod(v)`
pub(super) fn running(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let (value, ty) = on_numbers(checker, site, sources)?;
    Some((ty, vec![value]))
}

/// `argsort(v)`: one position for each element.
pub(super) fn positions(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let (value, ty) = on_numbers(checker, site, sources)?;
    Some((ty.with_scalar(Scalar::Of(Elem::I64)), vec![value]))
}

/// `argmax(v)`, `argmin(v)`: one position for each row.
pub(super) fn position(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let (value, ty) = on_numbers(checker, site, sources)?;
    let outer = ty.dims()[..ty.dims().len() - 1].to_vec();
    Some((Type::tensor(Type::of(Elem::I64), outer), vec![value]))
}

fn on_numbers(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Arg, Type)> {
    let (value, _) = builtin_arguments::on_tensor(checker, site, sources, 1)?;
    let value = storage::computed(&checker.infer, value);
    let ty = value.ty.clone();
    if !checker.infer.has_elems(&ty, Elems::numeric()) {
        return no_numbers(checker, site, &value);
    }
    Some((Arg::Value(value), ty))
}

fn no_numbers<T>(checker: &mut BodyChecker<'_, '_>, site: Site, value: &Expr) -> Option<T> {
    let help = "give a tensor of integers or floats, such as one field of the elements";
    builtin_arguments::wrong_argument(checker, site, value, "a tensor of numbers", help)
}

/// `gather(v, idx)`
pub(super) fn gather(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let [value, positions] = builtin_arguments::exactly(checker, site, sources)?;
    if value.ty.dims().is_empty() {
        return builtin_arguments::wrong_argument(
            checker,
            site,
            &value,
            "a tensor",
            "the tensor comes first: `gather(v, idx)`",
        );
    }
    axes::first_axis(checker, &value, "gather")?;
    let positions_ty = positions.ty.clone();
    if positions_ty.dims().is_empty() || !checker.infer.has_elems(&positions_ty, Elems::integer()) {
        let help = "for a single position write `v[i]`";
        return builtin_arguments::wrong_argument(
            checker,
            site,
            &positions,
            "a tensor of integers as the positions",
            help,
        );
    }
    let dims = positions_ty.dims().iter().chain(&value.ty.dims()[1..]).cloned().collect();
    let ty = Type::tensor(value.ty.elem().clone(), dims);
    Some((ty, vec![Arg::Value(value), Arg::Value(positions)]))
}

/// `wrapping_as[u8](x)`
pub(super) fn wrapping_as(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    target: Option<Scalar>,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let Some(target) = target else {
        let message = "expected the integer type to wrap to in brackets after `wrapping_as`, found none";
        checker.report(
            Diagnostic::error(codes::GENERIC_COUNT, site.span, message).help("write it, as in `wrapping_as[u8](x)`"),
        );
        return None;
    };
    let [value] = builtin_arguments::exactly(checker, site, sources)?;
    let ty = value.ty.clone();
    if !checker.infer.has_elems(&ty, Elems::integer()) {
        let help = "a float is cut to an integer first: `wrapping_as[u8](x as i64)`";
        return builtin_arguments::wrong_argument(checker, site, &value, "an integer", help);
    }
    Some((ty.with_scalar(target), vec![Arg::Value(value)]))
}

/// `each(v, f)`
pub(super) fn each(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_count(checker, site, sources.len(), 2)?;
    let mut sources = sources.into_iter();
    let (tensor, function) = (sources.next()?, sources.next()?);
    let tensor = checker.source(tensor);
    if tensor.ty.has_error() {
        return None;
    }
    if tensor.ty.dims().is_empty() {
        let name = prelude::builtin_name(site.builtin);
        return builtin_arguments::wrong_argument(
            checker,
            site,
            &tensor,
            "a tensor",
            &format!("the tensor comes first: `{name}(v, |x| ..)`"),
        );
    }
    let row = super::control::element_type(&tensor.ty);
    checker.lends_output = true;
    let callable = combinators::function_given(checker, site, function, &[row]);
    checker.lends_output = false;
    let callable = callable?;
    let result = &callable.result;
    if result.has_error() {
        return None;
    }
    if !result.is_unit() && !matches!(result, Type::Never) {
        let message =
            format!("expected a function without a value for `each`, found one that gives `{}`", checker.show(result));
        checker.report(
            Diagnostic::error(codes::MISMATCH, callable.span, message).help("to keep the values write `map(f, v)`"),
        );
        return None;
    }
    Some((Type::UNIT, vec![Arg::Value(tensor), Arg::Function(callable)]))
}
