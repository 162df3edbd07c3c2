//! In-place update analysis: the chain of updates from a carried array to its next value, and the scalars read from it.

use cotan_ir::{Atom, Block, Elem, Function, Loop, Op, Ty, Var};
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
