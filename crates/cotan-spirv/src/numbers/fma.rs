//! Exact fused multiply-add: error-free transforms and rounding to odd.
//!
//! The product of two floats is the sum of two floats (Dekker, Veltkamp), and so is the sum of two (Knuth). With the upper
//! parts added exactly, the rest is one sum; rounded to odd it is then added as if it were exact (Boldo and Melquiond). This
//! holds as long as no part overflows or is cut where numbers are subnormal. So the factors are scaled: both up where their
//! product is small, both down where it is large, and the addend with them. What the scaling leaves to be thought of:
//!
//! - an addend far below a large product would be lost, though it breaks ties. It is made larger, but not so large
//!   that it counts otherwise;
//! - an addend far above any product is the result;
//! - a small result is rounded a second time when it is scaled back. It is adjusted by at most one unit before, so that both
//!   roundings give what one does: to odd, but if the second one drops a single bit, then away from it.
//!
//! Where range analysis shows that nothing overflows and nothing is cut (`emit/known.rs`), nothing is scaled, which is about
//! half of the code. That holds for most of the steps of an elementary function, whose operands are clamped or reduced.

use crate::emit::{DOUBLE, Emitter, Format, LEAST_GRAIN, Range, Register, SINGLE, Value};
use cotan_ir::{Const, Elem};
use rspirv::spirv::Op;

/// Exponents of two that decide on the scaling. Each product that is not scaled has all its bits; each scaled one, too.
struct Scaling {
    /// Below it a product is small.
    small: i32,
    /// From it on a product is large.
    large: i32,
    /// What each factor of a small product is multiplied with.
    up: i32,
    /// What each factor of a large product is multiplied with.
    down: i32,
    /// What is added to an addend of a large product: below its last bit, or the addend is below that of the product.
    nudge: i32,
    /// From it on a scaled addend is the result.
    dominant: i32,
}

const SINGLE_SCALING: Scaling = Scaling { small: -100, large: 80, up: 76, down: -66, nudge: 6, dominant: 110 };

const DOUBLE_SCALING: Scaling = Scaling { small: -800, large: 800, up: 600, down: -520, nudge: 600, dominant: 900 };

/// A sum rounded to nearest, and what is missing.
struct Parts {
    upper: Value,
    lower: Value,
}

/// The upper and the lower half of a float.
pub(crate) type Halves = (Value, Value);

/// Just less than half of the last place of an upper half.
fn below_half(format: Format) -> u64 {
    (1 << (format.fraction / 2)) - 1
}

/// The bits of an upper half.
fn upper_half(format: Format) -> u64 {
    (format.sign() | format.magnitude()) & !((2 << (format.fraction / 2)) - 1)
}

/// Whether an fma of `f64` is right without scaling: nothing overflows, and either each part of the product is a
/// multiple of the least number, or the addend is so large that it is the result where a part is cut.
fn needs_no_scaling([a, b, c]: [Range; 3]) -> bool {
    let large = 2f64.powi(1000);
    let is_small = a.most() * b.most() < large && [a, b, c].iter().all(|range| range.most() < large);
    is_small && (has_all_bits(a, b) || c.least() >= 2f64.powi(-800))
}

/// Whether no bit of a product is below the least number.
fn has_all_bits(a: Range, b: Range) -> bool {
    a.grain() + b.grain() >= LEAST_GRAIN
}

impl Emitter<'_> {
    /// `a * b + c`, rounded once.
    pub(super) fn exact_fma(&mut self, format: Format, a: Value, b: Value, c: Value) -> Value {
        let ranges = [a, b, c].map(|x| self.range(x));
        let hidden = [a, b, c].map(|x| self.hidden_zero(format.float, x));
        let value = if format == SINGLE && self.has_double() {
            self.single_by_double(hidden)
        } else if format == DOUBLE && needs_no_scaling(ranges) {
            self.unscaled_fma([a, b, c], hidden)
        } else {
            self.scaled_fma(format, hidden)
        };
        self.opaque(format, value)
    }

    /// Of an `f64` where nothing has to be scaled.
    fn unscaled_fma(&mut self, [a, b, c]: [Value; 3], hidden: [Value; 3]) -> Value {
        let float = DOUBLE.float;
        let halves = [a, b].map(|x| self.known_halves(x));
        let product = self.exact_product(float, [hidden[0], hidden[1]], halves);
        if self.is_minus_product(c, [a, b]) && has_all_bits(self.range(a), self.range(b)) {
            return product.lower;
        }
        let (upper, rest) = self.unrounded_sum(DOUBLE, &product, hidden[2]);
        let sum = self.add(float, upper, rest);
        if self.range(c).least() > 0.0 {
            return sum;
        }
        // The parts of a product of zero have lost its sign.
        let zero = self.bits_constant(float, 0);
        let is_zero = self.compare(Op::FOrdEqual, product.upper, zero);
        let plain = self.add(float, product.upper, hidden[2]);
        self.choose(float, is_zero, plain, sum)
    }

    /// By sums and products of the format alone.
    fn scaled_fma(&mut self, format: Format, [a, b, c]: [Value; 3]) -> Value {
        let scaling = if format == SINGLE { &SINGLE_SCALING } else { &DOUBLE_SCALING };
        let float = format.float;
        let rough = self.mul(float, a, b);
        let size = self.magnitude(format, rough);
        let is_small = self.below(format, size, scaling.small);
        let large = self.power(format, scaling.large);
        let is_large = self.compare(Op::FOrdGreaterThanEqual, size, large);
        let [up, down, one] = [scaling.up, scaling.down, 0].map(|exponent| self.power(format, exponent));
        let factor = self.choose(float, is_large, down, one);
        let factor = self.choose(float, is_small, up, factor);

        let [scaled_a, scaled_b] = [a, b].map(|x| self.mul(float, x, factor));
        let addend = self.nudged(format, scaling, is_large, c);
        let addend = self.mul(float, addend, factor);
        let addend = self.mul(float, addend, factor);

        let halves = [scaled_a, scaled_b].map(|x| self.halves(format, x));
        let product = self.exact_product(float, [scaled_a, scaled_b], halves);
        let (upper, rest) = self.unrounded_sum(format, &product, addend);
        let sum = self.add(float, upper, rest);

        let rounded = self.sub(float, sum, upper);
        let missing = self.sub(float, rest, rounded);
        let subnormal = format.least_exponent() + 2 * scaling.up;
        let sum = self.before_second_rounding(format, is_small, subnormal, Parts { upper: sum, lower: missing });
        let inverse = self.inverse_power(format, factor);
        let result = self.mul(float, sum, inverse);
        let result = self.mul(float, result, inverse);

        let size = self.magnitude(format, addend);
        let counts = self.below(format, size, scaling.dominant);
        let result = self.choose(float, counts, result, c);
        // Where a factor is zero, infinite or NaN, so is their product, or it is NaN as the other one was scaled to zero.
        let plain = self.add(float, rough, c);
        let size = self.bits(format.bits, product.upper);
        let size = self.masked(format.bits, size, format.magnitude());
        let one = self.int(format.bits, 1);
        let before = self.sub(format.bits, size, one);
        let last = self.bits_constant(format.bits, format.infinity() - 1);
        let is_number = self.compare(Op::ULessThan, before, last);
        self.choose(float, is_number, result, plain)
    }

    /// By f64: its product of two f32 is exact, and 53 bits rounded to odd are enough to be rounded again.
    fn single_by_double(&mut self, operands: [Value; 3]) -> Value {
        let [a, b, c] = operands.map(|x| self.op(Op::FConvert, Register::Float64, &[x]));
        let product = self.mul(Register::Float64, a, b);
        let sum = self.odd_sum(DOUBLE, product, c);
        self.op(Op::FConvert, Register::Float32, &[sum])
    }

    /// The addend, made larger where the product is large, unless it is zero.
    fn nudged(&mut self, format: Format, scaling: &Scaling, is_large: Value, c: Value) -> Value {
        let zero = self.bits_constant(format.float, 0);
        let counts = self.compare(Op::FUnordNotEqual, c, zero);
        let counts = self.and(Register::Bool, is_large, counts);
        let nudge = self.power(format, scaling.nudge);
        let nudge = self.choose(format.float, counts, nudge, zero);
        let nudge = self.copy_sign(format, nudge, c);
        self.add(format.float, c, nudge)
    }

    /// The sum of a product and a number as the sum of two floats, the second of which is rounded to odd.
    fn unrounded_sum(&mut self, format: Format, product: &Parts, addend: Value) -> (Value, Value) {
        let lower = self.exact_sum(format.float, addend, product.lower);
        let upper = self.exact_sum(format.float, product.upper, lower.upper);
        (upper.upper, self.odd_sum(format, upper.lower, lower.lower))
    }

    /// A product as the sum of two floats, from its factors and their halves.
    fn exact_product(&mut self, float: Register, [a, b]: [Value; 2], halves: [Halves; 2]) -> Parts {
        let upper = self.mul(float, a, b);
        let [(a_high, a_low), (b_high, b_low)] = halves;
        let product = self.mul(float, a_high, b_high);
        let mut lower = self.sub(float, product, upper);
        for (x, y) in [(a_high, b_low), (a_low, b_high), (a_low, b_low)] {
            let product = self.mul(float, x, y);
            lower = self.add(float, lower, product);
        }
        Parts { upper, lower }
    }

    /// A float as the sum of two of half as many bits: its upper bits rounded to nearest, and the rest. Of a number that
    /// would be rounded to infinity they are cut; the other factor is small then, and not cut, so that products still fit. A
    /// tie goes down: the upper bits of a subnormal number would else be twice the number, and products of them too large.
    fn halves(&mut self, format: Format, x: Value) -> Halves {
        let bits = self.bits(format.bits, x);
        let size = self.magnitude(format, x);
        let is_rounded = self.below(format, size, format.bias);
        let [half, none] = [below_half(format), 0].map(|bits| self.bits_constant(format.bits, bits));
        let half = self.choose(format.bits, is_rounded, half, none);
        self.split_at(format, x, bits, half)
    }

    /// The halves of a float with these bits, to which `half` is added before they are cut.
    fn split_at(&mut self, format: Format, x: Value, bits: Value, half: Value) -> Halves {
        let rounded = self.add(format.bits, bits, half);
        let high = self.masked(format.bits, rounded, upper_half(format));
        let high = self.bits(format.float, high);
        (high, self.sub(format.float, x, high))
    }

    /// The same of an `f64` that is far from infinity. A number that many products share is split once.
    fn known_halves(&mut self, x: Value) -> Halves {
        let format = DOUBLE;
        if let Some(number) = self.known_number(x) {
            let high = f64::from_bits((number.to_bits() + below_half(format)) & upper_half(format));
            let [high, low] = [high, number - high].map(|x| self.constant(Const::float(Elem::F64, x)));
            return (high, low);
        }
        if let Some(halves) = self.split(x) {
            return halves;
        }
        let bits = self.bits(format.bits, x);
        let half = self.bits_constant(format.bits, below_half(format));
        let halves = self.split_at(format, x, bits, half);
        self.remember_split(x, halves);
        halves
    }

    /// A sum as the sum of two floats, whichever is larger.
    fn exact_sum(&mut self, float: Register, a: Value, b: Value) -> Parts {
        let upper = self.add(float, a, b);
        let b_part = self.sub(float, upper, a);
        let a_part = self.sub(float, upper, b_part);
        let b_rest = self.sub(float, b, b_part);
        let a_rest = self.sub(float, a, a_part);
        Parts { upper, lower: self.add(float, a_rest, b_rest) }
    }

    /// A sum rounded to odd: cut, and with an odd last bit if something was cut off.
    fn odd_sum(&mut self, format: Format, a: Value, b: Value) -> Value {
        let sum = self.exact_sum(format.float, a, b);
        let zero = self.bits_constant(format.float, 0);
        let is_inexact = self.compare(Op::FOrdNotEqual, sum.lower, zero);
        let bits = self.bits(format.bits, sum.upper);
        let step = self.step_inwards(format, &sum);
        let cut = self.add(format.bits, bits, step);
        let one = self.int(format.bits, 1);
        let odd = self.or(format.bits, cut, one);
        let chosen = self.choose(format.bits, is_inexact, odd, bits);
        self.bits(format.float, chosen)
    }

    /// -1 if what is missing has the other sign, else 0.
    fn step_inwards(&mut self, format: Format, parts: &Parts) -> Value {
        let [upper, lower] = [parts.upper, parts.lower].map(|x| self.bits(format.bits, x));
        let signs = self.xor(format.bits, upper, lower);
        self.shift(Op::ShiftRightArithmetic, format.bits, signs, format.bits.bits() - 1)
    }

    /// A scaled result such that the rounding of its scaling gives what one rounding does. Only small ones are concerned, of
    /// less than two to the power of `subnormal`: if they lose one bit then, a number that is not exact must not be odd, and
    /// goes on in its direction; if more, it must be.
    fn before_second_rounding(&mut self, format: Format, is_small: Value, subnormal: i32, parts: Parts) -> Value {
        let Format { float, bits, .. } = format;
        let size = self.magnitude(format, parts.upper);
        let is_rounded = self.below(format, size, subnormal);
        let is_rounded = self.and(Register::Bool, is_small, is_rounded);
        let half = self.power(format, subnormal - 1);
        let loses_one = self.compare(Op::FOrdGreaterThanEqual, size, half);
        let zero = self.bits_constant(float, 0);
        let is_inexact = self.compare(Op::FOrdNotEqual, parts.lower, zero);
        let number = self.bits(bits, parts.upper);
        let last = self.masked(bits, number, 1);
        let none = self.int(bits, 0);
        let is_odd = self.compare(Op::INotEqual, last, none);
        let is_wrong = self.compare(Op::LogicalEqual, is_odd, loses_one);
        let moves = self.and(Register::Bool, is_rounded, is_inexact);
        let moves = self.and(Register::Bool, moves, is_wrong);
        let inwards = self.step_inwards(format, &parts);
        let one = self.int(bits, 1);
        let step = self.or(bits, inwards, one);
        let moved = self.add(bits, number, step);
        let number = self.choose(bits, moves, moved, number);
        self.bits(float, number)
    }

    /// The inverse of a power of two.
    fn inverse_power(&mut self, format: Format, power: Value) -> Value {
        let bits = self.bits(format.bits, power);
        let both = self.bits_constant(format.bits, 2 * format.power(0));
        let inverse = self.sub(format.bits, both, bits);
        self.bits(format.float, inverse)
    }

    /// The magnitude, by the bits.
    pub(super) fn magnitude(&mut self, format: Format, x: Value) -> Value {
        let bits = self.bits(format.bits, x);
        let bits = self.masked(format.bits, bits, format.magnitude());
        self.bits(format.float, bits)
    }

    /// Whether a number is less than a power of two.
    fn below(&mut self, format: Format, x: Value, exponent: i32) -> Value {
        let power = self.power(format, exponent);
        self.compare(Op::FOrdLessThan, x, power)
    }

    /// A power of two.
    pub(super) fn power(&mut self, format: Format, exponent: i32) -> Value {
        self.bits_constant(format.float, format.power(exponent))
    }
}
