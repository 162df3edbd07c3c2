//! Branches. Tangents become further results. In reverse the arm that ran starts from the cotangents so far and gives
//! back the new totals of those that it changed, so no arm makes zeros for variables that only another one updates in place.

use crate::error::Error;
use crate::state::{Cot, Forward, Reverse, Scope, TangentScope};
use cotan_ir::{Atom, Block, Op, Stmt, Var};

impl Forward<'_, '_> {
    pub(crate) fn jvp_switch(
        &mut self,
        s: &Stmt,
        selector: Atom,
        arms: &[Block],
        scope: &mut TangentScope,
    ) -> Result<(), Error> {
        let active = self.slots(&s.results);
        let mut new_arms = Vec::new();
        for arm in arms {
            let mut inner = scope.clone();
            self.b.open_block();
            self.stmts(&arm.stmts, &mut inner)?;
            let results = self.with_tangents(&arm.results, &active, &inner);
            new_arms.push(self.b.close_block(results));
        }
        let selector = scope.env.atom(selector);
        let results = self.results_with_tangents(&s.results, &active, scope);
        self.b.set_span(s.span);
        self.b.push(results, Op::Switch { selector, arms: new_arms });
        Ok(())
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_switch(
        &mut self,
        s: &Stmt,
        selector: Atom,
        arms: &[Block],
        scope: &mut Scope,
    ) -> Result<(), Error> {
        let seeds: Vec<Option<Atom>> = s.results.iter().map(|r| self.take(*r, scope)).collect();
        let mut outer: Vec<Var> = Vec::new();
        for arm in arms {
            let free = self.active_free(arm, &[], scope);
            outer.extend(free.into_iter().filter(|x| !outer.contains(x)).collect::<Vec<_>>());
        }
        let mut parts = Vec::new();
        for arm in arms {
            let mut inner = Scope {
                env: scope.env.clone(),
                cots: outer.iter().filter_map(|x| Some((*x, *scope.cots.get(x)?))).collect(),
                acc_cots: scope.acc_cots.clone(),
            };
            self.b.open_block();
            let copies = self.forward(&arm.stmts, &mut inner.env)?;
            for (r, seed) in arm.results.iter().zip(&seeds) {
                if let Some(c) = seed {
                    self.add(*r, *c, &mut inner);
                }
            }
            self.reverse(&arm.stmts, &copies, &mut inner)?;
            parts.push((self.b.close_block(Vec::new()), inner));
        }
        let changed: Vec<Var> = outer
            .into_iter()
            .filter(|x| parts.iter().any(|(_, inner)| inner.cots.get(x) != scope.cots.get(x)))
            .collect();
        let mut new_arms = Vec::new();
        for (block, inner) in parts {
            self.b.reopen_block(block.stmts);
            let totals = changed.iter().map(|x| self.value(*x, &inner)).collect();
            new_arms.push(self.b.close_block(totals));
        }
        self.b.set_span(s.span.cotangent());
        let selector = scope.env.atom(selector);
        let mut results = Vec::new();
        for x in &changed {
            let ty = self.cot_ty(*x, scope);
            let name = self.cot_name(*x);
            results.push(self.b.var(&name, ty));
        }
        self.b.push(results.clone(), Op::Switch { selector, arms: new_arms });
        for (x, r) in changed.into_iter().zip(results) {
            scope.cots.insert(x, Cot::Value(r.into()));
        }
        Ok(())
    }
}
