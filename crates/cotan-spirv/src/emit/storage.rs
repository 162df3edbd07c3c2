//! Conversions of the storage types, in integer instructions. Step by step the same as [`Storage`] in the IR, so the bits
//! are the same.

use super::emitter::{Emitter, Value};
use super::register::{Class, DOUBLE, Register, SINGLE};
use cotan_ir::{Elem, Storage};
use rspirv::spirv::Op;

/// The registers of the conversions.
const INT: Register = Register::Int32;
const LONG: Register = Register::Int64;

/// The exponents of `f32` begin so much lower than those of a half.
const MOVED: u32 = 112;

impl Emitter<'_> {
    /// A number of a storage type as an f32, exactly.
    pub(super) fn widen(&mut self, storage: Storage, bits: Value) -> Value {
        if storage == Storage::BF16 {
            let upper = self.shift(Op::ShiftLeftLogical, INT, bits, 16);
            return self.bits(Register::Float32, upper);
        }
        let sign = self.masked(INT, bits, 0x8000);
        let sign = self.shift(Op::ShiftLeftLogical, INT, sign, 16);
        let magnitude = self.masked(INT, bits, 0x7fff);
        let magnitude = self.shift(Op::ShiftLeftLogical, INT, magnitude, 13);
        let exponent = self.masked(INT, bits, 0x7c00);
        let greatest = self.int(INT, 0x7c00);
        let is_special = self.compare(Op::IEqual, exponent, greatest);
        let infinity = self.bits_constant(INT, SINGLE.infinity());
        let special = self.or(INT, magnitude, infinity);
        // The exponent is too small; the product moves it, and normalises what is subnormal.
        let small = self.bits(Register::Float32, magnitude);
        let factor = self.bits_constant(Register::Float32, SINGLE.power(MOVED as i32));
        let moved = self.mul(Register::Float32, small, factor);
        let moved = self.bits(INT, moved);
        let wide = self.choose(INT, is_special, special, moved);
        let signed = self.or(INT, wide, sign);
        self.bits(Register::Float32, signed)
    }

    /// The bits of the number of a storage type that is nearest to a number of type `from`, which is no storage type.
    pub(super) fn narrow(&mut self, storage: Storage, from: Elem, a: Value) -> Value {
        let single = match Class::of(from) {
            Class::Float if from == Elem::F32 => a,
            Class::Float | Class::Stored(_) => self.rounded_to_odd(a),
            Class::Bool | Class::Signed | Class::Unsigned if from.bytes() < 4 => self.cast(from, Elem::F32, a),
            Class::Bool | Class::Signed | Class::Unsigned => self.integer_rounded_to_odd(from, a),
        };
        let bits = self.bits(INT, single);
        let sign = self.shift(Op::ShiftRightLogical, INT, bits, 16);
        let sign = self.masked(INT, sign, 0x8000);
        let magnitude = self.masked(INT, bits, SINGLE.magnitude());
        let infinity = self.bits_constant(INT, SINGLE.infinity());
        let is_nan = self.compare(Op::UGreaterThan, magnitude, infinity);
        let (rounded, nan) = match storage {
            Storage::BF16 => (self.round_off(magnitude, 0, 16), 0x7fc0),
            Storage::F16 => (self.narrow_half(magnitude), 0x7e00),
        };
        let nan = self.int(INT, nan);
        let rounded = self.choose(INT, is_nan, nan, rounded);
        self.or(INT, rounded, sign)
    }

    /// The bits of a magnitude without so many of its last ones, rounded to even; `bias` is taken off before.
    fn round_off(&mut self, magnitude: Value, bias: u32, n_bits: u32) -> Value {
        let odd = self.shift(Op::ShiftRightLogical, INT, magnitude, n_bits);
        let odd = self.masked(INT, odd, 1);
        let half = (1u32 << (n_bits - 1)).wrapping_sub(1).wrapping_sub(bias);
        let half = self.int(INT, half.into());
        let sum = self.add(INT, magnitude, half);
        let sum = self.add(INT, sum, odd);
        self.shift(Op::ShiftRightLogical, INT, sum, n_bits)
    }

    /// The magnitude of an f32 as that of a half.
    fn narrow_half(&mut self, magnitude: Value) -> Value {
        let normal = self.round_off(magnitude, MOVED << SINGLE.fraction, 13);
        // Below the least normal number the sum with 1/2 has the spacing of the subnormal ones, so it rounds.
        let small = self.bits(Register::Float32, magnitude);
        let half = self.bits_constant(Register::Float32, SINGLE.power(-1));
        let sum = self.add(Register::Float32, small, half);
        let sum = self.bits(INT, sum);
        let half = self.bits_constant(INT, SINGLE.power(-1));
        let subnormal = self.sub(INT, sum, half);
        let least = self.bits_constant(INT, SINGLE.power(-14));
        let is_subnormal = self.compare(Op::ULessThan, magnitude, least);
        let rounded = self.choose(INT, is_subnormal, subnormal, normal);
        let large = self.bits_constant(INT, SINGLE.power(16));
        let is_large = self.compare(Op::UGreaterThanEqual, magnitude, large);
        let infinity = self.int(INT, 0x7c00);
        self.choose(INT, is_large, infinity, rounded)
    }

    /// The f32 that an f64 is, or of its two neighbours the one with an odd last bit.
    fn rounded_to_odd(&mut self, a: Value) -> Value {
        let nearest = self.op(Op::FConvert, Register::Float32, &[a]);
        let back = self.op(Op::FConvert, Register::Float64, &[nearest]);
        let differs = self.compare(Op::FOrdNotEqual, back, a);
        let [found, wanted] = [back, a].map(|x| {
            let bits = self.bits(LONG, x);
            self.masked(LONG, bits, DOUBLE.magnitude())
        });
        let is_beyond = self.compare(Op::UGreaterThan, found, wanted);
        let bits = self.bits(INT, nearest);
        let step = self.cast(Elem::Bool, Elem::U32, is_beyond);
        let inner = self.sub(INT, bits, step);
        let one = self.int(INT, 1);
        let odd = self.or(INT, inner, one);
        let chosen = self.choose(INT, differs, odd, bits);
        self.bits(Register::Float32, chosen)
    }

    /// The f32 that an integer is, or one beyond 2^24 that lies on the same side of all numbers of 16 bits. Of what is too
    /// long the last bits become one: no number of 16 bits has more than 11, so that one is below the half of them.
    fn integer_rounded_to_odd(&mut self, from: Elem, a: Value) -> Value {
        let register = Register::of(from);
        let mut upper = if from.is_signed() { self.magnitude_in(register, a) } else { a };
        let zero = self.int(register, 0);
        let mut n_bits = 8;
        while n_bits + 16 < register.bits() {
            let limit = self.bits_constant(register, 1 << (n_bits + 16));
            let is_long = self.compare(Op::UGreaterThanEqual, upper, limit);
            let low = self.masked(register, upper, (1 << n_bits) - 1);
            let cut = self.sub(register, upper, low);
            let mark = self.bits_constant(register, 1 << n_bits);
            let marked = self.or(register, cut, mark);
            let is_round = self.compare(Op::IEqual, low, zero);
            let short = self.choose(register, is_round, cut, marked);
            upper = self.choose(register, is_long, short, upper);
            n_bits += 8;
        }
        let value = self.op(Op::ConvertUToF, Register::Float32, &[upper]);
        if from.is_unsigned() {
            return value;
        }
        let negated = self.op(Op::FNegate, Register::Float32, &[value]);
        let negative = self.compare(Op::SLessThan, a, zero);
        self.choose(Register::Float32, negative, negated, value)
    }
}
