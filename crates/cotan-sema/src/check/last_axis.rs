//! Functions of the prelude that go along the last axis of a tensor, as folds do: sorting, positions of extremes,
//! running totals. Beside them the other functions that say in words what syntax also says: `gather`, `wrapping_as`.

use cotan_ir::Elem;
use cotan_syntax::Diagnostic;

use super::BodyChecker;
use super::arguments::Source;
use super::builtins::Site;
use crate::codes;
use crate::prelude;
use crate::typed::{Arg, Expr};
use crate::types::{Bound, Scalar, Type};
use crate::unify::Elems;

impl BodyChecker<'_, '_> {
    /// `sort(v)`: the elements are moved, not computed with.
    pub(super) fn sort(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let (value, ty) = self.on_tensor(site, sources, 1)?;
        if !self.has_elems(&ty, Elems::of_bound(Bound::Ord)) {
            return self.no_numbers(site, &value);
        }
        Some((ty, vec![Arg::Value(value)]))
    }

    /// `cumsum(v)`, `cumprod(v)`
    pub(super) fn running(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let (value, ty) = self.on_numbers(site, sources)?;
        Some((ty, vec![value]))
    }

    /// `argsort(v)`: one position for each element.
    pub(super) fn positions(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let (value, ty) = self.on_numbers(site, sources)?;
        Some((ty.with_scalar(Scalar::Of(Elem::I64)), vec![value]))
    }

    /// `argmax(v)`, `argmin(v)`: one position for each row.
    pub(super) fn position(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let (value, ty) = self.on_numbers(site, sources)?;
        let outer = ty.dims()[..ty.dims().len() - 1].to_vec();
        Some((Type::tensor(Type::of(Elem::I64), outer), vec![value]))
    }

    fn on_numbers(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Arg, Type)> {
        let (value, _) = self.on_tensor(site, sources, 1)?;
        let value = self.computed(value);
        let ty = value.ty.clone();
        if !self.has_elems(&ty, Elems::numeric()) {
            return self.no_numbers(site, &value);
        }
        Some((Arg::Value(value), ty))
    }

    fn no_numbers<T>(&mut self, site: Site, value: &Expr) -> Option<T> {
        let help = "give a tensor of integers or floats, such as one field of the elements";
        self.wrong_argument(site, value, "a tensor of numbers", help)
    }

    /// `gather(v, idx)`
    pub(super) fn gather(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        let [value, positions] = self.exactly(site, sources)?;
        if value.ty.dims().is_empty() {
            return self.wrong_argument(site, &value, "a tensor", "the tensor comes first: `gather(v, idx)`");
        }
        self.first_axis(&value, "gather")?;
        let positions_ty = positions.ty.clone();
        if positions_ty.dims().is_empty() || !self.has_elems(&positions_ty, Elems::integer()) {
            let help = "for a single position write `v[i]`";
            return self.wrong_argument(site, &positions, "a tensor of integers as the positions", help);
        }
        let dims = positions_ty.dims().iter().chain(&value.ty.dims()[1..]).cloned().collect();
        let ty = Type::tensor(value.ty.elem().clone(), dims);
        Some((ty, vec![Arg::Value(value), Arg::Value(positions)]))
    }

    /// `wrapping_as[u8](x)`
    pub(super) fn wrapping_as(
        &mut self,
        site: Site,
        target: Option<Scalar>,
        sources: Vec<Source<'_>>,
    ) -> Option<(Type, Vec<Arg>)> {
        let Some(target) = target else {
            let message = "expected the integer type to wrap to in brackets after `wrapping_as`, found none";
            self.report(
                Diagnostic::error(codes::GENERIC_COUNT, site.span, message)
                    .help("write it, as in `wrapping_as[u8](x)`"),
            );
            return None;
        };
        let [value] = self.exactly(site, sources)?;
        let ty = value.ty.clone();
        if !self.has_elems(&ty, Elems::integer()) {
            let help = "a float is cut to an integer first: `wrapping_as[u8](x as i64)`";
            return self.wrong_argument(site, &value, "an integer", help);
        }
        Some((ty.with_scalar(target), vec![Arg::Value(value)]))
    }

    /// `each(v, f)`
    pub(super) fn each(&mut self, site: Site, sources: Vec<Source<'_>>) -> Option<(Type, Vec<Arg>)> {
        self.require_count(site, sources.len(), 2)?;
        let mut sources = sources.into_iter();
        let (tensor, function) = (sources.next()?, sources.next()?);
        let tensor = self.source(tensor);
        if tensor.ty.has_error() {
            return None;
        }
        if tensor.ty.dims().is_empty() {
            let name = prelude::builtin_name(site.builtin);
            return self.wrong_argument(
                site,
                &tensor,
                "a tensor",
                &format!("the tensor comes first: `{name}(v, |x| ..)`"),
            );
        }
        let row = super::control::element_type(&tensor.ty);
        self.lends_output = true;
        let callable = self.function(site, function, &[row]);
        self.lends_output = false;
        let callable = callable?;
        let result = &callable.result;
        if result.has_error() {
            return None;
        }
        if !result.is_unit() && !matches!(result, Type::Never) {
            let message =
                format!("expected a function without a value for `each`, found one that gives `{}`", self.show(result));
            self.report(
                Diagnostic::error(codes::MISMATCH, callable.span, message).help("to keep the values write `map(f, v)`"),
            );
            return None;
        }
        Some((Type::UNIT, vec![Arg::Value(tensor), Arg::Function(callable)]))
    }
}
