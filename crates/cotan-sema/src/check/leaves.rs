//! Functions of the prelude on the leaves of values: `map_leaves`, `sum_leaves`, `inner`, `close`, `count_leaves`.

use cotan_ir::Elem;

use super::arguments::Source;
use super::builtin_arguments::{self, Site};
use super::{BodyChecker, combinators, vectors};
use crate::prelude;
use crate::typed::{Arg, Expr};
use crate::types::Type;
use crate::unify::Elems;

/// A function of one value: its type, and the value.
pub(super) fn of_one(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
    result: Elem,
) -> Option<(Type, Vec<Arg>)> {
    let [value] = builtin_arguments::exactly(checker, site, sources)?;
    let value = with_floats(checker, site, value)?;
    Some((Type::of(result), vec![Arg::Value(value)]))
}

/// `inner(a, b)`
pub(super) fn inner(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let [a, b] = builtin_arguments::exactly(checker, site, sources)?;
    let all = of_one_space(checker, site, vec![a, b])?;
    Some((Type::of(Elem::F64), all.into_iter().map(Arg::Value).collect()))
}

/// `close(a, b, tolerance)`
pub(super) fn close(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    let [a, b, tolerance] = builtin_arguments::exactly(checker, site, sources)?;
    let all = of_one_space(checker, site, vec![a, b])?;
    let tolerance = checker.fit(tolerance, &Type::of(Elem::F64), "the tolerance of `close`");
    if tolerance.ty.has_error() {
        return None;
    }
    Some((Type::of(Elem::Bool), all.into_iter().chain([tolerance]).map(Arg::Value).collect()))
}

/// `map_leaves(f, a, b, ..)`
pub(super) fn map_leaves(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_at_least(checker, site, sources.len(), 2)?;
    let mut sources = sources.into_iter();
    let function = sources.next()?;
    let values: Vec<Expr> = sources.map(|source| checker.source(source)).collect();
    let values = of_one_space(checker, site, values)?;
    let float = Type::of(Elem::F64);
    let callable = combinators::function_given(checker, site, function, &vec![float.clone(); values.len()])?;
    let result = Expr { ty: callable.result.clone(), ..Expr::error(callable.span) };
    if checker.fit(result, &float, "the result of the function of `map_leaves`").ty.has_error() {
        return None;
    }
    let ty = values[0].ty.clone();
    let values = values.into_iter().map(Arg::Value);
    Some((ty, std::iter::once(Arg::Function(callable)).chain(values).collect()))
}

/// Values of the type of the first one, or tangents of it.
fn of_one_space(checker: &mut BodyChecker<'_, '_>, site: Site, values: Vec<Expr>) -> Option<Vec<Expr>> {
    let mut fitted: Vec<Expr> = Vec::new();
    for value in values {
        let value = with_floats(checker, site, value)?;
        let Some(first) = fitted.first() else {
            fitted.push(value);
            continue;
        };
        let ty = first.ty.clone();
        let subject = format!("an argument of `{}`", prelude::builtin_name(site.builtin));
        let value = vectors::fit_beside(checker, value, &ty, &subject, None);
        if value.ty.has_error() {
            return None;
        }
        fitted.push(value);
    }
    Some(fitted)
}

/// A value with floats in it: a vector, or a float or a tensor of them.
fn with_floats(checker: &mut BodyChecker<'_, '_>, site: Site, value: Expr) -> Option<Expr> {
    if value.ty.has_error() {
        return None;
    }
    let ty = value.ty.clone();
    if vectors::is_vector(checker, &ty) {
        checker.infer.decide_floats(&ty);
        return Some(value);
    }
    if checker.infer.has_elems(&ty, Elems::any_float()) {
        return Some(value);
    }
    let help =
        "its leaves are the floats of a struct, a tuple, a tensor, or a parameter with the trait `Differentiable`";
    builtin_arguments::wrong_argument(checker, site, &value, "a value with floats in it", help)
}
