//! Loop fusion: parallel loops, and operations on whole arrays, that run one after the other over the same indices become
//! one.
//!
//! An array that is made element by element, and read by a later loop at that loop's own indices, need not be made: the
//! loop computes the element where it reads it, or the row. If somebody else reads the array later on, the loop gives it as
//! one more result. Every element is computed once, from the same operands, so results keep their bits. What may fail stays
//! where it is, unless a reduction is the next that anybody would notice. The addition of an array to a part of an accumulator
//! takes the elements of the array like a loop. Writes of the array to parts of others do not, but they may wait until the
//! loop is done. What an iteration makes by an inner loop, a row, is taken by rows; where its elements are taken one by one, the loop
//! is [distributed](rows) first.

mod join;
mod legal;
mod rows;
#[cfg(test)]
mod tests;

use super::rename::lengths;
use crate::analysis::uses::uses;
use crate::pass::{Pass, Promise};
use cotan_ir::{AccKind, Block, Function, Monoid, Op, Stmt, Var};
use legal::Wait;
use rustc_hash::FxHashSet;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "fuse",
    doc: "Parallel loops and whole-array operations over the same indices become one loop.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| fuse(f),
};

/// Statements up to which the body of a loop may grow.
const MOST_STMTS: usize = 100;

/// The function with loops fused.
pub fn fuse(mut f: Function) -> Function {
    let lengths = lengths(&f.vars);
    let body = std::mem::take(&mut f.body);
    let mut sums = FxHashSet::default();
    find_sums(&body, &mut sums);
    let body = Fuse { f: &mut f, lengths, sums, is_in_par: false }.block(body);
    Function { body, ..f }
}

/// A statement that makes arrays, and the one that takes their elements.
struct Pair {
    producer: usize,
    consumer: usize,
    /// Writes of the arrays that stand between the two and come after them.
    delayed: Vec<usize>,
    /// The arrays that somebody else reads, too.
    kept: Vec<Var>,
}

struct Fuse<'a> {
    f: &'a mut Function,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    /// The accumulators that are sums.
    sums: FxHashSet<Var>,
    /// Whether this is in a parallel loop.
    is_in_par: bool,
}

impl Fuse<'_> {
    fn block(&mut self, mut block: Block) -> Block {
        loop {
            if let Some(pair) = self.pair(&block) {
                self.join(&mut block, &pair);
            } else if !self.distribute(&mut block) {
                break;
            }
        }
        for s in &mut block.stmts {
            let outside = self.is_in_par;
            self.is_in_par |= matches!(s.op, Op::Par(_));
            s.op.map_blocks(|b| self.block(b));
            self.is_in_par = outside;
        }
        block
    }

    /// The last pair that can be joined.
    fn pair(&self, block: &Block) -> Option<Pair> {
        let uses = uses(self.f, block);
        (0..block.stmts.len()).rev().find_map(|producer| {
            let s = &block.stmts[producer];
            if !self.makes_elements(s) && !self.makes_rows(s) {
                return None;
            }
            let mut readers: Vec<usize> = s.results.iter().filter_map(|r| uses.get(r)).flatten().copied().collect();
            readers.sort_unstable();
            readers.dedup();
            let is_alone = readers.len() == 1;
            let takes = |k: usize| block.stmts.get(k).is_some_and(|reader| self.takes(reader, s, is_alone));
            if self.is_filled(s) {
                // One value in the place of an array costs nothing, however many read it.
                let consumer = readers.into_iter().find(|k| takes(*k))?;
                return Some(Pair { producer, consumer, delayed: Vec::new(), kept: Vec::new() });
            }
            let consumer = readers.iter().copied().find(|k| takes(*k))?;
            let delayed: Vec<usize> = readers.into_iter().take_while(|k| *k < consumer).collect();
            let wait = Wait { until: consumer, delayed: &delayed, uses: &uses };
            let mut between = (producer + 1..consumer).filter(|k| !delayed.contains(k)).map(|k| &block.stmts[k]);
            let joins = delayed.iter().all(|k| self.may_wait(block, *k, &wait))
                && !between.any(|other| self.may_overwrite(other, s) || self.adds_to_same(other, s))
                && self.adds_in_order(s, &block.stmts[consumer])
                && (!s.is_sequenced() || delayed.is_empty() && self.fails_as_early(block, producer, consumer))
                && size(&block.stmts[consumer]) + size(s) <= MOST_STMTS;
            let is_kept = |r: &Var| uses.get(r).is_some_and(|readers| readers.iter().any(|k| *k != consumer));
            let kept = s.results.iter().copied().filter(is_kept).collect();
            joins.then_some(Pair { producer, consumer, delayed, kept })
        })
    }

    /// Whether a statement that may fail may do so in another one further down: nothing before it fails, is seen or goes
    /// on for ever, and the other one does nothing but reduce.
    fn fails_as_early(&self, block: &Block, producer: usize, consumer: usize) -> bool {
        !block.stmts[producer + 1..consumer].iter().any(|s| s.is_sequenced() || has_loop(s))
            && self.is_safe_reduction(&block.stmts[consumer])
    }
}

/// Whether a statement is a sequential loop or has one inside.
fn has_loop(s: &Stmt) -> bool {
    s.walk().any(|s| s.op.as_loop().is_some())
}

/// Finds the accumulators that are sums.
fn find_sums(block: &Block, sums: &mut FxHashSet<Var>) {
    let accs = block.walk().flat_map(|s| s.op.accs());
    sums.extend(accs.filter(|acc| acc.kind == AccKind::Reduce(Monoid::Add)).map(|acc| acc.var));
}

/// Statements, inner blocks included.
fn size(s: &Stmt) -> usize {
    s.walk().count()
}
