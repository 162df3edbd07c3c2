//! The loops of a plan, with the products between them and behind.

use super::body::{Outer, Product, Role};
use super::plan::{Plan, sums};
use crate::analysis::splats::Splats;
use cotan_ir::{Acc, Atom, Block, Builder, Dim, Env, Function, Par, ParResult, Ty, Var};
use cotan_ops::{ADD, MATMUL, STRONG, TRANSPOSE};
use rustc_hash::FxHashMap;

/// The block that computes what a loop does, by several loops and products.
pub(super) fn split(b: &mut Builder, source: &Function, splats: &Splats, p: &Par, plan: &Plan<'_>) -> Block {
    b.open_block();
    let mut split = Split { b, source, p, plan, whole: FxHashMap::default(), results: FxHashMap::default() };
    for level in 0..plan.n_loops() {
        split.part(level);
        for (k, product) in plan.products().filter(|(k, _)| plan.levels[*k] == level + 1) {
            split.product(k, product);
        }
    }
    for (k, acc) in p.accs.iter().enumerate().filter(|(_, acc)| plan.outers(acc.var).next().is_some()) {
        let others = split.results.get(&(p.kinds.len() + k)).copied();
        let sum = split.with_outers(acc, others.or(acc.init.filter(|init| !splats.is_zero(*init))));
        split.results.insert(p.kinds.len() + k, sum);
    }
    let results = (0..p.kinds.len() + p.accs.len()).map(|k| split.results[&k]).collect();
    b.close_block(results)
}

struct Split<'a> {
    b: &'a mut Builder,
    source: &'a Function,
    p: &'a Par,
    plan: &'a Plan<'a>,
    /// What is kept of all iterations, by the variable of one.
    whole: FxHashMap<Var, Atom>,
    /// The results of the loop that are there, by position.
    results: FxHashMap<usize, Atom>,
}

impl Split<'_> {
    /// One of the loops, if it gives anything.
    fn part(&mut self, level: usize) {
        let (p, plan) = (self.p, self.plan);
        let here = |k: &usize| matches!(plan.roles[*k], Role::Computed) && plan.levels[*k] == level;
        let stmts: Vec<usize> = (0..plan.roles.len()).filter(here).collect();
        let expanded: Vec<Var> = plan.expanded.iter().copied().filter(|v| plan.level_of(*v) == level).collect();
        let given: Vec<usize> = (0..p.kinds.len()).filter(|k| self.is_given(*k, level)).collect();
        let is_here = |acc: &Acc| plan.level_of_sum(acc.var) == Some(level);
        let accs: Vec<usize> = (0..p.accs.len()).filter(|k| is_here(&p.accs[*k])).collect();
        let is_seen = stmts.iter().any(|k| plan.stmt(*k).has_effect(|effects| effects.show()));
        if expanded.is_empty() && given.is_empty() && accs.is_empty() && !is_seen {
            return self.take_kept(level);
        }
        let mut env = Env::new();
        let index = self.b.copy_var(self.source, plan.body.index, &mut env);
        let own: Vec<Acc> = accs.iter().map(|k| p.accs[*k].clone()).collect();
        let own = self.b.copy_accs(self.source, &own, &Env::new(), &mut env);
        self.b.open_block();
        for k in stmts {
            self.read(&plan.needs[k], &mut env);
            let s = plan.stmt(k);
            for acc in sums(s) {
                env.entry(acc).or_insert(acc.into());
            }
            self.b.copy_stmt(self.source, s, &mut env);
        }
        let values: Vec<Atom> = given.iter().map(|k| p.body.results[*k]).collect();
        self.read(&values.iter().filter_map(|a| a.var()).collect::<Vec<_>>(), &mut env);
        let results = expanded.iter().map(|v| Atom::Var(*v)).chain(values).map(|a| env.atom(a)).collect();
        let body = self.b.close_block(results);
        let kinds = expanded.iter().map(|_| ParResult::Stacked).chain(given.iter().map(|k| p.kinds[*k])).collect();
        let made = self.b.finish_par(vec![index], p.extents.clone(), kinds, own, body);
        let mut made = made.into_iter().map(Atom::Var);
        self.whole.extend(expanded.into_iter().zip(&mut made));
        self.results.extend(given.into_iter().zip(&mut made));
        self.results.extend(accs.into_iter().map(|k| p.kinds.len() + k).zip(&mut made));
        self.take_kept(level);
    }

    /// Whether one of the loops has to give a result of the body, which is not kept anyway.
    fn is_given(&self, k: usize, level: usize) -> bool {
        let value = self.p.body.results[k];
        self.plan.level_of_result(value) == level && self.kept_as(k).is_none()
    }

    /// The variable that is kept of all iterations and is, as that, a result of the loop.
    fn kept_as(&self, k: usize) -> Option<Var> {
        let v = self.p.body.results[k].var()?;
        let is_stacked = matches!(self.p.kinds[k], ParResult::Stacked);
        (is_stacked && (self.plan.is_product(v) || self.plan.expanded.contains(&v))).then_some(v)
    }

    /// Takes results of the loop from what is kept.
    fn take_kept(&mut self, level: usize) {
        for k in 0..self.p.kinds.len() {
            if let Some(v) = self.kept_as(k).filter(|v| self.plan.level_of(*v) == level) {
                self.results.insert(k, self.whole[&v]);
            }
        }
    }

    /// Reads in a loop what another one has computed.
    fn read(&mut self, needed: &[Var], env: &mut Env) {
        for v in needed {
            let Some(k) = self.plan.body.defined.get(v).filter(|_| !env.contains_key(v)) else { continue };
            if let Some(whole) = self.whole.get(v) {
                let index = env.atom(self.plan.body.index.into());
                self.b.named(self.source.name_of(*v));
                let row = self.b.index(*whole, &[index]);
                env.insert(*v, row.into());
            } else {
                self.b.copy_stmt(self.source, self.plan.stmt(*k), env);
            }
        }
    }

    /// The matrix whose rows are the vectors of all iterations.
    fn rows(&self, v: Var) -> Atom {
        self.plan.body.rows(v).unwrap_or_else(|| self.whole[&v])
    }

    fn product(&mut self, k: usize, product: &Product) {
        let one = self.plan.stmt(k).results[0];
        let rows = self.rows(product.vector);
        let right = if product.is_left { self.transposed(product.matrix) } else { product.matrix };
        let dims = vec![Dim::from_atom(self.p.extents[0]), self.source.ty(one).dims[0]];
        let ty = Ty::new(self.source.ty(one).elem, dims);
        self.b.named(self.source.name_of(one));
        let all = self.b.tensor(MATMUL.op(), &[rows, right], &product.attrs, ty);
        self.whole.insert(one, all.into());
    }

    /// The final value of an accumulator, given what everything but outer products makes of it, if that is not zero.
    fn with_outers(&mut self, acc: &Acc, others: Option<Atom>) -> Atom {
        let ty = self.source.ty(acc.var).clone();
        let mut sum = others;
        for Outer { left, right, .. } in self.plan.outers(acc.var) {
            let (left, right) = (self.rows(*left), self.rows(*right));
            let left = self.transposed(left);
            self.b.named(self.source.name_of(acc.var));
            let product: Atom = self.b.tensor(MATMUL.op(), &[left, right], &STRONG, ty.clone()).into();
            sum = Some(sum.map_or(product, |sum| self.b.prim(ADD.prim(), &[sum, product]).into()));
        }
        sum.expect("invariant: there is an outer product for the accumulator")
    }

    fn transposed(&mut self, matrix: Atom) -> Atom {
        let mut ty = self.b.ty(matrix);
        ty.dims.reverse();
        self.b.tensor(TRANSPOSE.op(), &[matrix], &[1, 0], ty).into()
    }
}
