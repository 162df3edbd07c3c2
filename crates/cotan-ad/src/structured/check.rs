//! A check passes its value through, and so it does with tangents and cotangents. It guards the value, not the
//! derivative: whoever needs an index for a derivative uses the checked index.

use crate::cotangent::Scope;
use crate::jvp::{Forward, TangentScope};
use crate::vjp::Reverse;
use cotan_ir::{Atom, Stmt, Var};

impl Forward<'_, '_> {
    pub(crate) fn jvp_check(&mut self, s: &Stmt, value: Atom, scope: &mut TangentScope) {
        self.primal(s, scope);
        for lane in 0..self.lanes.len() {
            if let Some(tan) = self.known_tangent(value, lane, scope) {
                scope.tans.insert((s.results[0], lane), tan);
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
