//! Candidate selection and profitability.

use super::ordered;
use crate::passes::equal_dims::relies_on_equal_dims;
use cotan_ir::{AccKind, Block, CheckKind, Loop, Op, Prim, Stmt, TensorOp, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Statements that two regions should share, unless they share a loop or all that one of them does: a pass over memory
/// costs as much, and loops with one result are joined more easily with others.
const FEWEST_SHARED: usize = 8;

/// Whether two regions run alike and do similar things, the first of which may go on while the second moves.
pub(super) fn is_alike(earlier: &Stmt, later: &Stmt) -> bool {
    run_alike(&earlier.op, &later.op) && is_silent(later) && {
        let of_earlier = Deeds::of(earlier);
        2 * of_earlier.in_common(&Deeds::of(later)) >= of_earlier.size
    }
}

/// Whether regions have the same iterations, or the same arms. What is kept of a loop is the author's choice if there is
/// a scheme for it: a loop with one stays where it is.
fn run_alike(earlier: &Op, later: &Op) -> bool {
    let is_free = |l: &Loop| {
        l.kept.checkpoint.is_none() && !l.kept.recompute && !l.accs.iter().any(|acc| acc.kind == AccKind::Log)
    };
    if let (Op::Par(p), Op::Par(q)) = (earlier, later) {
        p.extents == q.extents
    } else if let (Op::Loop(l), Op::Loop(m)) = (earlier, later) {
        l.count == m.count && is_free(l) && is_free(m)
    } else if let (Op::Switch { selector, arms }, Op::Switch { selector: other, arms: others }) = (earlier, later) {
        selector == other && arms.len() == others.len()
    } else {
        false
    }
}

/// Whether a statement neither prints nor calls a function that may.
fn is_silent(s: &Stmt) -> bool {
    !s.has_effect(|effects| effects.prints || effects.calls.is_some())
}

/// Whether a statement may run before others that stand in front of it, if it relies on no sizes that they have checked:
/// it cannot fail, ends, and is silent.
pub(super) fn may_move_but_for_sizes(s: &Stmt) -> bool {
    let deeds = Deeds::of(s);
    deeds.checks + deeds.whiles == 0 && is_silent(s) && writes_around(s).is_empty()
}

/// How many statements rely on sizes that are equal under different names, inner blocks included.
pub(super) fn n_relying(ty: &impl Fn(Var) -> Ty, s: &Stmt) -> usize {
    s.walk().filter(|s| relies_on_equal_dims(ty, s)).count()
}

/// The accumulators of regions around a statement that it writes to.
pub(super) fn writes_around(s: &Stmt) -> FxHashSet<Var> {
    let mut written: FxHashSet<Var> = s.walk().filter_map(|s| s.op.written()).collect();
    s.walk().flat_map(|s| s.op.accs()).for_each(|own| {
        written.remove(&own.var);
    });
    written
}

/// Whether two regions share enough. The one that does what both do may not run forever where the earlier one does not.
pub(super) fn is_worth_it(earlier: &Stmt, later: &Stmt, both: &Stmt) -> bool {
    let [earlier, later, both] = [earlier, later, both].map(Deeds::of);
    let shared = (earlier.size + later.size).saturating_sub(both.size);
    let shared_loops = (earlier.loops + later.loops).saturating_sub(both.loops + 1);
    let is_much = shared_loops > 0 || shared >= FEWEST_SHARED;
    let is_worth_it = both.size <= earlier.size.max(later.size) || (is_much && 2 * shared >= earlier.size);
    both.whiles <= earlier.whiles && shared > 0 && is_worth_it
}

/// What the statements of a region do.
#[derive(Default)]
struct Deeds {
    each: FxHashMap<Deed, usize>,
    /// Statements, inner blocks included.
    size: usize,
    /// Loops, itself included.
    loops: usize,
    /// Loops of unknown length, itself included.
    whiles: usize,
    /// Checks, itself included.
    checks: usize,
}

/// What a statement does, whatever it does it to.
#[derive(PartialEq, Eq, Hash)]
enum Deed {
    Prim(Prim),
    Tensor(TensorOp),
    Par(usize),
    Check(CheckKind),
    Other(std::mem::Discriminant<Op>),
}

impl Deeds {
    fn of(s: &Stmt) -> Deeds {
        let mut deeds = Deeds::default();
        deeds.checks += usize::from(s.op.effects().checks);
        deeds.whiles += usize::from(is_while(&s.op));
        deeds.loops += usize::from(s.op.is_loop_nest());
        s.op.blocks().iter().for_each(|b| deeds.add(b));
        deeds
    }

    fn add(&mut self, block: &Block) {
        for s in &block.stmts {
            self.size += 1;
            // It does nothing.
            if ordered(s).is_some() {
                continue;
            }
            let deed = if let Op::Prim { prim, .. } = &s.op {
                Deed::Prim(*prim)
            } else if let Op::Tensor { op, .. } = &s.op {
                Deed::Tensor(*op)
            } else if let Op::Par(p) = &s.op {
                Deed::Par(p.extents.len())
            } else if let Op::Check { kind, .. } = &s.op {
                Deed::Check(*kind)
            } else {
                Deed::Other(std::mem::discriminant(&s.op))
            };
            self.loops += usize::from(s.op.is_loop_nest());
            self.checks += usize::from(s.op.effects().checks);
            self.whiles += usize::from(is_while(&s.op));
            *self.each.entry(deed).or_default() += 1;
            s.op.blocks().iter().for_each(|b| self.add(b));
        }
    }

    fn in_common(&self, other: &Deeds) -> usize {
        self.each.iter().map(|(deed, n)| *n.min(other.each.get(deed).unwrap_or(&0))).sum()
    }
}

fn is_while(op: &Op) -> bool {
    op.as_loop().is_some_and(|l| l.count.is_none())
}
