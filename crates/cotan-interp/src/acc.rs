//! Accumulators: named places that the statements of a region write to and that nobody reads before it ends.

use crate::budget::{Budget, Charge};
use crate::domain::{Domain, Order};
use crate::error::{Outcome, asked_for, bug};
use crate::frame::{Accumulator, Frame, Slot};
use crate::machine::Machine;
use crate::plan::StmtPlan;
use crate::value::{Array, Val, own, place};
use cotan_ir::{Acc, AccKind, Atom, Elem, Monoid, Span, Stmt, Var};
use cotan_ops::count;
use std::rc::Rc;

impl Accumulator {
    fn log(row_dims: Vec<i64>, charge: Charge, result: (Var, Span)) -> Accumulator {
        Accumulator::Log { row_dims, rows: Vec::new(), is_written: Vec::new(), charge, result }
    }

    fn reduce(monoid: Monoid, elem: Elem, init: Array, budget: &Budget) -> Outcome<Accumulator> {
        match monoid {
            Monoid::Max | Monoid::Min if elem.is_float() => {
                let charge = budget.charge(init.cells.len())?;
                let written = vec![Vec::new(); init.cells.len()];
                Ok(Accumulator::Contest { monoid, init, written, charge })
            }
            Monoid::Add | Monoid::Mul | Monoid::And | Monoid::Or | Monoid::Max | Monoid::Min => {
                Ok(Accumulator::Running { monoid, array: init })
            }
        }
    }
}

impl<D: Domain> Machine<'_, D> {
    /// Opens the accumulators of a region, whose results these are.
    pub(crate) fn open(
        &mut self,
        frame: &mut Frame,
        s: &Stmt,
        results: &[Var],
        accs: &[Acc],
        plan: &StmtPlan<D::Kernel>,
    ) -> Outcome<()> {
        for (acc, result) in accs.iter().zip(results) {
            let ty = frame.f.ty(acc.var);
            let opened = match (acc.kind, acc.init) {
                (AccKind::Log, None) if !ty.is_scalar() => {
                    Accumulator::log(frame.extents(&ty.dims[1..])?, self.budget.charge(0)?, (*result, s.span))
                }
                (AccKind::Reduce(monoid), Some(init)) => {
                    let init = match self.take(frame, init, &plan.moved)? {
                        Val::Array(array) => own(&self.budget, array)?,
                        Val::Scalar(cell) => Array::new(Vec::new(), vec![cell], self.budget.charge(1)?),
                    };
                    Accumulator::reduce(monoid, ty.elem, init, &self.budget)?
                }
                (AccKind::Log, _) | (AccKind::Reduce(_), None) => return bug("an accumulator starts wrongly"),
            };
            frame.slots[acc.var.index()] = Slot::Acc(Box::new(opened));
        }
        Ok(())
    }

    /// Adds to an accumulator.
    #[inline(never)]
    pub(crate) fn acc_add(&mut self, frame: &mut Frame, acc: Var, indices: &[Atom], value: Atom) -> Outcome<()> {
        let val = self.read(frame, value)?;
        let indices = frame.ints(indices)?;
        let elem = frame.f.ty(acc).elem;
        let Slot::Acc(accumulator) = &mut frame.slots[acc.index()] else {
            return bug("a write to what is no accumulator here");
        };
        match &mut **accumulator {
            Accumulator::Running { monoid, array } => {
                let range = written_range(&array.dims, &indices, &val)?;
                let kernel = self.domain.monoid_kernel(*monoid, elem)?;
                self.budget.spend(range.len())?;
                for (cell, new) in array.cells[range].iter_mut().zip(val.cells()) {
                    *cell = self.domain.apply(&kernel, &[*cell, *new])?;
                }
            }
            Accumulator::Contest { init, written, charge, .. } => {
                let range = written_range(&init.dims, &indices, &val)?;
                self.budget.spend(range.len())?;
                self.budget.grow(charge, range.len())?;
                for (list, new) in written[range].iter_mut().zip(val.cells()) {
                    list.push(*new);
                }
            }
            Accumulator::Log { row_dims, rows, is_written, charge, result: (result, span) } => {
                let [position] = indices[..] else { return bug("a log has one index") };
                let Ok(position) = usize::try_from(position) else { return bug("a negative position in a log") };
                if val.dims() != row_dims.as_slice() {
                    return bug(format!("a row of extents {:?} for a log of {row_dims:?}", val.dims()));
                }
                let size = count(row_dims);
                if position >= is_written.len() {
                    let more = position - is_written.len() + 1;
                    let elements = more.saturating_mul(size.saturating_add(1));
                    let grown = self.budget.grow(charge, elements);
                    grown.map_err(|e| asked_for(e, frame.f, *result, *span))?;
                    is_written.resize(position + 1, false);
                    rows.resize((position + 1) * size, 0);
                }
                if std::mem::replace(&mut is_written[position], true) {
                    return bug(format!("position {position} of a log is written twice"));
                }
                rows[position * size..(position + 1) * size].copy_from_slice(val.cells());
            }
        }
        Ok(())
    }

    /// Closes the accumulators of a region and binds their results.
    pub(crate) fn close_all(&mut self, frame: &mut Frame, results: &[Var], accs: &[Acc]) -> Outcome<()> {
        for (v, acc) in results.iter().zip(accs) {
            let val = self.close(frame, acc.var)?;
            self.bind(frame, *v, val)?;
        }
        Ok(())
    }

    /// Closes an accumulator and gives its final array.
    fn close(&mut self, frame: &mut Frame, acc: Var) -> Outcome<Val> {
        let elem = frame.f.ty(acc).elem;
        let slot = std::mem::replace(&mut frame.slots[acc.index()], Slot::Empty);
        let Slot::Acc(accumulator) = slot else { return bug("an accumulator is gone") };
        let array = match *accumulator {
            Accumulator::Running { array, .. } => array,
            Accumulator::Contest { monoid, mut init, written, charge: _ } => {
                for (cell, list) in init.cells.iter_mut().zip(written) {
                    let mut list = list.into_iter();
                    *cell = self.domain.combine(monoid, elem, Order::Chain, *cell, &mut list)?;
                }
                init
            }
            Accumulator::Log { row_dims, rows, is_written, charge, result: _ } => {
                if let Some(hole) = is_written.iter().position(|w| !w) {
                    return bug(format!("position {hole} of a log is not written"));
                }
                let dims = std::iter::once(is_written.len() as i64).chain(row_dims).collect();
                Array::new(dims, rows, charge)
            }
        };
        Ok(if array.dims.is_empty() { Val::Scalar(array.cells[0]) } else { Val::Array(Rc::new(array)) })
    }
}

/// The cells of an array that a write of `val` at leading indices goes to.
pub(crate) fn written_range(dims: &[i64], indices: &[i64], val: &Val) -> Outcome<std::ops::Range<usize>> {
    match place(dims, indices) {
        Some((range, inner)) if inner == val.dims() => Ok(range),
        Some((_, inner)) => bug(format!("a value of extents {:?} for a place of {inner:?}", val.dims())),
        None => bug(format!("index {indices:?} out of range of {dims:?}")),
    }
}
