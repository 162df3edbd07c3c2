//! Functions of the prelude that are no scalar primitives.

use cotan_ir::{Elem, bug};
use cotan_syntax::ast::Arg as AstArg;
use cotan_syntax::{Diagnostic, Span};

use super::arguments::Source;
use super::builtin_arguments::Site;
use super::callee::Callee;
use super::infer::Strictness;
use super::size_exprs::pack_name;
use super::type_scope::TypeScope;
use super::{
    BodyChecker, axes, builtin_arguments, combinators, last_axis, leaves, size_exprs, storage, type_exprs, vectors,
};
use crate::codes;
use crate::dims::{Dim, Relation};
use crate::prelude;
use crate::typed::{Arg, Builtin, Expr, ExprKind};
use crate::types::{Bound, GenericArg, Scalar, Type};
use crate::unify::Elems;

/// `zeros[f64]`, `wrapping_as[u8]`
pub(super) fn builtin_with_type<'s>(
    checker: &mut BodyChecker<'_, '_>,
    builtin: Builtin,
    args: &[AstArg],
    span: Span,
) -> Callee<'s> {
    let name = prelude::builtin_name(builtin);
    if builtin == Builtin::Map {
        return map_over_pack(checker, args, span);
    }
    let Some(bound) = type_argument(builtin) else {
        let message = format!("expected no brackets after `{name}`, found some");
        checker.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help("leave the brackets out"));
        return Callee::Failed;
    };
    if let [AstArg { name: None, value }] = args {
        let generics = checker.generics.clone();
        return match type_exprs::scalar_arg(checker.module, "T", bound, value, &generics) {
            Some(scalar) => Callee::Builtin(builtin, Some(GenericArg::Scalar(scalar)), span),
            None => Callee::Failed,
        };
    }
    let message = format!("expected one element type in the brackets of `{name}`, found something else");
    let call = if builtin == Builtin::WrappingAs { "wrapping_as[u8](x)".to_owned() } else { format!("{name}[f64](n)") };
    checker.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help(format!("write `{call}`")));
    Callee::Failed
}

/// `map[..S]`
fn map_over_pack<'s>(checker: &mut BodyChecker<'_, '_>, args: &[AstArg], span: Span) -> Callee<'s> {
    let pack = if let [AstArg { name: None, value }] = args { pack_name(value) } else { None };
    let Some((name, pack_span)) = pack else {
        let message = "expected a shape pack in the brackets of `map`, found something else";
        checker.report(
            Diagnostic::error(codes::NOT_A_PACK, span, message)
                .help("write `map[..S](f, v)` to go over the axes of the pack `..S`, or leave the brackets out"),
        );
        return Callee::Failed;
    };
    match size_exprs::pack(checker.module, name, pack_span, &TypeScope::new(checker.generics.clone())) {
        Some(dim) => Callee::Builtin(Builtin::Map, Some(GenericArg::Pack(vec![dim])), span),
        None => Callee::Failed,
    }
}

/// A call of a builtin.
pub(super) fn builtin_call(
    checker: &mut BodyChecker<'_, '_>,
    builtin: Builtin,
    given: Option<GenericArg>,
    sources: Vec<Source<'_>>,
    span: Span,
) -> Expr {
    let site = Site { builtin, span };
    let (elem, pack) = match given {
        Some(GenericArg::Scalar(elem)) => (Some(elem), None),
        Some(GenericArg::Pack(mut dims)) => (None, dims.pop()),
        Some(GenericArg::Size(_) | GenericArg::Type(_)) | None => (None, None),
    };
    let checked = match builtin {
        Builtin::Tabulate => combinators::tabulate(checker, site, sources),
        Builtin::Map => combinators::map(checker, site, pack, sources),
        Builtin::Zip => combinators::zip(checker, site, sources),
        Builtin::Scan | Builtin::Fold => combinators::fold_or_scan(checker, site, sources),
        Builtin::Iterate => combinators::iterate(checker, site, sources),
        Builtin::IterateUntil => combinators::iterate_until(checker, site, sources),
        Builtin::Concat => concat(checker, site, sources),
        Builtin::Reverse => {
            builtin_arguments::on_tensor(checker, site, sources, 1).map(|(value, ty)| (ty, vec![Arg::Value(value)]))
        }
        Builtin::Transpose => transpose(checker, site, sources),
        Builtin::Reshape | Builtin::Broadcast => reshape_or_broadcast(checker, site, sources),
        Builtin::Zeros | Builtin::Ones => filled(checker, site, elem, sources),
        Builtin::Full => full(checker, site, sources),
        Builtin::Iota => iota(checker, site, elem, sources),
        Builtin::ZerosLike | Builtin::StopGradient => builtin_arguments::exactly(checker, site, sources)
            .map(|[value]| (value.ty.clone(), vec![Arg::Value(value)])),
        Builtin::Diag => diag(checker, site, sources),
        Builtin::Trace => trace(checker, site, sources),
        Builtin::Sum | Builtin::Prod => reduce(checker, site, sources, Elems::numeric()),
        Builtin::Mean => reduce(checker, site, sources, Elems::float()),
        Builtin::Norm => norm(checker, site, sources),
        Builtin::MapLeaves => leaves::map_leaves(checker, site, sources),
        Builtin::SumLeaves => leaves::of_one(checker, site, sources, Elem::F64),
        Builtin::CountLeaves => leaves::of_one(checker, site, sources, Elem::I64),
        Builtin::Inner => leaves::inner(checker, site, sources),
        Builtin::Close => leaves::close(checker, site, sources),
        Builtin::Dot => dot(checker, site, sources),
        Builtin::Each => last_axis::each(checker, site, sources),
        Builtin::Sort => last_axis::sort(checker, site, sources),
        Builtin::Cumsum | Builtin::Cumprod => last_axis::running(checker, site, sources),
        Builtin::Argsort => last_axis::positions(checker, site, sources),
        Builtin::Argmax | Builtin::Argmin => last_axis::position(checker, site, sources),
        Builtin::Gather => last_axis::gather(checker, site, sources),
        Builtin::WrappingAs => last_axis::wrapping_as(checker, site, elem, sources),
        Builtin::Operation(..) => {
            bug!("checker", format_args!("{builtin:?}"), "an operation has no name in the prelude")
        }
    };
    match checked {
        Some((ty, args)) => Expr { span, ty, kind: ExprKind::Builtin { builtin, args } },
        None => Expr::error(span),
    }
}

fn concat(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_at_least(checker, site, sources.len(), 1)?;
    let values: Vec<Expr> = sources.into_iter().map(|source| checker.source(source)).collect();
    if values.iter().any(|value| value.ty.has_error()) {
        return None;
    }
    let mut total: Option<Dim> = Some(Dim::constant(0));
    let mut args: Vec<Expr> = Vec::new();
    for value in values {
        if value.ty.dims().is_empty() {
            return builtin_arguments::wrong_argument(
                checker,
                site,
                &value,
                "a tensor",
                "put a scalar into an array: `[x]`",
            );
        }
        let dim = axes::first_axis(checker, &value, "concat")?;
        total = total.and_then(|total| total.plus(&dim));
        let value = match args.first() {
            None => value,
            Some(first) => {
                let dims = std::iter::once(dim).chain(first.ty.dims()[1..].iter().cloned()).collect();
                let wanted = Type::tensor(first.ty.elem().clone(), dims);
                let origin = Some((first.span, "the first tensor decides the type"));
                checker.fit_as(value, &wanted, "an argument of `concat`", Strictness::Exact, origin)
            }
        };
        if value.ty.has_error() {
            return None;
        }
        args.push(value);
    }
    let total = total.unwrap_or_else(|| checker.infer.sizes.fresh(site.span));
    let first = args.first()?.ty.clone();
    let dims = std::iter::once(total).chain(first.dims()[1..].iter().cloned()).collect();
    Some((Type::tensor(first.elem().clone(), dims), args.into_iter().map(Arg::Value).collect()))
}

fn transpose(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    let (value, ty) = builtin_arguments::on_tensor(checker, site, sources, 2)?;
    let mut dims = ty.dims().to_vec();
    let rank = dims.len();
    dims.swap(rank - 1, rank - 2);
    Some((Type::tensor(ty.elem().clone(), dims), vec![Arg::Value(value)]))
}

fn reshape_or_broadcast(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_count(checker, site, sources.len(), 2)?;
    let mut sources = sources.into_iter();
    let (value, extents) = (sources.next()?, sources.next()?);
    let value = checker.source(value);
    let (counts, dims) = builtin_arguments::counts(checker, site, extents)?;
    if value.ty.has_error() {
        return None;
    }
    if dims.is_empty() {
        return builtin_arguments::no_counts(checker, site);
    }
    let ty = Type::tensor(value.ty.elem().clone(), dims.clone());
    let found = value.ty.dims();
    let fits = if site.builtin == Builtin::Broadcast {
        let n_new = dims.len().checked_sub(found.len());
        let fits =
            |(found, kept): (&Dim, &Dim)| found.as_pack() == kept.as_pack() && found.relation(kept) != Relation::Differ;
        n_new.is_some_and(|n_new| found.iter().zip(&dims[n_new..]).all(fits))
    } else {
        let products = product(found).zip(product(&dims));
        products.is_none_or(|(found, wanted)| found.relation(&wanted) != Relation::Differ)
    };
    if !fits {
        let (from, to) = (checker.show(&value.ty), checker.show(&ty));
        let (message, help) = if site.builtin == Builtin::Broadcast {
            let help = "the new extents come first, and the last ones are those of the tensor";
            (format!("expected a tensor with the last extents of `{to}`, found `{from}`"), help)
        } else {
            let help = "the product of the extents must stay the same";
            (format!("expected a tensor with as many elements as `{to}`, found `{from}`"), help)
        };
        checker.report(Diagnostic::error(codes::SHAPE_MISMATCH, site.span, message).help(help));
        return None;
    }
    Some((ty, std::iter::once(Arg::Value(value)).chain(counts).collect()))
}

fn filled(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    elem: Option<Scalar>,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_at_least(checker, site, sources.len(), 1)?;
    let (counts, dims) = builtin_arguments::extents(checker, site, sources)?;
    if dims.is_empty() {
        return builtin_arguments::no_counts(checker, site);
    }
    let elem = elem.unwrap_or_else(|| checker.infer.vars.fresh(Elems::any(), Some(Elem::F64)));
    Some((Type::tensor(Type::Scalar(elem), dims), counts))
}

fn full(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_at_least(checker, site, sources.len(), 2)?;
    let mut sources = sources;
    let value = sources.pop()?;
    let (counts, dims) = builtin_arguments::extents(checker, site, sources)?;
    let value = checker.source(value);
    if dims.is_empty() {
        return builtin_arguments::no_counts(checker, site);
    }
    if !value.ty.is_scalar() {
        return builtin_arguments::wrong_argument(
            checker,
            site,
            &value,
            "a scalar",
            "the sizes come first: `full([n, m], 1.0)`",
        );
    }
    let ty = Type::tensor(value.ty.clone(), dims);
    Some((ty, counts.into_iter().chain([Arg::Value(value)]).collect()))
}

fn iota(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    elem: Option<Scalar>,
    sources: Vec<Source<'_>>,
) -> Option<(Type, Vec<Arg>)> {
    builtin_arguments::require_count(checker, site, sources.len(), 1)?;
    let (counts, dims) = builtin_arguments::counts(checker, site, sources.into_iter().next()?)?;
    let elem = match counts.as_slice() {
        [Arg::Value(count)] => elem.map_or_else(|| count.ty.clone(), Type::Scalar),
        [Arg::Pack(_)] => return builtin_arguments::no_pack_here(checker, site),
        _ => return builtin_arguments::no_counts(checker, site),
    };
    Some((Type::tensor(elem, dims), counts))
}

fn diag(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    let (value, ty) = builtin_arguments::on_tensor(checker, site, sources, 1)?;
    let dims = match ty.dims() {
        [n] if ty.scalar().is_some() => vec![n.clone(), n.clone()],
        [n, _] => {
            let dims = vec![n.clone()];
            let value = square(checker, site, value)?;
            return Some((Type::tensor(ty.elem().clone(), dims), vec![Arg::Value(value)]));
        }
        _ => {
            return builtin_arguments::wrong_argument(
                checker,
                site,
                &value,
                "a vector or a square matrix",
                "give a tensor of numbers of rank 1 or 2",
            );
        }
    };
    Some((Type::tensor(ty.elem().clone(), dims), vec![Arg::Value(value)]))
}

/// The matrix, which must be square.
fn square(checker: &mut BodyChecker<'_, '_>, site: Site, value: Expr) -> Option<Expr> {
    let [n, _] = value.ty.dims() else {
        return builtin_arguments::wrong_argument(checker, site, &value, "a square matrix", "give a tensor of rank 2");
    };
    let wanted = Type::tensor(value.ty.elem().clone(), vec![n.clone(), n.clone()]);
    let value = checker.fit(value, &wanted, &format!("the square matrix of `{}`", prelude::builtin_name(site.builtin)));
    (!value.ty.has_error()).then_some(value)
}

fn trace(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    let (value, _) = builtin_arguments::on_tensor(checker, site, sources, 2)?;
    let value = storage::computed(&checker.infer, value);
    let ty = value.ty.clone();
    let elem = ty.elem().clone();
    if !checker.infer.has_elems(&ty, Elems::numeric()) {
        return builtin_arguments::wrong_argument(
            checker,
            site,
            &value,
            "a square matrix of numbers",
            "give a tensor of rank 2",
        );
    }
    let value = square(checker, site, value)?;
    Some((elem, vec![Arg::Value(value)]))
}

fn reduce(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
    elems: Elems,
) -> Option<(Type, Vec<Arg>)> {
    let (value, _) = builtin_arguments::on_tensor(checker, site, sources, 1)?;
    let value = storage::computed(&checker.infer, value);
    let ty = value.ty.clone();
    if !checker.infer.has_elems(&ty, elems) {
        let is_float = elems == Elems::float();
        let wanted = if is_float { "a tensor of floats" } else { "a tensor of numbers" };
        let help = if is_float { "convert with `as f64`" } else { "only numbers are added and multiplied" };
        return builtin_arguments::wrong_argument(checker, site, &value, wanted, help);
    }
    Some((ty.elem().clone(), vec![Arg::Value(value)]))
}

/// The norm of a tensor, in its type, or of all floats of a value, an f64.
fn norm(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    let [value] = builtin_arguments::exactly(checker, site, sources)?;
    if vectors::is_vector(checker, &value.ty) {
        checker.infer.decide_floats(&value.ty);
        return Some((Type::of(Elem::F64), vec![Arg::Value(value)]));
    }
    reduce(checker, site, vec![Source::Typed(value)], Elems::float())
}

fn dot(checker: &mut BodyChecker<'_, '_>, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
    let [left, right] =
        builtin_arguments::exactly(checker, site, sources)?.map(|value| storage::computed(&checker.infer, value));
    for value in [&left, &right] {
        let ty = value.ty.clone();
        if !axes::has_known_rank(checker, &ty, value.span, "dot") {
            return None;
        }
        if ty.dims().len() != 1 || !checker.infer.has_elems(&ty, Elems::numeric()) {
            return builtin_arguments::wrong_argument(
                checker,
                site,
                value,
                "a vector of numbers",
                "for matrices write `a @ b`",
            );
        }
    }
    let wanted = left.ty.clone();
    let origin = Some((left.span, "the first vector has this type"));
    let right = checker.fit_as(right, &wanted, "the second vector of `dot`", Strictness::Exact, origin);
    if right.ty.has_error() {
        return None;
    }
    Some((wanted.elem().clone(), vec![Arg::Value(left), Arg::Value(right)]))
}

/// `value.rev()`
pub(super) fn reverse(checker: &mut BodyChecker<'_, '_>, value: Expr, span: Span) -> Expr {
    let ty = value.ty.clone();
    if ty.has_error() {
        return Expr::error(span);
    }
    if ty.dims().is_empty() {
        let message = format!("expected a range or a tensor before `.rev()`, found `{}`", checker.show(&ty));
        checker.report(
            Diagnostic::error(codes::METHOD, span, message).help("put parentheses around a range: `(0..n).rev()`"),
        );
        return Expr::error(span);
    }
    if axes::first_axis(checker, &value, ".rev()").is_none() {
        return Expr::error(span);
    }
    let args = vec![Arg::Value(value)];
    Expr { span, ty, kind: ExprKind::Builtin { builtin: Builtin::Reverse, args } }
}

/// What the element type in the brackets behind a builtin may be, if it takes one.
fn type_argument(builtin: Builtin) -> Option<Bound> {
    if matches!(builtin, Builtin::Zeros | Builtin::Ones) {
        Some(Bound::Eq)
    } else if matches!(builtin, Builtin::Iota | Builtin::WrappingAs) {
        Some(Bound::Integer)
    } else {
        None
    }
}

/// The number of elements.
fn product(dims: &[Dim]) -> Option<Dim> {
    dims.iter().try_fold(Dim::constant(1), |product, dim| product.times(dim))
}
