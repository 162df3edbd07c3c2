//! Functions of the prelude that take functions: `tabulate`, `map`, `scan` and their like.

use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::arguments::Source;
use super::builtins::Site;
use super::control::element_type;
use super::fit::Strictness;
use crate::codes;
use crate::dims::Dim;
use crate::prelude;
use crate::typed::{Arg, Builtin, Callable, CallableKind, Expr, ExprKind};
use crate::types::Type;

const NEXT_STATE: &str = "the next state, which the function gives";

impl BodyChecker<'_, '_> {
    /// A function argument for parameters of these types.
    pub(super) fn function(&mut self, site: Site, source: Source<'_>, params: &[Type]) -> Option<Callable> {
        match source {
            Source::Ast(expr) => self.function_arg(expr, params),
            Source::Typed(expr) | Source::Default(expr) => {
                let name = prelude::builtin_name(site.builtin);
                self.function_as_value(expr.span, &format!("the function that `{name}` needs"));
                None
            }
        }
    }

    pub(super) fn tabulate(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_count(site, sources.len(), 2)?;
        let mut sources = sources.into_iter();
        let (counts, function) = (sources.next()?, sources.next()?);
        let (counts, dims) = self.counts(site, counts)?;
        if counts.is_empty() {
            return self.no_counts(site);
        }
        let mut params: Vec<Type> = Vec::new();
        for count in &counts {
            match count {
                Arg::Value(count) => params.push(count.ty.clone()),
                Arg::Pack(_) | Arg::Function(_) => return self.no_pack_here(site),
            }
        }
        let callable = self.function(site, function, &params)?;
        let ty = self.stack(&callable, &dims)?;
        Some((ty, counts.into_iter().chain([Arg::Function(callable)]).collect()))
    }

    /// What stacking the results of a function gives.
    pub(super) fn stack(&mut self, callable: &Callable, dims: &[Dim]) -> Option<Type> {
        if callable.result.has_error() {
            return None;
        }
        if matches!(callable.result, Type::Never) || callable.result.is_unit() {
            let message = "expected a value as the result of the function, found `()`";
            self.report(
                Diagnostic::error(codes::MISMATCH, callable.span, message)
                    .help("end the lambda with the value; for effects write a `for` loop"),
            );
            return None;
        }
        let element = Expr { ty: callable.result.clone(), ..Expr::error(callable.span) };
        self.require_element(&element).then(|| callable.result.stacked(dims))
    }

    /// Tensors that are gone through together along the first axis.
    fn lanes(&mut self, site: Site, values: Vec<Expr>) -> Option<(Vec<Expr>, Dim)> {
        let mut fitted: Vec<Expr> = Vec::new();
        let mut first: Option<(Dim, Span)> = None;
        for value in values {
            if value.ty.dims().is_empty() {
                return self.wrong_argument(site, &value, "a tensor", "give a tensor, or write a `for` loop");
            }
            let dim = self.first_axis(&value, prelude::builtin_name(site.builtin))?;
            let Some((wanted, span)) = first.clone() else {
                first = Some((dim, value.span));
                fitted.push(value);
                continue;
            };
            let dims = std::iter::once(wanted).chain(value.ty.dims()[1..].iter().cloned()).collect();
            let wanted = Type::tensor(value.ty.elem().clone(), dims);
            let subject = format!("an argument of `{}`", prelude::builtin_name(site.builtin));
            let origin = Some((span, "as long as this one"));
            let value = self.fit_as(value, &wanted, &subject, Strictness::Exact, origin);
            if value.ty.has_error() {
                return None;
            }
            fitted.push(value);
        }
        first.map(|(dim, _)| (fitted, dim))
    }

    pub(super) fn map(&mut self, site: Site, pack: Option<Dim>, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_at_least(site, sources.len(), 2)?;
        let mut sources = sources.into_iter();
        let function = sources.next()?;
        let values: Vec<Expr> = sources.map(|source| self.source(source)).collect();
        let over = pack.as_ref().and_then(Dim::as_pack);
        let (values, dim) = match pack {
            Some(pack) => (self.pack_lanes(site, values, &pack)?, pack),
            None => self.lanes(site, values)?,
        };
        let params: Vec<Type> = values.iter().map(|value| element_type(&value.ty)).collect();
        let callable = self.function(site, function, &params)?;
        let ty = self.stack(&callable, &[dim])?;
        let args = over.map(Arg::Pack).into_iter().chain([Arg::Function(callable)]);
        Some((ty, args.chain(values.into_iter().map(Arg::Value)).collect()))
    }

    /// Tensors that are gone through together along the axes of a pack.
    fn pack_lanes(&mut self, site: Site, values: Vec<Expr>, pack: &Dim) -> Option<Vec<Expr>> {
        for value in &values {
            if value.ty.dims().first() != Some(pack) {
                let (wanted, help) = (self.show_dim(pack), "the axes of the pack stand first, as in `T[..S, N]`");
                return self.wrong_argument(site, value, &format!("a tensor that begins with `{wanted}`"), help);
            }
        }
        Some(values)
    }

    pub(super) fn zip(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_at_least(site, sources.len(), 2)?;
        let values: Vec<Expr> = sources.into_iter().map(|source| self.source(source)).collect();
        let (values, dim) = self.lanes(site, values)?;
        let elem = Type::Tuple(values.iter().map(|value| element_type(&value.ty)).collect());
        Some((Type::tensor(elem, vec![dim]), values.into_iter().map(Arg::Value).collect()))
    }

    pub(super) fn fold_or_scan(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_count(site, sources.len(), 3)?;
        let mut sources = sources.into_iter();
        let (init, function, tensor) = (sources.next()?, sources.next()?, sources.next()?);
        let init = self.source(init);
        let tensor = self.source(tensor);
        if init.ty.has_error() || tensor.ty.has_error() {
            return None;
        }
        if tensor.ty.dims().is_empty() {
            return self.wrong_argument(site, &tensor, "a tensor", "the arguments are `init, |acc, x| e, v`");
        }
        let dim = self.first_axis(&tensor, prelude::builtin_name(site.builtin))?;
        let params = [init.ty.clone(), element_type(&tensor.ty)];
        let callable = self.function(site, function, &params)?;
        let callable = self.keeps_state(callable, &init.ty, NEXT_STATE)?;
        if site.builtin == Builtin::Scan && !self.require_element(&init) {
            return None;
        }
        let ty = if site.builtin == Builtin::Scan { init.ty.stacked(&[dim]) } else { init.ty.clone() };
        Some((ty, vec![Arg::Value(init), Arg::Function(callable), Arg::Value(tensor)]))
    }

    /// The function, whose result must be of the type of the state. What a lambda gives is checked and narrowed like any
    /// other value.
    pub(super) fn keeps_state(&mut self, mut callable: Callable, state: &Type, subject: &str) -> Option<Callable> {
        if let CallableKind::Lambda(lambda) = &mut callable.kind {
            let body = std::mem::replace(&mut lambda.body, Expr::error(callable.span));
            lambda.body = self.fit(body, state, subject);
            callable.result = state.clone();
            return (!lambda.body.ty.has_error()).then_some(callable);
        }
        let result = Expr { ty: callable.result.clone(), ..Expr::error(callable.span) };
        let fitted = self.fit(result, state, subject);
        if let ExprKind::Cast(_) = fitted.kind {
            let (wanted, found) = (self.show(state), self.show(&callable.result));
            let message = format!("expected `{wanted}` for {subject}, found `{found}`");
            let help = "only a lambda narrows what it gives: write one around the function";
            self.report(Diagnostic::error(codes::MISMATCH, callable.span, message).help(help));
            return None;
        }
        callable.result = state.clone();
        (!fitted.ty.has_error()).then_some(callable)
    }

    pub(super) fn iterate(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_count(site, sources.len(), 3)?;
        let mut sources = sources.into_iter();
        let (count, init, step) = (sources.next()?, sources.next()?, sources.next()?);
        let count = self.source(count);
        let count = self.integer(count, "the number of steps of `iterate`");
        let init = self.source(init);
        if init.ty.has_error() {
            return None;
        }
        let step = self.function(site, step, std::slice::from_ref(&init.ty))?;
        let step = self.keeps_state(step, &init.ty, NEXT_STATE)?;
        Some((init.ty.clone(), vec![Arg::Value(count?), Arg::Value(init), Arg::Function(step)]))
    }

    pub(super) fn iterate_until(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_count(site, sources.len(), 4)?;
        let mut sources = sources.into_iter();
        let (init, step) = (sources.next()?, sources.next()?);
        let (done, most) = (sources.next()?, sources.next()?);
        let init = self.source(init);
        let most = self.source(most);
        let most = self.integer(most, "the limit of `iterate_until`");
        if init.ty.has_error() {
            return None;
        }
        let step = self.function(site, step, std::slice::from_ref(&init.ty));
        let done = self.function(site, done, std::slice::from_ref(&init.ty))?;
        let result = Expr { ty: done.result.clone(), ..Expr::error(done.span) };
        let is_bool = !self.condition(result, "the test of `iterate_until`").ty.has_error();
        let step = self.keeps_state(step?, &init.ty, NEXT_STATE)?;
        let ty = init.ty.clone();
        let args = vec![Arg::Value(init), Arg::Function(step), Arg::Function(done), Arg::Value(most?)];
        is_bool.then_some((ty, args))
    }
}
