//! Operators and primitives on scalars and, element-wise, on tensors.
//!
//! Floats and truth values are computed by element-wise primitives. Where an element can fail (integers), the operation
//! is a parallel loop over elements, each with its check.

use cotan_ir::{Atom, CheckKind, Const, Dim, Elem, ParResult, Ty, Var};
use cotan_ops::{
    ADD, AND, DIV, GE, LT, MATMUL, MUL, NE, NEG, Needs, OR, POWI, PrimRow, REM, SELECT, SHIFT_FITS, SUB, cast_fits,
    cast_to,
};

use super::Result;
use super::body::{Body, Value, ir_span};
use super::code::Code;
use cotan_sema::typed::{BinaryOp, Chain};

impl<'p> Body<'_, 'p> {
    /// A run of operators, from left to right.
    pub(super) fn chain(&mut self, chain: &'p Chain) -> Result<Value> {
        let (mut value, mut ty) = (self.expr(&chain.first)?, &chain.first.ty);
        for link in &chain.rest {
            let operand = self.expr(&link.operand)?;
            self.code.b.set_span(ir_span(link.span));
            value = self.infix(link, (ty, value), (&link.operand.ty, operand))?;
            ty = &link.ty;
        }
        Ok(value)
    }

    /// One infix operator.
    pub(super) fn binary(&mut self, op: BinaryOp, left: Atom, right: Atom) -> Result<Atom> {
        if op == BinaryOp::MatMul {
            return matmul(self, left, right);
        }
        // What a generic function compares may be of a storage type.
        let (left, right) = (self.code.computed(left), self.code.computed(right));
        let elem = self.code.b.ty(left).elem;
        let can_fail = elem.is_integer() && is_arithmetic(op);
        let right = if op == BinaryOp::PowInt { exponent(&mut self.code, right) } else { right };
        Ok(if can_fail {
            each_element(&mut self.code, &[left, right], &mut |code, args| integer_binary(code, op, args[0], args[1]))
        } else {
            self.code.element_wise(op.row(), &[left, right])
        })
    }
}

impl Code {
    /// An integer operation, with the check that its result fits the type.
    pub(super) fn fitting(&mut self, row: &'static PrimRow, args: &[Atom]) -> Atom {
        let cond = row.fits.map_or(Atom::Const(Const::bool(true)), |fits| self.prim(fits, args));
        let value = self.prim(row, args);
        let sign = self.is_non_negative(value);
        let value = self.check(cond, CheckKind::IntegerOverflow, args, value);
        if sign {
            self.note_non_negative(value);
        }
        value
    }

    /// `-a`; the least integer has no negative.
    pub(super) fn negate(&mut self, operand: Atom) -> Atom {
        let elem = self.b.ty(operand).elem;
        if elem.is_float() {
            return self.element_wise(&NEG, &[operand]);
        }
        each_element(self, &[operand], &mut |code, args| code.fitting(&NEG, args))
    }

    /// A scalar function of the prelude.
    pub(super) fn primitive(&mut self, row: &'static PrimRow, wraps: bool, args: &[Atom]) -> Atom {
        let elem = self.b.ty(args[0]).elem;
        match row.needs() {
            Needs::Nothing => {}
            Needs::Divisor => {
                return each_element(self, args, &mut |code, args| {
                    let divisor = non_zero(code, args[1]);
                    code.fitting(row, &[args[0], divisor])
                });
            }
            Needs::Distance => {
                let distance = self.convert(args[1], Elem::I64);
                return each_element(self, &[args[0], distance], &mut |code, args| {
                    let cond = code.prim(&SHIFT_FITS, args);
                    let distance = code.check(cond, CheckKind::ShiftRange, &args[1..], args[1]);
                    code.prim(row, &[args[0], distance])
                });
            }
        }
        if *row != POWI {
            let may_fail = row.fits.is_some() && elem.is_signed() && !wraps;
            return match may_fail {
                true => each_element(self, args, &mut |code, args| code.fitting(row, args)),
                false => self.element_wise(row, args),
            };
        }
        let exponent = exponent(self, args[1]);
        if elem.is_float() {
            return self.element_wise(row, &[args[0], exponent]);
        }
        each_element(self, &[args[0], exponent], &mut |code, args| {
            let exponent = natural(code, args[1]);
            code.prim(row, &[args[0], exponent])
        })
    }

    /// `e as T`, checked where `T` can't hold every value.
    pub(super) fn cast(&mut self, value: Atom, elem: Elem) -> Atom {
        let from = self.b.ty(value).elem;
        if from == elem {
            return value;
        }
        let value = if elem.is_integer() { self.computed(value) } else { value };
        match cast_fits(elem) {
            Some(fits) if !holds_all(elem, from) => each_element(self, &[value], &mut |code, args| {
                let cond = code.prim(fits, args);
                let value = code.prim(cast_to(elem), args);
                code.check(cond, CheckKind::CastRange, args, value)
            }),
            Some(_) | None => self.convert(value, elem),
        }
    }

    /// A value of a storage type as it is computed with.
    pub(super) fn computed(&mut self, value: Atom) -> Atom {
        let elem = self.b.ty(value).elem;
        self.convert(value, elem.computed())
    }

    /// Element-wise conversion without a check.
    pub(super) fn convert(&mut self, value: Atom, elem: Elem) -> Atom {
        if self.b.ty(value).elem == elem { value } else { self.element_wise(cast_to(elem), &[value]) }
    }

    /// A primitive on scalars or tensors of one shape; scalars among tensors lift.
    pub(super) fn element_wise(&mut self, row: &'static PrimRow, args: &[Atom]) -> Atom {
        let dims = common_dims(self, args);
        let lift = |code: &mut Self, a: &Atom| match a {
            Atom::Var(_) if code.b.ty(*a).is_scalar() => code.fill(*a, &dims),
            Atom::Var(_) | Atom::Const(_) => *a,
        };
        let args: Vec<Atom> = args.iter().map(|a| lift(self, a)).collect();
        self.prim(row, &args)
    }

    /// Index variables for a region of several levels.
    pub(super) fn index_vars(&mut self, n: usize) -> Vec<Var> {
        const NAMES: [&str; 4] = ["i", "j", "k", "l"];
        let indices: Vec<Var> =
            (0..n).map(|k| self.b.var(NAMES.get(k).copied().unwrap_or("i"), Ty::scalar(Elem::I64))).collect();
        self.non_negative.extend(indices.iter().copied());
        self.bounded.extend(indices.iter().copied());
        indices
    }
}

/// An operator on integer scalars, with its checks.
fn integer_binary(code: &mut Code, op: BinaryOp, left: Atom, right: Atom) -> Atom {
    let args = [left, right];
    if always_fits(code, op, left, right) {
        return code.prim(op.row(), &args);
    }
    match op {
        BinaryOp::Add => code.fitting(&ADD, &args),
        BinaryOp::Sub => code.fitting(&SUB, &args),
        BinaryOp::Mul => code.fitting(&MUL, &args),
        BinaryOp::Div => {
            let right = non_zero(code, right);
            code.fitting(&DIV, &[left, right])
        }
        BinaryOp::Rem => {
            let right = non_zero(code, right);
            code.prim(&REM, &[left, right])
        }
        BinaryOp::PowInt => {
            let right = natural(code, right);
            code.fitting(&POWI, &[left, right])
        }
        BinaryOp::Pow
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::MatMul => code.prim(op.row(), &args),
    }
}

/// Whether signs and bounds alone tell that an i64 result fits: differences of what is not negative, one more than
/// what lies below an extent, quotients by a constant. Everything else is left to the optimiser.
fn always_fits(code: &Code, op: BinaryOp, left: Atom, right: Atom) -> bool {
    let one = Atom::i64(1);
    let is_below = |a: Atom| a.var().is_some_and(|v| code.bounded.contains(&v));
    match op {
        BinaryOp::Add => is_below(left) && right == one || left == one && is_below(right),
        BinaryOp::Sub => code.is_non_negative(left) && code.is_non_negative(right),
        BinaryOp::Div => right.constant().and_then(Const::as_i64).is_some_and(|n| n != 0 && n != -1),
        BinaryOp::Mul
        | BinaryOp::Rem
        | BinaryOp::Pow
        | BinaryOp::PowInt
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::MatMul => false,
    }
}

fn non_zero(code: &mut Code, divisor: Atom) -> Atom {
    let zero = Atom::Const(Const::zero(code.b.ty(divisor).elem));
    let cond = code.prim(&NE, &[divisor, zero]);
    code.check(cond, CheckKind::DivisionByZero, &[divisor], divisor)
}

/// An exponent of any integer type as an i64. One of u64 that is too large becomes one that is as good: of numbers
/// other than 0, 1 and -1 no such power is in range, and for -1 it is odd or even as before.
fn exponent(code: &mut Code, exponent: Atom) -> Atom {
    let is_large = code.b.ty(exponent).elem == Elem::U64;
    let exponent = code.convert(exponent, Elem::I64);
    if !is_large {
        return exponent;
    }
    let is_odd = code.element_wise(&AND, &[exponent, Atom::i64(1)]);
    let large = code.element_wise(&OR, &[is_odd, Atom::i64(i64::MAX - 1)]);
    let has_wrapped = code.element_wise(&LT, &[exponent, Atom::i64(0)]);
    code.element_wise(&SELECT, &[has_wrapped, large, exponent])
}

/// An exponent that is not negative.
fn natural(code: &mut Code, exponent: Atom) -> Atom {
    let cond = code.prim(&GE, &[exponent, Atom::i64(0)]);
    code.check(cond, CheckKind::NegativePower, &[exponent], exponent)
}

/// The dims of the tensors among the operands; empty if all are scalars.
fn common_dims(code: &Code, args: &[Atom]) -> Vec<Dim> {
    args.iter().map(|a| code.b.ty(*a).dims).find(|dims| !dims.is_empty()).unwrap_or_default()
}

/// `f` on scalars; on tensors a parallel loop over their elements.
fn each_element(code: &mut Code, args: &[Atom], f: &mut dyn FnMut(&mut Code, &[Atom]) -> Atom) -> Atom {
    let dims = common_dims(code, args);
    if dims.is_empty() {
        return f(code, args);
    }
    let indices = code.index_vars(dims.len());
    let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
    code.b.open_block();
    let element = |code: &mut Code, a: &Atom| {
        if code.b.ty(*a).is_scalar() { *a } else { code.b.index(*a, &at).into() }
    };
    let elements: Vec<Atom> = args.iter().map(|a| element(code, a)).collect();
    let element = f(code, &elements);
    let block = code.b.close_block(vec![element]);
    let extents = dims.iter().map(|d| d.atom()).collect();
    code.b.finish_par(indices, extents, vec![ParResult::Stacked], Vec::new(), block)[0].into()
}

fn matmul(body: &mut Body<'_, '_>, left: Atom, right: Atom) -> Result<Atom> {
    let (a, b) = (body.code.b.ty(left), body.code.b.ty(right));
    if a.rank() == 1 && b.rank() == 1 {
        return body.dot(left, right);
    }
    let rows = &a.dims[..a.rank() - 1];
    let batch = b.rank().saturating_sub(2);
    let columns = &b.dims[b.rank().min(batch + 1)..];
    let dims: Vec<Dim> = rows.iter().chain(columns).copied().collect();
    if a.elem.is_float() {
        let ty = Ty::new(a.elem, dims);
        return Ok(body.code.b.tensor(MATMUL.op(), &[left, right], &[0], ty).into());
    }
    // Integer products are checked term by term.
    let n_batch = if a.rank() >= 2 && b.rank() >= 2 { batch } else { 0 };
    let indices = body.code.index_vars(dims.len());
    let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
    let (row, column) = at.split_at(rows.len());
    let length = a.dims[a.rank() - 1].atom();
    body.code.b.open_block();
    let sum = body.scoped(|body| {
        let zero = Atom::Const(Const::zero(a.elem));
        let sums = body.counted(length, &[("sum", zero)], &mut |body, k, sums| {
            let x = body.code.b.index(left, &[row, &[k]].concat()).into();
            let y = body.code.b.index(right, &[&row[..n_batch], &[k], column].concat()).into();
            let product = body.code.fitting(&MUL, &[x, y]);
            Ok(vec![body.code.fitting(&ADD, &[sums[0], product])])
        });
        sums.map(|sums| sums[0])
    })?;
    if dims.is_empty() {
        let mut block = body.code.b.close_block(vec![sum]);
        body.code.b.stmts().append(&mut block.stmts);
        return Ok(sum);
    }
    let block = body.code.b.close_block(vec![sum]);
    let extents = dims.iter().map(|d| d.atom()).collect();
    Ok(body.code.b.finish_par(indices, extents, vec![ParResult::Stacked], Vec::new(), block)[0].into())
}

/// Whether the operator computes a number, which may not fit.
fn is_arithmetic(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Pow
        | BinaryOp::PowInt => true,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::MatMul => {
            false
        }
    }
}

/// Whether an integer type holds every value of another type.
fn holds_all(elem: Elem, from: Elem) -> bool {
    if from == Elem::Bool {
        return true;
    }
    match (elem.integer_range(), from.integer_range()) {
        (Some((least, greatest)), Some((from_least, from_greatest))) => {
            least <= from_least && from_greatest <= greatest
        }
        (_, _) => false,
    }
}
