//! Which loops are written out.

use crate::passes::rename::lengths;
use crate::passes::small_tensors::{elements, is_small};
use cotan_ir::{Acc, AccKind, Atom, Block, Dim, Function, Loop, Op, Par, ParResult, Stmt, Var};
use cotan_ops::MATMUL;
use rustc_hash::{FxHashMap, FxHashSet};

/// Iterations of a loop that is written out.
const MOST_TRIPS: i64 = 32;
/// Iterations of a sequential loop that is written out. What it carries passes through all of them, so there is less to
/// gain, and a backend runs several of the loops around it side by side as well.
const MOST_TRIPS_IN_ORDER: i64 = 8;
/// Scalar statements that a loop may become, those of loops inside it included.
const MOST_STMTS: usize = 400;
/// Iterations up to which it may become more: rows of a Jacobian, corners of a triangle.
const FEW_TRIPS: i64 = 4;
const MOST_STMTS_OF_FEW: usize = 1000;

/// The loops that are to be written out, and how many statements each of them becomes.
pub(super) fn written_out(f: &Function) -> FxHashMap<*const Stmt, usize> {
    let mut plan = Plan { f, lengths: lengths(&f.vars), written_out: FxHashMap::default() };
    plan.block(&f.body);
    plan.written_out
}

/// An i64 constant.
pub(super) fn number(a: Atom) -> Option<i64> {
    a.constant()?.as_i64()
}

struct Plan<'a> {
    f: &'a Function,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    written_out: FxHashMap<*const Stmt, usize>,
}

/// What becomes of a block.
#[derive(Default)]
struct Contents {
    /// Its statements, with those of inner blocks.
    size: usize,
    /// The accumulators that it writes itself.
    plain: FxHashSet<Var>,
    /// Those that regions write which stay.
    hidden: FxHashSet<Var>,
    /// Whether a loop stays in it.
    has_loop: bool,
}

impl Plan<'_> {
    fn block(&mut self, block: &Block) -> Contents {
        let mut contents = Contents::default();
        for s in &block.stmts {
            if let Op::AccAdd { acc, .. } = &s.op {
                contents.plain.insert(*acc);
            }
            let inner = self.stmt(s);
            contents.size = contents.size.saturating_add(inner.size);
            contents.plain.extend(inner.plain);
            contents.hidden.extend(inner.hidden);
            contents.has_loop |= inner.has_loop;
        }
        contents
    }

    fn stmt(&mut self, s: &Stmt) -> Contents {
        let mut inner = Contents::default();
        for block in s.op.blocks() {
            let of_block = self.block(block);
            inner.size = inner.size.saturating_add(of_block.size);
            inner.plain.extend(of_block.plain);
            inner.hidden.extend(of_block.hidden);
            inner.has_loop |= of_block.has_loop;
        }
        match self.size_written_out(s, &inner) {
            Some(size) => {
                self.written_out.insert(s, size);
                inner.size = size;
            }
            None => {
                inner.size = inner.size.saturating_add(self.n_scalar_stmts(s));
                inner.hidden.extend(inner.plain.drain());
                inner.has_loop |= s.op.is_loop_nest();
            }
        }
        for acc in s.op.accs() {
            inner.plain.remove(&acc.var);
            inner.hidden.remove(&acc.var);
        }
        inner
    }

    /// How many statements a loop becomes if it is written out; `None` if it must stay.
    fn size_written_out(&self, s: &Stmt, inner: &Contents) -> Option<usize> {
        let (trips, keeps_types) = if let Op::Par(p) = &s.op {
            let trips = p.extents.iter().try_fold(1i64, |n, e| n.checked_mul(number(*e)?.max(0)))?;
            (trips, self.par_keeps_types(p, &s.results))
        } else if let Op::Loop(l) = &s.op {
            (number(l.count?)?.max(0), self.loop_keeps_types(l, &s.results))
        } else {
            return None;
        };
        let gives_small = s.results.iter().all(|r| self.is_small_value(*r));
        let carries_lengths = s.results.iter().chain(&s.op.binders()).any(|v| self.lengths.contains(v));
        let are_sums = s.op.accs().iter().all(|acc| acc.kind != AccKind::Log && !inner.hidden.contains(&acc.var));
        let size = inner.size.checked_mul(usize::try_from(trips).ok()?)?;
        let most = if trips <= FEW_TRIPS { MOST_STMTS_OF_FEW } else { MOST_STMTS };
        let most_trips = if s.op.as_loop().is_some() { MOST_TRIPS_IN_ORDER } else { MOST_TRIPS };
        let is_short = trips <= most_trips && size <= most && !inner.has_loop;
        (is_short && keeps_types && gives_small && !carries_lengths && are_sums).then_some(size)
    }

    /// How many statements on scalars one is worth that is no loop. Moves become nothing.
    fn n_scalar_stmts(&self, s: &Stmt) -> usize {
        let n_elements = || elements(self.f.ty(s.results[0])).unwrap_or(1);
        if matches!(s.op, Op::Prim { .. }) {
            n_elements()
        } else if let Op::Tensor { op, args, .. } = &s.op
            && *op == MATMUL.op()
        {
            n_elements() * self.n_summed(args[0])
        } else {
            1
        }
    }

    /// The products of a sum in a matrix product, if they are known.
    fn n_summed(&self, factor: Atom) -> usize {
        let last = self.f.atom_ty(factor).dims.last().and_then(|d| number(d.atom()));
        last.and_then(|n| usize::try_from(n).ok()).unwrap_or(1)
    }

    /// A scalar, or a tensor of few elements or none, that is no record.
    fn is_small_value(&self, v: Var) -> bool {
        let info = &self.f.vars[v.index()];
        is_small(&info.ty) && info.record.is_none()
    }

    /// Whether what replaces the results has their types. Other names of equal extents would not do, because code further
    /// on may rely on them.
    fn par_keeps_types(&self, p: &Par, results: &[Var]) -> bool {
        let lead = || p.extents.iter().map(|e| Dim::from_atom(*e));
        let (values, accs) = results.split_at(p.kinds.len());
        let mut all = p.kinds.iter().zip(&p.body.results).zip(values);
        all.all(|((kind, element), result)| match kind {
            ParResult::Stacked => *self.f.ty(*result) == self.f.atom_ty(*element).stacked(lead()),
            ParResult::Reduced { init, .. } => self.have_type_of(*result, [*element, *init]),
        }) && self.accs_keep_types(&p.accs, accs)
    }

    fn loop_keeps_types(&self, l: &Loop, results: &[Var]) -> bool {
        let results = l.split(results);
        let (next, elements) = l.body.results.split_at(l.params.len());
        let mut carried = l.params.iter().zip(&l.inits).zip(next).zip(results.carried);
        let count = l.count.map(Dim::from_atom);
        carried.all(|(((p, init), next), result)| self.have_type_of(*result, [(*p).into(), *init, *next]))
            && (elements.iter().zip(results.stacked))
                .all(|(element, result)| *self.f.ty(*result) == self.f.atom_ty(*element).stacked(count))
            && self.accs_keep_types(&l.accs, results.accs)
    }

    fn accs_keep_types(&self, accs: &[Acc], results: &[Var]) -> bool {
        accs.iter()
            .zip(results)
            .all(|(acc, result)| self.have_type_of(*result, [Some(acc.var.into()), acc.init].into_iter().flatten()))
    }

    fn have_type_of(&self, v: Var, operands: impl IntoIterator<Item = Atom>) -> bool {
        operands.into_iter().all(|a| self.f.atom_ty(a) == *self.f.ty(v))
    }
}
