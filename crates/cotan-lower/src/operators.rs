//! Operators and primitives on scalars and, element-wise, on tensors.
//!
//! Floats and truth values are computed by element-wise primitives. Where an element can fail (integers), the operation
//! is a parallel loop over elements, each with its check.

use cotan_ir::{Atom, CheckKind, Const, Dim, Elem, ParResult, Ty, Var};
use cotan_ops::{ADD, AND, DIV, GE, LT, MATMUL, MUL, NE, NEG, OR, POWI, PrimRow, REM, SELECT, SUB, cast_fits, cast_to};

use super::Result;
use super::body::{Body, ir_span};
use cotan_sema::typed::{BinaryOp, Chain};

impl<'p> Body<'_, 'p> {
    /// A run of operators, from left to right.
    pub(super) fn chain(&mut self, chain: &'p Chain) -> Result<Atom> {
        let mut value = self.scalar(&chain.first)?;
        for link in &chain.rest {
            let operand = self.scalar(&link.operand)?;
            self.b.set_span(ir_span(link.span));
            value = self.binary(link.op, value, operand)?;
        }
        Ok(value)
    }

    /// One infix operator.
    pub(super) fn binary(&mut self, op: BinaryOp, left: Atom, right: Atom) -> Result<Atom> {
        if op == BinaryOp::MatMul {
            return self.matmul(left, right);
        }
        // What a generic function compares may be of a storage type.
        let (left, right) = (self.computed(left), self.computed(right));
        let elem = self.b.ty(left).elem;
        let can_fail = elem.is_integer() && is_arithmetic(op);
        let right = if op == BinaryOp::PowInt { self.exponent(right) } else { right };
        Ok(if can_fail {
            self.each_element(&[left, right], &mut |body, args| body.integer_binary(op, args[0], args[1]))
        } else {
            self.element_wise(op.row(), &[left, right])
        })
    }

    /// An operator on integer scalars, with its checks.
    fn integer_binary(&mut self, op: BinaryOp, left: Atom, right: Atom) -> Atom {
        let args = [left, right];
        if self.always_fits(op, left, right) {
            return self.prim(op.row(), &args);
        }
        match op {
            BinaryOp::Add => self.fitting(&ADD, &args),
            BinaryOp::Sub => self.fitting(&SUB, &args),
            BinaryOp::Mul => self.fitting(&MUL, &args),
            BinaryOp::Div => {
                let right = self.non_zero(right);
                self.fitting(&DIV, &[left, right])
            }
            BinaryOp::Rem => {
                let right = self.non_zero(right);
                self.prim(&REM, &[left, right])
            }
            BinaryOp::PowInt => {
                let right = self.natural(right);
                self.fitting(&POWI, &[left, right])
            }
            BinaryOp::Pow
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::MatMul => self.prim(op.row(), &args),
        }
    }

    /// Whether signs and bounds alone tell that an i64 result fits: differences of what is not negative, one more than
    /// what lies below an extent, quotients by a constant. Everything else is left to the optimiser.
    fn always_fits(&self, op: BinaryOp, left: Atom, right: Atom) -> bool {
        let one = Atom::i64(1);
        let is_below = |a: Atom| a.var().is_some_and(|v| self.bounded.contains(&v));
        match op {
            BinaryOp::Add => is_below(left) && right == one || left == one && is_below(right),
            BinaryOp::Sub => self.is_non_negative(left) && self.is_non_negative(right),
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

    fn non_zero(&mut self, divisor: Atom) -> Atom {
        let zero = Atom::Const(Const::zero(self.b.ty(divisor).elem));
        let cond = self.prim(&NE, &[divisor, zero]);
        self.check(cond, CheckKind::DivisionByZero, &[divisor], divisor)
    }

    /// `-a`; the least integer has no negative.
    pub(super) fn negate(&mut self, operand: Atom) -> Atom {
        let elem = self.b.ty(operand).elem;
        if elem.is_float() {
            return self.element_wise(&NEG, &[operand]);
        }
        self.each_element(&[operand], &mut |body, args| body.fitting(&NEG, args))
    }

    /// A scalar function of the prelude.
    pub(super) fn primitive(&mut self, row: &'static PrimRow, wraps: bool, args: &[Atom]) -> Atom {
        let elem = self.b.ty(args[0]).elem;
        if *row != POWI {
            let may_fail = row.fits.is_some() && elem.is_signed() && !wraps;
            return match may_fail {
                true => self.each_element(args, &mut |body, args| body.fitting(row, args)),
                false => self.element_wise(row, args),
            };
        }
        let exponent = self.exponent(args[1]);
        if elem.is_float() {
            return self.element_wise(row, &[args[0], exponent]);
        }
        self.each_element(&[args[0], exponent], &mut |body, args| {
            let exponent = body.natural(args[1]);
            body.prim(row, &[args[0], exponent])
        })
    }

    /// An exponent of any integer type as an i64. One of u64 that is too large becomes one that is as good: of numbers
    /// other than 0, 1 and -1 no such power is in range, and for -1 it is odd or even as before.
    fn exponent(&mut self, exponent: Atom) -> Atom {
        let is_large = self.b.ty(exponent).elem == Elem::U64;
        let exponent = self.convert(exponent, Elem::I64);
        if !is_large {
            return exponent;
        }
        let is_odd = self.element_wise(&AND, &[exponent, Atom::i64(1)]);
        let large = self.element_wise(&OR, &[is_odd, Atom::i64(i64::MAX - 1)]);
        let has_wrapped = self.element_wise(&LT, &[exponent, Atom::i64(0)]);
        self.element_wise(&SELECT, &[has_wrapped, large, exponent])
    }

    /// An exponent that is not negative.
    fn natural(&mut self, exponent: Atom) -> Atom {
        let cond = self.prim(&GE, &[exponent, Atom::i64(0)]);
        self.check(cond, CheckKind::NegativePower, &[exponent], exponent)
    }

    /// `e as T`, checked where `T` can't hold every value.
    pub(super) fn cast(&mut self, value: Atom, elem: Elem) -> Atom {
        let from = self.b.ty(value).elem;
        if from == elem {
            return value;
        }
        let value = if elem.is_integer() { self.computed(value) } else { value };
        match cast_fits(elem) {
            Some(fits) if !holds_all(elem, from) => self.each_element(&[value], &mut |body, args| {
                let cond = body.prim(fits, args);
                let value = body.prim(cast_to(elem), args);
                body.check(cond, CheckKind::CastRange, args, value)
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
        let dims = self.common_dims(args);
        let lift = |body: &mut Self, a: &Atom| match a {
            Atom::Var(_) if body.b.ty(*a).is_scalar() => body.fill(*a, &dims),
            Atom::Var(_) | Atom::Const(_) => *a,
        };
        let args: Vec<Atom> = args.iter().map(|a| lift(self, a)).collect();
        self.prim(row, &args)
    }

    /// The dims of the tensors among the operands; empty if all are scalars.
    fn common_dims(&self, args: &[Atom]) -> Vec<Dim> {
        args.iter().map(|a| self.b.ty(*a).dims).find(|dims| !dims.is_empty()).unwrap_or_default()
    }

    /// `f` on scalars; on tensors a parallel loop over their elements.
    pub(super) fn each_element(&mut self, args: &[Atom], f: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom) -> Atom {
        let dims = self.common_dims(args);
        if dims.is_empty() {
            return f(self, args);
        }
        let indices = self.index_vars(dims.len());
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.b.open_block();
        let element = self.scoped(|body| {
            let element = |body: &mut Self, a: &Atom| {
                if body.b.ty(*a).is_scalar() { *a } else { body.b.index(*a, &at).into() }
            };
            let elements: Vec<Atom> = args.iter().map(|a| element(body, a)).collect();
            f(body, &elements)
        });
        let block = self.b.close_block(vec![element]);
        let extents = dims.iter().map(|d| d.atom()).collect();
        self.b.finish_par(indices, extents, vec![ParResult::Stacked], Vec::new(), block)[0].into()
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

    fn matmul(&mut self, left: Atom, right: Atom) -> Result<Atom> {
        let (a, b) = (self.b.ty(left), self.b.ty(right));
        let rows = &a.dims[..a.rank() - 1];
        let batch = b.rank().saturating_sub(2);
        let columns = &b.dims[b.rank().min(batch + 1)..];
        let dims: Vec<Dim> = rows.iter().chain(columns).copied().collect();
        if a.elem.is_float() {
            let ty = Ty::new(a.elem, dims);
            return Ok(self.b.tensor(MATMUL.op(), &[left, right], &[0], ty).into());
        }
        // Integer products are checked term by term.
        let n_batch = if a.rank() >= 2 && b.rank() >= 2 { batch } else { 0 };
        let indices = self.index_vars(dims.len());
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        let (row, column) = at.split_at(rows.len());
        let length = a.dims[a.rank() - 1].atom();
        self.b.open_block();
        let sum = self.scoped(|body| {
            let zero = Atom::Const(Const::zero(a.elem));
            let sums = body.counted(length, &[("sum", zero)], &mut |body, k, sums| {
                let x = body.b.index(left, &[row, &[k]].concat()).into();
                let y = body.b.index(right, &[&row[..n_batch], &[k], column].concat()).into();
                let product = body.fitting(&MUL, &[x, y]);
                Ok(vec![body.fitting(&ADD, &[sums[0], product])])
            });
            sums.map(|sums| sums[0])
        })?;
        if dims.is_empty() {
            let mut block = self.b.close_block(vec![sum]);
            self.b.stmts().append(&mut block.stmts);
            return Ok(sum);
        }
        let block = self.b.close_block(vec![sum]);
        let extents = dims.iter().map(|d| d.atom()).collect();
        Ok(self.b.finish_par(indices, extents, vec![ParResult::Stacked], Vec::new(), block)[0].into())
    }
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
