//! Scalar primitives: one product per partial of the op table's row.

use crate::partials::{Factor, Use};
use crate::state::{Forward, Reverse, Scope, TangentScope};
use cotan_ir::{Atom, Prim, Stmt, Var};

impl Forward<'_, '_> {
    pub(crate) fn jvp_prim(&mut self, s: &Stmt, prim: Prim, args: &[Atom], scope: &mut TangentScope) {
        self.primal(s, scope);
        let y = s.results[0];
        let mut totals: Vec<(usize, Option<Atom>)> = self.directions_of(y).map(|direction| (direction, None)).collect();
        if totals.is_empty() {
            return;
        }
        self.b.set_span(s.span.tangent());
        let name = self.tan_name(y);
        let site = Use::new(&self.b, prim, scope.env.atoms(args), scope.env.atom(y.into()));
        for (k, a) in args.iter().enumerate() {
            if totals.iter().all(|(direction, _)| self.known_tangent(*a, *direction, scope).is_none()) {
                continue;
            }
            let Some(factor) = site.tangent_factor(&mut self.b, k) else { continue };
            for (direction, total) in &mut totals {
                let Some(tan) = self.known_tangent(*a, *direction, scope) else { continue };
                let term = factor.times(&mut self.b, tan, &name);
                *total = Some(match *total {
                    None => term,
                    Some(sum) => self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into(),
                });
            }
        }
        scope.tans.extend(totals.into_iter().filter_map(|(direction, total)| Some(((y, direction), total?))));
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_prim(&mut self, result: Var, prim: Prim, args: &[Atom], scope: &mut Scope) {
        let Some(c) = self.take(result, scope) else { return };
        let site = Use::new(&self.b, prim, scope.env.atoms(args), scope.env.atom(result.into()));
        for (k, a) in args.iter().enumerate() {
            let Some(x) = self.active.member(*a) else { continue };
            if let Some(slope) = self.slopes.through(result, k) {
                let partial = scope.env.atom(slope.partial);
                let name = slope.operand.var().map(|v| self.cot_name(v)).unwrap_or_default();
                let contribution = Factor::Partial { partial, product: &cotan_ops::MULZ }.times(&mut self.b, c, &name);
                self.add(slope.operand, contribution, scope);
                continue;
            }
            let name = self.cot_name(x);
            let slope = self.slopes.of(result, k).map(|slope| scope.env.atom(slope));
            if let Some(factor) = site.cotangent_factor(&mut self.b, k, slope) {
                let contribution = factor.times(&mut self.b, c, &name);
                self.add(*a, contribution, scope);
            }
        }
    }
}
