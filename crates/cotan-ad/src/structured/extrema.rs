//! Extrema: maxima and minima over a `par`. All candidates that reach the extreme value share its derivative equally, the start
//! value included, in both modes.
//!
//! The weights depend on the final value, so a second `par` re-executes the body behind the first and counts the ties.
//! Comparing re-executed values is legal because both copies compute the same bits. The second pass must write to no
//! other accumulator, those of enclosing regions included, or they would be counted twice.
//!
//! A tie is any candidate not beaten by the final value, so where that is NaN all candidates tie; the weight is NaN then.

use crate::error::Error;
use crate::state::{Extreme, Forward, Reverse, Scope, Share, TangentScope, TieCount};
use cotan_ir::{Acc, AccKind, Atom, Block, Builder, Monoid, Op, Par, ParResult, Stmt, Ty, Var};

/// 1 where the start value of a maximum or minimum ties, else 0. A fold starts from the neutral element, which is no
/// value of the program and has no share, not even where all values are equal to it.
fn start_tie(b: &mut Builder, extreme: &Extreme, place: &Place, init: Atom, wins: Atom) -> Atom {
    let neutral = Atom::from(cotan_ops::reduce::identity(extreme.monoid, extreme.elem));
    if matches!(place.candidate, Candidate::Reduced(_)) && init == neutral {
        return extreme.number(0);
    }
    extreme.select_tie(b, "tie", &[], init, wins)
}

/// An extreme among the results of a `par`.
#[derive(Clone, Copy)]
struct Place {
    /// Position among the results of the statement.
    result: usize,
    monoid: Monoid,
    init: Atom,
    /// The accumulator, or the result of the body that is reduced.
    candidate: Candidate,
}

#[derive(Clone, Copy)]
enum Candidate {
    Reduced(Atom),
    Accumulated(Var),
}

/// The maxima and minima of a `par`.
fn places(p: &Par) -> impl Iterator<Item = Place> + '_ {
    let extreme = |monoid| matches!(monoid, Monoid::Max | Monoid::Min);
    let reduced = p.kinds.iter().zip(&p.body.results).enumerate().filter_map(move |(result, (kind, r))| match *kind {
        ParResult::Reduced { monoid, init } if extreme(monoid) => {
            Some(Place { result, monoid, init, candidate: Candidate::Reduced(*r) })
        }
        ParResult::Reduced { .. } | ParResult::Stacked => None,
    });
    let accumulated = p.accs.iter().enumerate().filter_map(move |(q, acc)| match (acc.kind, acc.init) {
        (AccKind::Reduce(monoid), Some(init)) if extreme(monoid) => {
            Some(Place { result: p.kinds.len() + q, monoid, init, candidate: Candidate::Accumulated(acc.var) })
        }
        (AccKind::Reduce(_) | AccKind::Log, _) => None,
    });
    reduced.chain(accumulated)
}

impl Forward<'_, '_> {
    /// The tangents of the maxima and minima of a `par` that was just emitted: means over all that tie.
    pub(crate) fn jvp_extrema(&mut self, s: &Stmt, p: &Par, scope: &mut TangentScope) -> Result<(), Error> {
        let directions = |place: &Place| self.directions_of(s.results[place.result]).collect::<Vec<usize>>();
        let places: Vec<(Place, Vec<usize>)> = places(p)
            .map(|place| (place, directions(&place)))
            .filter(|(_, directions)| !directions.is_empty())
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        let mut inner = without_writes(scope, &p.body);
        let (mut kinds, mut accs, mut reduced, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (place, directions) in &places {
            let value = scope.env.atom(s.results[place.result].into());
            let extreme = Extreme::new(&self.b, place.monoid, value);
            let (count, sums) = self.tie_starts(&extreme, place, directions, scope);
            match place.candidate {
                Candidate::Reduced(r) => {
                    let starts = [count].into_iter().chain(sums);
                    kinds.extend(starts.map(|init| ParResult::Reduced { monoid: Monoid::Add, init }));
                    reduced.push((extreme, r, directions));
                }
                Candidate::Accumulated(acc) => {
                    let ty = self.b.ty(value);
                    let mut sum_from = |name: &str, init: Atom| {
                        let var = self.b.var(name, ty.clone());
                        accs.push(Acc { var, kind: AccKind::Reduce(Monoid::Add), init: Some(init) });
                        var
                    };
                    let count = sum_from("ties", count);
                    let tan_sums =
                        directions.iter().zip(sums).map(|(direction, init)| (*direction, sum_from("ties_tan", init)));
                    inner.ties.insert(acc, TieCount { extreme, count, tan_sums: tan_sums.collect() });
                }
            }
            counts.push((s.results[place.result], extreme, directions));
        }
        let indices = p.indices.iter().map(|v| self.b.copy_var(self.src, *v, &mut inner.env)).collect();
        self.b.open_block();
        self.stmts(&p.body.stmts, &mut inner)?;
        self.b.set_span(s.span.tangent());
        let mut results = Vec::new();
        for (extreme, r, directions) in reduced {
            let candidate = inner.env.atom(r);
            results.push(extreme.select_tie(&mut self.b, "ties", &[], candidate, extreme.number(1)));
            for direction in directions {
                let tan = self.tangent(r, *direction, &inner);
                results.push(extreme.select_tie(&mut self.b, "ties_tan", &[], candidate, tan));
            }
        }
        let body = self.b.close_block(results);
        let extents = scope.env.atoms(&p.extents);
        let mut sums = self.b.finish_par(indices, extents, kinds, accs, body).into_iter();
        for (result, extreme, directions) in counts {
            let n_ties = sums.next().expect("invariant: ties are counted");
            let tans: Vec<Var> = sums.by_ref().take(directions.len()).collect();
            self.mean_tangents(result, extreme, n_ties, directions.iter().copied().zip(tans), scope);
        }
        Ok(())
    }

    /// The start values of the second pass for one extreme: the number of ties, and the sum of tangents in each direction.
    fn tie_starts(
        &mut self,
        extreme: &Extreme,
        place: &Place,
        directions: &[usize],
        scope: &TangentScope,
    ) -> (Atom, Vec<Atom>) {
        let init = scope.env.atom(place.init);
        let count = start_tie(&mut self.b, extreme, place, init, extreme.number(1));
        let sum = |direction: &usize| {
            let init_tan = self.tangent(place.init, *direction, scope);
            start_tie(&mut self.b, extreme, place, init, init_tan)
        };
        (count, directions.iter().map(sum).collect())
    }

    /// The tangents of an extreme: the sum over its ties in each direction, by their number.
    fn mean_tangents(
        &mut self,
        result: Var,
        extreme: Extreme,
        n_ties: Var,
        sums: impl Iterator<Item = (usize, Var)>,
        scope: &mut TangentScope,
    ) {
        let weight = extreme.weight(&mut self.b, n_ties.into());
        let name = self.tan_name(result);
        for (direction, sum) in sums {
            let tan = self.b.named(&name).prim(cotan_ops::MULZ.prim(), &[sum.into(), weight]);
            scope.tans.insert((result, direction), tan.into());
        }
    }
}

/// The scope without the accumulators that a block writes to: writes to them are erased.
fn without_writes(scope: &TangentScope, block: &Block) -> TangentScope {
    let mut inner = scope.clone();
    let written = cotan_ir::written_accs(block);
    inner.env.retain(|v, _| !written.contains(v));
    inner.tans.retain(|(v, _), _| !written.contains(v));
    inner.ties.retain(|v, _| !written.contains(v));
    inner
}

impl Reverse<'_, '_> {
    /// Counts the ties of result `result` of a `par`, whose cotangent is `c`.
    pub(crate) fn extreme(&mut self, s: &Stmt, p: &Par, result: usize, c: Atom, scope: &Scope) -> Share {
        let place = places(p).find(|place| place.result == result).expect("invariant: the result is an extreme");
        let value = scope.env.atom(s.results[result].into());
        let extreme = Extreme::new(&self.b, place.monoid, value);
        let one = extreme.number(1);
        let init = start_tie(&mut self.b, &extreme, &place, scope.env.atom(place.init), one);

        let mut env = scope.env.clone();
        let indices = p.indices.iter().map(|v| self.b.copy_var(self.src, *v, &mut env)).collect();
        let ty: Ty = self.b.ty(value);
        let ties = self.b.var("ties", ty);
        self.b.open_block();
        for inner in &p.body.stmts {
            self.b.copy_stmt_with(self.src, inner, &mut env, &mut |b, write, env| {
                if let (Op::AccAdd { acc, indices, value }, Candidate::Accumulated(counted)) = (write, place.candidate)
                    && *acc == counted
                {
                    let at = env.atoms(indices);
                    let one = extreme.select_tie(b, "tie", &at, env.atom(*value), one);
                    b.acc_add(ties, &at, one);
                }
            });
        }
        self.b.set_span(s.span.cotangent());
        let extents = scope.env.atoms(&p.extents);
        let n_ties = match place.candidate {
            Candidate::Reduced(r) => {
                let one = extreme.select_tie(&mut self.b, "tie", &[], env.atom(r), one);
                let body = self.b.close_block(vec![one]);
                let kinds = vec![ParResult::Reduced { monoid: Monoid::Add, init }];
                self.b.named("ties").finish_par(indices, extents, kinds, Vec::new(), body)
            }
            Candidate::Accumulated(_) => {
                let body = self.b.close_block(Vec::new());
                let accs = vec![Acc { var: ties, kind: AccKind::Reduce(Monoid::Add), init: Some(init) }];
                self.b.finish_par(indices, extents, Vec::new(), accs, body)
            }
        };
        let weight = extreme.weight(&mut self.b, n_ties[0].into());
        let share = self.b.named("share").prim(cotan_ops::MULZ.prim(), &[c, weight]).into();
        Share { extreme, share }
    }

    /// The cotangent of the start value of an extreme.
    pub(crate) fn add_extreme_init(&mut self, init: Atom, share: Share, scope: &mut Scope) {
        if let Some(x) = self.active.member(init) {
            let name = self.cot_name(x);
            let c = share.of(&mut self.b, &name, &[], scope.env.atom(init));
            self.add(init, c, scope);
        }
    }
}
