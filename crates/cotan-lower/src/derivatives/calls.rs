//! Calls of first derivatives of one function: floats in and out of the tangents of the source.

use std::collections::BTreeSet;

use cotan_ir::{Atom, Builder, Const, Derived, Elem, Env, Mode, Op, Var};
use cotan_ops::cast_to;

use super::super::Lowering;
use super::super::body::Value;
use super::super::tangents::{floats_of, tangent_leaves, with_tags};
use super::Base;

/// Calls of derivatives of one base with the same arguments.
pub(super) struct Calls<'x, 'p> {
    pub(super) lowering: &'x mut Lowering<'p>,
    pub(super) b: &'x mut Builder,
    pub(super) base: &'x Base,
    pub(super) args: &'x [Atom],
}

impl<'p> Calls<'_, 'p> {
    /// The same calls once more.
    pub(super) fn again(&mut self) -> Calls<'_, 'p> {
        Calls { lowering: &mut *self.lowering, b: &mut *self.b, base: self.base, args: self.args }
    }

    /// The tangents of some parameters of the source, made of those of their floats.
    pub(super) fn tangents_of_params(&self, wrt: &[usize], floats: Value) -> Value {
        let mut floats = floats.into_iter();
        let of_param = |param: &usize| {
            with_tags(&self.base.params[*param], &self.args[self.base.first_leaf(*param)..], &mut floats)
        };
        wrt.iter().flat_map(of_param).collect()
    }

    /// The floats of the tangents that are given for some parameters of the source.
    pub(super) fn floats_of_params(&mut self, wrt: &[usize], tangents: &[Atom]) -> Value {
        let mut rest = tangents;
        let mut floats = Value::new();
        for param in wrt {
            let leaves = &self.base.params[*param];
            let (own, others) = rest.split_at(tangent_leaves(leaves).len());
            floats.extend(floats_of(self.b, leaves, &self.args[self.base.first_leaf(*param)..], own));
            rest = others;
        }
        floats
    }

    /// The floats of the cotangent that is given for the result. Its variants are those of the value, which an enum has
    /// to be asked for.
    pub(super) fn floats_of_result(&mut self, cotangent: &[Atom]) -> Value {
        let leaves = &self.base.result;
        if !leaves.iter().any(|leaf| leaf.is_tag) {
            return cotangent.to_vec();
        }
        let results = self.b.call(&self.base.function, self.args);
        let value = self.leaves_of(&results);
        floats_of(self.b, leaves, &value, cotangent)
    }

    /// Cotangents of results whose lengths the base computes, checked against those lengths: a reverse sweep reads them as
    /// far as the value goes.
    pub(super) fn of_computed_lengths(&mut self, outs: &[usize], cotangents: Value) -> Value {
        if self.base.lengths(outs).is_empty() {
            return cotangents;
        }
        let function = self.base.function.clone();
        let results = self.b.call(&function, self.args);
        let computed = |(out, cotangent): (&usize, Atom)| {
            let mut dims = self.b.ty(cotangent).dims;
            let own = &function.atom_ty(function.body.results[*out]).dims;
            for (dim, (of_base, found)) in dims.iter_mut().zip(own.iter().zip(&self.b.var_ty(results[*out]).dims)) {
                if of_base.var().is_some_and(|v| !function.params.contains(&v)) {
                    *dim = *found;
                }
            }
            self.under_dims(cotangent, &dims)
        };
        outs.iter().zip(cotangents).map(computed).collect()
    }

    /// Types in the caller for those of the base.
    pub(super) fn env(&self) -> Env {
        self.base.function.params.iter().copied().zip(self.args.iter().copied()).collect()
    }

    /// New variables for the results of the base.
    fn results(&mut self, env: &mut Env) -> Vec<Var> {
        let function = self.base.function.clone();
        let mut results = Vec::new();
        for r in &function.body.results {
            let name = r.var().map_or("result", |v| function.name_of(v));
            let ty = env.ty(&function.atom_ty(*r));
            let out = self.b.var(name, ty);
            if let Atom::Var(v) = r {
                env.entry(*v).or_insert(out.into());
            }
            results.push(out);
        }
        results
    }

    pub(super) fn leaves_of(&self, results: &[Var]) -> Value {
        self.base.results.iter().map(|k| results[*k].into()).collect()
    }

    /// Value, and cotangents of the parameters at positions `wrt`, for cotangents of the results at positions `outs`.
    pub(super) fn vjp(&mut self, wrt: &[usize], outs: &[usize], cotangents: &[Atom]) -> (Value, Value) {
        let function = self.base.function.clone();
        let ascending: Vec<usize> = wrt.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let mut env = self.env();
        let results = self.results(&mut env);
        let own: Vec<Var> = ascending
            .iter()
            .map(|k| {
                let param = function.params[*k];
                let ty = env.ty(function.ty(param)).tangent();
                self.b.var(&format!("{}_cot", function.name_of(param)), ty)
            })
            .collect();
        let cotangents: Vec<Atom> = cotangents.iter().map(|c| self.computed(*c)).collect();
        let lengths = self.base.lengths(outs);
        let length = |(out, axis): &(usize, usize)| self.b.ty(cotangents[*out]).dims[*axis].atom();
        let lengths: Vec<Atom> = lengths.iter().map(length).collect();
        let args = [self.args, &lengths, &cotangents].concat();
        let derived =
            Derived { of: function.name.clone(), mode: Mode::Vjp, wrt: ascending.clone(), outs: outs.to_vec() };
        let callee = self.lowering.request(derived);
        self.b.push(results.iter().chain(&own).copied().collect(), Op::Call { callee, args });
        let elems = ascending.iter().map(|k| function.ty(function.params[*k]).elem);
        let own: Vec<Atom> = own.into_iter().zip(elems).map(|(c, elem)| self.stored(c, elem)).collect();
        (self.leaves_of(&results), in_order(wrt, &ascending, &own))
    }

    /// Value, and tangents of the results at positions `outs`, for tangents of the parameters at positions `wrt`.
    pub(super) fn jvp(&mut self, wrt: &[usize], outs: &[usize], tangents: &[Atom]) -> (Value, Value) {
        let function = self.base.function.clone();
        let ascending: Vec<usize> = wrt.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let positions = ascending.iter().filter_map(|k| wrt.iter().position(|w| w == k));
        let sorted: Vec<Atom> = positions.map(|at| self.computed(tangents[at])).collect();
        let mut env = self.env();
        let results = self.results(&mut env);
        let own: Vec<Var> = outs
            .iter()
            .map(|k| {
                let result = function.body.results[*k];
                let name = result.var().map_or("result", |v| function.name_of(v));
                let ty = env.ty(&function.atom_ty(result)).tangent();
                self.b.var(&format!("{name}_tan"), ty)
            })
            .collect();
        let derived = Derived { of: function.name.clone(), mode: Mode::Jvp, wrt: ascending, outs: outs.to_vec() };
        let callee = self.lowering.request(derived);
        let args = [self.args, &sorted].concat();
        self.b.push(results.iter().chain(&own).copied().collect(), Op::Call { callee, args });
        let elems = outs.iter().map(|k| function.atom_ty(function.body.results[*k]).elem);
        let own = own.into_iter().zip(elems).map(|(tan, elem)| self.stored(tan, elem)).collect();
        (self.leaves_of(&results), own)
    }

    /// A derivative of the type of its value in the type that it is computed with.
    fn computed(&mut self, derivative: Atom) -> Atom {
        let elem = self.b.ty(derivative).elem;
        match derivative.constant().and_then(|c| c.as_float()) {
            _ if elem.storage().is_none() => derivative,
            Some(x) => Const::float(elem.computed(), x).into(),
            None => self.b.prim(cast_to(elem.computed()).prim(), &[derivative]).into(),
        }
    }

    /// A derivative that was computed, in the type of its value: rounded once where that is a storage type.
    fn stored(&mut self, derivative: Var, elem: Elem) -> Atom {
        if self.b.var_ty(derivative).elem == elem {
            return derivative.into();
        }
        self.b.prim(cast_to(elem).prim(), &[derivative.into()]).into()
    }
}

/// Values for ascending positions, in the order in which the positions were asked for.
fn in_order(asked: &[usize], ascending: &[usize], values: &[Atom]) -> Value {
    let find = |k: &usize| ascending.iter().position(|other| other == k);
    asked.iter().filter_map(find).map(|at| values[at]).collect()
}
