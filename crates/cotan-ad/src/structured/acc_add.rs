//! Writes to accumulators: the transpose reads the cotangent of the accumulator's final array.

use crate::state::{AccCot, Forward, Reverse, Scope, TangentScope};
use cotan_ir::{Atom, Stmt, Var};

impl Forward<'_, '_> {
    /// A tangent accumulator takes the tangent. A log takes it even if it is zero, because every position of a log must be
    /// written; a sum does not.
    pub(crate) fn jvp_acc_add(&mut self, s: &Stmt, acc: Var, indices: &[Atom], value: Atom, scope: &mut TangentScope) {
        let at = scope.env.atoms(indices);
        if let Some(count) = scope.ties.get(&acc) {
            let tan = |direction| self.known_tangent(value, direction, scope);
            let tans: Vec<(Var, Atom)> =
                count.tan_sums().filter_map(|(direction, sum)| Some((sum, tan(direction)?))).collect();
            return count.write(&mut self.b, &at, scope.env.atom(value), &tans);
        }
        self.primal(s, scope);
        for direction in 0..self.directions.len() {
            let Some(Atom::Var(acc_tan)) = scope.tans.get(&(acc, direction)).copied() else { continue };
            if self.known_tangent(value, direction, scope).is_some() || self.is_log(acc) {
                let tan = self.tangent(value, direction, scope);
                self.b.acc_add(acc_tan, &at, tan);
            }
        }
    }

    /// Whether an accumulator is a log: its length is unknown.
    fn is_log(&self, acc: Var) -> bool {
        self.src.ty(acc).dims.first() == Some(&cotan_ir::Dim::Const(0))
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_acc_add(&mut self, acc: Var, indices: &[Atom], value: Atom, scope: &mut Scope) {
        let Some(acc_cot) = scope.acc_cots.get(&acc).copied() else { return };
        let Some(v) = self.active.member(value) else { return };
        let at = scope.env.atoms(indices);
        let name = self.cot_name(v);
        let c = match acc_cot {
            AccCot::Linear(c) if at.is_empty() => c,
            AccCot::Linear(c) => self.b.named(&name).index(c, &at).into(),
            AccCot::Extreme(share) => share.of(&mut self.b, &name, &at, scope.env.atom(value)),
        };
        self.add(value, c, scope);
    }
}
