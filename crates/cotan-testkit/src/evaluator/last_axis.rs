//! The functions of the prelude along the last axis: sorting, positions of extremes, running totals.

use super::Machine;
use super::number::Number;
use super::value::{Flow, Tensor, Value};
use cotan_ir::{CheckKind, Const};
use cotan_sema::typed::{Arg, BinaryOp, Expr};
use cotan_syntax::ast::FoldOp;
use std::cmp::Ordering;

impl<'p> Machine<'p> {
    /// A tensor with each row along the last axis replaced by another one of its length.
    pub(super) fn along_last(&mut self, args: &'p [Arg], f: impl Fn(&[Number]) -> Flow<Vec<Number>>) -> Flow<Value> {
        let value = self.arg(&args[0])?;
        let tensor = value.tensor()?;
        let mut cells = Vec::with_capacity(tensor.cells.len());
        for row in rows(tensor)? {
            cells.extend(f(&row)?.into_iter().map(Value::Number));
        }
        Ok(Value::Tensor(Tensor::new(tensor.dims.clone(), cells)))
    }

    /// The position of the first extreme along the last axis: `side` of all others, or NaN.
    pub(super) fn position_of_extreme(&mut self, args: &'p [Arg], side: Ordering, e: &'p Expr) -> Flow<Value> {
        let value = self.arg(&args[0])?;
        let tensor = value.tensor()?;
        let mut cells = Vec::new();
        for row in rows(tensor)? {
            self.checks.check(!row.is_empty(), CheckKind::EmptyFold, e.span)?;
            let mut best = 0;
            for k in 1..row.len() {
                let is_nan = |n: &Number| n.plain().as_float().is_some_and(f64::is_nan);
                if !is_nan(&row[best]) && (is_nan(&row[k]) || compare(&row[k], &row[best]) == side) {
                    best = k;
                }
            }
            cells.push(Value::Number(position(best)));
        }
        let outer = &tensor.dims[..tensor.dims.len() - 1];
        Ok(Tensor::new(outer.to_vec(), cells).into_value())
    }

    /// The sums (products) of the elements up to each one.
    pub(super) fn running(&mut self, op: FoldOp, args: &'p [Arg], e: &'p Expr) -> Flow<Value> {
        let value = self.arg(&args[0])?;
        let tensor = value.tensor()?;
        let elem = self.elem(&e.ty)?;
        let (start, op) = match op {
            FoldOp::Mul => (Number::one(elem), BinaryOp::Mul),
            FoldOp::Add | FoldOp::Sub | FoldOp::Div | FoldOp::Max | FoldOp::Min | FoldOp::And | FoldOp::Or => {
                (Number::zero(elem), BinaryOp::Add)
            }
        };
        let mut cells = Vec::with_capacity(tensor.cells.len());
        for row in rows(tensor)? {
            let mut total = start.clone();
            for x in &row {
                total = self.checks.scalar_binary(op, &total, x, e.span)?;
                cells.push(Value::Number(total.clone()));
            }
        }
        Ok(Value::Tensor(Tensor::new(tensor.dims.clone(), cells)))
    }
}

/// A position as a value.
pub(super) fn position(k: usize) -> Number {
    Number::Plain(Const::i64(k as i64))
}

/// The positions of some numbers in ascending order, NaN last; equal ones keep their order.
pub(super) fn ascending(row: &[Number]) -> Vec<usize> {
    let is_nan = |k: &usize| row[*k].plain().as_float().is_some_and(f64::is_nan);
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|a, b| is_nan(a).cmp(&is_nan(b)).then_with(|| compare(&row[*a], &row[*b])));
    order
}

/// Which of two numbers is greater; a NaN is neither.
fn compare(a: &Number, b: &Number) -> Ordering {
    let (a, b) = (a.plain(), b.plain());
    match (a.as_float(), b.as_float()) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (_, _) => (a.as_integer(), a.as_bool()).cmp(&(b.as_integer(), b.as_bool())),
    }
}

/// The rows along the last axis.
fn rows(tensor: &Tensor) -> Flow<Vec<Vec<Number>>> {
    let numbers = tensor.numbers()?;
    let (length, outer) = tensor.dims.split_last().map_or((1, &[][..]), |(length, outer)| (*length, outer));
    let n: usize = outer.iter().product();
    Ok((0..n).map(|k| numbers[k * length..(k + 1) * length].to_vec()).collect())
}
