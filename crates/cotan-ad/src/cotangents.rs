//! Accumulation of cotangents in reverse mode: contributions, symbolic zeros, and the values that leave a region.

use crate::state::{Cot, Reverse, Scope, retyped, zeros};
use cotan_ir::{Atom, Dim, Op, Ty, Var, bug};
use cotan_ops::FILL;

impl Reverse<'_, '_> {
    /// The name of a cotangent.
    pub(crate) fn cot_name(&self, x: Var) -> String {
        format!("{}_cot", self.src.name_of(x))
    }

    /// Adds a contribution to the cotangent of `x`.
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

    /// A contribution under the dims of `target`. In code that never runs, behind a check that always fails, the
    /// two can have different constant dims.
    fn fitting(&mut self, contribution: Atom, target: Atom) -> Atom {
        let (from, to) = (self.b.ty(contribution), self.b.ty(target));
        let differ = |(a, b): (&Dim, &Dim)| a.var().is_none() && b.var().is_none() && a != b;
        if from.dims.iter().zip(&to.dims).any(differ) { retyped(&mut self.b, contribution, to) } else { contribution }
    }

    /// Adds a contribution to the cotangent of one element or sub-tensor of `x`.
    pub(crate) fn add_at(&mut self, x: Atom, indices: &[Atom], contribution: Atom, scope: &mut Scope) {
        if indices.is_empty() {
            return self.add(x, contribution, scope);
        }
        let Some(x) = self.active.member(x) else { return };
        let (array, element) = match scope.cots.get(&x) {
            None => (self.zeros(x, scope), contribution),
            Some(Cot::Value(so_far)) => {
                let so_far = *so_far;
                if let Some(before) = self.before_taking(so_far, indices, contribution) {
                    scope.cots.insert(x, Cot::Value(before));
                    return;
                }
                let old = self.b.index(so_far, indices);
                (so_far, self.b.prim(cotan_ops::ADD.prim(), &[old.into(), contribution]).into())
            }
            Some(Cot::Acc(acc)) => return self.b.acc_add(*acc, indices, contribution),
        };
        let name = self.cot_name(x);
        let sum = self.b.named(&name).update(array, indices, element);
        scope.cots.insert(x, Cot::Value(sum.into()));
    }

    /// The cotangent of an array from which nothing but this contribution was taken, at this place: where an element is
    /// updated by adding something to it, what the update takes from the cotangent is what the read of the element gives back.
    fn before_taking(&mut self, rest: Atom, indices: &[Atom], contribution: Atom) -> Option<Atom> {
        /// Statements that are looked through.
        const NEAR: usize = 256;
        let stmts = self.b.stmts();
        let near = &stmts[stmts.len().saturating_sub(NEAR)..];
        let made_by = |a: Atom| a.var().and_then(|v| near.iter().rev().find(|s| s.results == [v])).map(|s| &s.op);
        let Op::Update { array, indices: taken, value } = made_by(rest)? else { return None };
        let Op::Index { array: source, indices: read } = made_by(contribution)? else { return None };
        let is_zero = |a: Atom| a.constant().is_some_and(|c| c.as_float() == Some(0.0));
        let is_emptied = is_zero(*value)
            || made_by(*value).is_some_and(|op| op.args_of_tensor(FILL.op()).is_some_and(|args| is_zero(args[0])));
        (is_emptied && source == array && taken == indices && read == indices).then_some(*array)
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
            Some(Cot::Acc(_)) => bug!(
                "derivatives, cotangents",
                format_args!("{x:?}"),
                "an accumulated cotangent is read after its region"
            ),
            None => self.zeros(x, scope),
        }
    }

    /// Takes the cotangent of a variable at the reverse of its statement: it is complete there.
    pub(crate) fn take(&mut self, x: Var, scope: &mut Scope) -> Option<Atom> {
        match scope.cots.remove(&x)? {
            Cot::Value(c) => Some(c),
            Cot::Acc(_) => bug!(
                "derivatives, cotangents",
                format_args!("{x:?}"),
                "the cotangent of what a block binds is not accumulated outside of it"
            ),
        }
    }

    /// The type of a source variable's cotangent.
    pub(crate) fn cot_ty(&self, x: Var, scope: &Scope) -> Ty {
        scope.env.ty(self.src.ty(x)).tangent()
    }

    /// The zero cotangent of an operand.
    pub(crate) fn zeros_like(&mut self, a: Atom, scope: &Scope) -> Atom {
        let ty = scope.env.ty(&self.src.atom_ty(a)).tangent();
        zeros(&mut self.b, &ty)
    }
}
