//! Statements without blocks: primitives, tensor operations, reads and updates.

use crate::acc::written_range;
use crate::domain::{Domain, MAX_OPERANDS, undefined};
use crate::error::{Outcome, bug};
use crate::frame::Frame;
use crate::machine::Machine;
use crate::plan::{StmtPlan, elem_of};
use crate::value::{Array, Val, own};
use cotan_ir::{Atom, Elem, Stmt, TensorOp};
use cotan_ops::{Inputs, PRINT, PrimRow, Shapes, Value, count, printed, tensor_row};
use std::rc::Rc;

/// How many elements of a result are computed between two looks whether the run is to stop.
pub(crate) const ELEMENTS_PER_POLL: usize = 1 << 12;

/// An operand of an element-wise primitive.
enum Source<'a> {
    /// The same for every element.
    Lifted(u64),
    /// One per element.
    Each(&'a [u64]),
}

impl<D: Domain> Machine<'_, D> {
    /// A primitive, on scalars or element-wise.
    #[inline(never)]
    pub(crate) fn prim(
        &mut self,
        frame: &mut Frame,
        s: &Stmt,
        row: &'static PrimRow,
        args: &[Atom],
        plan: &StmtPlan<D::Kernel>,
    ) -> Outcome<Val> {
        let Some(kernel) = &plan.kernel else { return Err(undefined(row)) };
        let [result] = s.results[..] else { return bug("expected one result") };
        self.domain.at(s.span);
        let ty = frame.f.ty(result);
        let mut operands = [0; MAX_OPERANDS];
        let Some(operands) = operands.get_mut(..args.len()) else { return bug("too many operands") };

        if ty.is_scalar() {
            self.stats.primitives += 1;
            for (operand, a) in operands.iter_mut().zip(args) {
                let cell = match *a {
                    Atom::Const(c) => Some(self.domain.constant(c)?),
                    Atom::Var(v) => frame.value(v)?.scalar(),
                };
                let Some(cell) = cell else { return bug("a tensor among the operands of a scalar") };
                *operand = cell;
            }
            return self.domain.apply(kernel, operands).map(Val::Scalar);
        }

        let dims = frame.extents(&ty.dims)?;
        let n = count(&dims);
        let mut sources = Vec::with_capacity(args.len());
        for a in args {
            sources.push(match *a {
                Atom::Const(c) => Source::Lifted(self.domain.constant(c)?),
                Atom::Var(v) => {
                    let val = frame.value(v)?;
                    if val.dims() != dims {
                        return bug(format!("an operand of extents {:?} for a result of {dims:?}", val.dims()));
                    }
                    Source::Each(val.cells())
                }
            });
        }
        self.budget.spend(n)?;
        let (mut cells, charge) = self.budget.cells(n)?;
        self.stats.primitives += n as u64;
        for k in 0..n {
            if k % ELEMENTS_PER_POLL == ELEMENTS_PER_POLL - 1 {
                self.budget.poll()?;
            }
            for (operand, source) in operands.iter_mut().zip(&sources) {
                *operand = match source {
                    Source::Lifted(cell) => *cell,
                    Source::Each(cells) => cells[k],
                };
            }
            cells.push(self.domain.apply(kernel, operands)?);
        }
        Ok(Val::Array(Rc::new(Array::new(dims, cells, charge))))
    }

    /// A structural operation.
    #[inline(never)]
    pub(crate) fn tensor(
        &mut self,
        frame: &mut Frame,
        s: &Stmt,
        op: TensorOp,
        args: &[Atom],
        attrs: &[i64],
    ) -> Outcome<Val> {
        let record = tensor_row(op);
        let [result] = s.results[..] else { return bug("expected one result") };
        let ty = frame.f.ty(result);
        let dims = frame.extents(&ty.dims)?;
        let mut shapes: Vec<(Elem, &[i64])> = Vec::with_capacity(args.len());
        for a in args {
            let dims: &[i64] = if let Atom::Var(v) = a { frame.value(*v)?.dims() } else { &[] };
            shapes.push((elem_of(frame.f, *a), dims));
        }
        let fits = (record.check)(&Shapes { args: &shapes, attrs, result: (ty.elem, &dims) });
        if let Err(what) = fits {
            return bug(what);
        }
        let n = count(&dims);
        self.budget.spend(n)?;
        let charge = self.budget.charge(n)?;
        if n == 0 {
            return Ok(Val::charged(dims, Vec::new(), charge));
        }
        let mut values = Vec::with_capacity(args.len());
        for a in args {
            self.budget.poll()?;
            let val = self.read(frame, *a)?;
            values.push(Value { elem: elem_of(frame.f, *a), dims: val.dims().to_vec(), bits: val.cells().to_vec() });
        }
        let result = (ty.elem, dims.as_slice());
        if let (true, Some(output)) = (std::ptr::eq(record, &PRINT), &mut self.output) {
            let args: Vec<&Value> = values.iter().collect();
            output(&printed(&Inputs { args: &args, attrs, result, in_field: false }));
        }
        self.domain.at(s.span);
        let cells = self.domain.tensor(record, values, attrs, result, self.budget.stop())?;
        Ok(Val::charged(dims, cells, charge))
    }

    /// Reads an element or a sub-tensor.
    #[inline(never)]
    pub(crate) fn index(&mut self, frame: &mut Frame, array: Atom, indices: &[Atom]) -> Outcome<Val> {
        if indices.is_empty() {
            return self.read(frame, array);
        }
        let Atom::Var(v) = array else { return bug("an index into a scalar") };
        let indices = frame.ints(indices)?;
        let Val::Array(array) = frame.value(v)? else { return bug("an index into a scalar") };
        let Some((range, dims)) = array.place(&indices) else {
            return bug(format!("index {indices:?} out of range of {:?}", array.dims));
        };
        if dims.is_empty() {
            return Ok(Val::Scalar(array.cells[range.start]));
        }
        self.budget.spend(range.len())?;
        let charge = self.budget.charge(range.len())?;
        Ok(Val::Array(Rc::new(Array::new(dims.to_vec(), array.cells[range].to_vec(), charge))))
    }

    /// Replaces an element or a sub-tensor, in place where nobody reads the old tensor again.
    #[inline(never)]
    pub(crate) fn update(
        &mut self,
        frame: &mut Frame,
        array: Atom,
        indices: &[Atom],
        value: Atom,
        plan: &StmtPlan<D::Kernel>,
    ) -> Outcome<Val> {
        let val = self.read(frame, value)?;
        let indices = frame.ints(indices)?;
        let old = self.take(frame, array, &plan.moved)?;
        let range = written_range(old.dims(), &indices, &val)?;
        let Val::Array(old) = old else { return Ok(val) };
        let mut array = own(&self.budget, old)?;
        array.cells[range].copy_from_slice(val.cells());
        Ok(Val::Array(Rc::new(array)))
    }
}
