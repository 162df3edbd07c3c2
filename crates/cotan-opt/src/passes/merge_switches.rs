//! Common code of branches on one condition.
//!
//! A branch that a reverse sweep takes again computes much of what the branch before it has computed. In an arm of a
//! `switch`, a statement that equals one in the same arm of an earlier `switch` of the block, on the same selector, is
//! not computed again: the earlier `switch` gives its result, too. A result that the earlier arms have made in the same
//! way is that of the earlier `switch`; so the second of two equal ones has nothing left to do.
//!
//! Only scalars pass from one to the other. No statement runs where it has not run before.

use super::dce::dce;
use super::rename::lengths;
use super::value_key::ValueKey;
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Const, Function, Op, Stmt, Ty, Var, VarInfo};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "merge_switches",
    doc: "Work that an earlier branch on the same condition has done is not done again.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| merge_switches(f),
};

/// The function with the work of its branches shared.
pub fn merge_switches(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let body = Merge { lengths: lengths(&f.vars), f: &mut f }.block(body);
    dce(Function { body, ..f })
}

struct Merge<'a> {
    f: &'a mut Function,
    /// The variables that types name. They keep their names.
    lengths: FxHashSet<Var>,
}

/// The switches of a block on one selector, with one number of arms.
#[derive(Default)]
struct Group {
    /// What each arm has computed, in whichever of the switches.
    known: Vec<FxHashMap<(ValueKey, Ty), Var>>,
    /// Which switch bound a variable of an arm: its position in the block.
    owner: FxHashMap<Var, usize>,
    /// Results by the position of their switch and what its arms give for them.
    results: FxHashMap<(usize, Vec<Atom>), Var>,
}

impl Merge<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut groups: FxHashMap<(Var, usize), Group> = FxHashMap::default();
        let mut equal: FxHashMap<Var, Atom> = FxHashMap::default();
        let mut stmts: Vec<Stmt> = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            rename(&mut s, &equal);
            s.op.map_blocks(|b| self.block(b));
            if let Op::Switch { selector: Atom::Var(selector), arms } = &mut s.op {
                let group = groups.entry((*selector, arms.len())).or_default();
                self.share(group, &mut stmts, &mut s.results, arms, &mut equal);
            }
            stmts.push(s);
        }
        let results = block.results.into_iter().map(|a| atom(a, &equal)).collect();
        Block { stmts, results }
    }

    /// Takes out of the arms of a switch what earlier ones of its group have computed. `equal` gains the results that
    /// they have.
    fn share(
        &mut self,
        group: &mut Group,
        earlier: &mut [Stmt],
        results: &mut Vec<Var>,
        arms: &mut [Block],
        equal: &mut FxHashMap<Var, Atom>,
    ) {
        let at = earlier.len();
        group.known.resize_with(arms.len(), FxHashMap::default);
        let given: Vec<FxHashMap<Var, Atom>> =
            arms.iter_mut().enumerate().map(|(k, arm)| self.known_in_arm(group, k, at, arm)).collect();
        // Results that an earlier switch gives or can give.
        let tuples: Vec<Vec<Atom>> = (0..results.len())
            .map(|j| arms.iter().zip(&given).map(|(arm, given)| atom(arm.results[j], given)).collect())
            .collect();
        let found: Vec<Option<Var>> =
            results.iter().zip(&tuples).map(|(r, tuple)| self.earlier_result(group, earlier, *r, tuple)).collect();
        for (j, found) in found.iter().enumerate().rev() {
            if let Some(v) = found {
                equal.insert(results.remove(j), (*v).into());
                for arm in arms.iter_mut() {
                    arm.results.remove(j);
                }
            }
        }
        // What is still read of earlier arms.
        for (k, (arm, given)) in arms.iter_mut().zip(&given).enumerate() {
            let mut passed = FxHashMap::default();
            for own in reads(arm) {
                if let Some(Atom::Var(v)) = given.get(&own) {
                    passed.insert(own, self.pass_on(group, earlier, k, *v).into());
                }
            }
            arm.stmts.iter_mut().for_each(|s| rename(s, &passed));
            arm.results.iter_mut().for_each(|a| *a = atom(*a, &passed));
        }
        let tuples = (0..results.len()).map(|j| arms.iter().map(|arm| arm.results[j]).collect());
        group.results.extend(tuples.map(|tuple| (at, tuple)).zip(results.iter().copied()));
    }

    /// Takes the statements out of an arm that an earlier one has computed, and enters the others. Gives what the
    /// results of those taken out equal.
    fn known_in_arm(&self, group: &mut Group, k: usize, at: usize, arm: &mut Block) -> FxHashMap<Var, Atom> {
        let mut given: FxHashMap<Var, Atom> = FxHashMap::default();
        arm.stmts.retain(|s| {
            let mut op = s.op.clone();
            op.map_operands(&mut |a| atom(a, &given));
            let (Some(expr), [result]) = (ValueKey::of(&op), s.results.as_slice()) else { return true };
            let ty = self.f.ty(*result);
            if !ty.is_scalar() || self.lengths.contains(result) {
                return true;
            }
            match group.known[k].entry((expr, ty.clone())) {
                Entry::Occupied(known) => {
                    given.insert(*result, (*known.get()).into());
                    false
                }
                Entry::Vacant(open) => {
                    open.insert(*result);
                    group.owner.insert(*result, at);
                    true
                }
            }
        });
        given
    }

    /// The result of an earlier switch that equals a result of this one, whose arms give the atoms of `tuple`.
    fn earlier_result(&mut self, group: &mut Group, earlier: &mut [Stmt], result: Var, tuple: &[Atom]) -> Option<Var> {
        if self.lengths.contains(&result) {
            return None;
        }
        let owner = tuple.iter().find_map(|a| group.owner.get(&a.var()?).copied()).filter(|at| *at < earlier.len())?;
        if let Some(v) = group.results.get(&(owner, tuple.to_vec())) {
            return Some(*v);
        }
        let is_there = |a: &Atom| a.var().is_none_or(|v| group.owner.get(&v) == Some(&owner));
        tuple.iter().all(is_there).then(|| self.add_result(group, earlier, owner, result, tuple.to_vec()))
    }

    /// The variable under which a scalar that arm `k` computes can be read further on: a result of an earlier switch, or
    /// the scalar itself in the same one.
    fn pass_on(&mut self, group: &mut Group, earlier: &mut [Stmt], k: usize, v: Var) -> Var {
        let owner = group.owner[&v];
        let Some(Stmt { op: Op::Switch { arms, .. }, .. }) = earlier.get(owner) else { return v };
        let zero = Atom::from(Const::zero(self.f.ty(v).elem));
        let tuple: Vec<Atom> = (0..arms.len()).map(|arm| if arm == k { v.into() } else { zero }).collect();
        match group.results.get(&(owner, tuple.clone())) {
            Some(given) => *given,
            None => self.add_result(group, earlier, owner, v, tuple),
        }
    }

    /// One more result of an earlier switch; a variable like `like`.
    fn add_result(&mut self, group: &mut Group, earlier: &mut [Stmt], at: usize, like: Var, tuple: Vec<Atom>) -> Var {
        let VarInfo { name, ty, .. } = self.f.vars[like.index()].clone();
        let new = self.f.add_var(VarInfo { name, ty, record: None });
        let s = &mut earlier[at];
        s.results.push(new);
        for (arm, a) in s.op.blocks_mut().iter_mut().zip(&tuple) {
            arm.results.push(*a);
        }
        group.results.insert((at, tuple), new);
        new
    }
}

fn atom(a: Atom, names: &FxHashMap<Var, Atom>) -> Atom {
    a.var().and_then(|v| names.get(&v)).copied().unwrap_or(a)
}

/// Replaces operands, those of inner blocks, too.
fn rename(s: &mut Stmt, names: &FxHashMap<Var, Atom>) {
    if names.is_empty() {
        return;
    }
    s.op.map_operands(&mut |a| atom(a, names));
    for b in s.op.blocks_mut() {
        b.stmts.iter_mut().for_each(|s| rename(s, names));
        b.results.iter_mut().for_each(|a| *a = atom(*a, names));
    }
}

/// The variables that a block reads, in order.
fn reads(block: &Block) -> Vec<Var> {
    fn collect(block: &Block, all: &mut Vec<Var>) {
        for s in &block.stmts {
            s.op.each_operand(&mut |a| all.extend(a.var()));
            s.op.blocks().iter().for_each(|b| collect(b, all));
        }
        all.extend(block.results.iter().filter_map(|a| a.var()));
    }
    let mut all = Vec::new();
    collect(block, &mut all);
    all
}
