//! Loop-invariant code motion.
//!
//! What depends on nothing that a region binds moves in front of it: statements, and whole regions. A region of which some results depend
//! on the region around and others do not is divided first (`divide.rs`), so a Jacobian evaluates its primal
//! once and not for every basis vector.
//!
//! Nothing moves that could fail where nothing failed, or fail first where something else did (`stays.rs`), and nothing out
//! of an arm. Reads and fills stay with those who use them. Results keep their bits.
//!
//! Before differentiation only integers and truth values move: what is had outside need not be recorded inside, and
//! a loop whose count is known outside has records of a known shape. Floats stay where they are then, because derivative code
//! accumulates their cotangents in the order in which they stand.

mod divide;
mod keep;
mod stays;
#[cfg(test)]
mod tests;

use super::dce::{dce, dce_block};
use super::rename::lengths;
use crate::analysis::integer_facts::IntegerFacts;
use crate::analysis::uses::needs;
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Op, Stmt, Var};
use keep::moves;
use rustc_hash::FxHashSet;
use stays::{any_stays, stays, writes_outside};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "licm",
    doc: "Loop-invariant statements and regions move in front of their loops.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| licm(f, Moves::All),
};

/// The pass for code that is still to be differentiated.
pub static INTEGERS: Pass = Pass {
    name: "licm_integers",
    doc: "Loop-invariant integers and truth values move in front of their loops, for code to be differentiated.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| licm(f, Moves::Integers),
};

/// More rounds than this find nothing in practice; the bound keeps the cost linear.
const MAX_ROUNDS: usize = 4;

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Scalar primitives on integers and truth values.
    Integers,
    /// Everything that is worth it.
    All,
}

/// The function with loop-invariant code outside of loops.
pub fn licm(f: Function, what: Moves) -> Function {
    match what {
        Moves::Integers => moved(f, what),
        // A check that nobody needs must not move with the region that it stands in. What has moved, and what is dead
        // then, may let more move.
        Moves::All => {
            let mut f = dce(f);
            for _ in 0..MAX_ROUNDS {
                let before = f.body.clone();
                f = dce(moved(f, what));
                if f.body == before {
                    break;
                }
            }
            f
        }
    }
}

fn moved(mut f: Function, what: Moves) -> Function {
    let lengths = lengths(&f.vars);
    let facts = IntegerFacts::of(&f);
    // The results stay where they are: they tell how much memory the function may take.
    let stmts = std::mem::take(&mut f.body.stmts);
    let block = Hoist { f: &mut f, what, facts, lengths, used: FxHashSet::default() }
        .block(Block { stmts, results: Vec::new() });
    f.body.stmts = block.stmts;
    f
}

struct Hoist<'a> {
    f: &'a mut Function,
    what: Moves,
    facts: IntegerFacts,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    /// The variables that something in the region at hand needs.
    used: FxHashSet<Var>,
}

impl Hoist<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            let mark = self.facts.enter(self.f, &s.op);
            for b in s.op.blocks_mut() {
                let arm = self.facts.mark();
                *b = self.block(std::mem::take(b));
                self.facts.leave(arm);
            }
            self.facts.leave(mark);
            if s.op.is_loop_nest() { self.region(s, &mut stmts) } else { self.append(s, &mut stmts) }
        }
        Block { stmts, results: block.results }
    }

    fn append(&mut self, s: Stmt, out: &mut Vec<Stmt>) {
        self.facts.learn(self.f, &s);
        out.push(s);
    }

    /// Appends what moves out of a region, and the region.
    fn region(&mut self, s: Stmt, out: &mut Vec<Stmt>) {
        let hoisted = self.hoisted(&s, true).or_else(|| self.hoisted(&s, false));
        match hoisted {
            Some((moved, rest)) => {
                moved.into_iter().for_each(|s| self.append(s, out));
                rest.into_iter().for_each(|s| self.append(s, out));
            }
            None => self.append(s, out),
        }
    }

    /// What moves out of a region, and what is left of it. None if nothing moves, or if checks that are allowed to move
    /// would not all be among what moves.
    fn hoisted(&mut self, s: &Stmt, moves_checks: bool) -> Option<(Vec<Stmt>, Vec<Stmt>)> {
        let body = s.op.blocks().first()?;
        let mut stays = stays(self.f, &self.facts, self.what, s, moves_checks);
        self.used.clear();
        all_used(self.f, body, &mut self.used);
        let mut stmts = Vec::with_capacity(body.stmts.len());
        for inner in &body.stmts {
            let first = stmts.len();
            self.divide(inner, &mut stays, &mut stmts);
            let n_checks = count_sequenced(inner);
            let stay = any_stays(&stays, inner, |effects| effects.is_sequenced());
            if n_checks > 0 && !stay && count_sequenced(&stmts[first]) != n_checks {
                return None;
            }
        }
        let mut wanted: FxHashSet<Var> = FxHashSet::default();
        let mut is_moved = vec![false; stmts.len()];
        for (moved, s) in is_moved.iter_mut().zip(&stmts).rev() {
            let is_wanted = s.results.iter().any(|r| wanted.contains(r));
            *moved = moves(&stays, s) && !writes_outside(s) && (is_wanted || is_worth(&s.op));
            if *moved {
                wanted.extend(needs(self.f, s));
            }
        }
        if !is_moved.contains(&true) {
            return None;
        }
        let mut is_moved = is_moved.into_iter();
        let (moved, left) = stmts.into_iter().partition(|_| is_moved.next().unwrap_or(false));
        let mut rest = s.clone();
        if let Some(b) = rest.op.blocks_mut().first_mut() {
            b.stmts = left;
        }
        Some((moved, self.left(rest)))
    }

    /// A region without what nobody needs any more.
    fn left(&mut self, s: Stmt) -> Vec<Stmt> {
        match self.what {
            Moves::Integers => vec![s],
            Moves::All => {
                let results = s.results.iter().map(|r| Atom::Var(*r)).collect();
                dce_block(&self.f.vars, Block { stmts: vec![s], results }).0.stmts
            }
        }
    }
}

/// Everything that a block and the blocks inside it read.
fn all_used(f: &Function, block: &Block, used: &mut FxHashSet<Var>) {
    for s in &block.stmts {
        used.extend(s.op.operands().iter().filter_map(|a| a.var()));
        used.extend(s.op.binders().iter().chain(&s.results).flat_map(|v| f.ty(*v).dim_vars()));
        s.op.blocks().iter().for_each(|b| all_used(f, b, used));
    }
    used.extend(block.results.iter().filter_map(|a| a.var()));
}

/// How many operations in a statement may fail, or print.
fn count_sequenced(s: &Stmt) -> usize {
    s.walk().filter(|s| s.op.effects().is_sequenced()).count()
}

/// Whether an operation is worth moving for itself. A read, or a tensor filled with a value, costs as much as reading
/// what was read or filled.
fn is_worth(op: &Op) -> bool {
    let cheap = [cotan_ops::FILL.op(), cotan_ops::IOTA.op(), cotan_ops::RESHAPE.op()];
    let is_cheap = matches!(op, Op::Tensor { op, .. } if cheap.contains(op));
    !is_cheap && !matches!(op, Op::Index { .. } | Op::AccAdd { .. })
}
