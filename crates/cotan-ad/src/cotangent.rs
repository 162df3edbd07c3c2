//! Cotangents of source variables during a reverse sweep.
//!
//! A zero is a symbol: the absence of an entry. No tensor of zeros is made unless a region boundary needs one.

use crate::vjp::Reverse;
use cotan_ir::{Atom, Builder, CheckKind, Const, Dim, Env, Ty, Var};
use rustc_hash::FxHashMap;

/// The cotangent of a variable so far, if it is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cot {
    /// A value, which grows by addition.
    Value(Atom),
    /// An accumulator of an enclosing reverse region, into which contributions are written.
    Acc(Var),
}

/// What is written to a source accumulator under reversal reads its cotangent from here: the transpose of writing is
/// reading. The operands are constant during the whole reverse region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccCot {
    /// A sum or a log: the cotangent of the final array.
    Linear(Atom),
    /// A maximum or minimum.
    Extreme(crate::extremes::Share),
}

/// What a reverse sweep knows in one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Source variables to target operands. Never holds accumulators, so that re-executed writes are erased.
    pub(crate) env: Env,
    /// Source variables to cotangents.
    pub(crate) cots: FxHashMap<Var, Cot>,
    /// Source accumulators under reversal.
    pub(crate) acc_cots: FxHashMap<Var, AccCot>,
}

/// A tensor of zeros (or the constant zero).
pub(crate) fn zeros(b: &mut Builder, ty: &Ty) -> Atom {
    fill(b, Const::zero(ty.elem), ty)
}

/// A tensor of one value (or the constant itself, where the type is scalar).
pub(crate) fn fill(b: &mut Builder, value: Const, ty: &Ty) -> Atom {
    if ty.is_scalar() {
        return value.into();
    }
    b.tensor(cotan_ops::FILL.op(), &[value.into()], &[], ty.clone()).into()
}

/// The value under a type whose dims may be named otherwise. What leaves a block must not name lengths that are bound
/// inside; a check that always holds renames them.
pub(crate) fn retyped(b: &mut Builder, value: Atom, ty: Ty) -> Atom {
    if ty.is_scalar() || b.ty(value) == ty {
        return value;
    }
    b.check(Const::bool(true).into(), CheckKind::ShapeMismatch, &[], value, Some(ty)).into()
}

impl Reverse<'_, '_> {
    /// The name of a cotangent.
    pub(crate) fn cot_name(&self, x: Var) -> String {
        format!("{}_cot", self.src.name_of(x))
    }

    /// A contribution to the cotangent of `x`.
    pub(crate) fn add(&mut self, x: Atom, contribution: Atom, scope: &mut Scope) {
        let Some(x) = self.active.member(x) else { return };
        match scope.cots.get(&x) {
            None => {
                scope.cots.insert(x, Cot::Value(contribution));
            }
            Some(Cot::Value(so_far)) => {
                let so_far = *so_far;
                let contribution = self.fitting(contribution, so_far);
                let name = self.cot_name(x);
                let sum = self.b.named(&name).prim(cotan_ops::ADD.prim(), &[so_far, contribution]);
                scope.cots.insert(x, Cot::Value(sum.into()));
            }
            Some(Cot::Acc(acc)) => {
                let acc = *acc;
                let contribution = self.fitting(contribution, acc.into());
                self.b.acc_add(acc, &[], contribution);
            }
        }
    }

    /// A contribution that may stand beside `target`. In code that never runs, behind a check that always fails, the
    /// two can have different constant dims.
    fn fitting(&mut self, contribution: Atom, target: Atom) -> Atom {
        let (from, to) = (self.b.ty(contribution), self.b.ty(target));
        let differ = |(a, b): (&Dim, &Dim)| a.var().is_none() && b.var().is_none() && a != b;
        if from.dims.iter().zip(&to.dims).any(differ) { retyped(&mut self.b, contribution, to) } else { contribution }
    }

    /// A contribution to the cotangent of one element or sub-tensor of `x`.
    pub(crate) fn add_at(&mut self, x: Atom, indices: &[Atom], contribution: Atom, scope: &mut Scope) {
        if indices.is_empty() {
            return self.add(x, contribution, scope);
        }
        let Some(x) = self.active.member(x) else { return };
        let (array, element) = match scope.cots.get(&x) {
            None => (self.zeros(x, scope), contribution),
            Some(Cot::Value(so_far)) => {
                let so_far = *so_far;
                let old = self.b.index(so_far, indices);
                (so_far, self.b.prim(cotan_ops::ADD.prim(), &[old.into(), contribution]).into())
            }
            Some(Cot::Acc(acc)) => return self.b.acc_add(*acc, indices, contribution),
        };
        let name = self.cot_name(x);
        let sum = self.b.named(&name).update(array, indices, element);
        scope.cots.insert(x, Cot::Value(sum.into()));
    }

    /// The zero cotangent of a source variable.
    pub(crate) fn zeros(&mut self, x: Var, scope: &Scope) -> Atom {
        let ty = self.cot_ty(x, scope);
        zeros(&mut self.b, &ty)
    }

    /// The cotangent of a variable that no enclosing region accumulates, as an operand under the variable's own dims: zeros
    /// are made explicit.
    pub(crate) fn value(&mut self, x: Var, scope: &Scope) -> Atom {
        match scope.cots.get(&x) {
            Some(Cot::Value(c)) => {
                let ty = self.cot_ty(x, scope);
                retyped(&mut self.b, *c, ty)
            }
            Some(Cot::Acc(_)) => unreachable!("invariant: an accumulated cotangent is read after its region"),
            None => self.zeros(x, scope),
        }
    }

    /// Takes the cotangent of a variable whose statement is being reversed: nothing contributes to it any more.
    pub(crate) fn take(&mut self, x: Var, scope: &mut Scope) -> Option<Atom> {
        match scope.cots.remove(&x)? {
            Cot::Value(c) => Some(c),
            Cot::Acc(_) => unreachable!("invariant: what a block binds is not accumulated outside of it"),
        }
    }
}
