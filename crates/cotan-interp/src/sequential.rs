//! The sequential loop, counted or a while.
//!
//! As for the parallel loop, only what is alive while the body runs takes room on the stack.

use crate::domain::Domain;
use crate::error::{Outcome, asked_for, bug};
use crate::frame::{Frame, Slot};
use crate::machine::Machine;
use crate::plan::StmtPlan;
use crate::rows::Rows;
use crate::value::Val;
use cotan_ir::{Loop, Stmt};

/// A sequential loop under way.
struct Progress {
    /// The number of iterations of a counted loop.
    count: Option<i64>,
    /// Iterations so far.
    trips: i64,
    carried: Vec<Val>,
    stacked: Vec<Rows>,
}

impl Progress {
    fn goes_on(&self) -> Outcome<bool> {
        match self.count {
            Some(n) => Ok(self.trips < n),
            None => match self.carried.first().and_then(Val::scalar) {
                Some(cell) => Ok(cell & 1 != 0),
                None => bug("a while without a condition"),
            },
        }
    }
}

impl<D: Domain> Machine<'_, D> {
    /// Runs a sequential loop.
    #[inline(never)]
    pub(crate) fn repeat(&mut self, frame: &mut Frame, s: &Stmt, l: &Loop, plan: &StmtPlan<D::Kernel>) -> Outcome<()> {
        let mut progress = self.begin_loop(frame, s, l, plan)?;
        while progress.goes_on()? {
            self.begin_trip(frame, l, &mut progress)?;
            self.block(frame, &l.body, &plan.blocks[0])?;
            self.end_trip(frame, s, l, plan, &mut progress)?;
        }
        self.end_loop(frame, s, l, *progress)
    }

    #[inline(never)]
    fn begin_loop(
        &mut self,
        frame: &mut Frame,
        s: &Stmt,
        l: &Loop,
        plan: &StmtPlan<D::Kernel>,
    ) -> Outcome<Box<Progress>> {
        let n_stacked = l.body.results.len().checked_sub(l.params.len());
        let n_results = n_stacked.map(|n| usize::from(l.count.is_none()) + l.params.len() + l.accs.len() + n);
        if n_results != Some(s.results.len()) || l.inits.len() != l.params.len() {
            return bug("a wrong number of results");
        }
        let count = l.count.map(|n| frame.int(n)).transpose()?;
        let mut carried = Vec::with_capacity(l.inits.len());
        for init in &l.inits {
            carried.push(self.take(frame, *init, &plan.moved)?);
        }
        self.open(frame, s, l.split(&s.results).accs, &l.accs, plan)?;
        let mut stacked = Vec::new();
        for v in l.split(&s.results).stacked {
            let dims = frame.extents(frame.f.ty(*v).dims.get(1..).unwrap_or_default())?;
            let rows = match count {
                Some(n) => Rows::with_room(&self.budget, dims, &[n.max(0)]),
                None => Rows::new(&self.budget, dims),
            };
            stacked.push(rows.map_err(|e| asked_for(e, frame.f, *v, s.span))?);
        }
        Ok(Box::new(Progress { count, trips: 0, carried, stacked }))
    }

    #[inline(never)]
    fn begin_trip(&mut self, frame: &mut Frame, l: &Loop, progress: &mut Progress) -> Outcome<()> {
        self.stats.iterations += 1;
        frame.slots[l.index.index()] = Slot::Val(Val::Scalar(progress.trips as u64));
        for (param, val) in l.params.iter().zip(progress.carried.drain(..)) {
            self.bind(frame, *param, val)?;
        }
        self.budget.spend(1)
    }

    #[inline(never)]
    fn end_trip(
        &mut self,
        frame: &mut Frame,
        s: &Stmt,
        l: &Loop,
        plan: &StmtPlan<D::Kernel>,
        progress: &mut Progress,
    ) -> Outcome<()> {
        let moved = &plan.blocks[0].moved;
        let (next, elements) = l.body.results.split_at(l.params.len());
        for a in next {
            progress.carried.push(self.take(frame, *a, moved)?);
        }
        for ((rows, a), v) in progress.stacked.iter_mut().zip(elements).zip(l.split(&s.results).stacked) {
            let val = self.take(frame, *a, moved)?;
            rows.push(&self.budget, &val).map_err(|e| asked_for(e, frame.f, *v, s.span))?;
        }
        progress.trips += 1;
        Ok(())
    }

    /// Binds the results: those that types of others may name come first.
    #[inline(never)]
    fn end_loop(&mut self, frame: &mut Frame, s: &Stmt, l: &Loop, progress: Progress) -> Outcome<()> {
        self.domain.at(s.span);
        let results = l.split(&s.results);
        if let Some(v) = results.trips {
            self.bind(frame, v, Val::Scalar(progress.trips as u64))?;
        }
        self.bind_all(frame, results.carried, progress.carried)?;
        self.close_all(frame, results.accs, &l.accs)?;
        for (v, rows) in results.stacked.iter().zip(progress.stacked) {
            self.bind(frame, *v, rows.stacked(&[progress.trips]))?;
        }
        Ok(())
    }
}
