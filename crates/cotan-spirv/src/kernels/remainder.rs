//! The remainder of floats by long division of their significands, several bits a turn: it is exact, so it has the bits of
//! any other way.

use super::body::Body;
use super::{LONG, Unsupported};
use crate::emit::{Format, Register, Value};
use cotan_ir::Elem;
use cotan_ops::Instruction;
use rspirv::spirv::Op;

/// A magnitude as a whole number times a power of two.
struct Scaled {
    significand: Value,
    /// The exponent as it is written; that of subnormal numbers is 1.
    exponent: Value,
}

impl Body<'_> {
    /// What is left of `x` when multiples of `y` are taken off towards zero, with the sign of `x`.
    pub(super) fn remainder(&mut self, elem: Elem, [x, y]: [Value; 2]) -> Result<Value, Unsupported> {
        let Some(format) = Format::of(elem) else {
            return Err(Unsupported::Host(format!("rem on {elem}")));
        };
        let words = [x, y].map(|value| self.out.as_word(elem, value));
        let [a, b] = words.map(|word| self.out.masked(LONG, word, format.magnitude()));
        let sign = self.out.xor(LONG, words[0], a);
        let [dividend, divisor] = [a, b].map(|magnitude| self.scaled(format, magnitude));
        let rest = self.significand_of_rest(format, &dividend, &divisor)?;
        let rest = self.magnitude_of(elem, format, rest, divisor.exponent)?;

        let is_less = self.out.compare(Op::ULessThan, a, b);
        let rest = self.out.choose(LONG, is_less, a, rest);
        let (zero, infinity) = (self.out.int(LONG, 0), self.out.bits_constant(LONG, format.infinity()));
        let by_zero = self.out.compare(Op::IEqual, b, zero);
        let by_nan = self.out.compare(Op::UGreaterThan, b, infinity);
        let of_none = self.out.compare(Op::UGreaterThanEqual, a, infinity);
        let is_nan = [by_nan, of_none].into_iter().fold(by_zero, |all, one| self.out.or(Register::Bool, all, one));
        let nan = self.out.bits_constant(LONG, format.nan());
        let signed = self.out.or(LONG, rest, sign);
        let word = self.out.choose(LONG, is_nan, nan, signed);
        Ok(self.of_word(elem, word))
    }

    fn scaled(&mut self, format: Format, magnitude: Value) -> Scaled {
        let (zero, one) = (self.out.int(LONG, 0), self.out.int(LONG, 1));
        let exponent = self.out.shift(Op::ShiftRightLogical, LONG, magnitude, format.fraction);
        let fraction = self.out.masked(LONG, magnitude, (1 << format.fraction) - 1);
        let leading = self.out.bits_constant(LONG, 1 << format.fraction);
        let normal = self.out.or(LONG, fraction, leading);
        let is_subnormal = self.out.compare(Op::IEqual, exponent, zero);
        Scaled {
            significand: self.out.choose(LONG, is_subnormal, fraction, normal),
            exponent: self.out.choose(LONG, is_subnormal, one, exponent),
        }
    }

    /// The significand of the remainder, in the exponent of the divisor.
    fn significand_of_rest(
        &mut self,
        format: Format,
        dividend: &Scaled,
        divisor: &Scaled,
    ) -> Result<Value, Unsupported> {
        let (zero, one) = (self.out.int(LONG, 0), self.out.int(LONG, 1));
        let is_zero = self.out.compare(Op::IEqual, divisor.significand, zero);
        let by = self.out.choose(LONG, is_zero, one, divisor.significand);
        let [rest, left] = [(); 2].map(|()| self.out.variable(LONG));
        let first = self.out.op(Op::UMod, LONG, &[dividend.significand, by]);
        self.out.set(rest, first);
        let difference = self.out.sub(LONG, dividend.exponent, divisor.exponent);
        let is_less = self.out.compare(Op::SLessThan, difference, zero);
        let difference = self.out.choose(LONG, is_less, zero, difference);
        self.out.set(left, difference);

        let turn = self.out.begin_loop();
        let n_left = self.out.get(left);
        let goes_on = self.out.compare(Op::SGreaterThan, n_left, zero);
        self.out.begin_turn(turn, goes_on);
        // A rest is below the divisor, so that there is room for so many bits.
        let most = self.out.int(LONG, 63 - i64::from(format.fraction));
        let is_last = self.out.compare(Op::SLessThan, n_left, most);
        let bits = self.out.choose(LONG, is_last, n_left, most);
        let before = self.out.get(rest);
        let shifted = self.out.op(Op::ShiftLeftLogical, LONG, &[before, bits]);
        let after = self.out.op(Op::UMod, LONG, &[shifted, by]);
        self.out.set(rest, after);
        let n_left = self.out.sub(LONG, n_left, bits);
        self.out.set(left, n_left);
        self.out.end_loop(turn);
        let n_left = self.out.get(left);
        let goes_on = self.out.compare(Op::SGreaterThan, n_left, zero);
        self.leave_cut_loop(goes_on);
        Ok(self.out.get(rest))
    }

    /// The magnitude of a significand at an exponent.
    fn magnitude_of(
        &mut self,
        elem: Elem,
        format: Format,
        significand: Value,
        exponent: Value,
    ) -> Result<Value, Unsupported> {
        let (zero, one) = (self.out.int(LONG, 0), self.out.int(LONG, 1));
        let whole = self.out.instruction(Instruction::Cast(elem), Elem::U64, &[significand])?;
        let whole = self.out.as_word(elem, whole);
        let written = self.out.shift(Op::ShiftRightLogical, LONG, whole, format.fraction);
        let fraction = self.out.masked(LONG, whole, (1 << format.fraction) - 1);
        let unit = self.out.int(LONG, i64::from(format.bias) + i64::from(format.fraction));
        let sum = self.out.add(LONG, written, exponent);
        let moved = self.out.sub(LONG, sum, unit);
        let upper = self.out.shift(Op::ShiftLeftLogical, LONG, moved, format.fraction);
        let normal = self.out.or(LONG, upper, fraction);
        let distance = self.out.sub(LONG, exponent, one);
        let distance = self.out.masked(LONG, distance, 63);
        let subnormal = self.out.op(Op::ShiftLeftLogical, LONG, &[significand, distance]);
        let is_normal = self.out.compare(Op::SGreaterThan, moved, zero);
        let magnitude = self.out.choose(LONG, is_normal, normal, subnormal);
        let is_zero = self.out.compare(Op::IEqual, significand, zero);
        Ok(self.out.choose(LONG, is_zero, zero, magnitude))
    }
}
