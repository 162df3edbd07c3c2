//! The parallel loop, index tuples in row-major order.
//!
//! What happens before and after the body runs stands in functions of its own that are not inlined: blocks may nest a
//! thousand deep, and only what is alive while the body runs should take room on the stack.

use crate::compute::ELEMENTS_PER_POLL;
use crate::domain::{Domain, Order};
use crate::error::{Outcome, asked_for, bug};
use crate::frame::{Frame, Slot};
use crate::machine::Machine;
use crate::plan::StmtPlan;
use crate::rows::Rows;
use crate::value::Val;
use cotan_ir::{Monoid, Par, ParResult, Stmt, Var};
use cotan_ops::count;

/// A parallel loop under way.
struct Progress {
    extents: Vec<i64>,
    /// The next index tuple.
    position: Vec<i64>,
    gathered: Vec<Gathered>,
}

/// What one body result gave so far.
struct Gathered {
    rows: Rows,
    /// The monoid and the start value, if the result is reduced.
    reduction: Option<(Monoid, Val)>,
}

impl<D: Domain> Machine<'_, D> {
    /// Runs a parallel loop.
    #[inline(never)]
    pub(crate) fn par(&mut self, frame: &mut Frame, s: &Stmt, p: &Par, plan: &StmtPlan<D::Kernel>) -> Outcome<()> {
        let mut progress = self.begin_par(frame, s, p, plan)?;
        // Where nothing comes of it, the number of iterations does not matter.
        let is_idle = plan.blocks[0].is_quiet
            && p.accs.is_empty()
            && progress.gathered.iter().all(|gathered| gathered.rows.are_empty());
        let n_iterations = if is_idle { 0 } else { count(&progress.extents) };
        for _ in 0..n_iterations {
            self.begin_iteration(frame, p, &progress)?;
            self.block(frame, &p.body, &plan.blocks[0])?;
            self.end_iteration(frame, p, plan, &mut progress)?;
        }
        self.end_par(frame, s, p, *progress)
    }

    #[inline(never)]
    fn begin_par(
        &mut self,
        frame: &mut Frame,
        s: &Stmt,
        p: &Par,
        plan: &StmtPlan<D::Kernel>,
    ) -> Outcome<Box<Progress>> {
        let extents = frame.ints(&p.extents)?;
        if extents.iter().any(|n| *n < 0) {
            return bug(format!("negative extents {extents:?}"));
        }
        if p.body.results.len() != p.kinds.len() || s.results.len() != p.kinds.len() + p.accs.len() {
            return bug("a wrong number of results");
        }
        self.open(frame, s, &s.results[p.kinds.len()..], &p.accs, plan)?;
        let mut gathered = Vec::with_capacity(p.kinds.len());
        for (kind, result) in p.kinds.iter().zip(&s.results) {
            let dims = &frame.f.ty(*result).dims;
            gathered.push(match kind {
                ParResult::Stacked => {
                    let row_dims = frame.extents(dims.get(extents.len()..).unwrap_or_default())?;
                    let rows = Rows::with_room(&self.budget, row_dims, &extents);
                    Gathered { rows: rows.map_err(|e| asked_for(e, frame.f, *result, s.span))?, reduction: None }
                }
                ParResult::Reduced { monoid, init } => {
                    let rows = Rows::new(&self.budget, frame.extents(dims)?)?;
                    Gathered { rows, reduction: Some((*monoid, self.take(frame, *init, &plan.moved)?)) }
                }
            });
        }
        Ok(Box::new(Progress { position: vec![0; extents.len()], extents, gathered }))
    }

    #[inline(never)]
    fn begin_iteration(&mut self, frame: &mut Frame, p: &Par, progress: &Progress) -> Outcome<()> {
        self.stats.iterations += 1;
        for (index, at) in p.indices.iter().zip(&progress.position) {
            frame.slots[index.index()] = Slot::Val(Val::Scalar(*at as u64));
        }
        self.budget.spend(1)
    }

    #[inline(never)]
    fn end_iteration(
        &mut self,
        frame: &mut Frame,
        p: &Par,
        plan: &StmtPlan<D::Kernel>,
        progress: &mut Progress,
    ) -> Outcome<()> {
        for (gathered, result) in progress.gathered.iter_mut().zip(&p.body.results) {
            let val = self.take(frame, *result, &plan.blocks[0].moved)?;
            gathered.rows.push(&self.budget, &val)?;
        }
        advance(&mut progress.position, &progress.extents);
        Ok(())
    }

    #[inline(never)]
    fn end_par(&mut self, frame: &mut Frame, s: &Stmt, p: &Par, progress: Progress) -> Outcome<()> {
        let (values, accs) = s.results.split_at(p.kinds.len());
        self.domain.at(s.span);
        for (v, Gathered { rows, reduction }) in values.iter().zip(progress.gathered) {
            let val = match reduction {
                None => rows.stacked(&progress.extents),
                Some((monoid, init)) => self.reduced(frame, *v, monoid, &init, &rows)?,
            };
            self.bind(frame, *v, val)?;
        }
        self.close_all(frame, accs, &p.accs)
    }

    /// Every element of a reduced result, combined over all iterations in the order of the tree.
    fn reduced(&mut self, frame: &Frame, v: Var, monoid: Monoid, init: &Val, rows: &Rows) -> Outcome<Val> {
        if init.dims() != rows.dims() {
            return bug(format!("a start value of extents {:?} for rows of {:?}", init.dims(), rows.dims()));
        }
        let elem = frame.f.ty(v).elem;
        let (mut cells, charge) = self.budget.cells(init.cells().len())?;
        for (k, init) in init.cells().iter().enumerate() {
            // What is combined after the run is asked to stop is never seen.
            let goes_on = |n: usize| !n.is_multiple_of(ELEMENTS_PER_POLL) || self.budget.poll().is_ok();
            let mut column = rows.column(k).enumerate().map_while(|(n, cell)| goes_on(n).then_some(cell));
            cells.push(self.domain.combine(monoid, elem, Order::Tree, *init, &mut column)?);
            self.budget.poll()?;
        }
        Ok(Val::charged(init.dims().to_vec(), cells, charge))
    }
}

/// The next index tuple in row-major order.
fn advance(position: &mut [i64], extents: &[i64]) {
    for (at, n) in position.iter_mut().zip(extents).rev() {
        *at += 1;
        if *at < *n {
            return;
        }
        *at = 0;
    }
}
