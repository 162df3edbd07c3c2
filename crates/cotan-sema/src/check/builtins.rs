//! Functions of the prelude that are no scalar primitives.

use cotan_ir::{Elem, bug};
use cotan_syntax::ast::{self, Arg as AstArg};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::arguments::Source;
use super::callees::Callee;
use super::fit::Strictness;
use super::size_exprs::pack_name;
use super::type_exprs::TypeScope;
use crate::codes;
use crate::dims::{Dim, Relation};
use crate::prelude;
use crate::typed::{Arg, Builtin, Expr, ExprKind};
use crate::types::{Bound, GenericArg, Scalar, Type};
use crate::unify::Elems;

/// What a builtin must know of the axes of its tensor.
enum Axes {
    /// Nothing: it treats all elements alike.
    Any,
    First,
    Last,
    LastTwo,
    /// How many there are.
    Rank,
}

/// What a builtin on one tensor must know of its axes.
fn axes_needed(builtin: Builtin) -> Axes {
    match builtin {
        Builtin::Sum
        | Builtin::Prod
        | Builtin::Mean
        | Builtin::Norm
        | Builtin::Zeros
        | Builtin::Ones
        | Builtin::Full
        | Builtin::ZerosLike
        | Builtin::StopGradient
        | Builtin::Reshape
        | Builtin::Broadcast
        | Builtin::WrappingAs
        | Builtin::Operation(..) => Axes::Any,
        Builtin::Tabulate
        | Builtin::Map
        | Builtin::Zip
        | Builtin::Scan
        | Builtin::Fold
        | Builtin::Iterate
        | Builtin::IterateUntil
        | Builtin::Concat
        | Builtin::Reverse
        | Builtin::Each
        | Builtin::Gather
        | Builtin::Iota => Axes::First,
        Builtin::Sort | Builtin::Argsort | Builtin::Argmax | Builtin::Argmin | Builtin::Cumsum | Builtin::Cumprod => {
            Axes::Last
        }
        Builtin::Transpose => Axes::LastTwo,
        Builtin::Diag | Builtin::Trace | Builtin::Dot => Axes::Rank,
    }
}

/// A builtin with the place of its call.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) builtin: Builtin,
    pub(super) span: Span,
}

impl BodyChecker<'_, '_> {
    /// `zeros[f64]`, `wrapping_as[u8]`
    pub(super) fn builtin_with_type<'s>(&mut self, builtin: Builtin, args: &[AstArg], span: Span) -> Callee<'s> {
        let name = prelude::builtin_name(builtin);
        if builtin == Builtin::Map {
            return self.map_over_pack(args, span);
        }
        let Some(bound) = type_argument(builtin) else {
            let message = format!("expected no brackets after `{name}`, found some");
            self.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help("leave the brackets out"));
            return Callee::Failed;
        };
        if let [AstArg { name: None, value }] = args {
            let generics = self.generics.clone();
            return match self.module.scalar_arg("T", bound, value, &generics) {
                Some(scalar) => Callee::Builtin(builtin, Some(GenericArg::Scalar(scalar)), span),
                None => Callee::Failed,
            };
        }
        let message = format!("expected one element type in the brackets of `{name}`, found something else");
        let call =
            if builtin == Builtin::WrappingAs { "wrapping_as[u8](x)".to_owned() } else { format!("{name}[f64](n)") };
        self.report(Diagnostic::error(codes::GENERIC_COUNT, span, message).help(format!("write `{call}`")));
        Callee::Failed
    }

    /// `map[..S]`
    fn map_over_pack<'s>(&mut self, args: &[AstArg], span: Span) -> Callee<'s> {
        let pack = if let [AstArg { name: None, value }] = args { pack_name(value) } else { None };
        let Some((name, pack_span)) = pack else {
            let message = "expected a shape pack in the brackets of `map`, found something else";
            self.report(
                Diagnostic::error(codes::NOT_A_PACK, span, message)
                    .help("write `map[..S](f, v)` to go over the axes of the pack `..S`, or leave the brackets out"),
            );
            return Callee::Failed;
        };
        match self.module.pack(name, pack_span, &TypeScope::new(self.generics.clone())) {
            Some(dim) => Callee::Builtin(Builtin::Map, Some(GenericArg::Pack(vec![dim])), span),
            None => Callee::Failed,
        }
    }

    /// A call of a builtin.
    pub(super) fn builtin_call(
        &mut self,
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
            Builtin::Tabulate => self.tabulate(site, sources),
            Builtin::Map => self.map(site, pack, sources),
            Builtin::Zip => self.zip(site, sources),
            Builtin::Scan | Builtin::Fold => self.fold_or_scan(site, sources),
            Builtin::Iterate => self.iterate(site, sources),
            Builtin::IterateUntil => self.iterate_until(site, sources),
            Builtin::Concat => self.concat(site, sources),
            Builtin::Reverse => self.on_tensor(site, sources, 1).map(|(value, ty)| (ty, vec![Arg::Value(value)])),
            Builtin::Transpose => self.transpose(site, sources),
            Builtin::Reshape | Builtin::Broadcast => self.reshape_or_broadcast(site, sources),
            Builtin::Zeros | Builtin::Ones => self.filled(site, elem, sources),
            Builtin::Full => self.full(site, sources),
            Builtin::Iota => self.iota(site, elem, sources),
            Builtin::ZerosLike | Builtin::StopGradient => {
                self.exactly(site, sources).map(|[value]| (value.ty.clone(), vec![Arg::Value(value)]))
            }
            Builtin::Diag => self.diag(site, sources),
            Builtin::Trace => self.trace(site, sources),
            Builtin::Sum | Builtin::Prod => self.reduce(site, sources, Elems::numeric()),
            Builtin::Mean | Builtin::Norm => self.reduce(site, sources, Elems::float()),
            Builtin::Dot => self.dot(site, sources),
            Builtin::Each => self.each(site, sources),
            Builtin::Sort => self.sort(site, sources),
            Builtin::Cumsum | Builtin::Cumprod => self.running(site, sources),
            Builtin::Argsort => self.positions(site, sources),
            Builtin::Argmax | Builtin::Argmin => self.position(site, sources),
            Builtin::Gather => self.gather(site, sources),
            Builtin::WrappingAs => self.wrapping_as(site, elem, sources),
            Builtin::Operation(..) => {
                bug!("checker", format_args!("{builtin:?}"), "an operation has no name in the prelude")
            }
        };
        match checked {
            Some((ty, args)) => Expr { span, ty, kind: ExprKind::Builtin { builtin, args } },
            None => Expr::error(span),
        }
    }

    /// The arguments as values, if there are exactly `N` and nothing is wrong with them.
    pub(super) fn exactly<const N: usize>(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<[Expr; N]> {
        self.require_count(site, sources.len(), N)?;
        let values: Vec<Expr> = sources.into_iter().map(|source| self.source(source)).collect();
        if values.iter().any(|value| value.ty.has_error()) {
            return None;
        }
        values.try_into().ok()
    }

    pub(super) fn require_count(&mut self, site: Site, found: usize, wanted: usize) -> Option<()> {
        if found == wanted {
            return Some(());
        }
        self.report_argument_count(prelude::builtin_name(site.builtin), wanted, found, site.span, None);
        None
    }

    pub(super) fn require_at_least(&mut self, site: Site, found: usize, wanted: usize) -> Option<()> {
        if found >= wanted {
            return Some(());
        }
        let message = format!(
            "expected at least {wanted} argument{} of `{}`, found {found}",
            if wanted == 1 { "" } else { "s" },
            prelude::builtin_name(site.builtin)
        );
        self.report(
            Diagnostic::error(codes::ARGUMENT_COUNT, site.span, message).help("give the arguments that are missing"),
        );
        None
    }

    pub(super) fn wrong_argument<T>(&mut self, site: Site, value: &Expr, wanted: &str, help: &str) -> Option<T> {
        if !value.ty.has_error() {
            let name = prelude::builtin_name(site.builtin);
            let message = format!("expected {wanted} for `{name}`, found {}", self.show_value(value));
            self.report(Diagnostic::error(codes::ARGUMENT_TYPE, value.span, message).help(help));
        }
        None
    }

    /// A single tensor of at least some rank.
    pub(super) fn on_tensor(&mut self, site: Site, sources: Vec<Source<'_>>, rank: usize) -> Option<(Expr, Type)> {
        let [value] = self.exactly(site, sources)?;
        let ty = value.ty.clone();
        if ty.dims().len() < rank {
            let wanted = if rank == 1 { "a tensor".to_owned() } else { format!("a tensor of rank {rank} or more") };
            return self.wrong_argument(site, &value, &wanted, "give a tensor such as `[1.0, 2.0]`");
        }
        let name = prelude::builtin_name(site.builtin);
        let is_known = match axes_needed(site.builtin) {
            Axes::Any => true,
            Axes::First => self.first_axis(&value, name).is_some(),
            Axes::Last => self.last_axes(&value, 1, value.span, name).is_some(),
            Axes::LastTwo => self.last_axes(&value, 2, value.span, name).is_some(),
            Axes::Rank => self.has_known_rank(&ty, value.span, name),
        };
        is_known.then_some((value, ty))
    }

    /// Counts or extents: an integer, or several in an array.
    pub(super) fn counts(&mut self, site: Site, source: Source<'_>) -> Option<(Vec<Arg>, Vec<Dim>)> {
        let counts: Vec<Option<(Arg, Dim)>> = match source {
            Source::Ast(ast::Expr { kind: ast::ExprKind::Array(parts), .. }) => {
                parts.iter().map(|part| self.count(site, Source::Ast(part))).collect()
            }
            Source::Ast(_) | Source::Typed(_) | Source::Default(_) => vec![self.count(site, source)],
        };
        Some(counts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
    }

    /// Extents, one after the other or as one array.
    fn extents(&mut self, site: Site, mut sources: Vec<Source<'_>>) -> Option<(Vec<Arg>, Vec<Dim>)> {
        if sources.len() == 1 {
            return self.counts(site, sources.pop()?);
        }
        let counts: Vec<Option<(Arg, Dim)>> = sources.into_iter().map(|source| self.count(site, source)).collect();
        Some(counts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
    }

    /// One count, or a shape pack `..S` for as many as it has sizes.
    fn count(&mut self, site: Site, source: Source<'_>) -> Option<(Arg, Dim)> {
        if let Source::Ast(expr) = source
            && let Some((name, span)) = pack_name(expr)
        {
            let dim = self.module.pack(name, span, &TypeScope::new(self.generics.clone()))?;
            return Some((Arg::Pack(dim.as_pack()?), dim));
        }
        let name = prelude::builtin_name(site.builtin);
        let value = self.source(source);
        let value = self.integer(value, &format!("a size of `{name}`"))?;
        let dim = self.extent(&value);
        if dim.is_surely_negative() {
            let message = format!("expected a size of at least 0 for `{name}`, found {}", self.show_dim(&dim));
            self.report(Diagnostic::error(codes::NEGATIVE_SIZE, value.span, message).help("sizes count elements"));
            return None;
        }
        Some((Arg::Value(value), dim))
    }

    /// A shape pack among counts of which each needs an index.
    pub(super) fn no_pack_here<T>(&mut self, site: Site) -> Option<T> {
        let name = prelude::builtin_name(site.builtin);
        let message = format!("expected sizes for `{name}`, found a shape pack, which is any number of them");
        self.report(
            Diagnostic::error(codes::NOT_A_PACK, site.span, message)
                .help("name the sizes one by one, or make the tensor with `zeros`, `full` or `broadcast`"),
        );
        None
    }

    pub(super) fn no_counts<T>(&mut self, site: Site) -> Option<T> {
        let message = format!("expected at least one size for `{}`, found `[]`", prelude::builtin_name(site.builtin));
        self.report(
            Diagnostic::error(codes::ARGUMENT_TYPE, site.span, message).help("write a size, as in `n` or `[n, m]`"),
        );
        None
    }

    fn concat(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_at_least(site, sources.len(), 1)?;
        let values: Vec<Expr> = sources.into_iter().map(|source| self.source(source)).collect();
        if values.iter().any(|value| value.ty.has_error()) {
            return None;
        }
        let mut total: Option<Dim> = Some(Dim::constant(0));
        let mut args: Vec<Expr> = Vec::new();
        for value in values {
            if value.ty.dims().is_empty() {
                return self.wrong_argument(site, &value, "a tensor", "put a scalar into an array: `[x]`");
            }
            let dim = self.first_axis(&value, "concat")?;
            total = total.and_then(|total| total.plus(&dim));
            let value = match args.first() {
                None => value,
                Some(first) => {
                    let dims = std::iter::once(dim).chain(first.ty.dims()[1..].iter().cloned()).collect();
                    let wanted = Type::tensor(first.ty.elem().clone(), dims);
                    let origin = Some((first.span, "the first tensor decides the type"));
                    self.fit_as(value, &wanted, "an argument of `concat`", Strictness::Exact, origin)
                }
            };
            if value.ty.has_error() {
                return None;
            }
            args.push(value);
        }
        let total = total.unwrap_or_else(|| self.new_size(site.span));
        let first = args.first()?.ty.clone();
        let dims = std::iter::once(total).chain(first.dims()[1..].iter().cloned()).collect();
        Some((Type::tensor(first.elem().clone(), dims), args.into_iter().map(Arg::Value).collect()))
    }

    pub(super) fn transpose(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let (value, ty) = self.on_tensor(site, sources, 2)?;
        let mut dims = ty.dims().to_vec();
        let rank = dims.len();
        dims.swap(rank - 1, rank - 2);
        Some((Type::tensor(ty.elem().clone(), dims), vec![Arg::Value(value)]))
    }

    fn reshape_or_broadcast(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_count(site, sources.len(), 2)?;
        let mut sources = sources.into_iter();
        let (value, extents) = (sources.next()?, sources.next()?);
        let value = self.source(value);
        let (counts, dims) = self.counts(site, extents)?;
        if value.ty.has_error() {
            return None;
        }
        if dims.is_empty() {
            return self.no_counts(site);
        }
        let ty = Type::tensor(value.ty.elem().clone(), dims.clone());
        let found = value.ty.dims();
        let fits = if site.builtin == Builtin::Broadcast {
            let n_new = dims.len().checked_sub(found.len());
            let fits = |(found, kept): (&Dim, &Dim)| {
                found.as_pack() == kept.as_pack() && found.relation(kept) != Relation::Differ
            };
            n_new.is_some_and(|n_new| found.iter().zip(&dims[n_new..]).all(fits))
        } else {
            let products = product(found).zip(product(&dims));
            products.is_none_or(|(found, wanted)| found.relation(&wanted) != Relation::Differ)
        };
        if !fits {
            let (from, to) = (self.show(&value.ty), self.show(&ty));
            let (message, help) = if site.builtin == Builtin::Broadcast {
                let help = "the new extents come first, and the last ones are those of the tensor";
                (format!("expected a tensor with the last extents of `{to}`, found `{from}`"), help)
            } else {
                let help = "the product of the extents must stay the same";
                (format!("expected a tensor with as many elements as `{to}`, found `{from}`"), help)
            };
            self.report(Diagnostic::error(codes::SHAPE_MISMATCH, site.span, message).help(help));
            return None;
        }
        Some((ty, std::iter::once(Arg::Value(value)).chain(counts).collect()))
    }

    fn filled(&mut self, site: Site, elem: Option<Scalar>, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_at_least(site, sources.len(), 1)?;
        let (counts, dims) = self.extents(site, sources)?;
        if dims.is_empty() {
            return self.no_counts(site);
        }
        let elem = elem.unwrap_or_else(|| self.vars.fresh(Elems::any(), Some(Elem::F64)));
        Some((Type::tensor(Type::Scalar(elem), dims), counts))
    }

    pub(super) fn full(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_at_least(site, sources.len(), 2)?;
        let mut sources = sources;
        let value = sources.pop()?;
        let (counts, dims) = self.extents(site, sources)?;
        let value = self.source(value);
        if dims.is_empty() {
            return self.no_counts(site);
        }
        if !value.ty.is_scalar() {
            return self.wrong_argument(site, &value, "a scalar", "the sizes come first: `full([n, m], 1.0)`");
        }
        let ty = Type::tensor(value.ty.clone(), dims);
        Some((ty, counts.into_iter().chain([Arg::Value(value)]).collect()))
    }

    fn iota(&mut self, site: Site, elem: Option<Scalar>, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_count(site, sources.len(), 1)?;
        let (counts, dims) = self.counts(site, sources.into_iter().next()?)?;
        let elem = match counts.as_slice() {
            [Arg::Value(count)] => elem.map_or_else(|| count.ty.clone(), Type::Scalar),
            [Arg::Pack(_)] => return self.no_pack_here(site),
            _ => return self.no_counts(site),
        };
        Some((Type::tensor(elem, dims), counts))
    }

    fn diag(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let (value, ty) = self.on_tensor(site, sources, 1)?;
        let dims = match ty.dims() {
            [n] if ty.scalar().is_some() => vec![n.clone(), n.clone()],
            [n, _] => {
                let dims = vec![n.clone()];
                let value = self.square(site, value)?;
                return Some((Type::tensor(ty.elem().clone(), dims), vec![Arg::Value(value)]));
            }
            _ => {
                return self.wrong_argument(
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
    fn square(&mut self, site: Site, value: Expr) -> Option<Expr> {
        let [n, _] = value.ty.dims() else {
            return self.wrong_argument(site, &value, "a square matrix", "give a tensor of rank 2");
        };
        let wanted = Type::tensor(value.ty.elem().clone(), vec![n.clone(), n.clone()]);
        let value =
            self.fit(value, &wanted, &format!("the square matrix of `{}`", prelude::builtin_name(site.builtin)));
        (!value.ty.has_error()).then_some(value)
    }

    fn trace(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let (value, _) = self.on_tensor(site, sources, 2)?;
        let value = self.computed(value);
        let ty = value.ty.clone();
        let elem = ty.elem().clone();
        if !self.has_elems(&ty, Elems::numeric()) {
            return self.wrong_argument(site, &value, "a square matrix of numbers", "give a tensor of rank 2");
        }
        let value = self.square(site, value)?;
        Some((elem, vec![Arg::Value(value)]))
    }

    pub(super) fn has_elems(&mut self, ty: &Type, elems: Elems) -> bool {
        ty.scalar().is_some_and(|scalar| self.vars.require(scalar, elems))
    }

    fn reduce(&mut self, site: Site, sources: Vec<Source<'_>>, elems: Elems) -> Option<(Type, Vec<Arg>)> {
        let (value, _) = self.on_tensor(site, sources, 1)?;
        let value = self.computed(value);
        let ty = value.ty.clone();
        if !self.has_elems(&ty, elems) {
            let is_float = elems == Elems::float();
            let wanted = if is_float { "a tensor of floats" } else { "a tensor of numbers" };
            let help = if is_float { "convert with `as f64`" } else { "only numbers are added and multiplied" };
            return self.wrong_argument(site, &value, wanted, help);
        }
        Some((ty.elem().clone(), vec![Arg::Value(value)]))
    }

    pub(super) fn dot(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let [left, right] = self.exactly(site, sources)?.map(|value| self.computed(value));
        for value in [&left, &right] {
            let ty = value.ty.clone();
            if !self.has_known_rank(&ty, value.span, "dot") {
                return None;
            }
            if ty.dims().len() != 1 || !self.has_elems(&ty, Elems::numeric()) {
                return self.wrong_argument(site, value, "a vector of numbers", "for matrices write `a @ b`");
            }
        }
        let wanted = left.ty.clone();
        let origin = Some((left.span, "the first vector has this type"));
        let right = self.fit_as(right, &wanted, "the second vector of `dot`", Strictness::Exact, origin);
        if right.ty.has_error() {
            return None;
        }
        Some((wanted.elem().clone(), vec![Arg::Value(left), Arg::Value(right)]))
    }
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
