//! Common subexpression elimination of regions: a region that computes in part what an earlier one computes is merged
//! with it.
//!
//! Reverse mode runs code of the value again where that is cheaper than to record it. If the value itself is wanted, too,
//! the same work stands in the function twice: in a loop of the value, and in a loop over the same indices that only the
//! derivatives need. The two become one loop, at the place of the earlier one, and what they share is computed once.
//!
//! Note [Moved regions]: the later region moves, so it must not fail where others would have failed first: it brings no loop of
//! unknown length that its twin does not have, and no check, but such as hold for certain at its new place; and what it
//! reads without a check must be there for certain. What it needs and what stands between the two moves with it and brings
//! none at all. What `after` orders behind the value is in no need of that order then; where it was the one thing that
//! keeps the value alive, with its checks, a result waits for the value instead.
//!
//! Regions are compared by what their statements do, in order, with the bound variables of one named as those of the
//! other. Of loops that carry something, values with equal starts are taken to be equal until their next values differ.

mod bounds;
mod candidates;
pub mod iteration_values;
mod merge;
#[cfg(test)]
mod tests;

use super::dce::{Live, dce_block};
use super::eliminate_checks::eliminate_checks;
use super::rename::{lengths, may_become, rename_ty, sizes, substitute};
use super::value_key::ValueKey;
use crate::analysis::integer_facts::IntegerFacts;
use crate::context::KnownExtents;
use crate::pass::{Pass, Promise};
use bounds::guard;
use candidates::{is_alike, is_worth_it, n_relying};
use cotan_ir::{Atom, Block, CheckKind, Const, Elem, Function, Op, Span, Stmt, Ty, Var, VarInfo, free_vars};
use cotan_ops::{AFTER, EQ};
#[cfg(test)]
use iteration_values::reuse_iteration_values;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::collections::hash_map::Entry;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "region_cse",
    doc: "Regions that compute in part what an earlier region computes are merged with it.",
    promise: Promise::Bits,
    is_idempotent: false,
    run: |f, context| region_cse(f, context.known_extents),
};

/// The function with twins joined, for one whose callers make sure of something.
pub fn region_cse(mut f: Function, given: &[KnownExtents]) -> Function {
    let body = std::mem::take(&mut f.body);
    let mut map = Names::default();
    let pass = Twins::of(&f, &body, given);
    let mut body = pass.whole(body, Place::Body, &mut map);
    let last = pass.last.into_inner();
    last.into_iter().for_each(|v| wait_for(&mut f, &mut body, map.of(v.into())));
    for info in &mut f.vars {
        rename_ty(&mut info.ty, &|v| map.of(v.into()));
    }
    Function { body, ..f }
}

/// Gives a result of a block only once a number is computed.
fn wait_for(f: &mut Function, body: &mut Block, number: Atom) {
    let lengths = lengths(&f.vars);
    let waiting = body.results.iter_mut().find_map(|a| a.var().filter(|v| !lengths.contains(v)).map(|v| (v, a)));
    let Some((value, result)) = waiting else { return };
    let elem = f.atom_ty(number).elem;
    let zero = Atom::from(Const::zero(elem));
    let mut scalar = |name: &str, elem| f.add_var(VarInfo { name: name.into(), ty: Ty::scalar(elem), record: None });
    let (done, ok) = (scalar("done", elem), scalar("ok", Elem::Bool));
    let later = f.add_var(VarInfo { record: None, ..f.vars[value.index()].clone() });
    let ops = [
        (done, Op::Prim { prim: AFTER.prim(), args: vec![zero, number] }),
        (ok, Op::Prim { prim: EQ.prim(), args: vec![done.into(), zero] }),
        (later, Op::Check { cond: ok.into(), kind: CheckKind::ShapeMismatch, args: Vec::new(), value: value.into() }),
    ];
    body.stmts.extend(ops.map(|(r, op)| Stmt { results: vec![r], op, span: Span::default() }));
    *result = later.into();
}

/// What is needed even if nothing has to come after anything.
fn alive_without_order(vars: &[VarInfo], body: &Block) -> Live {
    let mut body = body.clone();
    for s in &mut body.stmts {
        if let Some((first, _)) = ordered(s) {
            s.op = Op::Prim { prim: AFTER.prim(), args: vec![first, first] };
        }
    }
    dce_block(vars, body).1
}

/// The operands of an `after`: what it gives, and what that comes after.
fn ordered(s: &Stmt) -> Option<(Atom, Atom)> {
    s.op.args_of(AFTER.prim()).map(|args| (args[0], args[1]))
}

/// The names of equal values that were computed earlier.
#[derive(Clone, Debug, Default)]
struct Names(FxHashMap<Var, Atom>);

impl Names {
    fn of(&self, mut a: Atom) -> Atom {
        while let Some(earlier) = a.var().and_then(|v| self.0.get(&v)) {
            a = *earlier;
        }
        a
    }

    fn set(&mut self, v: Var, earlier: impl Into<Atom>) {
        let earlier = earlier.into();
        if earlier != Atom::Var(v) {
            self.0.insert(v, earlier);
        }
    }

    fn in_stmt(&self, s: &mut Stmt) {
        if self.0.is_empty() {
            return;
        }
        s.op.map_operands(&mut |a| self.of(a));
        s.op.blocks_mut().iter_mut().for_each(|b| substitute(b, &|a| self.of(a)));
    }

    fn of_ty(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        rename_ty(&mut ty, &|v| self.of(v.into()));
        ty
    }
}

/// The statements of a block so far, and what the simple ones of them compute.
#[derive(Default)]
struct Known {
    stmts: Vec<Stmt>,
    values: FxHashMap<(ValueKey, Ty), Var>,
    /// What is known of each statement, once somebody has asked.
    facts: Vec<OnceCell<Facts>>,
}

/// What a statement needs to move, as far as that does not depend on names of equal values.
struct Facts {
    /// The variables around it that it depends on.
    reads: Vec<Var>,
    /// The accumulators of regions around it that it writes to.
    writes: FxHashSet<Var>,
    /// Whether it may move, but for sizes that it relies on.
    may_move: bool,
}

impl Known {
    fn push(&mut self, s: Stmt) {
        self.stmts.push(s);
        self.facts.push(OnceCell::new());
    }

    /// Puts other statements in place of those from a position on.
    fn replace(&mut self, at: usize, stmts: Vec<Stmt>) {
        self.facts.truncate(at);
        self.facts.resize_with(stmts.len(), OnceCell::new);
        self.stmts = stmts;
    }
}

/// Where a block stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// It is the body of the function.
    Body,
    /// In a region.
    Region,
    /// In a region that two may become; whether they may fail earlier then is asked of the whole.
    Trial,
}

struct Twins<'a> {
    /// The function as it was, without its body; its types name what they named.
    f: &'a Function,
    /// What its callers make sure of.
    given: &'a [KnownExtents],
    /// The numbers of elements or of iterations.
    sizes: FxHashSet<Var>,
    /// The variables that are needed without the order that `after` makes.
    alive: Live,
    /// What nobody needs but for its checks, and nothing comes after any more.
    last: RefCell<FxHashSet<Var>>,
}

impl<'a> Twins<'a> {
    fn of(f: &'a Function, body: &Block, given: &'a [KnownExtents]) -> Self {
        Twins {
            f,
            sizes: sizes(&f.vars, body),
            given,
            alive: alive_without_order(&f.vars, body),
            last: RefCell::default(),
        }
    }

    /// A block of the function, its inner blocks first.
    fn whole(&self, block: Block, place: Place, names: &mut Names) -> Block {
        let mut known = Known::default();
        for mut s in block.stmts {
            for b in s.op.blocks_mut() {
                *b = self.whole(std::mem::take(b), Place::Region, names);
            }
            self.push(&mut known, s, place, names);
        }
        let results = block.results.into_iter().map(|a| names.of(a)).collect();
        Block { stmts: known.stmts, results }
    }

    /// The statements of one block behind those of another.
    fn joined(&self, first: &[Stmt], second: &[Stmt], names: &mut Names) -> Vec<Stmt> {
        let mut known = Known::default();
        for s in first {
            self.enter(&mut known, s, names);
            known.push(s.clone());
        }
        for s in second {
            self.push(&mut known, s.clone(), Place::Trial, names);
        }
        known.stmts
    }

    /// Adds a statement, if nothing before it does the same.
    fn push(&self, known: &mut Known, mut s: Stmt, place: Place, names: &mut Names) {
        names.in_stmt(&mut s);
        if let Some(earlier) = self.enter(known, &s, names) {
            names.set(s.results[0], earlier);
            return;
        }
        if s.op.blocks().is_empty() || !self.moved(known, &s, place, names) {
            known.push(s);
        }
    }

    /// Enters what a statement computes; the earlier variable that holds it, if there is one.
    fn enter(&self, known: &mut Known, s: &Stmt, names: &Names) -> Option<Var> {
        let expr = ValueKey::of(&s.op)?;
        if !self.may_be_named(s) {
            return None;
        }
        let ty = names.of_ty(self.f.ty(s.results[0]));
        match known.values.entry((expr, ty)) {
            Entry::Occupied(earlier) => Some(*earlier.get()),
            Entry::Vacant(free) => {
                free.insert(s.results[0]);
                None
            }
        }
    }

    /// Whether the results of a statement may be known by other names. Two records that begin alike are filled apart.
    fn may_be_named(&self, s: &Stmt) -> bool {
        s.results.iter().all(|r| self.f.vars[r.index()].record.is_none())
    }

    /// Joins a region with an earlier one, if that is possible and worth it.
    fn moved(&self, known: &mut Known, s: &Stmt, place: Place, names: &mut Names) -> bool {
        let Some((at, stmts, joined)) = self.with_twin(known, s, place, names) else { return false };
        known.replace(at, stmts);
        *names = joined;
        true
    }

    /// The statements with a region joined to the last one before it that it may be joined to, where that stands, and the
    /// names of what has gone. What has to move with the region is found on one way back, which ends where something
    /// cannot move, or there is no region like it any more.
    fn with_twin(&self, known: &Known, s: &Stmt, place: Place, names: &Names) -> Option<(usize, Vec<Stmt>, Names)> {
        let stmts = &known.stmts;
        let first = stmts.iter().position(|other| is_alike(other, s))?;
        let facts = |k: usize| known.facts[k].get_or_init(|| self.facts(&stmts[k]));
        let written = candidates::writes_around(s);
        let mut wanted: FxHashSet<Var> = self.reads(s, names);
        let mut needed = Needed::default();
        for k in (first..stmts.len()).rev() {
            let other = &stmts[k];
            if !written.is_empty() && !facts(k).writes.is_disjoint(&written) {
                return None;
            }
            if !other.results.iter().any(|r| wanted.contains(r)) {
                if is_alike(other, s) {
                    if !self.may_all_move(stmts, &needed, names) {
                        return None;
                    }
                    if let Some((stmts, joined)) = self.join(stmts, k, s, &needed, place, names) {
                        return Some((k, stmts, joined));
                    }
                }
                continue;
            }
            if let Some((first, Atom::Var(last))) = ordered(other)
                && may_become(other.results[0], first, &self.f.vars, &self.sizes)
                && (self.alive.has(last) || (place == Place::Body && self.f.ty(last).is_scalar()))
            {
                needed.unordered.set(other.results[0], first);
                needed.last.extend((!self.alive.has(last)).then_some(last));
                wanted.extend(first.var());
            } else if facts(k).may_move && self.may_be_named(other) {
                needed.moves.insert(k);
                let reads = facts(k).reads.iter().filter_map(|v| names.of((*v).into()).var());
                wanted.extend(reads.filter(|v| !other.results.contains(v)));
            } else {
                return None;
            }
        }
        None
    }

    fn facts(&self, s: &Stmt) -> Facts {
        Facts {
            reads: self.reads_as_named(s),
            writes: candidates::writes_around(s),
            may_move: candidates::may_move_but_for_sizes(s),
        }
    }

    /// Whether what is to move relies on no sizes that were checked before.
    fn may_all_move(&self, stmts: &[Stmt], needed: &Needed, names: &Names) -> bool {
        needed.moves.iter().all(|k| n_relying(&|v| names.of_ty(self.f.ty(v)), &stmts[*k]) == 0)
    }

    /// The statements with a region joined to the one at a position, and the names of what has gone.
    fn join(
        &self,
        stmts: &[Stmt],
        at: usize,
        s: &Stmt,
        Needed { moves, unordered, last }: &Needed,
        place: Place,
        names: &Names,
    ) -> Option<(Vec<Stmt>, Names)> {
        let earlier = &stmts[at];
        let mut later = s.clone();
        unordered.in_stmt(&mut later);
        let mut names = names.clone();
        let both = self.merge(earlier, &later, &mut names)?;
        if !is_worth_it(earlier, &later, &both) {
            return None;
        }
        // Contributions to an accumulator of another size have no check that says so.
        let relying = |s: &Stmt, names: &Names| n_relying(&|v| names.of_ty(self.f.ty(v)), s);
        if place != Place::Trial && relying(&both, &names) > relying(earlier, &names) {
            return None;
        }
        let mut joined = stmts[..at].to_vec();
        let (needed, behind): (Vec<_>, Vec<_>) = (at + 1..).zip(&stmts[at + 1..]).partition(|(k, _)| moves.contains(k));
        for (_, s) in needed {
            let mut s = s.clone();
            unordered.in_stmt(&mut s);
            joined.push(s);
        }
        joined.push(both);
        if !self.is_certain(&joined, at, stmts, place, &names) {
            return None;
        }
        joined.extend(behind.into_iter().map(|(_, s)| s.clone()));
        self.last.borrow_mut().extend(last);
        Some((joined, names))
    }

    /// Whether the statements of a block from a position on, the last one a region in the place of another, fail nowhere
    /// but where that one has failed, and read what is there. `before` are the statements without what has moved.
    fn is_certain(&self, stmts: &[Stmt], at: usize, before: &[Stmt], place: Place, names: &Names) -> bool {
        if place == Place::Trial {
            return true;
        }
        let mut f = self.f.clone();
        f.vars.iter_mut().for_each(|info| info.ty = names.of_ty(&info.ty));
        let passed = checks(&f, &before[..=at]);
        let mut facts = IntegerFacts::default();
        for s in stmts {
            facts.learn_inside(&f, s);
            facts.learn(&f, s);
        }
        let mut moved = stmts[at..].to_vec();
        if guard(&mut f, &mut moved, &facts) == 0 && checks(&f, &moved).is_subset(&passed) {
            return true;
        }
        if place != Place::Body {
            return false;
        }
        let results = moved.last().iter().flat_map(|s| &s.results).map(|r| Atom::Var(*r)).collect();
        f.body = Block { stmts: stmts[..at].iter().cloned().chain(moved).collect(), results };
        let f = eliminate_checks(f, self.given);
        checks(&f, &f.body.stmts).is_subset(&passed)
    }

    /// The variables around a statement that it depends on.
    fn reads(&self, s: &Stmt, names: &Names) -> FxHashSet<Var> {
        let read = self.reads_as_named(s).into_iter().filter_map(|v| names.of(v.into()).var());
        read.filter(|v| !s.results.contains(v)).collect()
    }

    /// The same under the names that it knows them by.
    fn reads_as_named(&self, s: &Stmt) -> Vec<Var> {
        let binders = s.op.binders();
        let mut read: Vec<Var> = s.op.operands().into_iter().filter_map(Atom::var).collect();
        read.extend(s.op.blocks().iter().flat_map(|b| free_vars(self.f, b, &binders)));
        let bound = s.results.iter().chain(&binders);
        read.extend(bound.flat_map(|v| self.f.ty(*v).dim_vars()));
        read
    }
}

/// The results of the checks among statements that may fail, at any depth. One that gives dims other names relies on what
/// was checked before it.
fn checks(f: &Function, stmts: &[Stmt]) -> FxHashSet<Var> {
    let mut all = FxHashSet::default();
    for s in stmts {
        if let Op::Check { cond, value, .. } = &s.op
            && (cond.truth() != Some(true) || f.atom_ty(*value) != *f.ty(s.results[0]))
        {
            all.extend(&s.results);
        }
        s.op.blocks().iter().for_each(|b| all.extend(checks(f, &b.stmts)));
    }
    all
}

/// What moves with a region.
#[derive(Default)]
struct Needed {
    /// The positions of the statements that it needs.
    moves: FxHashSet<usize>,
    /// What need not come after something else any more.
    unordered: Names,
    /// What has to be computed all the same, and is not, unless something else asks for it.
    last: Vec<Var>,
}
