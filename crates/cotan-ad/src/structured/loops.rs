//! The sequential loop, counted or a while.
//!
//! Forward mode carries the tangents along. In reverse it is a counted loop backwards, over the iterations that ran, so
//! the condition of a while is never evaluated. It carries the cotangents of the active carried values; free variables,
//! scalars too, are written through accumulators, one contribution at a time, those of the outermost loop where there
//! are several. (No pass may regroup these sums: that is what makes checkpointing keep the bits.)

use crate::Error;
use crate::cotangent::{AccCot, Scope};
use crate::jvp::{Forward, TangentScope};
use crate::record::ReverseLoop;
use crate::vjp::{Reverse, Twin};
use cotan_ir::{Atom, Elem, Loop, Op, Stmt, Ty, Var};

impl Forward<'_, '_> {
    pub(crate) fn jvp_loop(&mut self, s: &Stmt, l: &Loop, scope: &mut TangentScope) -> Result<(), Error> {
        let source = l.split(&s.results);
        let n = l.params.len();
        let active: Vec<usize> = (0..n).filter(|q| self.active.has(l.params[*q])).collect();
        let stacked: Vec<usize> = (0..source.stacked.len()).filter(|q| self.active.has(source.stacked[*q])).collect();

        let mut inner = scope.clone();
        let index = self.b.copy_var(self.src, l.index, &mut inner.env);
        let mut params: Vec<Var> = l.params.iter().map(|p| self.b.copy_var(self.src, *p, &mut inner.env)).collect();
        let mut inits = scope.env.atoms(&l.inits);
        for q in &active {
            let tan = self.tangent_var(l.params[*q], &inner.env);
            inner.tans.insert(l.params[*q], tan.into());
            params.push(tan);
            inits.push(self.tangent(l.inits[*q], scope));
        }
        let mut accs = self.b.copy_accs(self.src, &l.accs, &scope.env, &mut inner.env);
        let acc_tans = self.tangent_accs(&l.accs, &mut accs, scope, &mut inner);

        self.b.open_block();
        self.stmts(&l.body.stmts, &mut inner)?;
        let (nexts, elements) = l.body.results.split_at(n);
        let mut results = inner.env.atoms(nexts);
        results.extend(active.iter().map(|q| self.tangent(nexts[*q], &inner)));
        results.extend(inner.env.atoms(elements));
        results.extend(stacked.iter().map(|q| self.tangent(elements[*q], &inner)));
        let body = self.b.close_block(results);

        // A log's type names a carried result, so results are made in the order in which they stand.
        let mut results = Vec::new();
        results.extend(source.trips.map(|k| self.b.copy_var(self.src, k, &mut scope.env)));
        let groups = [(source.carried, active), (source.accs, acc_tans), (source.stacked, stacked)];
        for (vars, with_tangent) in groups {
            results.extend(vars.iter().map(|v| self.b.copy_var(self.src, *v, &mut scope.env)));
            for q in with_tangent {
                let tan = self.tangent_var(vars[q], &scope.env);
                scope.tans.insert(vars[q], tan.into());
                results.push(tan);
            }
        }
        let count = l.count.map(|c| scope.env.atom(c));
        self.b.set_span(s.span);
        self.b.push(results, Op::Loop(Box::new(Loop { index, count, params, inits, accs, body })));
        Ok(())
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_loop(&mut self, s: &Stmt, l: &Loop, twin: &Twin, scope: &mut Scope) -> Result<(), Error> {
        let source = l.split(&s.results);
        let carried_cots: Vec<Option<Atom>> = source.carried.iter().map(|r| self.take(*r, scope)).collect();
        let acc_cots: Vec<Option<Atom>> = source.accs.iter().map(|r| self.take(*r, scope)).collect();
        let stacked_cots: Vec<Option<Atom>> = source.stacked.iter().map(|r| self.take(*r, scope)).collect();
        let count = match (l.count, source.trips) {
            (Some(n), _) => scope.env.atom(n),
            (None, Some(trips)) => scope.env.atom(trips.into()),
            (None, None) => unreachable!("invariant: a while gives its trip count"),
        };

        let mut bound = vec![l.index];
        bound.extend(&l.params);
        let free = self.active_free(&l.body, &bound, scope);
        let mut inner = self.inner_scope(scope, &free);
        for (acc, c) in l.accs.iter().zip(acc_cots) {
            let Some(c) = c else { continue };
            inner.acc_cots.insert(acc.var, AccCot::Linear(c));
            if let Some(init) = acc.init {
                self.add(init, c, scope);
            }
        }
        let active: Vec<usize> = (0..l.params.len()).filter(|q| self.active.has(l.params[*q])).collect();
        let inits: Vec<Atom> = active
            .iter()
            .map(|q| carried_cots[*q].unwrap_or_else(|| self.zeros_like(l.params[*q].into(), scope)))
            .collect();
        let new_accs = self.accumulate(&free, &mut inner);

        // The iteration again, from placeholders for its carried values, then backwards.
        let down = self.b.var("down", Ty::scalar(Elem::I64));
        let placeholders: Vec<Var> = l.params.iter().map(|p| self.b.copy_var(self.src, *p, &mut inner.env)).collect();
        let params: Vec<Var> = active.iter().map(|q| self.result_var(l.params[*q], &inner)).collect();
        self.b.open_block();
        let last = self.b.named("last").prim(cotan_ops::SUB.prim(), &[count, Atom::i64(1)]);
        let index_name = self.src.name_of(l.index);
        let index = self.b.named(index_name).prim(cotan_ops::SUB.prim(), &[last.into(), down.into()]);
        inner.env.insert(l.index, index.into());
        let head = self.b.stmts().len();
        let twins = self.forward(&l.body.stmts, &mut inner.env);
        self.b.set_span(s.span);
        let (nexts, elements) = l.body.results.split_at(l.params.len());
        for (q, c) in active.iter().zip(&params) {
            self.add(nexts[*q], (*c).into(), &mut inner);
        }
        for (r, c) in elements.iter().zip(stacked_cots) {
            if let (Some(x), Some(c)) = (self.active.member(*r), c) {
                let name = self.cot_name(x);
                let element = self.b.named(&name).index(c, &[index.into()]);
                self.add(*r, element.into(), &mut inner);
            }
        }
        self.reverse(&l.body.stmts, &twins, &mut inner)?;
        let next_cots = active.iter().map(|q| self.value(l.params[*q], &inner)).collect();
        let body = self.b.close_block(next_cots);
        self.b.set_span(s.span);
        let (vars, accs) = self.written(new_accs, &body, scope);

        let finals: Vec<Var> = vars.iter().map(|x| self.result_var(*x, scope)).collect();
        let carried: Vec<Var> = active.iter().map(|q| self.result_var(l.params[*q], scope)).collect();
        let reverse = ReverseLoop {
            source: l,
            twin,
            outer: &scope.env,
            env: &inner.env,
            placeholders: &placeholders,
            iteration: index.into(),
            head,
            results: carried.clone(),
            params,
            inits,
            body,
        };
        let ReverseLoop { mut results, params, inits, body, .. } = self.restore(reverse);
        results.extend(&finals);
        self.b.push(results, Op::Loop(Box::new(Loop { index: down, count: Some(count), params, inits, accs, body })));
        self.replace(&vars, &finals, scope);
        for (q, c) in active.iter().zip(carried) {
            self.add(l.inits[*q], c.into(), scope);
        }
        Ok(())
    }
}
