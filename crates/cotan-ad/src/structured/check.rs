//! Checks pass their value through, and its tangents and cotangents. A check guards the value, not the derivative: a
//! derivative that needs an index uses the checked index.

use crate::state::{Forward, Reverse, Scope, TangentScope};
use cotan_ir::{Atom, Stmt, Var};

impl Forward<'_, '_> {
    pub(crate) fn jvp_check(&mut self, s: &Stmt, value: Atom, scope: &mut TangentScope) {
        self.primal(s, scope);
        for direction in 0..self.directions.len() {
            if let Some(tan) = self.known_tangent(value, direction, scope) {
                scope.tans.insert((s.results[0], direction), tan);
            }
        }
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_check(&mut self, result: Var, value: Atom, scope: &mut Scope) {
        if let Some(c) = self.take(result, scope) {
            self.add(value, c, scope);
        }
    }
}
