//! Whether the general code adds up in the order of the program, so that a version has the bits of its sums.
//!
//! Reductions, products and the accumulators of sequential loops have an order of their own. What the iterations of parallel
//! loops add to accumulators is added in another order where the general code has lanes or chunks for these loops: unless
//! every iteration has an element of its own, the loops have to be so short that it has neither. A CPU has no lanes for
//! sums of a loop of at most [`MOST_INNERMOST`] iterations, and of at most [`MOST_AROUND`] where other loops are inside, if
//! nothing in it may fail.

use cotan_ir::{Acc, AccKind, Atom, Block, Function, Monoid, Op, Stmt, Var};
use rustc_hash::FxHashMap;

/// Iterations of an innermost loop that are added up in order.
const MOST_INNERMOST: usize = 16;
/// The same of a loop around others.
const MOST_AROUND: usize = 7;
/// Statements on scalars of a loop that is one chunk, all its iterations counted.
const MOST_WORK: usize = 1000;

/// Whether all sums of floats have one order, in general code and in versions.
pub(super) fn is_kept(f: &Function) -> bool {
    let mut order = Order { f, around: Vec::new(), opened: FxHashMap::default() };
    order.block(&f.body)
}

struct Order<'a> {
    f: &'a Function,
    /// The loops around, outermost first.
    around: Vec<&'a Op>,
    /// For each accumulator of floats how many loops are around the one that it belongs to.
    opened: FxHashMap<Var, usize>,
}

impl<'a> Order<'a> {
    fn block(&mut self, block: &'a Block) -> bool {
        block.stmts.iter().all(|s| {
            if let Op::AccAdd { acc, indices, .. } = &s.op {
                return self.adds_in_order(*acc, indices);
            }
            let is_loop = s.op.is_loop_nest();
            for acc in s.op.accs().iter().filter(|acc| is_sum(self.f, acc)) {
                self.opened.insert(acc.var, self.around.len());
            }
            if is_loop {
                self.around.push(&s.op);
            }
            let is_kept = s.op.blocks().iter().all(|b| self.block(b));
            if is_loop {
                self.around.pop();
            }
            is_kept
        })
    }

    /// Whether what is added here to an accumulator is added in the order of the program.
    fn adds_in_order(&self, acc: Var, indices: &[Atom]) -> bool {
        let Some(opened) = self.opened.get(&acc) else { return true };
        // Sequential loops that no parallel one is around have an order.
        let loops = self.around[*opened..].iter().skip_while(|op| op.as_loop().is_some());
        let Some(outermost) = loops.clone().next() else { return true };
        let inside = outermost.blocks().iter().flat_map(|b| b.walk());
        let is_alone = inside.filter(|s| s.op.written() == Some(acc)).count() == 1;
        let has_own = |op: &Op| {
            op.as_loop().is_none() && op.indices().iter().all(|(index, _)| indices.contains(&(*index).into()))
        };
        // A sequential loop inside of a parallel one may add up for itself first.
        if loops.clone().any(|op| op.as_loop().is_some()) {
            return false;
        }
        let has_own_elements = is_alone && loops.clone().all(|op| has_own(op));
        has_own_elements || self.work_of(outermost).is_some_and(|work| work <= MOST_WORK)
    }

    /// What a loop works, if general code runs its iterations one after the other, on one thread.
    fn work_of(&self, op: &Op) -> Option<usize> {
        let counts = op.indices().into_iter().map(|(_, count)| usize::try_from(count?.constant()?.as_i64()?).ok());
        let counts: Vec<usize> = counts.collect::<Option<_>>()?;
        let inside = Work::sum(op.blocks().iter().flat_map(|b| &b.stmts).map(|s| self.work(s)))?;
        let (last, outer) = counts.split_last()?;
        let most = if inside.has_loop { MOST_AROUND } else { MOST_INNERMOST };
        let is_short = *last <= most && outer.iter().all(|n| *n <= MOST_AROUND);
        let work = counts.iter().try_fold(inside.steps, |n, count| n.checked_mul(*count))?;
        (is_short || op.as_loop().is_some()).then_some(work)
    }

    /// What a statement works; `None` if that is not known, or not little.
    fn work(&self, s: &Stmt) -> Option<Work> {
        if s.op.is_loop_nest() {
            return Some(Work { steps: self.work_of(&s.op)?, has_loop: true });
        }
        if s.op.effects().may_fail() {
            return None;
        }
        let inside = Work::sum(s.op.blocks().iter().flat_map(|b| &b.stmts).map(|s| self.work(s)))?;
        let elements = |r: &Var| {
            let dims = self.f.ty(*r).dims.iter().map(|d| usize::try_from(d.atom().constant()?.as_i64()?).ok());
            dims.collect::<Option<Vec<usize>>>()?.iter().try_fold(1usize, |n, d| n.checked_mul(*d))
        };
        let has_loop = s.results.iter().any(|r| !self.f.ty(*r).is_scalar());
        let per_element = if has_loop { MOST_INNERMOST } else { 1 };
        let steps = s.results.iter().try_fold(0usize, |n, r| n.checked_add(elements(r)?.checked_mul(per_element)?))?;
        Some(Work { steps: inside.steps.checked_add(steps)?, has_loop: inside.has_loop || has_loop })
    }
}

/// Whether an accumulator adds floats up.
fn is_sum(f: &Function, acc: &Acc) -> bool {
    acc.kind == AccKind::Reduce(Monoid::Add) && f.ty(acc.var).is_float()
}

/// What code works.
#[derive(Clone, Copy, Default)]
struct Work {
    /// Statements on scalars.
    steps: usize,
    /// Whether there are loops in it.
    has_loop: bool,
}

impl Work {
    fn sum(mut parts: impl Iterator<Item = Option<Work>>) -> Option<Work> {
        parts.try_fold(Work::default(), |sum, part| {
            let part = part?;
            Some(Work { steps: sum.steps.checked_add(part.steps)?, has_loop: sum.has_loop || part.has_loop })
        })
    }
}
