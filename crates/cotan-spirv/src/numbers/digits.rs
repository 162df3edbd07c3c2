//! Quotients and square roots digit by digit (restoring, in base two), in integers: exact on every device, whatever its own
//! are like.

use super::pack::{EXTRA, Unpacked};
use crate::emit::{Emitter, Format, Register, Value};
use rspirv::spirv::Op;

impl Emitter<'_> {
    /// `a / b`, rounded once.
    pub(super) fn exact_quotient(&mut self, format: Format, a: Value, b: Value) -> Value {
        let bits = format.bits;
        let [zero, one] = [0, 1].map(|n| self.int(bits, n));
        let dividend = self.unpack(format, a);
        let divisor = self.unpack(format, b);
        let exponent = self.sub(bits, dividend.exponent, divisor.exponent);
        // The first digit is to be one.
        let is_less = self.compare(Op::ULessThan, dividend.significand, divisor.significand);
        let doubled = self.add(bits, dividend.significand, dividend.significand);
        let rest = self.choose(bits, is_less, doubled, dividend.significand);
        let before = self.sub(bits, exponent, one);
        let exponent = self.choose(bits, is_less, before, exponent);
        let digits = format.fraction + 1 + EXTRA;
        let [quotient, rest] = self.repeat(digits, [(bits, zero), (bits, rest)], |out, [quotient, rest]| {
            let fits = out.compare(Op::UGreaterThanEqual, rest, divisor.significand);
            let less = out.sub(bits, rest, divisor.significand);
            let rest = out.choose(bits, fits, less, rest);
            let quotient = out.add(bits, quotient, quotient);
            let quotient = out.with_rest(format, quotient, fits);
            [quotient, out.add(bits, rest, rest)]
        });
        let has_rest = self.compare(Op::INotEqual, rest, zero);
        let significand = self.with_rest(format, quotient, has_rest);
        let number = self.pack(format, Unpacked { significand, exponent });
        self.special_quotient(format, number, a, b)
    }

    /// The quotient with its sign; zeros, infinities and NaN where the operands are such.
    fn special_quotient(&mut self, format: Format, number: Value, a: Value, b: Value) -> Value {
        let bits = format.bits;
        let [a, b] = [a, b].map(|x| self.bits(bits, x));
        let sign = self.xor(bits, a, b);
        let sign = self.masked(bits, sign, format.sign());
        let [a, b] = [a, b].map(|x| self.masked(bits, x, format.magnitude()));
        let infinity = self.bits_constant(bits, format.infinity());
        let zero = self.int(bits, 0);
        let [a_zero, b_zero] = [a, b].map(|x| self.compare(Op::IEqual, x, zero));
        let [a_infinite, b_infinite] = [a, b].map(|x| self.compare(Op::IEqual, x, infinity));
        let [a_nan, b_nan] = [a, b].map(|x| self.compare(Op::UGreaterThan, x, infinity));
        let is_zero = self.or(Register::Bool, a_zero, b_infinite);
        let is_infinite = self.or(Register::Bool, a_infinite, b_zero);
        let neither = self.and(Register::Bool, is_zero, is_infinite);
        let is_nan = self.or(Register::Bool, a_nan, b_nan);
        let is_nan = self.or(Register::Bool, is_nan, neither);
        let number = self.choose(bits, is_zero, zero, number);
        let number = self.choose(bits, is_infinite, infinity, number);
        let nan = self.bits_constant(bits, format.nan());
        let number = self.choose(bits, is_nan, nan, number);
        let number = self.or(bits, number, sign);
        self.bits(format.float, number)
    }

    /// The square root of `a`, rounded once.
    pub(super) fn exact_root(&mut self, format: Format, a: Value) -> Value {
        let Format { float, bits, fraction, .. } = format;
        let zero = self.int(bits, 0);
        let number = self.unpack(format, a);
        // Of an even power of two the root is one.
        let odd = self.masked(bits, number.exponent, 1);
        let is_odd = self.compare(Op::INotEqual, odd, zero);
        let doubled = self.add(bits, number.significand, number.significand);
        let significand = self.choose(bits, is_odd, doubled, number.significand);
        let exponent = self.shift(Op::ShiftRightArithmetic, bits, number.exponent, 1);
        // Two bits for each digit are taken from the top.
        let digits = self.shift(Op::ShiftLeftLogical, bits, significand, bits.bits() - (fraction + 2));
        let start = [(bits, zero), (bits, zero), (bits, digits)];
        let [root, rest, _] = self.repeat(fraction + 1 + EXTRA, start, |out, [root, rest, digits]| {
            let next = out.shift(Op::ShiftRightLogical, bits, digits, bits.bits() - 2);
            let rest = out.shift(Op::ShiftLeftLogical, bits, rest, 2);
            let rest = out.or(bits, rest, next);
            let trial = out.shift(Op::ShiftLeftLogical, bits, root, 2);
            let one = out.int(bits, 1);
            let trial = out.or(bits, trial, one);
            let fits = out.compare(Op::UGreaterThanEqual, rest, trial);
            let less = out.sub(bits, rest, trial);
            let rest = out.choose(bits, fits, less, rest);
            let root = out.add(bits, root, root);
            let root = out.with_rest(format, root, fits);
            [root, rest, out.shift(Op::ShiftLeftLogical, bits, digits, 2)]
        });
        let has_rest = self.compare(Op::INotEqual, rest, zero);
        let significand = self.with_rest(format, root, has_rest);
        let root = self.pack(format, Unpacked { significand, exponent });
        let root = self.bits(float, root);
        // Zeros and infinity are their own roots; that of a NaN or of a negative number is NaN.
        let none = self.bits_constant(float, 0);
        let infinity = self.bits_constant(float, format.infinity());
        let is_positive = self.compare(Op::FOrdGreaterThan, a, none);
        let is_less = self.compare(Op::FOrdLessThan, a, infinity);
        let is_zero = self.compare(Op::FOrdEqual, a, none);
        let nan = self.bits_constant(float, format.nan());
        let own = self.choose(float, is_zero, a, nan);
        let is_infinite = self.compare(Op::FOrdEqual, a, infinity);
        let own = self.choose(float, is_infinite, a, own);
        let is_plain = self.and(Register::Bool, is_positive, is_less);
        self.choose(float, is_plain, root, own)
    }
}
