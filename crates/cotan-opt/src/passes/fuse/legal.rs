//! Which statements make arrays, which ones take their elements, and what may not stand between.

use super::Fuse;
use crate::analysis::uses::uses;
use cotan_ir::{Atom, Block, Op, OperandRole, Par, ParResult, Stmt, Var, free_vars, written_accs};
use cotan_ops::FILL;
use rustc_hash::{FxHashMap, FxHashSet};

/// What writes wait for.
pub(super) struct Wait<'a> {
    /// The position behind which they come.
    pub(super) until: usize,
    /// Those that wait; they keep their order.
    pub(super) delayed: &'a [usize],
    /// Who reads what in the block.
    pub(super) uses: &'a FxHashMap<Var, Vec<usize>>,
}

impl Fuse<'_> {
    /// Whether a statement makes arrays element by element.
    pub(super) fn makes_elements(&self, s: &Stmt) -> bool {
        let Some(first) = s.results.first() else { return false };
        let ty = self.f.ty(*first);
        if matches!(s.op, Op::Prim { .. }) {
            !ty.is_scalar()
        } else if let Op::Tensor { op, .. } = &s.op {
            *op == FILL.op() && !ty.is_scalar()
        } else if let Op::Par(p) = &s.op {
            let are_elements = p.kinds.iter().all(|kind| matches!(kind, ParResult::Stacked))
                && s.results.iter().all(|r| p.indices.len() == self.f.ty(*r).dims.len());
            let extents = || ty.dims.iter().map(|d| d.atom());
            are_elements
                && s.results.iter().all(|r| self.f.ty(*r).dims.iter().map(|d| d.atom()).eq(extents()))
                && p.accs.is_empty()
                && self.is_plain(&p.body, Some(p), true)
        } else {
            false
        }
    }

    /// Whether a block does nothing but compute scalars, and check them if it may. That of a loop may add to accumulators,
    /// too, at the loop's own indices.
    pub(super) fn is_plain(&self, block: &Block, of: Option<&Par>, may_check: bool) -> bool {
        block.stmts.iter().all(|s| {
            let are_plain = |arms: &[Block]| arms.iter().all(|arm| self.is_plain(arm, None, may_check));
            let is_plain = matches!(s.op, Op::Prim { .. } | Op::Index { .. })
                || matches!(&s.op, Op::Switch { arms, .. } if are_plain(arms))
                || of.is_some_and(|p| self.is_own_add(p, s))
                || may_check && s.op.effects().checks;
            is_plain && s.results.iter().all(|r| self.f.ty(*r).is_scalar() && !self.lengths.contains(r))
        })
    }

    /// Whether a statement of a loop adds to an element of a sum that is the iteration's own: the last indices are those
    /// of the loop, and the others come from outside.
    fn is_own_add(&self, p: &Par, s: &Stmt) -> bool {
        let Op::AccAdd { acc, indices, value } = &s.op else { return false };
        let Some(rest) = indices.len().checked_sub(p.indices.len()) else { return false };
        let (outer, own) = indices.split_at(rest);
        let is_inside = |v: Var| p.indices.contains(&v) || p.body.stmts.iter().any(|s| s.results.contains(&v));
        self.sums.contains(acc)
            && self.f.atom_ty(*value).is_scalar()
            && own.iter().copied().eq(p.indices.iter().map(|i| Atom::Var(*i)))
            && !outer.iter().filter_map(|a| a.var()).any(is_inside)
    }

    /// Whether a statement goes through the elements of some of the arrays that another one makes, and reads them at no
    /// other place. They may be taken by rows, too, if nobody else wants them, or if all elements are one value.
    pub(super) fn takes(&self, s: &Stmt, producer: &Stmt, is_alone: bool) -> bool {
        let arrays = &producer.results;
        let dims = &self.f.ty(arrays[0]).dims;
        if self.makes_rows(producer) {
            is_alone && self.takes_rows(s, producer)
        } else if matches!(s.op, Op::Prim { .. }) {
            // Of higher rank it is one loop over all elements now, and would become several.
            dims.len() == 1 && self.f.ty(s.results[0]).dims == *dims
        } else if let Op::AccAdd { acc, value, .. } = &s.op {
            dims.len() == 1 && self.sums.contains(acc) && value.var().is_some_and(|v| arrays.contains(&v))
        } else if let Op::Par(p) = &s.op {
            let by_rows = p.extents.len() < dims.len()
                && if self.is_filled(producer) {
                    self.takes_elements_of_rows(p, arrays[0])
                } else {
                    is_alone && !matches!(producer.op, Op::Tensor { .. })
                };
            let taken = if by_rows { p.extents.len() } else { dims.len() };
            let same = p.extents.iter().copied().eq(dims[..taken].iter().map(|d| d.atom()));
            let (own, others) = self.reads(p, arrays);
            same && own > 0 && others == 0
        } else {
            false
        }
    }

    /// Whether a loop is a reduction that cannot fail: what its elements fail by may as well fail in it.
    pub(super) fn is_safe_reduction(&self, s: &Stmt) -> bool {
        if let Op::Par(p) = &s.op {
            let reduces = p.kinds.iter().all(|kind| matches!(kind, ParResult::Reduced { .. }));
            reduces && p.accs.is_empty() && self.is_plain(&p.body, Some(p), false)
        } else {
            false
        }
    }

    /// How often a loop reads arrays at its own indices, by itself, and how often otherwise.
    pub(super) fn reads(&self, p: &Par, arrays: &[Var]) -> (usize, usize) {
        let (mut own, mut others) = (0, 0);
        let is_one = |a: Atom| a.var().is_some_and(|v| arrays.contains(&v));
        for s in &p.body.stmts {
            if self.own_read(p, s, arrays).is_some() {
                own += 1;
                continue;
            }
            s.op.each_operand(&mut |a| others += usize::from(is_one(a)));
            let binders = s.op.binders();
            for b in s.op.blocks() {
                others += free_vars(self.f, b, &binders).into_iter().filter(|v| arrays.contains(v)).count();
            }
        }
        p.body.results.iter().for_each(|a| others += usize::from(is_one(*a)));
        let init_of = |kind: &ParResult| matches!(kind, ParResult::Reduced { init, .. } if is_one(*init));
        others += p.kinds.iter().filter(|kind| init_of(kind)).count();
        others += p.accs.iter().filter_map(|acc| acc.init).filter(|init| is_one(*init)).count();
        (own, others)
    }

    /// The array of which a statement of a loop reads the element, or the row, at the indices of the loop.
    pub(super) fn own_read(&self, p: &Par, s: &Stmt, arrays: &[Var]) -> Option<Var> {
        let Op::Index { array, indices } = &s.op else { return None };
        let own = indices.iter().copied().eq(p.indices.iter().map(|i| Atom::Var(*i)));
        array.var().filter(|v| own && arrays.contains(v) && !self.lengths.contains(&s.results[0]))
    }

    /// Whether a statement is a write that may as well come behind another one.
    pub(super) fn may_wait(&self, block: &Block, at: usize, wait: &Wait<'_>) -> bool {
        let s = &block.stmts[at];
        let is_write = matches!(s.op, Op::Update { .. });
        let passes = |k: &usize| (at + 1..=wait.until).contains(k) && !wait.delayed.contains(k);
        let is_read = || s.results.iter().filter_map(|r| wait.uses.get(r)).flatten().any(passes);
        let is_changed = || (at + 1..=wait.until).filter(passes).any(|k| self.may_overwrite(&block.stmts[k], s));
        is_write && !is_read() && !is_changed()
    }

    /// Whether a statement may want to change an array in place that another one reads.
    pub(super) fn may_overwrite(&self, s: &Stmt, reader: &Stmt) -> bool {
        let mut read = reader.op.operands();
        let binders = reader.op.binders();
        for b in reader.op.blocks() {
            read.extend(free_vars(self.f, b, &binders).into_iter().map(Atom::Var));
        }
        let reads = |a: &Atom| a.var().is_some_and(|v| !self.f.ty(v).is_scalar()) && read.contains(a);
        s.op.operands_as(OperandRole::may_be_overwritten).iter().any(reads)
    }

    /// Whether two statements add to one accumulator.
    pub(super) fn adds_to_same(&self, a: &Stmt, b: &Stmt) -> bool {
        let of_b = adds(b);
        !of_b.is_empty() && !adds(a).is_disjoint(&of_b)
    }

    /// Whether contributions keep their order if the iterations of two statements alternate: to an accumulator of both,
    /// each adds at the element of its iteration alone.
    pub(super) fn adds_in_order(&self, producer: &Stmt, consumer: &Stmt) -> bool {
        let first = adds(producer);
        let own = |p: &Par| {
            let to_others = |s: &Stmt| self.is_own_add(p, s) || adds(s).is_disjoint(&first);
            p.body.stmts.iter().all(to_others)
        };
        if let Op::Par(p) = &consumer.op { first.is_empty() || own(p) } else { true }
    }

    /// Whether all elements of what a statement makes are one value that is there already.
    pub(super) fn is_filled(&self, s: &Stmt) -> bool {
        if let Op::Tensor { args, .. } = &s.op {
            self.f.atom_ty(args[0]).is_scalar()
        } else if let Op::Par(p) = &s.op {
            let is_index = |a: &Atom| a.var().is_some_and(|v| p.indices.contains(&v));
            p.body.stmts.is_empty() && p.kinds.len() == 1 && !p.body.results.iter().any(is_index)
        } else {
            false
        }
    }

    /// Whether anybody reads a variable of a block.
    pub(super) fn is_read(&self, block: &Block, v: Var) -> bool {
        uses(self.f, block).contains_key(&v)
    }
}

/// The accumulators that a statement adds to.
fn adds(s: &Stmt) -> FxHashSet<Var> {
    let mut all: FxHashSet<Var> = s.op.blocks().iter().flat_map(written_accs).collect();
    if let Op::AccAdd { acc, .. } = &s.op {
        all.insert(*acc);
    }
    all
}
