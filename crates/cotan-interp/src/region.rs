//! The parallel and the sequential loop.

use crate::budget::Charge;
use crate::domain::{Domain, Order};
use crate::machine::{Frame, Machine, Outcome, Slot, bug};
use crate::plan::StmtPlan;
use crate::value::{Array, Val, size_of};
use cotan_ir::{Loop, Monoid, Par, ParResult, Stmt, Var};
use std::rc::Rc;

/// What a body result gave in every iteration, one row after the other.
struct Rows {
    dims: Vec<i64>,
    cells: Vec<u64>,
    charge: Charge,
}

impl Rows {
    fn push<D: Domain>(&mut self, machine: &Machine<'_, D>, val: &Val) -> Outcome<()> {
        if val.dims() != self.dims.as_slice() {
            return bug(format!("a row of extents {:?} among rows of {:?}", val.dims(), self.dims));
        }
        machine.budget.grow(&mut self.charge, val.cells().len())?;
        self.cells.extend_from_slice(val.cells());
        Ok(())
    }

    /// The rows as one tensor with more leading dims.
    fn stacked(self, lead: &[i64]) -> Val {
        let dims: Vec<i64> = lead.iter().copied().chain(self.dims).collect();
        match self.cells[..] {
            [cell] if dims.is_empty() => Val::Scalar(cell),
            _ => Val::Array(Rc::new(Array::new(dims, self.cells, self.charge))),
        }
    }
}

impl<D: Domain> Machine<'_, D> {
    fn rows(&self, dims: Vec<i64>) -> Outcome<Rows> {
        Ok(Rows { dims, cells: Vec::new(), charge: self.budget.charge(0)? })
    }

    /// The parallel loop: index tuples in row-major order.
    pub(crate) fn par(&mut self, frame: &mut Frame, s: &Stmt, p: &Par, plan: &StmtPlan<D::Kernel>) -> Outcome<()> {
        let extents = frame.ints(&p.extents)?;
        if extents.iter().any(|n| *n < 0) {
            return bug(format!("negative extents {extents:?}"));
        }
        self.open(frame, &p.accs, plan)?;
        let mut inits = Vec::with_capacity(p.kinds.len());
        let mut gathered = Vec::with_capacity(p.kinds.len());
        for (kind, result) in p.kinds.iter().zip(&s.results) {
            let dims = &frame.f.ty(*result).dims;
            let row_dims = match kind {
                ParResult::Stacked => {
                    inits.push(None);
                    dims.get(extents.len()..).unwrap_or_default()
                }
                ParResult::Reduced { monoid, init } => {
                    inits.push(Some((*monoid, self.take(frame, *init, &plan.moved)?)));
                    dims
                }
            };
            gathered.push(self.rows(frame.extents(row_dims)?)?);
        }

        let body_plan = &plan.blocks[0];
        let total = size_of(&extents);
        let mut position = vec![0; extents.len()];
        for _ in 0..total {
            self.stats.iterations += 1;
            self.budget.spend(1)?;
            for (index, at) in p.indices.iter().zip(&position) {
                frame.slots[index.index()] = Slot::Val(Val::Scalar(*at as u64));
            }
            self.block(frame, &p.body, body_plan)?;
            for (rows, result) in gathered.iter_mut().zip(&p.body.results) {
                let val = self.take(frame, *result, &body_plan.moved)?;
                rows.push(self, &val)?;
            }
            advance(&mut position, &extents);
        }

        let (values, accs) = s.results.split_at(p.kinds.len().min(s.results.len()));
        for ((v, rows), init) in values.iter().zip(gathered).zip(inits) {
            let val = match init {
                None => rows.stacked(&extents),
                Some((monoid, init)) => self.reduced(frame, *v, monoid, init, &rows, total)?,
            };
            self.bind(frame, *v, val)?;
        }
        self.close_all(frame, accs, p.accs.iter().map(|a| a.var))
    }

    /// Every element of a reduced result, combined over all iterations in the order of the tree.
    fn reduced(&mut self, frame: &Frame, v: Var, monoid: Monoid, init: Val, rows: &Rows, total: usize) -> Outcome<Val> {
        if init.dims() != rows.dims.as_slice() {
            return bug(format!("a start value of extents {:?} for rows of {:?}", init.dims(), rows.dims));
        }
        let elem = frame.f.ty(v).elem;
        let size = init.cells().len();
        let mut cells = Vec::with_capacity(size);
        for (k, init) in init.cells().iter().enumerate() {
            let mut column = (0..total).map(|i| rows.cells[i * size + k]);
            cells.push(self.domain.combine(monoid, elem, Order::Tree, *init, &mut column)?);
        }
        Val::new(&self.budget, rows.dims.clone(), cells)
    }

    /// The sequential loop.
    pub(crate) fn repeat(&mut self, frame: &mut Frame, s: &Stmt, l: &Loop, plan: &StmtPlan<D::Kernel>) -> Outcome<()> {
        let count = l.count.map(|n| frame.int(n)).transpose()?;
        let mut carried = Vec::with_capacity(l.inits.len());
        for init in &l.inits {
            carried.push(self.take(frame, *init, &plan.moved)?);
        }
        self.open(frame, &l.accs, plan)?;
        if s.results.len() < usize::from(count.is_none()) + l.params.len() + l.accs.len() {
            return bug("a loop with too few results");
        }
        let results = l.split(&s.results);
        let mut stacked = Vec::with_capacity(results.stacked.len());
        for v in results.stacked {
            let dims = frame.f.ty(*v).dims.get(1..).unwrap_or_default();
            stacked.push(self.rows(frame.extents(dims)?)?);
        }

        let body_plan = &plan.blocks[0];
        let (next, elements) = l.body.results.split_at(l.params.len().min(l.body.results.len()));
        let mut trips = 0i64;
        while goes_on(count, trips, &carried)? {
            self.stats.iterations += 1;
            self.budget.spend(1)?;
            frame.slots[l.index.index()] = Slot::Val(Val::Scalar(trips as u64));
            for (param, val) in l.params.iter().zip(carried.drain(..)) {
                self.bind(frame, *param, val)?;
            }
            self.block(frame, &l.body, body_plan)?;
            for a in next {
                carried.push(self.take(frame, *a, &body_plan.moved)?);
            }
            for (rows, a) in stacked.iter_mut().zip(elements) {
                let val = self.take(frame, *a, &body_plan.moved)?;
                rows.push(self, &val)?;
            }
            trips += 1;
        }

        if let Some(v) = results.trips {
            self.bind(frame, v, Val::Scalar(trips as u64))?;
        }
        self.bind_all(frame, results.carried, carried)?;
        self.close_all(frame, results.accs, l.accs.iter().map(|a| a.var))?;
        for (v, rows) in results.stacked.iter().zip(stacked) {
            self.bind(frame, *v, rows.stacked(&[trips]))?;
        }
        Ok(())
    }

    fn close_all(&mut self, frame: &mut Frame, results: &[Var], accs: impl Iterator<Item = Var>) -> Outcome<()> {
        for (v, acc) in results.iter().zip(accs) {
            let val = self.close(frame, acc)?;
            self.bind(frame, *v, val)?;
        }
        Ok(())
    }
}

/// Whether a loop has one more iteration.
fn goes_on(count: Option<i64>, trips: i64, carried: &[Val]) -> Outcome<bool> {
    match count {
        Some(n) => Ok(trips < n),
        None => match carried.first().and_then(Val::scalar) {
            Some(cell) => Ok(cell != 0),
            None => bug("a while without a condition"),
        },
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
