//! Values of the op table's terms, on any numbers.

use crate::domain::{MAX_OPERANDS, undefined};
use crate::error::RuntimeError;
use crate::numbers::Numbers;
use crate::tape::row_use::RowUse;
use cotan_ir::{Const, Elem};
use cotan_ops::{ADD, PrimRow, Term, cast_to, typed_number};

/// A typed value.
type Typed = (Elem, u64);

impl Numbers {
    /// The value of a term over one use of a row and its result.
    pub(crate) fn term(self, term: &Term, at: &RowUse, result: Typed) -> Result<Typed, RuntimeError> {
        let t = at.row.t_of(&at.elems[..at.arity]).unwrap_or(result.0).computed();
        match term {
            Term::Arg(n) => Ok((at.elems[*n], at.values[*n])),
            Term::Result => Ok(result),
            Term::Number(x) => self.typed(typed_number(t, *x)),
            Term::Named(constant) => self.typed(typed_number(t, constant.value)),
            Term::Int(n) => self.typed(Const::i64(*n)),
            Term::ToT(inner) => {
                let inner = self.term(inner, at, result)?;
                self.apply_row(cast_to(t), &[inner])
            }
            Term::Apply(row, operands) => {
                let mut values = [(Elem::F64, 0); MAX_OPERANDS];
                for (value, operand) in values.iter_mut().zip(*operands) {
                    *value = self.term(operand, at, result)?;
                }
                self.apply_row(row, &values[..operands.len()])
            }
        }
    }

    /// The value of a row.
    pub(crate) fn apply_row(self, row: &'static PrimRow, operands: &[Typed]) -> Result<Typed, RuntimeError> {
        let (mut elems, mut bits) = ([Elem::F64; MAX_OPERANDS], [0; MAX_OPERANDS]);
        for (k, operand) in operands.iter().enumerate() {
            (elems[k], bits[k]) = *operand;
        }
        let (elems, bits) = (&elems[..operands.len()], &bits[..operands.len()]);
        let elem = row.prim().result_elem(elems).map_err(RuntimeError::Undefined)?;
        let evaluator = self.evaluator(row, elems).ok_or_else(|| undefined(row))?;
        Ok((elem, self.evaluate(&evaluator, bits)?))
    }

    /// The sum of two values of one type.
    pub(crate) fn sum(self, elem: Elem, a: u64, b: u64) -> Result<u64, RuntimeError> {
        Ok(self.apply_row(&ADD, &[(elem, a), (elem, b)])?.1)
    }

    /// Whether a float is exactly zero, of either sign.
    pub(crate) fn is_zero(self, elem: Elem, bits: u64) -> bool {
        match (self, elem) {
            (Numbers::Ieee, Elem::F32) => f32::from_bits(bits as u32) == 0.0,
            (Numbers::Ieee, Elem::F64) => f64::from_bits(bits) == 0.0,
            (Numbers::Mod61, _) | (Numbers::Ieee, _) => bits == 0,
        }
    }

    fn typed(self, c: Const) -> Result<Typed, RuntimeError> {
        Ok((c.elem(), self.constant(c)))
    }
}
