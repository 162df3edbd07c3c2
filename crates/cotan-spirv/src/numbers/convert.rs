//! Conversions to floats in integers: the leading bit is brought to its place, what is below the format is rounded.

use super::pack::{EXTRA, Unpacked};
use crate::emit::{DOUBLE, Emitter, Format, Register, SINGLE, Value};
use cotan_ir::Elem;
use rspirv::spirv::Op;

impl Emitter<'_> {
    /// An integer as a float.
    pub(super) fn exact_conversion(&mut self, from: Elem, to: Elem, a: Value) -> Value {
        let format = if to == Elem::F64 { DOUBLE } else { SINGLE };
        let long = Register::Int64;
        let wide = if Register::of(from) == long { a } else { self.extended(from, a) };
        let zero = self.int(long, 0);
        let is_negative = self.compare(Op::SLessThan, wide, zero);
        let mut number = wide;
        if from.is_signed() {
            let negated = self.op(Op::SNegate, long, &[wide]);
            number = self.choose(long, is_negative, negated, wide);
        }
        let is_zero = self.compare(Op::IEqual, number, zero);
        let mut exponent = self.int(long, 63);
        for distance in [32, 16, 8, 4, 2, 1] {
            let limit = self.bits_constant(long, 1 << (64 - distance));
            let is_low = self.compare(Op::ULessThan, number, limit);
            let moved = self.shift(Op::ShiftLeftLogical, long, number, distance);
            number = self.choose(long, is_low, moved, number);
            let step = self.int(long, distance.into());
            let less = self.sub(long, exponent, step);
            exponent = self.choose(long, is_low, less, exponent);
        }
        let packed = self.rounded_to(format, Unpacked { significand: number, exponent }, 64);
        let none = self.int(format.bits, 0);
        let packed = self.choose(format.bits, is_zero, none, packed);
        let value = self.bits(format.float, packed);
        if from.is_unsigned() {
            return value;
        }
        let negated = self.op(Op::FNegate, format.float, &[value]);
        self.choose(format.float, is_negative, negated, value)
    }

    /// An f64 as an f32.
    pub(super) fn exact_narrowing(&mut self, a: Value) -> Value {
        let number = self.unpack(DOUBLE, a);
        let packed = self.rounded_to(SINGLE, number, DOUBLE.fraction + 1);
        let (int, long) = (Register::Int32, Register::Int64);
        let bits = self.bits(long, a);
        let size = self.masked(long, bits, DOUBLE.magnitude());
        let infinity = self.bits_constant(long, DOUBLE.infinity());
        let [zero, none] = [long, int].map(|register| self.int(register, 0));
        let [infinite, nan] = [SINGLE.infinity(), SINGLE.nan()].map(|bits| self.bits_constant(int, bits));
        let is_zero = self.compare(Op::IEqual, size, zero);
        let is_infinite = self.compare(Op::IEqual, size, infinity);
        let is_nan = self.compare(Op::UGreaterThan, size, infinity);
        let packed = self.choose(int, is_zero, none, packed);
        let packed = self.choose(int, is_infinite, infinite, packed);
        let packed = self.choose(int, is_nan, nan, packed);
        let sign = self.shift(Op::ShiftRightLogical, long, bits, 32);
        let sign = self.op(Op::UConvert, int, &[sign]);
        let sign = self.masked(int, sign, SINGLE.sign());
        let signed = self.or(int, packed, sign);
        self.bits(Register::Float32, signed)
    }

    /// A number whose significand of 64-bit integers has so many bits, rounded to a format.
    fn rounded_to(&mut self, format: Format, number: Unpacked, n_bits: u32) -> Value {
        let long = Register::Int64;
        let distance = self.int(long, i64::from(n_bits) - i64::from(format.fraction + 1 + EXTRA));
        let significand = self.shifted_with_rest(DOUBLE, number.significand, distance);
        let number = Unpacked { significand, exponent: number.exponent };
        if format.bits == long {
            return self.pack(format, number);
        }
        let [significand, exponent] =
            [number.significand, number.exponent].map(|x| self.op(Op::UConvert, format.bits, &[x]));
        self.pack(format, Unpacked { significand, exponent })
    }
}
