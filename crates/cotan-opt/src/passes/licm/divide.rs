//! Divides regions of which some results move out of the region around and others stay.
//!
//! A copy computes the results that move, and keeps what the rest needs of its iterations where that is dearer than a
//! read. The rest is the region itself, reading what is kept. What it does not need any more is dead code.

use super::keep::{Divided, moves};
use super::stays::{is_divisible, writes_outside};
use super::{Hoist, Moves};
use crate::passes::dce::dce_block;
use crate::passes::rename::{rename_block, rename_ty, retyped};
use cotan_ir::{Atom, Block, Const, Dim, Loop, Op, Par, ParResult, Stmt, Ty, Var, VarInfo};
use rustc_hash::{FxHashMap, FxHashSet};

impl Hoist<'_> {
    /// A block in which every region that can be had as two is two.
    pub(super) fn divided(&mut self, block: &Block, stays: &mut FxHashSet<Var>) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for s in &block.stmts {
            self.divide(s, stays, &mut stmts);
        }
        Block { stmts, results: block.results.clone() }
    }

    /// Appends a statement, or the two parts of it.
    pub(super) fn divide(&mut self, s: &Stmt, stays: &mut FxHashSet<Var>, out: &mut Vec<Stmt>) {
        let is_whole = moves(stays, s) && !writes_outside(s);
        let is_one = self.what == Moves::Integers || is_whole || !is_divisible(self.f, s);
        let parts = if is_one {
            None
        } else if let Op::Par(p) = &s.op
            && p.indices.iter().all(|i| !stays.contains(i))
        {
            self.divide_par(s, p, stays)
        } else if let Op::Loop(l) = &s.op
            && !stays.contains(&l.index)
        {
            self.divide_loop(s, l, stays)
        } else if let Op::Switch { selector, arms } = &s.op
            && selector.var().is_none_or(|v| !stays.contains(&v))
        {
            self.divide_switch(s, *selector, arms, stays)
        } else {
            None
        };
        match parts {
            Some((first, rest)) => {
                let first = self.renewed(first);
                self.facts.learn_inside(self.f, &first);
                out.extend([first, rest]);
            }
            None => {
                if !is_one && !s.op.blocks().is_empty() {
                    stays.extend(&s.results);
                }
                out.push(s.clone());
            }
        }
    }

    fn divide_par(&mut self, s: &Stmt, p: &Par, stays: &mut FxHashSet<Var>) -> Option<(Stmt, Stmt)> {
        let body = self.divided(&p.body, stays);
        let is_moved = |k: &usize| self.is_moved(s.results[*k], stays);
        let moved: Vec<usize> = (0..p.kinds.len()).filter(is_moved).collect();
        let staying = (0..p.kinds.len()).filter(|k| !is_moved(k)).map(|k| body.results[k]);
        let kept = Divided {
            f: self.f,
            facts: &self.facts,
            stays,
            block: &body,
            extents: &p.extents,
            binders: &p.indices,
            next: &FxHashMap::default(),
            results: &staying.collect::<Vec<_>>(),
            lengths: &self.lengths,
        }
        .kept();
        if moved.is_empty() && kept.is_empty() {
            return None;
        }
        let stacked = self.stacked(&kept, &p.extents);
        let mut first = Par {
            indices: p.indices.clone(),
            extents: p.extents.clone(),
            kinds: moved.iter().map(|k| p.kinds[*k]).collect(),
            accs: Vec::new(),
            body: moving_part(&body, stays, moved.iter().map(|k| body.results[*k]).chain(atoms(&kept))),
        };
        first.kinds.extend(kept.iter().map(|_| ParResult::Stacked));
        let results = moved.iter().map(|k| s.results[*k]).chain(stacked.iter().copied()).collect();
        let first = Stmt { results, op: Op::Par(Box::new(first)), span: s.span };
        let indices = atoms(&p.indices).collect::<Vec<_>>();
        let rest = Par { body: self.reading(body, &kept, &stacked, &indices, stays), ..p.clone() };
        Some((first, self.rest(s, Op::Par(Box::new(rest)), &moved, stays)))
    }

    fn divide_loop(&mut self, s: &Stmt, l: &Loop, stays: &mut FxHashSet<Var>) -> Option<(Stmt, Stmt)> {
        let extents: Vec<Atom> = l.count.into_iter().collect();
        let body = self.divided(&l.body, stays);
        let n = l.params.len();
        let carried: Vec<usize> = (0..n).filter(|k| !stays.contains(&l.params[*k])).collect();
        // The results of accumulators, which stay, lie between carried and stacked ones.
        let at = |k: usize| if k < n { k } else { k + l.accs.len() };
        let is_moved = |k: &usize| self.is_moved(s.results[at(*k)], stays);
        let moved: Vec<usize> = (0..body.results.len()).filter(is_moved).collect();
        let staying = (0..body.results.len()).filter(|k| !is_moved(k)).map(|k| body.results[k]);
        let mut binders = l.params.clone();
        binders.push(l.index);
        let kept = Divided {
            f: self.f,
            facts: &self.facts,
            stays,
            block: &body,
            extents: &extents,
            binders: &binders,
            next: &carried.iter().map(|k| (l.params[*k], body.results[*k])).collect(),
            results: &staying.collect::<Vec<_>>(),
            lengths: &self.lengths,
        }
        .kept();
        if moved.is_empty() && kept.is_empty() {
            return None;
        }
        let stacked = self.stacked(&kept, &extents);
        // Each carried value has a result, needed or not.
        let mut results: Vec<Var> = Vec::new();
        for k in &carried {
            let r = s.results[*k];
            results.push(if moved.contains(k) { r } else { self.like(r, |ty| ty) });
        }
        let arrays: Vec<usize> = moved.iter().copied().filter(|k| *k >= n).collect();
        results.extend(arrays.iter().map(|k| s.results[at(*k)]).chain(stacked.iter().copied()));
        let given = carried.iter().chain(&arrays).map(|k| body.results[*k]).chain(atoms(&kept));
        let first = Loop {
            index: l.index,
            count: l.count,
            params: carried.iter().map(|k| l.params[*k]).collect(),
            inits: carried.iter().map(|k| l.inits[*k]).collect(),
            accs: Vec::new(),
            body: moving_part(&body, stays, given),
            kept: l.kept,
        };
        let first = Stmt { results, op: Op::Loop(Box::new(first)), span: s.span };
        let moved: Vec<usize> = moved.into_iter().map(at).collect();
        let rest = Loop { body: self.reading(body, &kept, &stacked, &[l.index.into()], stays), ..l.clone() };
        Some((first, self.rest(s, Op::Loop(Box::new(rest)), &moved, stays)))
    }

    /// What is kept of an arm is a result of the part that moves; the other arms give zeros in its place.
    fn divide_switch(
        &mut self,
        s: &Stmt,
        selector: Atom,
        arms: &[Block],
        stays: &mut FxHashSet<Var>,
    ) -> Option<(Stmt, Stmt)> {
        let arms: Vec<Block> = arms.iter().map(|arm| self.divided(arm, stays)).collect();
        let is_moved = |k: &usize| self.is_moved(s.results[*k], stays);
        let moved: Vec<usize> = (0..s.results.len()).filter(is_moved).collect();
        let mut kept = Vec::new();
        for arm in &arms {
            let staying = (0..s.results.len()).filter(|k| !is_moved(k)).map(|k| arm.results[k]);
            let divided = Divided {
                f: self.f,
                facts: &self.facts,
                stays,
                block: arm,
                extents: &[],
                binders: &[],
                next: &FxHashMap::default(),
                results: &staying.collect::<Vec<_>>(),
                lengths: &self.lengths,
            };
            kept.push(divided.kept());
        }
        if moved.is_empty() && kept.iter().all(Vec::is_empty) {
            return None;
        }
        let given: Vec<Vec<Var>> = kept.iter().map(|kept| self.stacked(kept, &[])).collect();
        let mut first = Vec::new();
        for (at, arm) in arms.iter().enumerate() {
            let mut part = moving_part(arm, stays, moved.iter().map(|k| arm.results[*k]));
            for (of, kept) in kept.iter().enumerate() {
                for v in kept {
                    let value = if of == at { Atom::Var(*v) } else { self.zeros(*v, s, &mut part.stmts) };
                    part.results.push(value);
                }
            }
            first.push(part);
        }
        let results = moved.iter().map(|k| s.results[*k]).chain(given.iter().flatten().copied()).collect();
        let first = Stmt { results, op: Op::Switch { selector, arms: first }, span: s.span };
        let parts = arms.into_iter().zip(kept.iter().zip(&given));
        let rest = parts.map(|(arm, (kept, given))| self.reading(arm, kept, given, &[], stays)).collect();
        Some((first, self.rest(s, Op::Switch { selector, arms: rest }, &moved, stays)))
    }

    /// Whether a result moves: somebody must need it.
    fn is_moved(&self, result: Var, stays: &FxHashSet<Var>) -> bool {
        self.used.contains(&result) && !stays.contains(&result)
    }

    /// A new variable for the values of each variable in all iterations.
    fn stacked(&mut self, kept: &[Var], extents: &[Atom]) -> Vec<Var> {
        let lead: Vec<Dim> = extents.iter().map(|e| Dim::from_atom(*e)).collect();
        let stack = |ty: Ty| ty.stacked(lead.iter().copied());
        let stacked: Vec<Var> = kept.iter().map(|v| self.like(*v, stack)).collect();
        self.used.extend(&stacked);
        stacked
    }

    fn like(&mut self, v: Var, ty: impl FnOnce(Ty) -> Ty) -> Var {
        let VarInfo { name, ty: old, record: _ } = self.f.vars[v.index()].clone();
        self.f.add_var(VarInfo { name, ty: ty(old), record: None })
    }

    /// A value of the type of `v` that nobody reads.
    fn zeros(&mut self, v: Var, s: &Stmt, out: &mut Vec<Stmt>) -> Atom {
        let ty = self.f.ty(v);
        let zero: Atom = Const::zero(ty.elem).into();
        if ty.is_scalar() {
            return zero;
        }
        let result = self.like(v, |ty| ty);
        let op = Op::Tensor { op: cotan_ops::FILL.op(), args: vec![zero], attrs: Vec::new() };
        out.push(Stmt { results: vec![result], op, span: s.span });
        result.into()
    }

    /// The block with what is kept read instead of computed.
    fn reading(
        &mut self,
        mut block: Block,
        kept: &[Var],
        from: &[Var],
        indices: &[Atom],
        stays: &mut FxHashSet<Var>,
    ) -> Block {
        let from: FxHashMap<Var, Var> = kept.iter().copied().zip(from.iter().copied()).collect();
        let mut stmts = Vec::with_capacity(block.stmts.len() + kept.len());
        for mut s in block.stmts {
            let mut reads = Vec::new();
            for r in &mut s.results {
                let Some(array) = from.get(r) else { continue };
                let array = Atom::Var(*array);
                let op =
                    if indices.is_empty() { retyped(array) } else { Op::Index { array, indices: indices.to_vec() } };
                reads.push(Stmt { results: vec![*r], op, span: s.span });
                *r = self.like(*r, |ty| ty);
                stays.insert(*r);
            }
            stmts.push(s);
            stmts.extend(reads);
        }
        block.stmts = stmts;
        block
    }

    /// The statement that stays; results that have moved get names that nobody uses.
    fn rest(&mut self, s: &Stmt, op: Op, moved: &[usize], stays: &mut FxHashSet<Var>) -> Stmt {
        let mut results = s.results.clone();
        for k in moved {
            results[*k] = self.like(results[*k], |ty| ty);
        }
        stays.extend(&results);
        Stmt { results, op, span: s.span }
    }

    /// A statement without dead code inside, and with new names for what it binds inside.
    fn renewed(&mut self, s: Stmt) -> Stmt {
        let results = s.results.iter().filter(|r| self.used.contains(r)).map(|r| Atom::Var(*r)).collect();
        let (mut block, _) = dce_block(&self.f.vars, Block { stmts: vec![s], results });
        let mut names: FxHashMap<Var, Var> = FxHashMap::default();
        let mut bound = Vec::new();
        block.stmts.iter().for_each(|s| bound_inside(s, &mut bound));
        for v in &bound {
            let new = self.f.add_var(self.f.vars[v.index()].clone());
            names.insert(*v, new);
        }
        let name = |v: Var| names.get(&v).copied().unwrap_or(v);
        for v in &bound {
            rename_ty(&mut self.f.vars[name(*v).index()].ty, &|d| name(d).into());
        }
        rename_block(&mut block, &name);
        block.stmts.pop().expect("invariant: a statement with results that are needed is no dead code")
    }
}

fn atoms(vars: &[Var]) -> impl Iterator<Item = Atom> {
    vars.iter().map(|v| Atom::Var(*v))
}

/// The statements of a block that move, with some results.
fn moving_part(block: &Block, stays: &FxHashSet<Var>, results: impl Iterator<Item = Atom>) -> Block {
    let stmts = block.stmts.iter().filter(|s| moves(stays, s)).cloned().collect();
    Block { stmts, results: results.collect() }
}

/// Everything that a statement binds but its results.
fn bound_inside(s: &Stmt, out: &mut Vec<Var>) {
    out.extend(s.op.binders());
    for inner in s.op.blocks().iter().flat_map(|b| &b.stmts) {
        bound_inside(inner, out);
        out.extend(&inner.results);
    }
}
