//! The functions of the prelude that are no scalar primitives: those that only move or fill; the others are in
//! [`super::combinators`] and [`super::folds`].

use super::Machine;
use super::last_axis::{ascending, position};
use super::number::Number;
use super::value::{Flow, Tensor, Value, bug, caught, flattened, needed, unflattened};
use super::vectors::{leaves, total};
use cotan_ir::{CheckKind, Const, Elem};
use cotan_ops::cast_to;
use cotan_sema::typed::{Arg, Builtin, Expr};
use cotan_sema::types::Scalar;
use cotan_syntax::Span;
use cotan_syntax::ast::FoldOp;
use std::cmp::Ordering;

impl<'p> Machine<'p> {
    /// A call of a builtin; `e` is the whole expression.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
        match builtin {
            Builtin::Tabulate => self.tabulate(args, e),
            Builtin::Map => self.map(args, e),
            Builtin::Zip => self.zip(args),
            Builtin::Scan => self.scan(args, e),
            Builtin::Fold => self.fold_with(args),
            Builtin::Iterate => self.iterate(args),
            Builtin::IterateUntil => self.iterate_until(args),
            Builtin::Concat => concat(self, args),
            Builtin::Reverse => reverse(self, args),
            Builtin::Transpose => transpose(self, args),
            Builtin::Reshape => reshape(self, args, e),
            Builtin::Broadcast => broadcast(self, args, e.span),
            Builtin::Zeros => {
                let counts = self.counts(args)?;
                self.filled(&e.ty, &counts, &Number::zero)
            }
            Builtin::Ones => {
                let counts = self.counts(args)?;
                self.filled(&e.ty, &counts, &Number::one)
            }
            Builtin::Full => full(self, args),
            Builtin::ZerosLike => Ok(self.arg(&args[0])?.map(&mut |number| Number::zero(number.elem()))),
            Builtin::Iota => iota(self, args, e),
            Builtin::Diag => diag(self, args, e),
            Builtin::Trace => trace(self, args, e),
            Builtin::Sum => fold_all(self, FoldOp::Add, args, e),
            Builtin::Prod => fold_all(self, FoldOp::Mul, args, e),
            Builtin::Mean => mean(self, args, e),
            Builtin::Dot => dot(self, args, e),
            Builtin::Norm => norm(self, args, e),
            Builtin::MapLeaves => self.map_leaves(args),
            Builtin::SumLeaves => {
                let value = self.arg(&args[0])?;
                needed([&value])?;
                Ok(total(&leaves(&value)))
            }
            Builtin::Inner => self.inner(args),
            Builtin::Close => self.close(args),
            Builtin::CountLeaves => {
                let n: usize = leaves(&self.arg(&args[0])?).iter().map(Vec::len).sum();
                Ok(Value::Number(Number::Plain(Const::i64(n as i64))))
            }
            Builtin::StopGradient => Ok(self.arg(&args[0])?.without_derivative()),
            Builtin::Each => self.each(args),
            Builtin::Sort => self.along_last(args, |row| Ok(ascending(row).iter().map(|k| row[*k].clone()).collect())),
            Builtin::Argsort => self.along_last(args, |row| Ok(ascending(row).into_iter().map(position).collect())),
            Builtin::Argmax => self.position_of_extreme(args, Ordering::Greater, e),
            Builtin::Argmin => self.position_of_extreme(args, Ordering::Less, e),
            Builtin::Cumsum => self.running(FoldOp::Add, args, e),
            Builtin::Cumprod => self.running(FoldOp::Mul, args, e),
            Builtin::Gather => {
                let values = self.args(args)?;
                let Arg::Value(of) = &args[1] else { return bug("a function as positions") };
                self.checks.gather(values[0].tensor()?, values[1].tensor()?, of.span)
            }
            // What a library computes is held against the numbers of others, see `spec/operations`.
            Builtin::Operation(op, _) => bug(format!("`{}` is not evaluated here", op.name())),
            Builtin::WrappingAs => wrapping_as(self, args, e),
        }
    }

    /// The value of an argument that is no function.
    pub(super) fn arg(&mut self, arg: &'p Arg) -> Flow<Value> {
        match arg {
            Arg::Value(e) => self.expr(e),
            Arg::Function(_) | Arg::Pack(_) => bug("something else where a value was expected"),
        }
    }

    /// The values of several arguments, all of which are needed.
    pub(super) fn args(&mut self, args: &'p [Arg]) -> Flow<Vec<Value>> {
        let values = args.iter().map(|arg| caught(self.arg(arg))).collect::<Flow<Vec<_>>>()?;
        needed(&values)?;
        Ok(values)
    }

    /// Counts, none of which is negative; a pack stands for one of each of its sizes.
    pub(super) fn counts(&mut self, args: &'p [Arg]) -> Flow<Vec<usize>> {
        let mut counts = Vec::new();
        for arg in args {
            match arg {
                Arg::Pack(id) => {
                    let size = |n: usize| Value::Number(position(n));
                    counts.extend(self.pack(*id)?.into_iter().map(size));
                }
                Arg::Value(e) => {
                    let count = self.expr(e).and_then(|n| {
                        self.checks.check(n.integer()? >= 0, CheckKind::NegativeSize, e.span)?;
                        Ok(n)
                    });
                    counts.push(caught(count)?);
                }
                Arg::Function(_) => return bug("a function as a count"),
            }
        }
        needed(&counts)?;
        counts.iter().map(|n| n.integer().map(|n| n as usize)).collect()
    }
}

fn fold_all<'p>(machine: &mut Machine<'p>, op: FoldOp, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let elem = machine.elem(&e.ty)?;
    machine.checks.fold_numbers(op, elem, &value.elements()?.numbers()?, e.span).map(Value::Number)
}

fn concat<'p>(machine: &mut Machine<'p>, args: &'p [Arg]) -> Flow<Value> {
    let values = machine.args(args)?;
    let mut dims = values[0].tensor()?.dims.clone();
    dims[0] = 0;
    let mut cells = Vec::new();
    for value in &values {
        let tensor = value.tensor()?;
        if tensor.dims[1..] != dims[1..] {
            return bug("rows of different shapes joined without a check");
        }
        dims[0] += tensor.dims[0];
        cells.extend(tensor.cells.iter().cloned());
    }
    Ok(Value::Tensor(Tensor::new(dims, cells)))
}

/// Copies along new leading axes; the last extents are those of the value.
fn broadcast<'p>(machine: &mut Machine<'p>, args: &'p [Arg], span: Span) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let dims = machine.counts(&args[1..])?;
    let (inner, cells) = match &value {
        Value::Tensor(tensor) => (tensor.dims.as_slice(), tensor.cells.as_slice()),
        Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => {
            (&[][..], std::slice::from_ref(&value))
        }
    };
    let lead = dims.len() - inner.len();
    machine.checks.check(dims[lead..] == *inner, CheckKind::ShapeMismatch, span)?;
    // Copies of nothing are nothing, however many there are.
    let n_copies: usize = if cells.is_empty() { 0 } else { dims[..lead].iter().product() };
    let cells = (0..n_copies).flat_map(|_| cells.iter().cloned()).collect();
    Ok(Tensor::new(dims, cells).into_value())
}

fn reverse<'p>(machine: &mut Machine<'p>, args: &'p [Arg]) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let tensor = value.tensor()?;
    Ok(moved(tensor, &tensor.dims, |position| {
        position[0] = tensor.dims[0] - 1 - position[0];
    }))
}

fn transpose<'p>(machine: &mut Machine<'p>, args: &'p [Arg]) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let tensor = value.tensor()?;
    let last = tensor.dims.len() - 1;
    let mut dims = tensor.dims.clone();
    dims.swap(last - 1, last);
    Ok(moved(tensor, &dims, |position| position.swap(last - 1, last)))
}

fn reshape<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let dims = machine.counts(&args[1..])?;
    let n = dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d as i64));
    machine.checks.check(n.is_some(), CheckKind::IntegerOverflow, e.span)?;
    let tensor = value.elements()?;
    machine.checks.check(n == Some(tensor.cells.len() as i64), CheckKind::ShapeMismatch, e.span)?;
    Ok(Tensor { dims, cells: tensor.cells }.into_value())
}

fn full<'p>(machine: &mut Machine<'p>, args: &'p [Arg]) -> Flow<Value> {
    let Some((value, counts)) = args.split_last() else { return bug("`full` without arguments") };
    let dims = machine.counts(counts)?;
    let value = machine.arg(value)?;
    let n = dims.iter().product();
    Ok(Tensor::new(dims, vec![value; n]).into_value())
}

fn iota<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let n = machine.counts(args)?[0];
    let elem = machine.elem(&e.ty)?;
    let cell = |k: usize| Number::apply(cast_to(elem), &[Number::Plain(Const::i64(k as i64))]);
    Ok(Value::Tensor(Tensor::new(vec![n], (0..n).map(|k| Value::Number(cell(k))).collect())))
}

fn diag<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let elem = machine.elem(&e.ty)?;
    Ok(diagonal(value.tensor()?, &Value::Number(Number::zero(elem))))
}

fn trace<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let elem = machine.elem(&e.ty)?;
    let diagonal = diagonal(value.tensor()?, &Value::unit());
    machine.checks.fold_numbers(FoldOp::Add, elem, &diagonal.tensor()?.numbers()?, e.span).map(Value::Number)
}

fn mean<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let elem = machine.elem(&e.ty)?;
    machine.checks.mean(&value.elements()?, elem, e.span).map(Value::Number)
}

fn dot<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let vectors = machine.args(args)?;
    let elem = machine.elem(&e.ty)?;
    machine.checks.dot(vectors[0].tensor()?, vectors[1].tensor()?, elem, e.span).map(Value::Number)
}

fn norm<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let Arg::Value(of) = &args[0] else { return bug("the norm of a function") };
    let elem = machine.elem(&e.ty)?;
    if elem == Elem::F64 && machine.ty(&of.ty).scalar() != Some(Scalar::Of(Elem::F64)) {
        return machine.norm_of_leaves(&value);
    }
    machine.checks.norm(&value.elements()?, elem).map(Value::Number)
}

fn wrapping_as<'p>(machine: &mut Machine<'p>, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
    let value = machine.arg(&args[0])?;
    let elem = machine.elem(&e.ty)?;
    machine.checks.element_wise(&[&value], &mut |_, args| {
        let c = args[0].plain();
        let exact = c.as_integer().or(c.as_bool().map(i128::from)).unwrap_or_default();
        Ok(Number::Plain(Const::integer(elem, exact)))
    })
}

/// The tensor of these dims each of whose elements comes from the place that `source` makes of its own.
fn moved(tensor: &Tensor, dims: &[usize], source: impl Fn(&mut Vec<usize>)) -> Value {
    let cell = |k: usize| {
        let mut position = unflattened(dims, k);
        source(&mut position);
        tensor.cells[flattened(&tensor.dims, &position)].clone()
    };
    Value::Tensor(Tensor::new(dims.to_vec(), (0..tensor.cells.len()).map(cell).collect()))
}

/// A vector as a diagonal matrix, or the diagonal of a square matrix.
fn diagonal(tensor: &Tensor, zero: &Value) -> Value {
    let n = tensor.dims[0];
    if tensor.dims.len() == 2 {
        return Value::Tensor(Tensor::new(vec![n], (0..n).map(|k| tensor.cells[k * n + k].clone()).collect()));
    }
    let cell = |k: usize| if k / n == k % n { tensor.cells[k / n].clone() } else { zero.clone() };
    Value::Tensor(Tensor::new(vec![n, n], (0..n * n).map(cell).collect()))
}
