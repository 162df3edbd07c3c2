//! Operators and primitives: on scalars, and element by element on tensors. Integers are computed exactly and then
//! asked whether they fit.

use super::checks::Checks;
use super::number::Number;
use super::value::{Flow, Tensor, Value, bug, caught, needed};
use cotan_ir::{CheckKind, Const, Elem};
use cotan_ops::{
    ADD, DIV, EQ, FMA, GE, GT, LE, LT, MUL, NE, NEG, NOT, PLAIN, POW, POWI, PrimRow, REM, SELECT, SUB, runs,
};
use cotan_sema::typed::{BinaryOp, UnaryOp};
use cotan_syntax::Span;

impl Checks {
    /// A prefix operator.
    pub(super) fn unary(&mut self, op: UnaryOp, elem: Option<Elem>, operand: &Value, span: Span) -> Flow<Value> {
        self.on_vectors(op.row(), elem, &[operand], &mut |checks, args| match op {
            UnaryOp::Not => Ok(Number::apply(&NOT, args)),
            UnaryOp::Neg => match args[0].plain().as_integer() {
                Some(x) => checks.fitting(args[0].elem(), Some(-x), span),
                None => Ok(Number::apply(&NEG, &[args[0].computed()])),
            },
        })
    }

    /// An infix operator that works element by element.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        elem: Option<Elem>,
        [left, right]: [&Value; 2],
        span: Span,
    ) -> Flow<Value> {
        self.on_vectors(op.row(), elem, &[left, right], &mut |checks, args| {
            checks.scalar_binary(op, &args[0], &args[1], span)
        })
    }

    /// An infix operator on scalars.
    pub(super) fn scalar_binary(&mut self, op: BinaryOp, left: &Number, right: &Number, span: Span) -> Flow<Number> {
        let args = [left.computed(), right.computed()];
        let prim = |row: &'static PrimRow| Ok(Number::apply(row, &args));
        let (x, y) = (left.plain().as_integer(), right.plain().as_integer());
        let elem = left.elem();
        match (op, x, y) {
            (BinaryOp::Add, Some(x), Some(y)) => self.fitting(elem, x.checked_add(y), span),
            (BinaryOp::Sub, Some(x), Some(y)) => self.fitting(elem, x.checked_sub(y), span),
            (BinaryOp::Mul, Some(x), Some(y)) => self.fitting(elem, x.checked_mul(y), span),
            (BinaryOp::Div, Some(x), Some(y)) => {
                self.check(y != 0, CheckKind::DivisionByZero, span)?;
                self.fitting(elem, x.checked_div(y), span)
            }
            (BinaryOp::Rem, Some(x), Some(y)) => {
                self.check(y != 0, CheckKind::DivisionByZero, span)?;
                self.fitting(elem, x.checked_rem(y), span)
            }
            (BinaryOp::PowInt, Some(x), Some(y)) => {
                self.check(y >= 0, CheckKind::NegativePower, span)?;
                self.fitting(elem, power(x, y), span)
            }
            (BinaryOp::PowInt, None, Some(y)) => Ok(float_power(&args[0], y)),
            (BinaryOp::Add, _, _) => prim(&ADD),
            (BinaryOp::Sub, _, _) => prim(&SUB),
            (BinaryOp::Mul, _, _) => prim(&MUL),
            (BinaryOp::Div, _, _) => prim(&DIV),
            (BinaryOp::Rem, _, _) => prim(&REM),
            (BinaryOp::Pow, _, _) => prim(&POW),
            (BinaryOp::Eq, _, _) => prim(&EQ),
            (BinaryOp::Ne, _, _) => prim(&NE),
            (BinaryOp::Lt, _, _) => prim(&LT),
            (BinaryOp::Le, _, _) => prim(&LE),
            (BinaryOp::Gt, _, _) => prim(&GT),
            (BinaryOp::Ge, _, _) => prim(&GE),
            (BinaryOp::PowInt, _, None) | (BinaryOp::MatMul, _, _) => bug("operands of another kind"),
        }
    }

    /// An exact integer as a number of its type, if it fits.
    pub(super) fn fitting(&mut self, elem: Elem, exact: Option<i128>, span: Span) -> Flow<Number> {
        let in_range = |x: &i128| elem.integer_range().is_some_and(|(least, most)| (least..=most).contains(x));
        let exact = exact.filter(in_range);
        self.check(exact.is_some(), CheckKind::IntegerOverflow, span)?;
        Ok(Number::Plain(Const::integer(elem, exact.unwrap_or_default())))
    }

    /// A scalar function of the prelude. On integers it is exact, and what does not fit is an error, or wraps where its
    /// name says so.
    pub(super) fn primitive(
        &mut self,
        (row, wraps): (&'static PrimRow, bool),
        elem: Option<Elem>,
        args: &[Value],
        span: Span,
    ) -> Flow<Value> {
        let args: Vec<&Value> = args.iter().collect();
        self.on_vectors(row, elem, &args, &mut |checks, args| checks.scalar_primitive(row, wraps, args, span))
    }

    /// The greater or the lesser of two numbers, element by element.
    pub(super) fn extreme(&mut self, row: &'static PrimRow, args: [&Value; 2], span: Span) -> Flow<Value> {
        self.element_wise(&args, &mut |checks, args| checks.scalar_primitive(row, false, args, span))
    }

    /// A scalar function on scalars.
    fn scalar_primitive(&mut self, row: &'static PrimRow, wraps: bool, args: &[Number], span: Span) -> Flow<Number> {
        let elem = args[0].elem();
        let exact: Vec<i128> = args.iter().filter_map(|arg| arg.plain().as_integer()).collect();
        let wrapped = |exact: i128| Ok(Number::Plain(Const::integer(elem, exact)));
        match (row.name(), exact.as_slice()) {
            ("abs", [x]) if !wraps => self.fitting(elem, Some(x.abs()), span),
            ("add", [x, y]) => wrapped(x + y),
            ("sub", [x, y]) => wrapped(x - y),
            ("mul", [x, y]) => wrapped(x.wrapping_mul(*y)),
            ("neg", [x]) => wrapped(-x),
            ("abs", [x]) => wrapped(x.abs()),
            ("powi", [x, n]) => {
                self.check(*n >= 0, CheckKind::NegativePower, span)?;
                wrapped(wrapping_power(*x, *n))
            }
            ("floor_div", [x, y]) => {
                self.check(*y != 0, CheckKind::DivisionByZero, span)?;
                self.fitting(elem, Some(x.div_euclid(*y) - i128::from(*y < 0 && x.rem_euclid(*y) != 0)), span)
            }
            ("floor_mod", [x, y]) => {
                self.check(*y != 0, CheckKind::DivisionByZero, span)?;
                let least = x.rem_euclid(*y);
                wrapped(if *y < 0 && least != 0 { least + y } else { least })
            }
            ("shl" | "shr", [x, by]) => {
                self.check((0..8 * elem.bytes() as i128).contains(by), CheckKind::ShiftRange, span)?;
                wrapped(if row.name() == "shl" { x << by } else { x >> by })
            }
            ("and", [x, y]) => wrapped(x & y),
            ("or", [x, y]) => wrapped(x | y),
            ("xor", [x, y]) => wrapped(x ^ y),
            ("powi", [n]) => Ok(float_power(&args[0].computed(), *n)),
            (_, _) => {
                // What is only selected stays in the type that it is stored in.
                let of_args = |arg: &Number| if *row == SELECT { arg.clone() } else { arg.computed() };
                Ok(Number::apply(row, &args.iter().map(of_args).collect::<Vec<_>>()))
            }
        }
    }

    /// `value as elem`.
    pub(super) fn cast(&mut self, value: &Value, elem: Elem, span: Span) -> Flow<Value> {
        self.element_wise(&[value], &mut |checks, args| checks.scalar_cast(&args[0], elem, span))
    }

    /// The same for a scalar.
    pub(super) fn scalar_cast(&mut self, x: &Number, elem: Elem, span: Span) -> Flow<Number> {
        let value = x.plain();
        let Some((least, most)) = elem.integer_range() else { return Ok(x.converted(elem)) };
        let exact = match (value.as_float(), value.as_integer(), value.as_bool()) {
            // A saturating conversion is exact for everything that can fit.
            (Some(x), _, _) => (!x.is_nan()).then(|| x.trunc() as i128),
            (_, Some(x), _) => Some(x),
            (_, _, truth) => truth.map(i128::from),
        };
        let exact = exact.filter(|x| (least..=most).contains(x));
        self.check(exact.is_some(), CheckKind::CastRange, span)?;
        Ok(Number::Plain(Const::integer(elem, exact.unwrap_or_default())))
    }

    /// `f` on scalars, element by element where some are tensors; scalars among tensors are the same for all elements.
    /// An element that fails leaves the others alone.
    pub(super) fn element_wise(
        &mut self,
        args: &[&Value],
        f: &mut dyn FnMut(&mut Self, &[Number]) -> Flow<Number>,
    ) -> Flow<Value> {
        let shaped = args.iter().find_map(|arg| match arg {
            Value::Tensor(tensor) => Some(tensor),
            Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => None,
        });
        let Some(shaped) = shaped else {
            needed(args.iter().copied())?;
            let numbers: Vec<Number> = args.iter().map(|arg| arg.number().cloned()).collect::<Flow<_>>()?;
            return f(self, &numbers).map(Value::Number);
        };
        let mut cells = Vec::with_capacity(shaped.cells.len());
        for k in 0..shaped.cells.len() {
            let mut elements = Vec::new();
            for arg in args {
                elements.push(match arg {
                    Value::Tensor(tensor) if tensor.dims == shaped.dims => &tensor.cells[k],
                    Value::Tensor(tensor) => {
                        return bug(format!(
                            "operands of shapes {:?} and {:?} without a check",
                            shaped.dims, tensor.dims
                        ));
                    }
                    Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => arg,
                });
            }
            let numbers = needed(elements.iter().copied())
                .and_then(|()| elements.iter().map(|element| element.number().cloned()).collect::<Flow<Vec<_>>>());
            let cell = numbers.and_then(|numbers| f(self, &numbers)).map(Value::Number);
            cells.push(caught(cell)?);
        }
        Ok(Value::Tensor(Tensor::new(shaped.dims.clone(), cells)))
    }

    /// `left @ right`: sums over the last axis of the left and the first matrix axis of the right operand.
    pub(super) fn matrix_product(&mut self, left: &Tensor, right: &Tensor, elem: Elem, span: Span) -> Flow<Value> {
        if left.dims.len() == 1 && right.dims.len() == 1 {
            return self.dot(left, right, elem, span).map(Value::Number);
        }
        let Some((length, rows)) = left.dims.split_last() else { return bug("a product of scalars") };
        // The right operand is a vector, or a batch of matrices.
        let n_batch = right.dims.len().saturating_sub(2);
        let columns = &right.dims[right.dims.len().min(n_batch + 1)..];
        if right.dims.get(n_batch) != Some(length) || rows.get(..n_batch) != right.dims.get(..n_batch) {
            return bug("a matrix product of shapes that do not fit, without a check");
        }
        let n_columns: usize = columns.iter().product();
        let rows_per_batch: usize = rows[n_batch..].iter().product();
        let n_rows: usize = rows.iter().product();
        let mut cells = Vec::with_capacity(n_rows * n_columns);
        for row in 0..n_rows {
            let batch = row.checked_div(rows_per_batch).unwrap_or_default();
            for column in 0..n_columns {
                let pair = |k: usize| {
                    let x = &left.cells[row * length + k];
                    (x, &right.cells[(batch * length + k) * n_columns + column])
                };
                let cell = inner_product(self, elem, *length, &pair, span).map(Value::Number);
                cells.push(caught(cell)?);
            }
        }
        Ok(Tensor::new([rows, columns].concat(), cells).into_value())
    }
}

/// The sum of products, in order: floats by `fma` from zero on, in runs whose sums are added in order; integers checked at
/// each step.
fn inner_product<'v>(
    checks: &mut Checks,
    elem: Elem,
    length: usize,
    pair: &dyn Fn(usize) -> (&'v Value, &'v Value),
    span: Span,
) -> Flow<Number> {
    let numbers = |k: usize| {
        let (x, y) = pair(k);
        Ok((x.number()?, y.number()?))
    };
    if elem.is_integer() {
        return (0..length).try_fold(Number::zero(elem), |sum, k| {
            let (x, y) = numbers(k)?;
            let product = checks.scalar_binary(BinaryOp::Mul, x, y, span)?;
            checks.scalar_binary(BinaryOp::Add, &sum, &product, span)
        });
    }
    let mut total = None;
    for mut run in runs(length, &PLAIN) {
        let sum: Number = run.try_fold(Number::zero(elem), |sum, k| {
            let (x, y) = numbers(k)?;
            Flow::Ok(Number::apply(&FMA, &[x.clone(), y.clone(), sum]))
        })?;
        total = Some(match total {
            None => sum,
            Some(total) => Number::apply(&ADD, &[total, sum]),
        });
    }
    Ok(total.unwrap_or_else(|| Number::zero(elem)))
}

/// An integer to the power of one that is not negative; `None` if that is too large for any type.
fn power(base: i128, exponent: i128) -> Option<i128> {
    match (base, u32::try_from(exponent)) {
        (0 | 1, _) => Some(if exponent == 0 { 1 } else { base }),
        (-1, _) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        (_, Ok(exponent)) => base.checked_pow(exponent),
        (_, Err(_)) => None,
    }
}

/// The same modulo a power of two.
fn wrapping_power(base: i128, exponent: i128) -> i128 {
    let (mut power, mut square, mut rest) = (1i128, base, exponent);
    while rest > 0 {
        if rest % 2 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest /= 2;
    }
    power
}

/// A float to an integer power. Beyond i64, what counts of an exponent is whether it is odd.
fn float_power(base: &Number, exponent: i128) -> Number {
    let exponent = i64::try_from(exponent).unwrap_or(if exponent % 2 == 0 { i64::MAX - 1 } else { i64::MAX });
    Number::apply(&POWI, &[base.clone(), Number::Plain(Const::i64(exponent))])
}
