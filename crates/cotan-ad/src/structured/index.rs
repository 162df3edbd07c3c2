//! Indexed reads and functional updates of elements or sub-tensors.
//!
//! The transpose of a read is an addition in place. The transpose of an update first reads, then zeroes: the written
//! place passes its cotangent to the value, the array gets the rest.

use crate::state::{Forward, Reverse, Scope, TangentScope};
use cotan_ir::{Atom, Stmt, Var};

impl Forward<'_, '_> {
    pub(crate) fn jvp_index(&mut self, s: &Stmt, array: Atom, indices: &[Atom], scope: &mut TangentScope) {
        self.primal(s, scope);
        for direction in 0..self.directions.len() {
            if let Some(tan) = self.known_tangent(array, direction, scope) {
                let name = self.tan_name(s.results[0]);
                let tan = self.b.named(&name).index(tan, &scope.env.atoms(indices));
                scope.tans.insert((s.results[0], direction), tan.into());
            }
        }
    }

    pub(crate) fn jvp_update(
        &mut self,
        s: &Stmt,
        array: Atom,
        indices: &[Atom],
        value: Atom,
        scope: &mut TangentScope,
    ) {
        self.primal(s, scope);
        for direction in 0..self.directions.len() {
            if self.known_tangent(array, direction, scope).is_some()
                || self.known_tangent(value, direction, scope).is_some()
            {
                let array = self.tangent(array, direction, scope);
                let value = self.tangent(value, direction, scope);
                let name = self.tan_name(s.results[0]);
                let tan = self.b.named(&name).update(array, &scope.env.atoms(indices), value);
                scope.tans.insert((s.results[0], direction), tan.into());
            }
        }
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_index(&mut self, result: Var, array: Atom, indices: &[Atom], scope: &mut Scope) {
        if let Some(c) = self.take(result, scope) {
            let indices = scope.env.atoms(indices);
            self.add_at(array, &indices, c, scope);
        }
    }

    pub(crate) fn reverse_update(
        &mut self,
        result: Var,
        array: Atom,
        indices: &[Atom],
        value: Atom,
        scope: &mut Scope,
    ) {
        let Some(c) = self.take(result, scope) else { return };
        let indices = scope.env.atoms(indices);
        if let Some(v) = self.active.member(value) {
            let name = self.cot_name(v);
            let read = self.b.named(&name).index(c, &indices);
            self.add(value, read.into(), scope);
        }
        if let Some(a) = self.active.member(array) {
            let zero = self.zeros_like(value, scope);
            let name = self.cot_name(a);
            let rest = self.b.named(&name).update(c, &indices, zero);
            self.add(array, rest.into(), scope);
        }
    }
}
