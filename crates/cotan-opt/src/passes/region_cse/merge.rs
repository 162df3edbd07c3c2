//! Merging of two regions.

use super::{Names, Twins};
use cotan_ir::{Atom, Block, Loop, Op, Par, Stmt, Var};

impl Twins<'_> {
    /// The region that does what two do, at the place of the first; the results of the second, and what is bound in it,
    /// get the names of equal ones.
    pub(super) fn merge(&self, first: &Stmt, second: &Stmt, names: &mut Names) -> Option<Stmt> {
        let (results, op) = if let (Op::Par(p), Op::Par(q)) = (&first.op, &second.op) {
            self.one_par((p, &first.results), (q, &second.results), names)
        } else if let (Op::Loop(l), Op::Loop(m)) = (&first.op, &second.op) {
            self.one_loop((l, &first.results), (m, &second.results), names)?
        } else if let (Op::Switch { selector, arms }, Op::Switch { arms: others, .. }) = (&first.op, &second.op) {
            let arms: Vec<Block> = arms.iter().zip(others).map(|(a, b)| self.one_block(a, b, names)).collect();
            self.one_switch((*selector, &first.results), &second.results, arms, names)
        } else {
            return None;
        };
        Some(Stmt { results, op, span: first.span })
    }

    /// The statements and the results of both blocks, one behind the other.
    fn one_block(&self, first: &Block, second: &Block, names: &mut Names) -> Block {
        let stmts = self.joined(&first.stmts, &second.stmts, names);
        let second = second.results.iter().map(|a| names.of(*a));
        Block { stmts, results: first.results.iter().copied().chain(second).collect() }
    }

    fn one_par(&self, first: (&Par, &[Var]), second: (&Par, &[Var]), names: &mut Names) -> (Vec<Var>, Op) {
        let ((p, of_first), (q, of_second)) = (first, second);
        q.indices.iter().zip(&p.indices).for_each(|(j, i)| names.set(*j, *i));
        let body = self.one_block(&p.body, &q.body, names);
        let kinds = [&p.kinds[..], &q.kinds].concat();
        let (of_first, first_accs) = of_first.split_at(p.kinds.len());
        let (of_second, second_accs) = of_second.split_at(q.kinds.len());
        let is_same = |j: usize, k: usize| kinds[j] == kinds[k] && body.results[j] == body.results[k];
        let results = [of_first, of_second].concat();
        let kept = self.distinct(&results, of_first.len(), is_same, names);
        let merged = Par {
            indices: p.indices.clone(),
            extents: p.extents.clone(),
            kinds: kept.iter().map(|k| kinds[*k]).collect(),
            accs: [&p.accs[..], &q.accs].concat(),
            body: Block { results: kept.iter().map(|k| body.results[*k]).collect(), stmts: body.stmts },
        };
        let results = kept.iter().map(|k| results[*k]).chain(first_accs.iter().chain(second_accs).copied());
        (results.collect(), Op::Par(Box::new(merged)))
    }

    /// `None` for loops whose lengths are not seen to be equal.
    fn one_loop(&self, first: (&Loop, &[Var]), second: (&Loop, &[Var]), names: &mut Names) -> Option<(Vec<Var>, Op)> {
        let ((l, of_first), (m, of_second)) = (first, second);
        let mut equal = self.equal_starts(l, m, names);
        let body = loop {
            let mut trial = names.clone();
            trial.set(m.index, l.index);
            equal.iter().for_each(|(p, q)| trial.set(m.params[*q], l.params[*p]));
            let body = self.one_block(&l.body, &m.body, &mut trial);
            let next_of_second = &body.results[l.body.results.len()..];
            let n_equal = equal.len();
            equal.retain(|(p, q)| body.results[*p] == next_of_second[*q]);
            // Whiles run equally long if what they go on by is equal.
            if l.count.is_none() && !equal.contains(&(0, 0)) {
                return None;
            }
            if equal.len() == n_equal {
                *names = trial;
                break body;
            }
        };
        let (of_first, of_second) = (l.split(of_first), m.split(of_second));
        of_second.trips.iter().zip(of_first.trips).for_each(|(v, trips)| names.set(*v, trips));
        equal.iter().for_each(|(p, q)| names.set(of_second.carried[*q], of_first.carried[*p]));
        let others: Vec<usize> = (0..m.params.len()).filter(|k| !equal.iter().any(|(_, q)| q == k)).collect();

        let (next, of_stacked) = body.results[..l.body.results.len()].split_at(l.params.len());
        let (next_of_second, stacked_of_second) = body.results[l.body.results.len()..].split_at(m.params.len());
        let elements = [of_stacked, stacked_of_second].concat();
        let stacked = [of_first.stacked, of_second.stacked].concat();
        let is_same = |j: usize, k: usize| elements[j] == elements[k];
        let kept = self.distinct(&stacked, of_first.stacked.len(), is_same, names);

        let more = |of: &[Var]| others.iter().map(|k| of[*k]).collect::<Vec<_>>();
        let more_atoms = |of: &[Atom]| others.iter().map(|k| of[*k]).collect::<Vec<_>>();
        let merged = Loop {
            index: l.index,
            count: l.count,
            params: [&l.params[..], &more(&m.params)].concat(),
            inits: [&l.inits[..], &more_atoms(&m.inits)].concat(),
            accs: [&l.accs[..], &m.accs].concat(),
            body: Block {
                results: [next, &more_atoms(next_of_second), &kept.iter().map(|k| elements[*k]).collect::<Vec<_>>()]
                    .concat(),
                stmts: body.stmts,
            },
            kept: l.kept,
        };
        let results = of_first.trips.into_iter().chain(of_first.carried.iter().copied());
        let results = results.chain(more(of_second.carried)).chain(of_first.accs.iter().chain(of_second.accs).copied());
        Some((results.chain(kept.iter().map(|k| stacked[*k])).collect(), Op::Loop(Box::new(merged))))
    }

    /// Carried values of two loops that start equal, in the order in which they stand: positions in both.
    fn equal_starts(&self, l: &Loop, m: &Loop, names: &Names) -> Vec<(usize, usize)> {
        let mut equal: Vec<(usize, usize)> = Vec::new();
        for (q, (param, init)) in m.params.iter().zip(&m.inits).enumerate() {
            let ty = names.of_ty(self.f.ty(*param));
            let is_free = |p: usize| !equal.iter().any(|(other, _)| *other == p);
            let starts_so = |p: &usize| l.inits[*p] == *init && names.of_ty(self.f.ty(l.params[*p])) == ty;
            equal.extend((0..l.params.len()).filter(|p| is_free(*p)).find(starts_so).map(|p| (p, q)));
        }
        equal
    }

    fn one_switch(
        &self,
        first: (Atom, &[Var]),
        of_second: &[Var],
        mut arms: Vec<Block>,
        names: &mut Names,
    ) -> (Vec<Var>, Op) {
        let (selector, of_first) = first;
        let results = [of_first, of_second].concat();
        let is_same = |j: usize, k: usize| arms.iter().all(|arm| arm.results[j] == arm.results[k]);
        let kept = self.distinct(&results, of_first.len(), is_same, names);
        for arm in &mut arms {
            arm.results = kept.iter().map(|k| arm.results[*k]).collect();
        }
        (kept.iter().map(|k| results[*k]).collect(), Op::Switch { selector, arms })
    }

    /// The positions of results that differ. Those of the second region that equal another one get its name.
    fn distinct(
        &self,
        results: &[Var],
        n_first: usize,
        is_same: impl Fn(usize, usize) -> bool,
        names: &mut Names,
    ) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..n_first).collect();
        for k in n_first..results.len() {
            let ty = names.of_ty(self.f.ty(results[k]));
            let is_record = |v: Var| self.f.vars[v.index()].record.is_some();
            let is_equal = |j: &usize| {
                is_same(*j, k)
                    && !is_record(results[*j])
                    && !is_record(results[k])
                    && names.of_ty(self.f.ty(results[*j])) == ty
            };
            match kept.iter().copied().find(is_equal) {
                Some(j) => names.set(results[k], results[j]),
                None => kept.push(k),
            }
        }
        kept
    }
}
