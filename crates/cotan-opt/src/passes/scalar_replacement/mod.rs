//! Scalar replacement of aggregates: small tensors are replaced by their elements.
//!
//! A tensor of few elements that is computed element by element, by primitives, moves, small matrix products and updates
//! at constant indices, becomes one scalar for each element; so do results of branches and carried values that are such
//! tensors. Reads at constant indices are these scalars. Where the whole is wanted it is built once, where it was
//! bound, by one statement ([`cotan_ops::FROM_ELEMENTS`]). Other small tensors are read where they are bound, not
//! later: what they lie in may have been overwritten then.
//!
//! Every element is computed as before, in the same order, and checks stay where they are. A tensor that is read or
//! written at run-time indices stays whole where it is carried. What a small tensor is written into, an array or an
//! accumulator, stays what it is; the tensor is written element by element and need not be built.

mod moved;
mod plan;

use super::dce::dce;
use super::small_tensors::{elements, extents};
use crate::pass::{Pass, Promise};
use cotan_ir::{Acc, Atom, Block, Builder, Const, Env, Function, Loop, Op, Par, Prim, Stmt, Ty, Var};
use cotan_ops::{ADD, FILL, FMA, FROM_ELEMENTS, MULZ};
use moved::{Parts, Source};
use plan::{Plan, known_offset};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "scalar_replacement",
    doc: "Small tensors are replaced by one scalar for each element.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| scalar_replacement(f),
};

/// The function with small tensors replaced by scalars.
pub fn scalar_replacement(f: Function) -> Function {
    let f = dce(f);
    let plan = Plan::of(&f);
    if plan.split.is_empty() && plan.parts.is_empty() {
        return f;
    }
    let mut pass = Replace { f: &f, plan, b: Builder::new(), elements: FxHashMap::default() };
    let mut env = Env::new();
    for p in &f.params {
        let new = pass.b.param(f.name_of(*p), env.ty(f.ty(*p)));
        env.insert(*p, new.into());
    }
    f.params.iter().for_each(|p| pass.read(*p, &env));
    pass.stmts(&f.body, &mut env);
    let results = env.atoms(&f.body.results);
    let new = pass.b.finish(&f.name, results);
    dce(Function { custom_vjp: f.custom_vjp, custom_jvp: f.custom_jvp, ..new })
}

struct Replace<'a> {
    f: &'a Function,
    plan: Plan,
    b: Builder,
    /// The elements of tensors, row-major, by the variable of the source.
    elements: FxHashMap<Var, Vec<Atom>>,
}

impl Replace<'_> {
    fn stmts(&mut self, block: &Block, env: &mut Env) {
        block.stmts.iter().for_each(|s| self.stmt(s, env));
    }

    fn stmt(&mut self, s: &Stmt, env: &mut Env) {
        self.b.set_span(s.span);
        match &s.op {
            Op::Prim { prim, args } if self.plan.split.contains(&s.results[0]) => {
                self.element_wise(s.results[0], *prim, args, env);
            }
            Op::Tensor { args, .. } if self.plan.parts.contains_key(&s.results[0]) => {
                self.structural(s.results[0], args, env);
            }
            Op::Index { array, indices } if self.plan.splits(*array) => self.index(s, *array, indices, env),
            Op::Update { array, indices, value } if self.plan.split.contains(&s.results[0]) => {
                let mut all = self.elements_of(*array, 1, env);
                let offset = known_offset(self.f, *array, indices).unwrap_or(0);
                let n_new = elements(&self.f.atom_ty(*value)).unwrap_or(1);
                let new = self.elements_of(*value, n_new, env);
                all.splice(offset..offset + n_new, new);
                self.bind(s.results[0], all, env);
            }
            // What marks a record marks one variable.
            Op::Update { array, indices, value }
                if self.plan.splits(*value) && self.f.vars[s.results[0].index()].record.is_none() =>
            {
                self.replace(s.results[0], *array, &env.atoms(indices), *value, env);
            }
            Op::AccAdd { acc, indices, value } if self.plan.splits(*value) && !self.plan.logs.contains(acc) => {
                self.write(env.var(*acc), &env.atoms(indices), *value, env);
            }
            Op::Switch { selector, arms } => self.switch(s, env.atom(*selector), arms, env),
            Op::Loop(l) => self.sequential(s, l, env),
            Op::Par(p) => self.par(s, p, env),
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Call { .. }
            | Op::Check { .. } => self.b.copy_stmt(self.f, s, env),
        }
        s.results.iter().for_each(|r| self.read(*r, env));
    }

    // ---- tensors and their elements

    /// The elements of an operand; a constant is `n` of them.
    fn elements_of(&self, a: Atom, n: usize, env: &Env) -> Vec<Atom> {
        match a.var().and_then(|v| self.elements.get(&v)) {
            Some(all) => all.clone(),
            None => vec![env.atom(a); n],
        }
    }

    /// Reads the elements of a variable that was bound, if somebody needs them.
    fn read(&mut self, v: Var, env: &Env) {
        if !self.plan.read.contains(&v) {
            return;
        }
        let dims = extents(self.f.ty(v));
        let all = index_tuples(&dims).map(|at| self.b.index(env.atom(v.into()), &at).into()).collect();
        self.elements.insert(v, all);
    }

    /// Binds a tensor to its elements. The whole is there, too, until it is found that nobody needs it.
    fn bind(&mut self, v: Var, all: Vec<Atom>, env: &mut Env) {
        let ty = env.ty(self.f.ty(v));
        self.b.named(self.f.name_of(v));
        let whole = if all.iter().all(|a| *a == all[0]) {
            self.b.tensor(FILL.op(), &all[..1], &[], ty)
        } else {
            self.b.tensor(FROM_ELEMENTS.op(), &all, &[], ty)
        };
        env.insert(v, whole.into());
        self.elements.insert(v, all);
    }

    /// New scalars for the elements of a tensor.
    fn scalars(&mut self, v: Var) -> Vec<Var> {
        let ty = self.f.ty(v);
        let scalar = Ty::scalar(ty.elem);
        (0..elements(ty).unwrap_or(0)).map(|_| self.b.var(self.f.name_of(v), scalar.clone())).collect()
    }

    fn element_wise(&mut self, result: Var, prim: Prim, args: &[Atom], env: &mut Env) {
        let elements = self.scalars(result);
        let columns: Vec<Vec<Atom>> = args.iter().map(|a| self.elements_of(*a, elements.len(), env)).collect();
        for (k, element) in elements.iter().enumerate() {
            let args = columns.iter().map(|column| column[k]).collect();
            self.b.push(vec![*element], Op::Prim { prim, args });
        }
        self.bind(result, elements.into_iter().map(Atom::Var).collect(), env);
    }

    fn structural(&mut self, result: Var, args: &[Atom], env: &mut Env) {
        let Some(parts) = self.plan.parts.remove(&result) else { return };
        let columns: Vec<Vec<Atom>> = args.iter().map(|a| self.elements_of(*a, 1, env)).collect();
        let zero = Atom::from(Const::zero(self.f.ty(result).elem));
        let all: Vec<Atom> = match parts {
            Parts::Moved(sources) => {
                let element = |source| match source {
                    Source::Zero => zero,
                    Source::Element(operand, at) => columns[operand][at],
                };
                sources.into_iter().map(element).collect()
            }
            Parts::Products { is_strong, factors } => {
                let product = |[x, y]: [usize; 2]| [columns[0][x], columns[1][y]];
                let sum = |pairs: Vec<[usize; 2]>| {
                    pairs.into_iter().map(product).fold(zero, |sum, [x, y]| {
                        if is_strong {
                            let contribution = self.b.prim(MULZ.prim(), &[x, y]);
                            self.b.prim(ADD.prim(), &[sum, contribution.into()]).into()
                        } else {
                            self.b.prim(FMA.prim(), &[x, y, sum]).into()
                        }
                    })
                };
                factors.into_iter().map(sum).collect()
            }
        };
        if self.f.ty(result).is_scalar() {
            env.insert(result, all[0]);
        } else {
            self.bind(result, all, env);
        }
    }

    fn index(&mut self, s: &Stmt, array: Atom, indices: &[Atom], env: &mut Env) {
        let result = s.results[0];
        let Some(offset) = known_offset(self.f, array, indices) else { return self.b.copy_stmt(self.f, s, env) };
        let all = self.elements_of(array, 1, env);
        if self.f.ty(result).is_scalar() {
            env.insert(result, all[offset]);
        } else if self.plan.split.contains(&result) {
            let n = elements(self.f.ty(result)).unwrap_or(0);
            self.bind(result, all[offset..offset + n].to_vec(), env);
        } else {
            self.b.copy_stmt(self.f, s, env);
        }
    }

    /// Replaces a part of a tensor that stays one, element by element.
    fn replace(&mut self, result: Var, array: Atom, indices: &[Atom], value: Atom, env: &mut Env) {
        let dims = extents(&self.f.atom_ty(value));
        let ty = env.ty(self.f.ty(result));
        let mut whole = env.atom(array);
        for (at, value) in index_tuples(&dims).zip(self.elements_of(value, 1, env)) {
            let new = self.b.var(self.f.name_of(result), ty.clone());
            self.b.push(vec![new], Op::Update { array: whole, indices: [indices, &at].concat(), value });
            whole = new.into();
        }
        env.insert(result, whole);
    }

    /// Adds a tensor to a part of an accumulator, element by element.
    fn write(&mut self, acc: Var, indices: &[Atom], value: Atom, env: &Env) {
        let dims = extents(&self.f.atom_ty(value));
        for (at, element) in index_tuples(&dims).zip(self.elements_of(value, 1, env)) {
            self.b.acc_add(acc, &[indices, &at].concat(), element);
        }
    }

    // ---- regions. What they bind stays known behind them, but nobody asks for it there.

    /// What stands for operands when those that are split are their elements.
    fn flat(&self, atoms: &[Atom], is_split: &[bool], env: &Env) -> Vec<Atom> {
        let each =
            |(a, is_split): (&Atom, &bool)| if *is_split { self.elements_of(*a, 1, env) } else { vec![env.atom(*a)] };
        atoms.iter().zip(is_split).flat_map(each).collect()
    }

    /// New variables for results of a region, elements for those that are split.
    fn results(&mut self, results: &[Var], env: &mut Env) -> Vec<Var> {
        let mut new = Vec::new();
        for r in results {
            if self.plan.split.contains(r) {
                let scalars = self.scalars(*r);
                self.elements.insert(*r, scalars.iter().copied().map(Atom::Var).collect());
                new.extend(scalars);
            } else {
                new.push(self.b.copy_var(self.f, *r, env));
            }
        }
        new
    }

    /// Builds the tensors whose elements were bound by a region.
    fn build(&mut self, vars: &[Var], env: &mut Env) {
        for v in vars {
            if self.plan.split.contains(v)
                && let Some(all) = self.elements.remove(v)
            {
                self.bind(*v, all, env);
            }
        }
    }

    fn switch(&mut self, s: &Stmt, selector: Atom, arms: &[Block], env: &mut Env) {
        let is_split: Vec<bool> = s.results.iter().map(|r| self.plan.split.contains(r)).collect();
        let mut new_arms = Vec::new();
        for arm in arms {
            self.b.open_block();
            self.stmts(arm, env);
            let results = self.flat(&arm.results, &is_split, env);
            new_arms.push(self.b.close_block(results));
        }
        self.b.set_span(s.span);
        let results = self.results(&s.results, env);
        self.b.push(results, Op::Switch { selector, arms: new_arms });
        self.build(&s.results, env);
    }

    fn sequential(&mut self, s: &Stmt, l: &Loop, env: &mut Env) {
        let is_split: Vec<bool> = l.params.iter().map(|p| self.plan.split.contains(p)).collect();
        let count = l.count.map(|n| env.atom(n));
        let inits = self.flat(&l.inits, &is_split, env);
        let index = self.b.copy_var(self.f, l.index, env);
        let params = self.results(&l.params, env);
        let accs = self.accs(&l.accs, env);
        self.b.open_block();
        self.build(&l.params, env);
        l.params.iter().for_each(|p| self.read(*p, env));
        self.stmts(&l.body, env);
        let (next, stacked) = l.body.results.split_at(l.params.len());
        let results = [self.flat(next, &is_split, env), env.atoms(stacked)].concat();
        let body = self.b.close_block(results);
        self.b.set_span(s.span);
        let results = self.results(&s.results, env);
        self.b.push(results, Op::Loop(Box::new(Loop { index, count, params, inits, accs, body, kept: l.kept })));
        self.build(&s.results, env);
    }

    fn par(&mut self, s: &Stmt, p: &Par, env: &mut Env) {
        let extents = env.atoms(&p.extents);
        let kinds = p.kinds.iter().map(|k| k.renamed(env)).collect();
        let indices = p.indices.iter().map(|v| self.b.copy_var(self.f, *v, env)).collect();
        let accs = self.accs(&p.accs, env);
        self.b.open_block();
        self.stmts(&p.body, env);
        let body = self.b.close_block(env.atoms(&p.body.results));
        self.b.set_span(s.span);
        self.b.push_copy(self.f, s, Op::Par(Box::new(Par { indices, extents, kinds, accs, body })), env);
    }

    fn accs(&mut self, accs: &[Acc], env: &mut Env) -> Vec<Acc> {
        let copy = |acc: &Acc| {
            let init = acc.init.map(|init| env.atom(init));
            Acc { var: self.b.copy_var(self.f, acc.var, env), kind: acc.kind, init }
        };
        accs.iter().map(copy).collect()
    }
}

/// All index tuples of these extents, row-major.
fn index_tuples(dims: &[i64]) -> impl Iterator<Item = Vec<Atom>> {
    let count: i64 = dims.iter().product();
    (0..count).map(|number| {
        let mut rest = number;
        let mut at: Vec<Atom> = dims
            .iter()
            .rev()
            .map(|n| {
                let i = rest % n;
                rest /= n;
                Atom::i64(i)
            })
            .collect();
        at.reverse();
        at
    })
}
