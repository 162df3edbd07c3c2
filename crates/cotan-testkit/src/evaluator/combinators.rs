//! Functions that take functions: `tabulate`, `map`, `scan` and the like; and stacking.

use super::frame::Closure;
use super::number::Number;
use super::value::{Flow, Tensor, Value, bug, caught, unflattened};
use super::{MAX_STEPS, Machine};
use cotan_ir::{CheckKind, Const, Elem};
use cotan_sema::typed::{Arg, Expr, Type};
use cotan_syntax::Span;

impl<'p> Machine<'p> {
    pub(super) fn tabulate(&mut self, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
        let Some((function, counts)) = args.split_last() else { return bug("`tabulate` without arguments") };
        let dims = self.counts(counts)?;
        let function = closure_of(self, function)?;
        let mut elems = Vec::new();
        for ty in &function.callable.params {
            elems.push(self.elem(ty)?);
        }
        self.stacked(&function, &[], &dims, e.span, &mut |machine, k| {
            let mut indices = Vec::new();
            for (at, elem) in unflattened(&dims, k).into_iter().zip(&elems) {
                let index = Number::Plain(Const::i64(at as i64));
                let index =
                    if *elem == Elem::I64 { index } else { machine.checks.scalar_cast(&index, *elem, e.span)? };
                indices.push(Value::Number(index));
            }
            Ok(indices)
        })
    }

    pub(super) fn map(&mut self, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
        let at = args.iter().position(|arg| matches!(arg, Arg::Function(_)));
        let Some(at) = at else { return bug("`map` without a function") };
        let function = closure_of(self, &args[at])?;
        let counts = self.counts(&args[..at])?;
        let values = self.args(&args[at + 1..])?;
        let tensors: Vec<Tensor> = values.into_iter().map(Value::elements).collect::<Flow<_>>()?;
        // Without counts it goes over the first axis, with counts over as many.
        let dims = if at == 0 { vec![equal_lengths(&tensors.iter().collect::<Vec<_>>())?] } else { counts };
        let n_axes = dims.len();
        self.stacked(&function, &[], &dims, e.span, &mut |_, k| {
            Ok(tensors.iter().map(|tensor| tensor.part(n_axes, k)).collect())
        })
    }

    /// Stacks what a function gives for the arguments of each position. A position that fails leaves the others alone. Of
    /// more rows than can be stepped through the first one alone is made where it is empty: a loop around an empty axis
    /// ends at once.
    pub(super) fn stacked(
        &mut self,
        function: &Closure<'p>,
        functions: &[Option<Closure<'p>>],
        dims: &[usize],
        span: Span,
        args: &mut dyn FnMut(&mut Self, usize) -> Flow<Vec<Value>>,
    ) -> Flow<Value> {
        let mut cells: Vec<Value> = Vec::new();
        let n: usize = dims.iter().product();
        for k in 0..n {
            if n as u64 > MAX_STEPS && cells.first().is_some_and(Value::is_empty) {
                break;
            }
            self.spend(1)?;
            let cell = args(self, k).and_then(|args| self.apply(function, args, functions));
            let cell = cell.and_then(|cell| {
                let agrees = cells.first().is_none_or(|first| cell.has_shape_of(first));
                self.checks.check(agrees, CheckKind::RaggedStack, span).map(|()| cell)
            });
            cells.push(caught(cell)?);
        }
        self.in_frame(function.frame.clone(), |machine| machine.stack(&function.callable.result, dims, cells, span))
    }

    /// Values of type `ty` as one tensor: scalars and structs become its elements, tensors its rows; tuples become a
    /// tuple of tensors.
    pub(super) fn stack(&mut self, ty: &Type, lead: &[usize], cells: Vec<Value>, span: Span) -> Flow<Value> {
        if lead.is_empty() {
            return cells.into_iter().next().map_or_else(|| bug("nothing to stack"), Value::met);
        }
        match self.ty(ty).as_ref() {
            Type::Tuple(parts) => {
                let mut columns = Vec::new();
                for (k, part) in parts.iter().enumerate() {
                    let column = |cell: &Value| match cell {
                        Value::Failed(_) => Ok(cell.clone()),
                        Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) => cell.field(k),
                    };
                    let column = cells.iter().map(column).collect::<Flow<_>>()?;
                    let column = self.stack(part, lead, column, span);
                    columns.push(caught(column)?);
                }
                Ok(Value::Fields(columns))
            }
            Type::Tensor { dims, .. } => {
                let inner = match cells.first() {
                    Some(first) => first.tensor()?.dims.clone(),
                    None => self.extents(dims),
                };
                let mut all = Vec::new();
                for cell in &cells {
                    let row = cell.tensor()?;
                    self.checks.check(row.dims == inner, CheckKind::RaggedStack, span)?;
                    all.extend(row.cells.iter().cloned());
                }
                Ok(Value::Tensor(Tensor::new([lead, &inner].concat(), all)))
            }
            Type::Scalar(_) | Type::Struct(_) | Type::Enum(_) => Ok(Value::Tensor(Tensor::new(lead.to_vec(), cells))),
            Type::Error | Type::Never | Type::Function(_) | Type::Param(_) => bug("values that can't be stacked"),
        }
    }

    pub(super) fn zip(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let values = self.args(args)?;
        let tensors: Vec<&Tensor> = values.iter().map(Value::tensor).collect::<Flow<_>>()?;
        let n = equal_lengths(&tensors)?;
        let cell = |k| Value::Fields(tensors.iter().map(|tensor| tensor.row(k)).collect());
        Ok(Value::Tensor(Tensor::new(vec![n], (0..n).map(cell).collect())))
    }

    pub(super) fn each(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let (value, function) = (self.arg(&args[0])?, closure_of(self, &args[1])?);
        let tensor = value.tensor()?;
        for k in 0..tensor.dims[0] {
            self.spend(1)?;
            self.apply(&function, vec![tensor.row(k)], &[])?;
        }
        Ok(Value::unit())
    }

    pub(super) fn fold_with(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let (mut acc, function, value) = (self.arg(&args[0])?, closure_of(self, &args[1])?, self.arg(&args[2])?);
        let tensor = value.tensor()?;
        for k in 0..tensor.dims[0] {
            self.spend(1)?;
            acc = self.apply(&function, vec![acc, tensor.row(k)], &[])?;
        }
        Ok(acc)
    }

    pub(super) fn scan(&mut self, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
        let (init, function, value) = (self.arg(&args[0])?, closure_of(self, &args[1])?, self.arg(&args[2])?);
        let tensor = value.tensor()?;
        let mut acc = init.clone();
        let mut cells = Vec::new();
        for k in 0..tensor.dims[0] {
            self.spend(1)?;
            let next = self.apply(&function, vec![acc, tensor.row(k)], &[]);
            acc = caught(next)?;
            self.checks.check(acc.has_shape_of(&init), CheckKind::ShapeMismatch, e.span)?;
            cells.push(acc.clone());
        }
        let Arg::Value(of) = &args[0] else { return bug("a function as a start value") };
        self.stack(&of.ty, &[tensor.dims[0]], cells, e.span)
    }

    pub(super) fn iterate(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let n = self.arg(&args[0])?.integer()?;
        let (mut state, function) = (self.arg(&args[1])?, closure_of(self, &args[2])?);
        for _ in 0..n {
            self.spend(1)?;
            state = self.apply(&function, vec![state], &[])?;
        }
        Ok(state)
    }

    pub(super) fn iterate_until(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let mut state = self.arg(&args[0])?;
        let (step, done) = (closure_of(self, &args[1])?, closure_of(self, &args[2])?);
        let most = self.arg(&args[3])?.integer()?;
        for _ in 0..most {
            self.spend(1)?;
            state = self.apply(&step, vec![state], &[])?;
            if self.apply(&done, vec![state.clone()], &[])?.truth()? {
                break;
            }
        }
        Ok(state)
    }
}

pub(super) fn closure_of<'p>(machine: &Machine<'p>, arg: &'p Arg) -> Flow<Closure<'p>> {
    match arg {
        Arg::Function(callable) => Ok(machine.closure(callable)),
        Arg::Value(_) | Arg::Pack(_) => bug("something else where a function was expected"),
    }
}

fn equal_lengths(tensors: &[&Tensor]) -> Flow<usize> {
    let n = tensors.first().map_or(0, |tensor| tensor.dims[0]);
    if tensors.iter().all(|tensor| tensor.dims[0] == n) {
        Ok(n)
    } else {
        bug("tensors of different lengths taken together without a check")
    }
}
