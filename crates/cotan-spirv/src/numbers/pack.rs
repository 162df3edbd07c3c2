//! Floats taken apart and put together, in integers alone: sign, exponent, significand; rounding to nearest, ties to even.

use crate::emit::{Emitter, Format, Value};
use rspirv::spirv::Op;

/// A number that is not zero, infinite or NaN: the significand has its leading bit, times two to the power of the exponent.
pub(super) struct Unpacked {
    /// The significand as an integer of one bit more than the fraction.
    pub(super) significand: Value,
    /// The exponent of its leading bit.
    pub(super) exponent: Value,
}

/// Bits of a significand that is to be rounded, beyond those of the format: a half, and one for all that is below.
pub(super) const EXTRA: u32 = 2;

impl Emitter<'_> {
    /// Takes a number apart. Exponents are integers of the width of the format.
    pub(super) fn unpack(&mut self, format: Format, a: Value) -> Unpacked {
        let Format { float, bits, fraction, bias } = format;
        let size = self.magnitude(format, a);
        let least = self.power(format, format.least_exponent());
        let is_subnormal = self.compare(Op::FOrdLessThan, size, least);
        let shift = fraction as i32 + 1;
        let factor = self.power(format, shift);
        let moved = self.mul(float, size, factor);
        let size = self.choose(float, is_subnormal, moved, size);
        let number = self.bits(bits, size);
        let exponent = self.shift(Op::ShiftRightLogical, bits, number, fraction);
        let [low, high] = [bias + shift, bias].map(|n| self.int(bits, n.into()));
        let bias = self.choose(bits, is_subnormal, low, high);
        let exponent = self.sub(bits, exponent, bias);
        let significand = self.masked(bits, number, (1 << fraction) - 1);
        let leading = self.bits_constant(bits, 1 << fraction);
        Unpacked { significand: self.or(bits, significand, leading), exponent }
    }

    /// Puts a number together and rounds it once. The significand has [`EXTRA`] bits more than the format, the leading one
    /// among them is set; the last one stands for all that was cut off.
    pub(super) fn pack(&mut self, format: Format, number: Unpacked) -> Value {
        let Format { bits, fraction, bias, .. } = format;
        let bias = self.int(bits, bias.into());
        let [zero, one] = [0, 1].map(|n| self.int(bits, n));
        let field = self.add(bits, number.exponent, bias);
        let missing = self.sub(bits, one, field);
        let is_normal = self.compare(Op::SLessThan, missing, zero);
        let missing = self.choose(bits, is_normal, zero, missing);
        let most = self.int(bits, i64::from(bits.bits()) - 1);
        let is_lost = self.compare(Op::SGreaterThan, missing, most);
        let missing = self.choose(bits, is_lost, most, missing);
        let significand = self.shifted_with_rest(format, number.significand, missing);

        // The leading bit of a normal number counts for one in the exponent.
        let below = self.sub(bits, field, one);
        let below = self.choose(bits, is_normal, below, zero);
        let places = self.int(bits, fraction.into());
        let below = self.op(Op::ShiftLeftLogical, bits, &[below, places]);
        let odd = self.shift(Op::ShiftRightLogical, bits, significand, EXTRA);
        let odd = self.and(bits, odd, one);
        let almost_half = self.int(bits, (1 << (EXTRA - 1)) - 1);
        let sum = self.add(bits, significand, almost_half);
        let sum = self.add(bits, sum, odd);
        let rounded = self.shift(Op::ShiftRightLogical, bits, sum, EXTRA);
        let packed = self.add(bits, below, rounded);
        let greatest = self.int(bits, 2 * i64::from(format.bias));
        let overflows = self.compare(Op::SGreaterThan, field, greatest);
        let infinity = self.bits_constant(bits, format.infinity());
        self.choose(bits, overflows, infinity, packed)
    }

    /// An integer shifted down; its last bit is set if a bit was lost.
    pub(super) fn shifted_with_rest(&mut self, format: Format, a: Value, distance: Value) -> Value {
        let bits = format.bits;
        let down = self.op(Op::ShiftRightLogical, bits, &[a, distance]);
        let back = self.op(Op::ShiftLeftLogical, bits, &[down, distance]);
        let lost = self.compare(Op::INotEqual, back, a);
        self.with_rest(format, down, lost)
    }

    /// An integer whose last bit is set if there is a rest.
    pub(super) fn with_rest(&mut self, format: Format, a: Value, has_rest: Value) -> Value {
        let [zero, one] = [0, 1].map(|n| self.int(format.bits, n));
        let rest = self.choose(format.bits, has_rest, one, zero);
        self.or(format.bits, a, rest)
    }
}
