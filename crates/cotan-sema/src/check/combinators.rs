//! Functions of the prelude that take functions: `tabulate`, `map`, `scan` and their like.

use cotan_syntax::{Diagnostic, Span};

use super::arguments::Source;
use super::builtin_arguments::Site;
use super::control::element_type;
use super::infer::Strictness;
use super::{BodyChecker, axes, builtin_arguments, folds, operators, ranges};
use crate::codes;
use crate::dims::Dim;
use crate::prelude;
use crate::typed::{Arg, Builtin, Callable, Expr};
use crate::types::Type;

const NEXT_STATE: &str = "the next state, which the function gives";

/// A function argument for parameters of these types.
pub(super) fn function_given(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    source: Source<'_>,
    params: &[Type],
) -> Option<Callable> {
    match source {
        Source::Ast(expr) => checker.function_arg(expr, params),
        Source::Typed(expr) | Source::Default(expr) => {
            let name = prelude::builtin_name(site.builtin);
            checker.function_as_value(expr.span, &format!("the function that `{name}` needs"));
            None
        }
    }
}

pub(super) fn tabulate(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_count(checker, site, sources.len(), 2)?;
    let mut sources = sources.into_iter();
    let (counts, function) = (sources.next()?, sources.next()?);
    let (counts, dims) = builtin_arguments::counts(checker, site, counts)?;
    if counts.is_empty() {
        return builtin_arguments::no_counts(checker, site);
    }
    let mut params: Vec<Type> = Vec::new();
    for count in &counts {
        match count {
            Arg::Value(count) => params.push(count.ty.clone()),
            Arg::Pack(_) | Arg::Function(_) => return builtin_arguments::no_pack_here(checker, site),
        }
    }
    let callable = function_given(checker, site, function, &params)?;
    let ty = stack(checker, &callable, &dims)?;
    Some((ty, counts.into_iter().chain([Arg::Function(callable)]).collect()))
}

/// What stacking the results of a function gives.
fn stack(checker: &mut BodyChecker<'_, '_>, callable: &Callable, dims: &[Dim]) -> Option<Type> {
    if callable.result.has_error() {
        return None;
    }
    if matches!(callable.result, Type::Never) || callable.result.is_unit() {
        let message = "expected a value as the result of the function, found `()`";
        checker.report(
            Diagnostic::error(codes::MISMATCH, callable.span, message)
                .help("end the lambda with the value; for effects write a `for` loop"),
        );
        return None;
    }
    let element = Expr { ty: callable.result.clone(), ..Expr::error(callable.span) };
    checker.require_element(&element).then(|| callable.result.stacked(dims))
}

/// Tensors that are gone through together along the first axis.
fn lanes(checker: &mut BodyChecker<'_, '_>, site: Site, values: Vec<Expr>) -> Option<(Vec<Expr>, Dim)> {
    let mut fitted: Vec<Expr> = Vec::new();
    let mut first: Option<(Dim, Span)> = None;
    for value in values {
        if value.ty.dims().is_empty() {
            return builtin_arguments::wrong_argument(
                checker,
                site,
                &value,
                "a tensor",
                "give a tensor, or write a `for` loop",
            );
        }
        let dim = axes::first_axis(checker, &value, prelude::builtin_name(site.builtin))?;
        let Some((wanted, span)) = first.clone() else {
            first = Some((dim, value.span));
            fitted.push(value);
            continue;
        };
        let dims = std::iter::once(wanted).chain(value.ty.dims()[1..].iter().cloned()).collect();
        let wanted = Type::tensor(value.ty.elem().clone(), dims);
        let subject = format!("an argument of `{}`", prelude::builtin_name(site.builtin));
        let origin = Some((span, "as long as this one"));
        let value = checker.fit_as(value, &wanted, &subject, Strictness::Exact, origin);
        if value.ty.has_error() {
            return None;
        }
        fitted.push(value);
    }
    first.map(|(dim, _)| (fitted, dim))
}

pub(super) fn map(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    pack: Option<Dim>,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_at_least(checker, site, sources.len(), 2)?;
    if is_exchanged(checker, site, &sources) {
        return None;
    }
    let mut sources = sources.into_iter();
    let function = sources.next()?;
    let values: Vec<Expr> = sources.map(|source| checker.source(source)).collect();
    let over = pack.as_ref().and_then(Dim::as_pack);
    let (values, dim) = match pack {
        Some(pack) => (pack_lanes(checker, site, values, &pack)?, pack),
        None => lanes(checker, site, values)?,
    };
    let params: Vec<Type> = values.iter().map(|value| element_type(&value.ty)).collect();
    let callable = function_given(checker, site, function, &params)?;
    let ty = stack(checker, &callable, &[dim])?;
    let args = over.map(Arg::Pack).into_iter().chain([Arg::Function(callable)]);
    Some((ty, args.chain(values.into_iter().map(Arg::Value)).collect()))
}

/// Reports `map(v, f)`, where the function comes last.
fn is_exchanged(checker: &mut BodyChecker<'_, '_>, site: Site, sources: &[Source<'_>]) -> bool {
    let [Source::Ast(value), Source::Ast(function)] = sources else { return false };
    if operators::looks_like_function(checker, value) || !operators::looks_like_function(checker, function) {
        return false;
    }
    let name = prelude::builtin_name(site.builtin);
    let message = format!("expected the function before the tensor in `{name}`, found it behind");
    let diagnostic = Diagnostic::error(codes::FUNCTION_AS_VALUE, function.span, message);
    let written = checker.module.written(function.span).zip(checker.module.written(value.span));
    let diagnostic = match written.map(|(function, value)| (function.to_owned(), value.to_owned())) {
        Some((function, value)) => diagnostic.help(format!("write `{name}({function}, {value})`")),
        None => diagnostic.help("exchange the arguments"),
    };
    let texts = checker.module.text(value.span).zip(checker.module.text(function.span));
    let fixed = texts.map(|(v, f)| (v.to_owned(), f.to_owned()));
    checker.report(match fixed {
        Some((v, f)) => diagnostic.fix(value.span, f).fix(function.span, v),
        None => diagnostic,
    });
    true
}

/// Tensors that are gone through together along the axes of a pack.
fn pack_lanes(checker: &mut BodyChecker<'_, '_>, site: Site, values: Vec<Expr>, pack: &Dim) -> Option<Vec<Expr>> {
    for value in &values {
        if value.ty.dims().first() != Some(pack) {
            let (wanted, help) = (checker.show_dim(pack), "the axes of the pack stand first, as in `T[..S, N]`");
            return builtin_arguments::wrong_argument(
                checker,
                site,
                value,
                &format!("a tensor that begins with `{wanted}`"),
                help,
            );
        }
    }
    Some(values)
}

pub(super) fn zip(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_at_least(checker, site, sources.len(), 2)?;
    let values: Vec<Expr> = sources.into_iter().map(|source| checker.source(source)).collect();
    let (values, dim) = lanes(checker, site, values)?;
    let elem = Type::Tuple(values.iter().map(|value| element_type(&value.ty)).collect());
    Some((Type::tensor(elem, vec![dim]), values.into_iter().map(Arg::Value).collect()))
}

pub(super) fn fold_or_scan(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_count(checker, site, sources.len(), 3)?;
    let mut sources = sources.into_iter();
    let (init, function, tensor) = (sources.next()?, sources.next()?, sources.next()?);
    let init = checker.source(init);
    let tensor = checker.source(tensor);
    if init.ty.has_error() || tensor.ty.has_error() {
        return None;
    }
    if tensor.ty.dims().is_empty() {
        return builtin_arguments::wrong_argument(
            checker,
            site,
            &tensor,
            "a tensor",
            "the arguments are `init, |acc, x| e, v`",
        );
    }
    let dim = axes::first_axis(checker, &tensor, prelude::builtin_name(site.builtin))?;
    let params = [init.ty.clone(), element_type(&tensor.ty)];
    let callable = function_given(checker, site, function, &params)?;
    let callable = folds::keeps_state(checker, callable, &init.ty, NEXT_STATE)?;
    if site.builtin == Builtin::Scan && !checker.require_element(&init) {
        return None;
    }
    let ty = if site.builtin == Builtin::Scan { init.ty.stacked(&[dim]) } else { init.ty.clone() };
    Some((ty, vec![Arg::Value(init), Arg::Function(callable), Arg::Value(tensor)]))
}

pub(super) fn iterate(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_count(checker, site, sources.len(), 3)?;
    let mut sources = sources.into_iter();
    let (count, init, step) = (sources.next()?, sources.next()?, sources.next()?);
    let count = checker.source(count);
    let count = ranges::integer(checker, count, "the number of steps of `iterate`");
    let init = checker.source(init);
    if init.ty.has_error() {
        return None;
    }
    let step = function_given(checker, site, step, std::slice::from_ref(&init.ty))?;
    let step = folds::keeps_state(checker, step, &init.ty, NEXT_STATE)?;
    Some((init.ty.clone(), vec![Arg::Value(count?), Arg::Value(init), Arg::Function(step)]))
}

pub(super) fn iterate_until(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_count(checker, site, sources.len(), 4)?;
    let mut sources = sources.into_iter();
    let (init, step) = (sources.next()?, sources.next()?);
    let (done, most) = (sources.next()?, sources.next()?);
    let init = checker.source(init);
    let most = checker.source(most);
    let most = ranges::integer(checker, most, "the limit of `iterate_until`");
    if init.ty.has_error() {
        return None;
    }
    let step = function_given(checker, site, step, std::slice::from_ref(&init.ty));
    let done = function_given(checker, site, done, std::slice::from_ref(&init.ty))?;
    let result = Expr { ty: done.result.clone(), ..Expr::error(done.span) };
    let is_bool = !operators::condition(checker, result, "the test of `iterate_until`").ty.has_error();
    let step = folds::keeps_state(checker, step?, &init.ty, NEXT_STATE)?;
    let ty = init.ty.clone();
    let args = vec![Arg::Value(init), Arg::Function(step), Arg::Function(done), Arg::Value(most?)];
    is_bool.then_some((ty, args))
}
