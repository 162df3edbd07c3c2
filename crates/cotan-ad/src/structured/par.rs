//! Parallel loops: a parallel loop over the same space, in both modes.
//!
//! In reverse, free scalars are summed locally and become reduced results; free arrays are written through an
//! accumulator, an enclosing one where there is one, so that no dense zeros are made per iteration. Whether an
//! accumulator can be a stacked result is decided by a pass, not here.

use crate::error::Error;
use crate::state::{AccCot, Cot, Forward, Reverse, Scope, Share, Slot, TangentScope};
use cotan_ir::{Acc, AccKind, Atom, Block, Const, Monoid, Op, Par, ParResult, Stmt, Var, bug};
use cotan_opt::cost;

impl Forward<'_, '_> {
    pub(crate) fn jvp_par(&mut self, s: &Stmt, p: &Par, scope: &mut TangentScope) -> Result<(), Error> {
        if !self.has_linear_tangents(s, p, scope) {
            // Only extremes are active, and their tangents come from the second pass: tangents in the first would be
            // dead code, twice as much with every level of nesting.
            self.primal(s, scope);
            return self.jvp_extrema(s, p, scope);
        }
        let (values, finals) = s.results.split_at(p.kinds.len());
        let mut inner = scope.clone();
        let indices = p.indices.iter().map(|v| self.b.copy_var(self.src, *v, &mut inner.env)).collect();
        let mut accs = self.b.copy_accs(self.src, &p.accs, &scope.env, &mut inner.env);
        let acc_tans = self.tangent_accs(&p.accs, &mut accs, scope, &mut inner);
        let mut active = self.slots(values);
        active.retain(|slot| is_linear(p.kinds[slot.at]));
        let mut kinds: Vec<ParResult> = p.kinds.iter().map(|k| k.renamed(&scope.env)).collect();
        for Slot { at, direction } in &active {
            kinds.push(match p.kinds[*at] {
                ParResult::Stacked => ParResult::Stacked,
                ParResult::Reduced { monoid, init } => {
                    ParResult::Reduced { monoid, init: self.tangent(init, *direction, scope) }
                }
            });
        }
        self.b.open_block();
        self.stmts(&p.body.stmts, &mut inner)?;
        let results = self.with_tangents(&p.body.results, &active, &inner);
        let body = self.b.close_block(results);

        let mut results = self.results_with_tangents(values, &active, scope);
        results.extend(self.results_with_tangents(finals, &acc_tans, scope));
        let extents = scope.env.atoms(&p.extents);
        self.b.set_span(s.span);
        self.b.push(results, Op::Par(Box::new(Par { indices, extents, kinds, accs, body })));
        self.jvp_extrema(s, p, scope)
    }

    /// Whether the body has tangents of linear results, or writes to accumulators with a tangent.
    fn has_linear_tangents(&self, s: &Stmt, p: &Par, scope: &TangentScope) -> bool {
        let (values, finals) = s.results.split_at(p.kinds.len());
        let mut results = p.kinds.iter().zip(values).map(|(kind, r)| (is_linear(*kind), *r));
        let mut accs = p.accs.iter().zip(finals).map(|(acc, r)| (is_linear_acc(acc.kind), *r));
        let is_active = |(linear, r): (bool, Var)| linear && self.directions_of(r).next().is_some();
        let has_tangent =
            |acc: Var| (0..self.directions.len()).any(|direction| scope.tans.contains_key(&(acc, direction)));
        let is_written = |acc: &Var| has_tangent(*acc) || scope.ties.contains_key(acc);
        results.any(is_active) || accs.any(is_active) || cotan_ir::written_accs(&p.body).iter().any(is_written)
    }

    /// Adds tangent accumulators to `accs` for the active sums and logs, and gives their slots in `source`.
    pub(crate) fn tangent_accs(
        &mut self,
        source: &[Acc],
        accs: &mut Vec<Acc>,
        outer: &TangentScope,
        inner: &mut TangentScope,
    ) -> Vec<Slot> {
        let mut with_tangent = self.slots(&source.iter().map(|acc| acc.var).collect::<Vec<_>>());
        with_tangent.retain(|slot| is_linear_acc(source[slot.at].kind));
        for Slot { at, direction } in &with_tangent {
            let acc = &source[*at];
            let var = self.tangent_var(acc.var, &inner.env);
            inner.tans.insert((acc.var, *direction), var.into());
            let init = acc.init.map(|i| self.tangent(i, *direction, outer));
            accs.push(Acc { var, kind: acc.kind, init });
        }
        with_tangent
    }
}

/// Whether the tangent of a result is the result of the tangents.
fn is_linear(kind: ParResult) -> bool {
    match kind {
        ParResult::Stacked | ParResult::Reduced { monoid: Monoid::Add, .. } => true,
        ParResult::Reduced { monoid: Monoid::Mul | Monoid::Max | Monoid::Min | Monoid::And | Monoid::Or, .. } => false,
    }
}

/// Whether the tangent of an accumulator accumulates the tangents.
fn is_linear_acc(kind: AccKind) -> bool {
    match kind {
        AccKind::Log | AccKind::Reduce(Monoid::Add) => true,
        AccKind::Reduce(Monoid::Mul | Monoid::Max | Monoid::Min | Monoid::And | Monoid::Or) => false,
    }
}

/// How the body gets the cotangent of one of its results.
enum Seed {
    /// Read at the indices of the loop.
    Stacked(Atom),
    /// The same for all.
    Reduced(Atom),
    Extreme(Share),
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_par(&mut self, s: &Stmt, p: &Par, scope: &mut Scope) -> Result<(), Error> {
        let seeds = self.par_seeds(s, p, scope);
        let acc_cots = self.par_acc_cots(s, p, scope);
        let free = self.active_free(&p.body, &p.indices, scope);
        let (scalars, arrays): (Vec<Var>, Vec<Var>) = free.into_iter().partition(|x| self.src.ty(*x).is_scalar());
        let mut inner = self.inner_scope(scope, &arrays);
        inner.acc_cots.extend(acc_cots);
        let new_accs = self.accumulate(&arrays, &mut inner);
        let runs = self.runs;
        let extents = p.extents.iter().map(|n| cost::known(*n));
        self.runs = extents.fold(runs, |runs, n| runs?.checked_mul(n?));

        let indices: Vec<Var> = p.indices.iter().map(|v| self.b.copy_var(self.src, *v, &mut inner.env)).collect();
        self.b.open_block();
        let copies = self.forward(&p.body.stmts, &mut inner.env)?;
        self.b.set_span(s.span.cotangent());
        for (r, seed) in seeds {
            self.plant(r, seed, &indices, &mut inner);
        }
        self.reverse(&p.body.stmts, &copies, &mut inner)?;
        self.runs = runs;
        let (scalars, sums): (Vec<Var>, Vec<Atom>) = scalars
            .into_iter()
            .filter_map(|x| match inner.cots.get(&x)? {
                Cot::Value(c) => Some((x, *c)),
                Cot::Acc(_) => {
                    bug!("derivatives, par", format_args!("{s:?}"), "the cotangents of scalars are summed locally")
                }
            })
            .unzip();
        let body = self.b.close_block(sums);
        self.b.set_span(s.span.cotangent());
        let (vars, accs) = self.written(new_accs, &body, scope);

        let start = |x: &Var| Const::zero(self.src.ty(*x).tangent().elem).into();
        let kinds = scalars.iter().map(|x| ParResult::Reduced { monoid: Monoid::Add, init: start(x) }).collect();
        let results: Vec<Var> = scalars.iter().chain(&vars).map(|x| self.result_var(*x, scope)).collect();
        let extents = scope.env.atoms(&p.extents);
        self.b.push(results.clone(), Op::Par(Box::new(Par { indices, extents, kinds, accs, body })));
        let (sums, finals) = results.split_at(scalars.len());
        self.replace(&vars, finals, scope);
        for (x, c) in scalars.iter().zip(sums) {
            self.add((*x).into(), (*c).into(), scope);
        }
        Ok(())
    }

    /// The cotangents of the stacked and reduced results, with the body's results that they belong to.
    fn par_seeds(&mut self, s: &Stmt, p: &Par, scope: &mut Scope) -> Vec<(Atom, Seed)> {
        let mut seeds = Vec::new();
        for (k, kind) in p.kinds.iter().enumerate() {
            let Some(c) = self.take(s.results[k], scope) else { continue };
            let seed = match *kind {
                ParResult::Stacked => Seed::Stacked(c),
                ParResult::Reduced { monoid, init } => match monoid {
                    Monoid::Add => {
                        self.add(init, c, scope);
                        Seed::Reduced(c)
                    }
                    Monoid::Max | Monoid::Min => {
                        let share = self.extreme(s, p, k, c, scope);
                        self.add_extreme_init(init, share, scope);
                        Seed::Extreme(share)
                    }
                    Monoid::Mul => {
                        bug!("derivatives, par", format_args!("{s:?}"), "active products were lowered to loops")
                    }
                    Monoid::And | Monoid::Or => {
                        bug!("derivatives, par", format_args!("{s:?}"), "truth values have no cotangent")
                    }
                },
            };
            seeds.push((p.body.results[k], seed));
        }
        seeds
    }

    /// The cotangents of the accumulators.
    fn par_acc_cots(&mut self, s: &Stmt, p: &Par, scope: &mut Scope) -> Vec<(Var, AccCot)> {
        let mut acc_cots = Vec::new();
        for (q, acc) in p.accs.iter().enumerate() {
            let k = p.kinds.len() + q;
            let Some(c) = self.take(s.results[k], scope) else { continue };
            let acc_cot = match acc.kind {
                AccKind::Reduce(Monoid::Max | Monoid::Min) => {
                    let share = self.extreme(s, p, k, c, scope);
                    acc.init.into_iter().for_each(|init| self.add_extreme_init(init, share, scope));
                    AccCot::Extreme(share)
                }
                AccKind::Reduce(Monoid::Add) | AccKind::Log => {
                    acc.init.into_iter().for_each(|init| self.add(init, c, scope));
                    AccCot::Linear(c)
                }
                AccKind::Reduce(Monoid::Mul | Monoid::And | Monoid::Or) => {
                    bug!(
                        "derivatives, par",
                        format_args!("{s:?}"),
                        "an accumulator of floats is a sum, a maximum, a minimum or a log"
                    )
                }
            };
            acc_cots.push((acc.var, acc_cot));
        }
        acc_cots
    }

    /// Gives a result of the body its cotangent.
    fn plant(&mut self, r: Atom, seed: Seed, indices: &[Var], inner: &mut Scope) {
        let Some(x) = self.active.member(r) else { return };
        let name = self.cot_name(x);
        let c = match seed {
            Seed::Stacked(c) => {
                let at: Vec<Atom> = indices.iter().map(|i| Atom::Var(*i)).collect();
                self.b.named(&name).index(c, &at).into()
            }
            Seed::Reduced(c) => c,
            Seed::Extreme(share) => share.of(&mut self.b, &name, &[], inner.env.atom(r)),
        };
        self.add(r, c, inner);
    }

    /// Gives an accumulator to every variable that has none, and enters it into the inner scope.
    pub(crate) fn accumulate(&mut self, free: &[Var], inner: &mut Scope) -> Vec<(Var, Var)> {
        let mut new = Vec::new();
        for x in free {
            if !inner.cots.contains_key(x) {
                let acc = self.result_var(*x, inner);
                inner.cots.insert(*x, Cot::Acc(acc));
                new.push((*x, acc));
            }
        }
        new
    }

    /// Of the new accumulators, those that the reverse body writes; each starts from the cotangent so far.
    pub(crate) fn written(&mut self, new: Vec<(Var, Var)>, body: &Block, scope: &Scope) -> (Vec<Var>, Vec<Acc>) {
        let writes = cotan_ir::written_accs(body);
        let written = new.into_iter().filter(|(_, acc)| writes.contains(acc));
        written
            .map(|(x, var)| {
                let init = Some(self.value(x, scope));
                (x, Acc { var, kind: AccKind::Reduce(Monoid::Add), init })
            })
            .unzip()
    }

    /// A variable for the cotangent of `x`.
    pub(crate) fn result_var(&mut self, x: Var, scope: &Scope) -> Var {
        let ty = self.cot_ty(x, scope);
        let name = self.cot_name(x);
        self.b.var(&name, ty)
    }

    /// The final accumulators of a reverse region replace the cotangents that they started from. Contributions to the
    /// same variables by other routes (a carried value's start value) come before the region is opened or after this,
    /// never between; else one of the two is lost.
    pub(crate) fn replace(&mut self, vars: &[Var], finals: &[Var], scope: &mut Scope) {
        for (x, c) in vars.iter().zip(finals) {
            scope.cots.insert(*x, Cot::Value((*c).into()));
        }
    }
}
