//! Tangents of source variables in forward mode: access, explicit zeros, and the results of regions.

use crate::state::{Forward, Slot, TangentScope, retyped, zeros};
use cotan_ir::{Atom, Env, Var};

impl Forward<'_, '_> {
    /// The name of a tangent.
    pub(crate) fn tan_name(&self, x: Var) -> String {
        format!("{}_tan", self.src.name_of(x))
    }

    /// The directions in which a variable may have a tangent.
    pub(crate) fn directions_of(&self, x: Var) -> impl Iterator<Item = usize> + use<'_> {
        self.directions.iter().enumerate().filter(move |(_, active)| active.has(x)).map(|(direction, _)| direction)
    }

    /// The slots of all tangents that some variables may have.
    pub(crate) fn slots(&self, vars: &[Var]) -> Vec<Slot> {
        let of = |(at, x): (usize, &Var)| {
            self.directions_of(*x).map(move |direction| Slot { at, direction }).collect::<Vec<_>>()
        };
        vars.iter().enumerate().flat_map(of).collect()
    }

    /// The tangent of an operand, if it is not zero.
    pub(crate) fn known_tangent(&self, a: Atom, direction: usize, scope: &TangentScope) -> Option<Atom> {
        scope.tans.get(&(a.var()?, direction)).copied()
    }

    /// The tangent of an operand, under the operand's own dims; zeros are made explicit.
    pub(crate) fn tangent(&mut self, a: Atom, direction: usize, scope: &TangentScope) -> Atom {
        let ty = scope.env.ty(&self.src.atom_ty(a)).tangent();
        match self.known_tangent(a, direction, scope) {
            Some(tan) => retyped(&mut self.b, tan, ty),
            None => zeros(&mut self.b, &ty),
        }
    }

    /// A new variable for the tangent of a copied variable: it has the type of the copy and its mark as a record.
    pub(crate) fn tangent_var(&mut self, x: Var, env: &Env) -> Var {
        let ty = env.ty(self.src.ty(x)).tangent();
        let tan = self.b.var(&self.tan_name(x), ty);
        self.b.info_mut(tan).record = self.src.vars[x.index()].record;
        tan
    }

    /// Operands in the target and, behind them, their tangents.
    pub(crate) fn with_tangents(&mut self, atoms: &[Atom], active: &[Slot], scope: &TangentScope) -> Vec<Atom> {
        let mut all = scope.env.atoms(atoms);
        all.extend(active.iter().map(|slot| self.tangent(atoms[slot.at], slot.direction, scope)));
        all
    }

    /// Copies of the results of a region and, behind them, their tangents; all enter the scope.
    pub(crate) fn results_with_tangents(
        &mut self,
        results: &[Var],
        active: &[Slot],
        scope: &mut TangentScope,
    ) -> Vec<Var> {
        let mut all: Vec<Var> = results.iter().map(|r| self.b.copy_var(self.src, *r, &mut scope.env)).collect();
        for slot in active {
            let tan = self.tangent_var(results[slot.at], &scope.env);
            scope.tans.insert((results[slot.at], slot.direction), tan.into());
            all.push(tan);
        }
        all
    }
}
