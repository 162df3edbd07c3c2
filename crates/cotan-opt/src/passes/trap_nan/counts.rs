//! Where a NaN counts.

use super::Node;
use super::site::Made;
use cotan_ir::{Atom, Block, Function, Loop, Op, Prim, Stmt, Var};
use cotan_ops::{Codegen, Instruction};
use rustc_hash::FxHashSet;

/// The variables of a block in which a NaN counts, whatever the branches inside the block do: those that are used
/// otherwise than by arithmetic, and what those are computed of.
pub(super) struct Counting(FxHashSet<Var>);

impl Counting {
    /// Of a block of which these results are used, and of nodes of the blocks around it.
    pub(super) fn of(block: &Block, used: &[Atom], waiting: &[Node], f: &Function) -> Counting {
        let mut walk = Counting(FxHashSet::default());
        walk.block(block, used, f);
        for node in waiting.iter().rev() {
            if let (Made::Prim(prim), true) = (node.made, walk.has(node.result)) {
                walk.arithmetic(prim, &node.args);
            }
        }
        walk
    }

    pub(super) fn has(&self, v: Var) -> bool {
        self.0.contains(&v)
    }

    fn add(&mut self, a: Atom) {
        self.0.extend(a.var());
    }

    fn block(&mut self, block: &Block, used: &[Atom], f: &Function) {
        used.iter().for_each(|r| self.add(*r));
        for s in block.stmts.iter().rev() {
            self.stmt(s, f);
        }
    }

    fn stmt(&mut self, s: &Stmt, f: &Function) {
        if let Op::Prim { prim, args } = &s.op
            && f.is_float(s.results[0].into())
        {
            if self.has(s.results[0]) {
                self.arithmetic(*prim, args);
            }
        } else if let Op::Prim { prim, args } = &s.op {
            // What guards a partial derivative decides nothing of its own.
            if !asks_for_nan(*prim, args) && !s.span.role.is_partial() {
                args.iter().for_each(|a| self.add(*a));
            }
        } else if let Op::Switch { selector, .. } = &s.op {
            // What an arm uses counts where that arm runs.
            self.add(*selector)
        } else if let Op::Par(p) = &s.op {
            s.op.each_operand(&mut |a| self.add(a));
            self.block(&p.body, &p.body.results, f);
        } else if let Op::Loop(l) = &s.op {
            s.op.each_operand(&mut |a| self.add(a));
            self.block(&l.body, &used_results(l, &s.results, f), f);
        } else {
            s.op.each_operand(&mut |a| self.add(a))
        }
    }

    /// The operands of an operation on numbers whose result counts.
    fn arithmetic(&mut self, prim: Prim, args: &[Atom]) {
        for (k, a) in args.iter().enumerate() {
            if !forgives(prim, k) {
                self.add(*a);
            }
        }
    }
}

/// The results of a loop's body that the program uses: a record is for the reverse sweep, where what is read of it counts
/// or not.
pub(super) fn used_results(l: &Loop, results: &[Var], f: &Function) -> Vec<Atom> {
    let (next, elements) = l.body.results.split_at(l.params.len());
    let is_record = |stacked: &Var| f.vars[stacked.index()].record.is_some();
    let stacked = elements.iter().zip(l.split(results).stacked).filter(|(_, stacked)| !is_record(stacked));
    next.iter().copied().chain(stacked.map(|(element, _)| *element)).collect()
}

/// Whether the result may be a number though this operand is NaN and all that counts of the operation is its result.
fn forgives(prim: Prim, operand: usize) -> bool {
    let is_chosen = prim == cotan_ops::SELECT.prim();
    let is_factor = prim == cotan_ops::MULZ.prim();
    let is_identity = matches!(cotan_ops::row(prim).codegen, Codegen::Native(Instruction::Identity));
    is_chosen || is_factor || is_identity && operand > 0
}

/// Whether a test asks for nothing but whether a number is one.
fn asks_for_nan(prim: Prim, args: &[Atom]) -> bool {
    prim == cotan_ops::ISNAN.prim() || prim == cotan_ops::ISFINITE.prim() || args.len() == 2 && args[0] == args[1]
}
