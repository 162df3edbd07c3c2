//! Reading and changing parts of tensors: every selection is a list of positions.

use super::Machine;
use super::checks::Checks;
use super::kernels::is_open;
use super::number::Number;
use super::value::{Failure, Flow, Stop, Tensor, Value, bug, flattened, unflattened};
use cotan_ir::CheckKind;
use cotan_sema::typed::{AssignOp, Index, Place, PlaceStepKind, Type};
use cotan_syntax::Span;
use std::rc::Rc;

/// What is selected along one axis.
enum Pick {
    /// One position: the axis goes away.
    At(usize),
    /// So many positions from one on.
    Slice { lo: usize, length: usize },
    /// Positions in a shape of their own.
    Gather { dims: Vec<usize>, positions: Vec<usize> },
}

impl Pick {
    fn position(&self) -> Option<usize> {
        match self {
            Pick::At(at) => Some(*at),
            Pick::Slice { .. } | Pick::Gather { .. } => None,
        }
    }
}

/// Some elements of a tensor, in the shape that they have as a value.
struct Selection {
    dims: Vec<usize>,
    cells: Cells,
}

/// Which elements of the tensor those of a selection are.
enum Cells {
    /// Consecutive ones from here on.
    From(usize),
    /// These.
    List(Vec<usize>),
}

/// One step into a place, its indices evaluated.
enum Step {
    Field(usize),
    Pick(Vec<Pick>),
}

impl Selection {
    fn whole(tensor: &Tensor) -> Selection {
        Selection { dims: tensor.dims.clone(), cells: Cells::From(0) }
    }

    fn cell(&self, k: usize) -> usize {
        match &self.cells {
            Cells::From(first) => first + k,
            Cells::List(cells) => cells[k],
        }
    }

    fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// What picks for the leading axes leave.
    fn picked(&self, picks: &[Pick]) -> Selection {
        let rest = &self.dims[picks.len()..];
        let plain: Option<Vec<usize>> = picks.iter().map(Pick::position).collect();
        if let (Cells::From(first), Some(position)) = (&self.cells, plain) {
            let row = flattened(&self.dims[..picks.len()], &position);
            let cells = Cells::From(first + row * rest.iter().product::<usize>());
            return Selection { dims: rest.to_vec(), cells };
        }
        let mut dims = Vec::new();
        for pick in picks {
            match pick {
                Pick::At(_) => {}
                Pick::Slice { length, .. } => dims.push(*length),
                Pick::Gather { dims: own, .. } => dims.extend(own),
            }
        }
        dims.extend(rest);
        let place = |k: usize| {
            let position = unflattened(&dims, k);
            let mut position = position.as_slice();
            let mut source = Vec::new();
            for pick in picks {
                source.push(match pick {
                    Pick::At(at) => *at,
                    Pick::Slice { lo, .. } => lo + next(&mut position, 1)[0],
                    Pick::Gather { dims, positions } => positions[flattened(dims, next(&mut position, dims.len()))],
                });
            }
            source.extend(position);
            self.cell(flattened(&self.dims, &source))
        };
        let n: usize = dims.iter().product();
        let cells = Cells::List((0..n).map(place).collect());
        Selection { dims, cells }
    }

    fn read(&self, tensor: &Tensor) -> Value {
        let cells = (0..self.len()).map(|k| tensor.cells[self.cell(k)].clone()).collect();
        Tensor::new(self.dims.clone(), cells).into_value()
    }
}

fn next<'a>(position: &mut &'a [usize], n: usize) -> &'a [usize] {
    let (taken, rest) = position.split_at(n);
    *position = rest;
    taken
}

impl<'p> Machine<'p> {
    /// `base[indices]`
    pub(super) fn index(&mut self, base: &Value, indices: &'p [Index]) -> Flow<Value> {
        let tensor = base.tensor()?;
        let picks = picks(self, &tensor.dims, indices)?;
        Selection::whole(tensor).picked(&picks).read(tensor).met()
    }

    // ---- places

    /// `place op value`, with the spans of the statement and of the value. The indices are evaluated once, after the
    /// value.
    pub(super) fn store(
        &mut self,
        place: &'p Place,
        op: AssignOp,
        value: Value,
        (span, value_span): (Span, Span),
    ) -> Flow<()> {
        let root = self.local(place.root)?;
        let mut steps = Vec::new();
        let mut part = root;
        for step in &place.steps {
            match &step.kind {
                PlaceStepKind::Field(k) => {
                    part = self.field(&part, *k, &step.ty)?;
                    steps.push(Step::Field(*k));
                }
                PlaceStepKind::Index(indices) => {
                    let tensor = part.tensor()?.clone();
                    let picks = picks(self, &tensor.dims, indices)?;
                    part = Selection::whole(&tensor).picked(&picks).read(&tensor);
                    steps.push(Step::Pick(picks));
                }
            }
        }
        // A scalar that is replaced may be one that failed; the shape of anything else is asked for.
        if op != AssignOp::Set || !steps.is_empty() && self.ty(&place.ty).scalar().is_none() {
            part = part.met()?;
        }
        if !steps.is_empty() && op == AssignOp::Set {
            self.checks.check(value.has_shape_of(&part), CheckKind::ShapeMismatch, value_span)?;
        }
        let new = match op {
            AssignOp::Set => value,
            AssignOp::Binary(_) | AssignOp::Max | AssignOp::Min if is_open(&part) => self.contributed(&part, &value)?,
            AssignOp::Binary(op) => self.checks.element_wise(&[&part, &value], &mut |checks, args| {
                checks.scalar_binary(op, &args[0], &args[1], span)
            })?,
            AssignOp::Max => self.checks.extreme(&cotan_ops::MAX, [&part, &value], span)?,
            AssignOp::Min => self.checks.extreme(&cotan_ops::MIN, [&part, &value], span)?,
        };
        let new = match op {
            AssignOp::Set => new,
            // What is collected is stored at the end.
            AssignOp::Binary(_) | AssignOp::Max | AssignOp::Min if is_open(&new) => new,
            AssignOp::Binary(_) | AssignOp::Max | AssignOp::Min => stored(self, new, &place.ty)?,
        };
        if !is_open(&new) {
            self.settle(&place.ty, &new)?;
        }
        let mut root = self.take_local(place.root)?;
        let written = write(&mut root, &steps, new);
        self.set_local(place.root, root);
        written
    }
}

impl Checks {
    /// The elements (rows) at positions.
    pub(super) fn gather(&mut self, tensor: &Tensor, positions: &Tensor, span: Span) -> Flow<Value> {
        let picks = [checked_positions(self, positions, tensor.dims[0], span)?];
        Ok(Selection::whole(tensor).picked(&picks).read(tensor))
    }
}

fn picks<'p>(machine: &mut Machine<'p>, dims: &[usize], indices: &'p [Index]) -> Flow<Vec<Pick>> {
    let mut picks = Vec::new();
    let mut first: Option<Failure> = None;
    for (index, extent) in indices.iter().zip(dims) {
        match pick(machine, index, *extent) {
            Ok(pick) => picks.push(pick),
            Err(Stop::Failed(failure)) if first.is_some_and(|first| first.ordinal < failure.ordinal) => {}
            Err(Stop::Failed(failure)) => first = Some(failure),
            Err(stop) => return Err(stop),
        }
    }
    first.map_or(Ok(picks), |failure| Err(Stop::Failed(failure)))
}

fn pick<'p>(machine: &mut Machine<'p>, index: &'p Index, extent: usize) -> Flow<Pick> {
    match index {
        Index::At(e) => {
            let at = machine.expr(e)?.integer()?;
            checked_position(&mut machine.checks, at, extent, e.span).map(Pick::At)
        }
        Index::Slice { lo, hi, inclusive, span } => {
            let lo = lo.as_ref().map_or(Ok(0), |e| machine.expr(e)?.integer())?;
            let hi = hi.as_ref().map_or(Ok(extent as i128), |e| machine.expr(e)?.integer())?;
            machine.checks.check(!*inclusive || hi != i64::MAX.into(), CheckKind::IntegerOverflow, *span)?;
            let hi = if *inclusive { hi + 1 } else { hi };
            machine.checks.check(0 <= lo && lo <= hi && hi <= extent as i128, CheckKind::SliceRange, *span)?;
            Ok(Pick::Slice { lo: lo as usize, length: (hi - lo) as usize })
        }
        Index::Gather(e) => {
            let value = machine.expr(e)?;
            checked_positions(&mut machine.checks, value.tensor()?, extent, e.span)
        }
    }
}

fn checked_positions(checks: &mut Checks, positions: &Tensor, extent: usize, span: Span) -> Flow<Pick> {
    let position = |cell: &Value| checked_position(checks, cell.integer()?, extent, span);
    let dims = positions.dims.clone();
    Ok(Pick::Gather { dims, positions: positions.cells.iter().map(position).collect::<Flow<_>>()? })
}

fn checked_position(checks: &mut Checks, at: i128, extent: usize, span: Span) -> Flow<usize> {
    checks.check(0 <= at && at < extent as i128, CheckKind::IndexRange, span)?;
    Ok(at as usize)
}

impl Machine<'_> {
    /// A part of a tuple or struct; of a tensor of them the tensor of the parts, which is of type `ty`.
    pub(super) fn field(&self, value: &Value, k: usize, ty: &Type) -> Flow<Value> {
        let Value::Tensor(tensor) = value else { return value.field(k) };
        match column(tensor, k)? {
            Value::Tensor(column) if column.cells.is_empty() => {
                Ok(Value::Tensor(Tensor::new(self.extents(self.ty(ty).dims()), Vec::new())))
            }
            column @ (Value::Number(_)
            | Value::Tensor(_)
            | Value::Fields(_)
            | Value::Variant(..)
            | Value::Failed(_)) => Ok(column),
        }
    }
}

/// What was computed, in the type that its place stores.
fn stored(machine: &Machine<'_>, value: Value, ty: &Type) -> Flow<Value> {
    let ty = machine.ty(ty);
    let Some(scalar) = ty.scalar() else { return Ok(value) };
    let elem = machine.elem_of(scalar)?;
    let narrow = |x: &Number| if elem.storage().is_some() { x.converted(elem) } else { x.clone() };
    Ok(value.map(&mut |x| narrow(x)))
}

/// The tensor of one part of each element.
fn column(tensor: &Tensor, k: usize) -> Flow<Value> {
    let parts = tensor.cells.iter().map(|cell| cell.field(k)).collect::<Flow<Vec<_>>>()?;
    let Some(Value::Tensor(first)) = parts.first() else {
        return Ok(Value::Tensor(Tensor::new(tensor.dims.clone(), parts)));
    };
    let mut cells = Vec::new();
    for part in &parts {
        cells.extend(part.tensor()?.cells.iter().cloned());
    }
    Ok(Value::Tensor(Tensor::new([&tensor.dims[..], &first.dims].concat(), cells)))
}

/// Gives one part of each element the value that a tensor of such parts has for it.
fn set_column(tensor: &mut Tensor, k: usize, column: &Value) -> Flow<()> {
    let rank = tensor.dims.len();
    let column = match column {
        Value::Failed(failure) => return Err(Stop::Failed(*failure)),
        Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) => column.tensor()?,
    };
    let inner = &column.dims[rank..];
    let size: usize = inner.iter().product();
    for (at, cell) in Rc::make_mut(&mut tensor.cells).iter_mut().enumerate() {
        let part = Tensor::new(inner.to_vec(), column.cells[at * size..(at + 1) * size].to_vec()).into_value();
        write(cell, &[Step::Field(k)], part)?;
    }
    Ok(())
}

/// Replaces the part of a value that steps lead to.
fn write(target: &mut Value, steps: &[Step], new: Value) -> Flow<()> {
    match (steps, target) {
        ([], target) => {
            *target = new;
            Ok(())
        }
        ([Step::Field(k), rest @ ..], Value::Fields(fields)) => match fields.get_mut(*k) {
            Some(field) => write(field, rest, new),
            None => bug("a field that is not there"),
        },
        ([Step::Field(k), rest @ ..], Value::Tensor(tensor)) => {
            let mut parts = column(tensor, *k)?;
            write(&mut parts, rest, new)?;
            set_column(tensor, *k, &parts)
        }
        ([Step::Pick(_), ..], Value::Tensor(tensor)) => {
            let n_picks = steps.iter().take_while(|step| matches!(step, Step::Pick(_))).count();
            let (picks, rest) = steps.split_at(n_picks);
            let mut selection = Selection::whole(tensor);
            for step in picks {
                if let Step::Pick(picks) = step {
                    selection = selection.picked(picks);
                }
            }
            write_selected(tensor, &selection, rest, new)
        }
        ([..], Value::Failed(failure)) => Err(Stop::Failed(*failure)),
        ([Step::Field(_) | Step::Pick(_), ..], Value::Number(_) | Value::Fields(_) | Value::Variant(..)) => {
            bug("a place of another structure")
        }
    }
}

fn write_selected(tensor: &mut Tensor, selection: &Selection, rest: &[Step], new: Value) -> Flow<()> {
    let new = match rest.is_empty() {
        true => new,
        false => {
            let mut part = selection.read(tensor);
            write(&mut part, rest, new)?;
            part
        }
    };
    let cells = Rc::make_mut(&mut tensor.cells);
    for k in 0..selection.len() {
        cells[selection.cell(k)] = match &new {
            Value::Tensor(new) if new.dims == selection.dims => new.cells[k].clone(),
            Value::Number(_) | Value::Fields(_) | Value::Variant(..) if selection.dims.is_empty() => new.clone(),
            Value::Failed(_) => new.clone(),
            Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Tensor(_) => {
                return bug("a stored value of another shape than its place");
            }
        };
    }
    Ok(())
}
