//! In-place update analysis: the chain of updates from a carried array to its next value, and the scalars read from it.

use cotan_ir::{Atom, Block, Dim, Elem, Function, Loop, Op, Ty, Var};
use cotan_ops::{MAX, SUB};
use cotan_opt::cost::Size;
use rustc_hash::FxHashSet;

/// The chain of updates of an array within a block.
pub(crate) struct Lineage {
    /// The version that the block starts from.
    pub(crate) start: Atom,
    /// The statements that change it, last first: position in the block, and which of the results is the array.
    pub(crate) path: Vec<(usize, usize)>,
    /// The number of indices of the updates, one entry per update met.
    pub(crate) arities: Vec<usize>,
    /// Whether the path has updates only.
    pub(crate) is_straight: bool,
}

/// The number of indices of each update of carried array `q` in an iteration, if it changes by straight-line updates only.
pub(crate) fn straight_updates(l: &Loop, q: usize) -> Option<Vec<usize>> {
    let line = lineage(&l.body, l.body.results[q])?;
    let is_logged = line.is_straight && line.start == Atom::Var(l.params[q]);
    let is_alike = line.arities.iter().all(|a| *a == line.arities[0]);
    (is_logged && is_alike && !line.arities.is_empty()).then_some(line.arities)
}

/// The lineage of `end`; `None` if another operation than an update changes the array on the way.
pub(crate) fn lineage(block: &Block, end: Atom) -> Option<Lineage> {
    let mut line = Lineage { start: end, path: Vec::new(), arities: Vec::new(), is_straight: true };
    // The definitions of a lineage stand in order, so one walk backwards meets them all.
    for (k, s) in block.stmts.iter().enumerate().rev() {
        let Some(at) = s.results.iter().position(|r| line.start == Atom::Var(*r)) else { continue };
        if let Op::Check { value, .. } = &s.op {
            line.start = *value;
            continue;
        }
        line.path.push((k, at));
        if let Op::Update { array, indices, .. } = &s.op {
            line.arities.push(indices.len());
            line.start = *array;
            continue;
        }
        line.is_straight = false;
        if let Op::Switch { arms, .. } = &s.op {
            let lines: Option<Vec<Lineage>> = arms.iter().map(|arm| lineage(arm, arm.results[at])).collect();
            let lines = lines?;
            line.start = lines.first()?.start;
            if lines.iter().any(|l| l.start != line.start) {
                return None;
            }
            line.arities.extend(lines.into_iter().flat_map(|l| l.arities));
        } else {
            let l = s.op.as_loop()?;
            let q = at.checked_sub(usize::from(l.count.is_none())).filter(|q| *q < l.params.len())?;
            let inner = lineage(&l.body, l.body.results[q])?;
            if inner.start != Atom::Var(l.params[q]) {
                return None;
            }
            line.start = l.inits[q];
            line.arities.extend(inner.arities);
        }
    }
    Some(line)
}

/// About the growth of the undo log of a carried array in an iteration, if it can have a log.
pub(crate) fn log_size(body: &Block, p: Var, next: Atom, ty: &Ty) -> Option<Size> {
    let line = lineage(body, next).filter(|line| ty.rank() > 0 && line.start == Atom::Var(p))?;
    let arity = line.arities.first().copied().filter(|arity| line.arities.iter().all(|a| a == arity))?;
    let indices = Size::of(&Ty::scalar(Elem::I64)).times(arity as u64);
    Some(Size::of(&ty.inner(arity)).plus(indices).times(line.arities.len() as u64))
}

/// Whether an iteration overwrites about every element of a carried array: an update stands in counted loops that run
/// through its extents. Then the array is a smaller record than the log of its elements with their places, and is written and
/// read as a whole.
pub(crate) fn is_overwritten(f: &Function, body: &Block, p: Var, next: Atom) -> bool {
    let is_carried = lineage(body, next).is_some_and(|line| line.start == Atom::Var(p));
    is_carried && Overwritten { f, dims: f.ty(p).dims.clone() }.in_block(body, next, &mut Vec::new())
}

/// Looks for the loops around the updates of an array.
struct Overwritten<'a> {
    f: &'a Function,
    dims: Vec<Dim>,
}

impl<'a> Overwritten<'a> {
    /// Whether an update on the lineage of `end` runs through the array, in loops with these counts.
    fn in_block(&self, block: &'a Block, end: Atom, counts: &mut Vec<Atom>) -> bool {
        let Some(line) = lineage(block, end) else { return false };
        line.path.iter().any(|(k, at)| {
            let op = &block.stmts[*k].op;
            if let Op::Update { indices, .. } = op {
                return self.is_covered(indices.len(), counts);
            }
            let Some((l, count)) = op.as_loop().and_then(|l| Some((l, l.count?))) else { return false };
            counts.push(count);
            let found = self.in_block(&l.body, l.body.results[*at], counts);
            counts.pop();
            found
        })
    }

    fn is_covered(&self, arity: usize, counts: &[Atom]) -> bool {
        let mut left = counts.to_vec();
        self.dims[..arity].iter().all(|dim| match left.iter().position(|count| self.runs_through(*count, *dim)) {
            Some(at) => {
                left.swap_remove(at);
                true
            }
            None => false,
        })
    }

    /// Whether a count is an extent, or a few less: those of the border.
    fn runs_through(&self, count: Atom, dim: Dim) -> bool {
        const MOST_LEFT_OUT: i64 = 4;
        let number = |a: &Atom| a.constant().and_then(|c| c.as_i64());
        let is_border = |n: i64| (0..=MOST_LEFT_OUT).contains(&n);
        if let (Some(count), Some(dim)) = (number(&count), number(&dim.atom())) {
            return is_border(dim - count);
        }
        if count == dim.atom() {
            return true;
        }
        let made_by = count.var().and_then(|v| definition(&self.f.body, v));
        let Some(Op::Prim { prim, args }) = made_by else { return false };
        let [of, by] = args[..] else { return false };
        let is_less = *prim == SUB.prim() && number(&by).is_some_and(is_border);
        let is_clamped = *prim == MAX.prim() && number(&by) == Some(0);
        (is_less || is_clamped) && self.runs_through(of, dim)
    }
}

/// What defines a variable, in a block or in those inside it.
fn definition(block: &Block, v: Var) -> Option<&Op> {
    block.stmts.iter().find_map(|s| {
        if s.results.contains(&v) {
            return Some(&s.op);
        }
        s.op.blocks().iter().find_map(|inner| definition(inner, v))
    })
}

/// Scalars read at the top of a body from carried array `p` or from arrays derived from it.
pub(crate) fn scalar_reads(f: &Function, body: &Block, p: Var) -> Vec<Var> {
    let is_array = |v: &Var| f.ty(*v).rank() > 0;
    let mut made_of_it = FxHashSet::from_iter([p]);
    let mut reads = Vec::new();
    for s in &body.stmts {
        if let Op::Index { array: Atom::Var(array), .. } = &s.op
            && made_of_it.contains(array)
            && !is_array(&s.results[0])
        {
            reads.push(s.results[0]);
            continue;
        }
        let uses_it = |v: &Var| made_of_it.contains(v);
        let mut used = s.op.operands().into_iter().filter_map(Atom::var);
        let reaches = used.any(|v| uses_it(&v))
            || s.op.blocks().iter().any(|b| cotan_ir::free_vars(f, b, &[]).iter().any(uses_it));
        if reaches {
            made_of_it.extend(s.results.iter().copied().filter(is_array));
        }
    }
    reads
}
