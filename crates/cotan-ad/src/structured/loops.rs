//! Sequential loops, counted or whiles.
//!
//! Forward mode carries the tangents along. The reverse is a counted loop backwards over the iterations that ran, so the
//! condition of a while is never evaluated. It carries the cotangents of the active carried values; cotangents of free
//! variables, scalars too, go to accumulators, one contribution at a time, those of the outermost loop where there are
//! several. (No pass may regroup these sums: this lets checkpointing keep the bits.)

use crate::error::Error;
use crate::state::{AccCot, Forward, ForwardCopy, Reverse, ReverseLoop, Scope, Slot, TangentScope};
use cotan_ir::{Atom, Checkpoint, Elem, Loop, Op, ReversePolicy, Stmt, Ty, Var};
use cotan_opt::cost;

impl Forward<'_, '_> {
    pub(crate) fn jvp_loop(&mut self, s: &Stmt, l: &Loop, scope: &mut TangentScope) -> Result<(), Error> {
        let source = l.split(&s.results);
        let n = l.params.len();
        let (active, stacked) = (self.slots(&l.params), self.slots(source.stacked));

        let mut inner = scope.clone();
        let index = self.b.copy_var(self.src, l.index, &mut inner.env);
        let mut params: Vec<Var> = l.params.iter().map(|p| self.b.copy_var(self.src, *p, &mut inner.env)).collect();
        let mut inits = scope.env.atoms(&l.inits);
        for Slot { at, direction } in &active {
            let tan = self.tangent_var(l.params[*at], &inner.env);
            inner.tans.insert((l.params[*at], *direction), tan.into());
            params.push(tan);
            inits.push(self.tangent(l.inits[*at], *direction, scope));
        }
        let mut accs = self.b.copy_accs(self.src, &l.accs, &scope.env, &mut inner.env);
        let acc_tans = self.tangent_accs(&l.accs, &mut accs, scope, &mut inner);

        self.b.open_block();
        self.stmts(&l.body.stmts, &mut inner)?;
        let (nexts, elements) = l.body.results.split_at(n);
        let mut results = self.with_tangents(nexts, &active, &inner);
        results.extend(self.with_tangents(elements, &stacked, &inner));
        let body = self.b.close_block(results);

        // A log's type names a carried result, so results are created in their order.
        let mut results = self.results_with_tangents(source.trips.as_slice(), &[], scope);
        for (vars, active) in [(source.carried, active), (source.accs, acc_tans), (source.stacked, stacked)] {
            results.extend(self.results_with_tangents(vars, &active, scope));
        }
        let count = l.count.map(|c| scope.env.atom(c));
        self.b.set_span(s.span);
        self.b.push(results, Op::Loop(Box::new(Loop { index, count, params, inits, accs, body, kept: l.kept })));
        Ok(())
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_loop(
        &mut self,
        s: &Stmt,
        l: &Loop,
        forward_copy: &ForwardCopy,
        scope: &mut Scope,
    ) -> Result<(), Error> {
        let source = l.split(&s.results);
        let (runs, records_all) = (self.runs, self.records_all);
        self.runs = runs.and_then(|n| n.checked_mul(cost::known(l.count?)?));
        self.records_all |= l.kept.checkpoint == Some(Checkpoint::All);
        let count = scope.env.atom(trip_count(l, source.trips));
        let active: Vec<usize> = (0..l.params.len()).filter(|q| self.active.has(l.params[*q])).collect();
        let mut inits = Vec::new();
        for q in &active {
            let known = self.take(source.carried[*q], scope);
            inits.push(known.unwrap_or_else(|| self.zeros_like(l.params[*q].into(), scope)));
        }
        let stacked: Vec<Option<Atom>> = source.stacked.iter().map(|r| self.take(*r, scope)).collect();
        let (mut inner, new_accs) = self.loop_scope(l, source.accs, scope);

        // Re-execution of the iteration, from placeholders for its carried values, then its reverse.
        let down = self.b.var("down", Ty::scalar(Elem::I64));
        let placeholders: Vec<Var> = l.params.iter().map(|p| self.b.copy_var(self.src, *p, &mut inner.env)).collect();
        let params: Vec<Var> = active.iter().map(|q| self.result_var(l.params[*q], &inner)).collect();
        self.b.open_block();
        let last = self.b.named("last").prim(cotan_ops::SUB.prim(), &[count, Atom::i64(1)]);
        let index_name = self.src.name_of(l.index);
        let index = self.b.named(index_name).prim(cotan_ops::SUB.prim(), &[last.into(), down.into()]);
        inner.env.insert(l.index, index.into());
        let head = self.b.stmts().len();
        let copies = self.forward(&l.body.stmts, &mut inner.env)?;
        let n_recomputed = self.b.stmts().len() - head;
        self.b.set_span(s.span.cotangent());
        for (q, c) in active.iter().zip(&params) {
            self.add(l.body.results[*q], (*c).into(), &mut inner);
        }
        self.plant_stacked(&l.body.results[l.params.len()..], &stacked, index, &mut inner);
        self.reverse(&l.body.stmts, &copies, &mut inner)?;
        let next_cots = active.iter().map(|q| self.value(l.params[*q], &inner)).collect();
        let body = self.b.close_block(next_cots);
        self.b.set_span(s.span.cotangent());
        let (vars, accs) = self.written(new_accs, &body, scope);

        let results: Vec<Var> = active.iter().map(|q| self.result_var(l.params[*q], scope)).collect();
        let finals: Vec<Var> = vars.iter().map(|x| self.result_var(*x, scope)).collect();
        let reverse = ReverseLoop {
            source: l,
            forward_copy,
            outer: &scope.env,
            env: &inner.env,
            placeholders: &placeholders,
            iteration: index.into(),
            last: last.into(),
            count,
            head,
            n_recomputed,
            results: results.clone(),
            params,
            inits,
            body,
        };
        let reverse = self.restore(reverse);
        let kept =
            ReversePolicy { checkpoint: self.records_all.then_some(Checkpoint::All), ..ReversePolicy::default() };
        (self.runs, self.records_all) = (runs, records_all);
        let all = reverse.results.iter().chain(&finals).copied().collect();
        let (params, inits, body) = (reverse.params, reverse.inits, reverse.body);
        let reverse = Loop { index: down, count: Some(count), params, inits, accs, body, kept };
        self.b.push(all, Op::Loop(Box::new(reverse)));
        self.replace(&vars, &finals, scope);
        for (q, c) in active.iter().zip(results) {
            self.add(l.inits[*q], c.into(), scope);
        }
        Ok(())
    }

    /// Gives the stacked elements of an iteration their cotangents.
    fn plant_stacked(&mut self, elements: &[Atom], stacked: &[Option<Atom>], iteration: Var, inner: &mut Scope) {
        for (r, c) in elements.iter().zip(stacked) {
            if let (Some(x), Some(c)) = (self.active.member(*r), c) {
                let name = self.cot_name(x);
                let element = self.b.named(&name).index(*c, &[iteration.into()]);
                self.add(*r, element.into(), inner);
            }
        }
    }

    /// The scope of a loop's reverse body, with an accumulator for every free variable that is active; the start values
    /// of the source's own accumulators get their cotangents. Gives the new accumulators too.
    fn loop_scope(&mut self, l: &Loop, finals: &[Var], scope: &mut Scope) -> (Scope, Vec<(Var, Var)>) {
        let bound: Vec<Var> = l.params.iter().copied().chain([l.index]).collect();
        let free = self.active_free(&l.body, &bound, scope);
        let mut inner = self.inner_scope(scope, &free);
        for (acc, r) in l.accs.iter().zip(finals) {
            if let Some(c) = self.take(*r, scope) {
                inner.acc_cots.insert(acc.var, AccCot::Linear(c));
                acc.init.into_iter().for_each(|init| self.add(init, c, scope));
            }
        }
        let new_accs = self.accumulate(&free, &mut inner);
        (inner, new_accs)
    }
}

/// The number of iterations that ran; `trips` is that of a while.
fn trip_count(l: &Loop, trips: Option<Var>) -> Atom {
    l.count.or(trips.map(Atom::Var)).expect("invariant: a while gives its trip count")
}
