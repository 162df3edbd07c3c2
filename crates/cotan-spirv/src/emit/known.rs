//! Range analysis: what is known of the `f64` of a kernel before it runs, by interval arithmetic (Moore, "Interval
//! Analysis", 1966).
//!
//! Each `f64` is NaN, or in an interval and a multiple of a power of two, its grain. Rounding is monotonic, so that bounds
//! computed in `f64` hold for what a device rounds, and it keeps multiples: a rounded number has a coarser grain or the same. Values are
//! static single assignments, so what is known of one holds wherever it is used.
//!
//! Two idioms of elementary functions are looked through: a comparison with a choice, which clamps an operand, and floats
//! that are made of the bits of integers.

use super::emitter::{Emitter, Value};
use super::register::Register;
use crate::numbers::Halves;
use cotan_ir::Elem;
use cotan_ops::Instruction;
use rspirv::spirv::Word;
use std::collections::HashMap;

/// The interval of a float that is not NaN, and the exponent of a power of two that it is a multiple of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    low: f64,
    high: f64,
    grain: i32,
}

/// The exponent of the least number above zero, the grain of all.
pub(crate) const LEAST_GRAIN: i32 = -1074;

/// The grain of zero, above all others.
const GRAIN_OF_ZERO: i32 = 1024;

impl Range {
    /// Of which nothing is known.
    pub(crate) const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, grain: LEAST_GRAIN };

    /// Of a constant.
    fn of(x: f64) -> Range {
        if x.is_nan() {
            return Range::ANY;
        }
        let bits = x.to_bits();
        let (field, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        let grain = match (field, fraction) {
            (0, 0) => GRAIN_OF_ZERO,
            (0, _) => LEAST_GRAIN + fraction.trailing_zeros() as i32,
            _ => LEAST_GRAIN + field as i32 - 1 + (fraction | 1 << 52).trailing_zeros() as i32,
        };
        Range { low: x, high: x, grain }
    }

    /// From bounds that interval arithmetic gave, where a NaN means that there is none. Numbers far from zero are coarse.
    fn new(low: f64, high: f64, grain: i32) -> Range {
        let low = if low.is_nan() { f64::NEG_INFINITY } else { low };
        let high = if high.is_nan() { f64::INFINITY } else { high };
        let range = Range { low, high, grain: grain.max(LEAST_GRAIN) };
        Range { grain: range.grain.max(last_place(range.least())), ..range }
    }

    /// The largest magnitude.
    pub(crate) fn most(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The least magnitude.
    pub(crate) fn least(self) -> f64 {
        if self.low > 0.0 {
            self.low
        } else if self.high < 0.0 {
            -self.high
        } else {
            0.0
        }
    }

    /// The exponent of its grain.
    pub(crate) fn grain(self) -> i32 {
        self.grain
    }

    /// What holds for both.
    fn hull(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high), self.grain.min(other.grain))
    }

    fn negated(self) -> Range {
        Range { low: -self.high, high: -self.low, grain: self.grain }
    }

    /// Of a number of this magnitude with any sign.
    fn with_any_sign(self) -> Range {
        Range::new(-self.most(), self.most(), self.grain)
    }

    fn magnitude(self) -> Range {
        Range::new(self.least(), self.most(), self.grain)
    }

    fn sum(self, other: Range) -> Range {
        Range::new(self.low + other.low, self.high + other.high, self.grain.min(other.grain))
    }

    fn product(self, other: Range) -> Range {
        self.product_and_sum(other, Range::of(0.0))
    }

    fn square(self) -> Range {
        let magnitude = self.magnitude();
        magnitude.product(magnitude)
    }

    /// Of a product and a sum, rounded once.
    fn product_and_sum(self, factor: Range, addend: Range) -> Range {
        let corners = |c: f64| {
            [(self.low, factor.low), (self.low, factor.high), (self.high, factor.low), (self.high, factor.high)]
                .map(|(a, b)| a.mul_add(b, c))
        };
        let (lows, highs) = (corners(addend.low), corners(addend.high));
        let unknown = lows.iter().chain(&highs).any(|x| x.is_nan());
        let grain = self.grain.saturating_add(factor.grain).min(addend.grain);
        if unknown {
            return Range::new(f64::NAN, f64::NAN, grain);
        }
        let low = lows.into_iter().fold(f64::INFINITY, f64::min);
        let high = highs.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Range::new(low, high, grain)
    }

    fn quotient(self, divisor: Range) -> Range {
        if divisor.least() == 0.0 || self.most() == f64::INFINITY {
            return Range::ANY;
        }
        let corners =
            [(self.low, divisor.low), (self.low, divisor.high), (self.high, divisor.low), (self.high, divisor.high)];
        let corners = corners.map(|(a, b)| a / b);
        let low = corners.into_iter().fold(f64::INFINITY, f64::min);
        Range::new(low, corners.into_iter().fold(f64::NEG_INFINITY, f64::max), LEAST_GRAIN)
    }

    fn root(self) -> Range {
        Range::new(self.low.max(0.0).sqrt(), self.high.max(0.0).sqrt(), LEAST_GRAIN)
    }

    /// Of a whole number next to one of the range.
    fn whole(self) -> Range {
        Range::new(self.low.floor(), self.high.ceil(), self.grain.max(0))
    }
}

/// The exponent of the last place of a number that is not negative.
fn last_place(x: f64) -> i32 {
    let field = (x.to_bits() >> 52 & 0x7ff) as i32;
    LEAST_GRAIN + field.max(1) - 1
}

/// What is known of the values of a kernel.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Floats that were split into halves, and the block in which they were.
    halves: HashMap<Value, (Word, Halves)>,
    ranges: HashMap<Value, Range>,
    /// Integers of 64 bits, unsigned: the least and the greatest.
    words: HashMap<Value, [u64; 2]>,
    /// Comparisons of `f64`: what is less than, or equal to, what.
    comparisons: HashMap<Value, [Value; 2]>,
    /// Magnitudes, with the numbers that they are of.
    magnitudes: HashMap<Value, Value>,
    /// Numbers of the other sign, with those that they are of.
    negated: HashMap<Value, Value>,
    /// Rounded products, with their factors.
    products: HashMap<Value, [Value; 2]>,
}

impl Known {
    /// The range of an `f64`.
    pub(super) fn range(&self, value: Value) -> Range {
        self.ranges.get(&value).copied().unwrap_or(Range::ANY)
    }

    /// The number that a value is known to be.
    fn number(&self, value: Value) -> Option<f64> {
        let range = self.range(value);
        // Zeros are compared by their bits: bounds do not tell them apart.
        (range.low == range.high && range.low != 0.0).then_some(range.low)
    }

    /// A constant.
    pub(super) fn constant(&mut self, register: Register, bits: u64, value: Value) {
        match register {
            Register::Float64 => {
                self.ranges.insert(value, Range::of(f64::from_bits(bits)));
            }
            Register::Int64 => {
                self.words.insert(value, [bits, bits]);
            }
            Register::Bool | Register::Int32 | Register::Float32 => {}
        }
    }

    /// The result of an instruction on operands of a type.
    pub(super) fn result(&mut self, instruction: Instruction, elem: Elem, args: &[Value], value: Value) {
        if let (Instruction::Cast(Elem::F64), Some(range)) = (instruction, range_of_type(elem)) {
            self.ranges.insert(value, range);
        }
        match elem {
            Elem::F64 => self.float(instruction, args, value),
            Elem::U64 => self.word(instruction, args, value),
            Elem::Bool
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::F16
            | Elem::BF16
            | Elem::F32 => {}
        }
    }

    fn float(&mut self, instruction: Instruction, args: &[Value], value: Value) {
        let range = |k: usize| self.range(args[k]);
        let known = match instruction {
            Instruction::Add => range(0).sum(range(1)),
            Instruction::Sub => range(0).sum(range(1).negated()),
            Instruction::Mul | Instruction::Mulc => {
                self.products.insert(value, [args[0], args[1]]);
                let [a, b] = [0, 1].map(|k| self.range(args[k]));
                if args[0] == args[1] { a.square() } else { a.product(b) }
            }
            Instruction::Mulz | Instruction::Mulg => range(0).product(range(1)).hull(Range::of(0.0)),
            Instruction::Fma => range(0).product_and_sum(range(1), range(2)),
            Instruction::Neg => {
                self.negated.insert(value, args[0]);
                self.range(args[0]).negated()
            }
            Instruction::Abs => {
                self.magnitudes.insert(value, args[0]);
                self.range(args[0]).magnitude()
            }
            Instruction::Copysign => range(0).with_any_sign(),
            Instruction::Div => range(0).quotient(range(1)),
            Instruction::Sqrt => range(0).root(),
            Instruction::Floor | Instruction::Ceil | Instruction::Trunc => range(0).whole(),
            Instruction::Min | Instruction::Max => range(0).hull(range(1)),
            Instruction::Identity => range(0),
            Instruction::Select => self.choice(args[0], args[1], args[2]),
            Instruction::Lt | Instruction::Le => {
                self.comparisons.insert(value, [args[0], args[1]]);
                return;
            }
            Instruction::Gt | Instruction::Ge => {
                self.comparisons.insert(value, [args[1], args[0]]);
                return;
            }
            Instruction::Rem
            | Instruction::Eq
            | Instruction::Ne
            | Instruction::IsNan
            | Instruction::And
            | Instruction::Or
            | Instruction::Xor
            | Instruction::Not
            | Instruction::Shl
            | Instruction::Shr
            | Instruction::Cast(_)
            | Instruction::CastFits(_)
            | Instruction::Bitcast(_)
            | Instruction::AddFits
            | Instruction::SubFits
            | Instruction::MulFits
            | Instruction::ShiftFits => return,
        };
        self.ranges.insert(value, known);
    }

    /// Bits that are kept, moved or added, and floats that are made of them.
    fn word(&mut self, instruction: Instruction, args: &[Value], value: Value) {
        let word = |value: &Value| self.words.get(value).copied().unwrap_or([0, u64::MAX]);
        if instruction == Instruction::Bitcast(Elem::F64) {
            // The bits of floats that are not negative have the order of the floats.
            let [low, high] = word(&args[0]);
            if high < f64::INFINITY.to_bits() {
                self.ranges.insert(value, Range::new(f64::from_bits(low), f64::from_bits(high), LEAST_GRAIN));
            }
            return;
        }
        let [a, b] = args else { return };
        let ([low, high], [other_low, other_high]) = (word(a), word(b));
        let known = if instruction == Instruction::And {
            Some([0, high.min(other_high)])
        } else if instruction == Instruction::Shr && other_low == other_high && other_high < 64 {
            Some([low >> other_low, high >> other_low])
        } else if instruction == Instruction::Add {
            high.checked_add(other_high).map(|high| [low + other_low, high])
        } else {
            None
        };
        if let Some(known) = known {
            self.words.insert(value, known);
        }
    }

    /// Of a choice, where each of both is known to be on one side of what it was compared with.
    fn choice(&self, condition: Value, then: Value, otherwise: Value) -> Range {
        let [mut a, mut b] = [then, otherwise].map(|value| self.range(value));
        if let Some([smaller, larger]) = self.comparisons.get(&condition).copied() {
            let bounds = [smaller, larger].map(|value| self.range(value));
            if then == smaller {
                a.high = a.high.min(bounds[1].high);
            }
            if then == larger {
                a.low = a.low.max(bounds[0].low);
            }
            // The comparison does not hold with a NaN either, so the other side has to be a number.
            if otherwise == smaller
                && let Some(bound) = self.number(larger)
            {
                b.low = b.low.max(bound);
            }
            if otherwise == larger
                && let Some(bound) = self.number(smaller)
            {
                b.high = b.high.min(bound);
            }
            if self.magnitudes.get(&larger) == Some(&otherwise)
                && let Some(bound) = self.number(smaller)
            {
                b = Range::new(b.low.max(-bound), b.high.min(bound), b.grain);
            }
        }
        a.hull(b)
    }
}

impl Emitter<'_> {
    /// The range of an `f64`.
    pub(crate) fn range(&self, value: Value) -> Range {
        self.known.range(value)
    }

    /// Whether a number is a rounded product with the other sign.
    pub(crate) fn is_minus_product(&self, value: Value, [a, b]: [Value; 2]) -> bool {
        let factors = self.known.negated.get(&value).and_then(|product| self.known.products.get(product));
        factors.is_some_and(|factors| *factors == [a, b] || *factors == [b, a])
    }

    /// The number other than zero that an `f64` is known to be.
    pub(crate) fn known_number(&self, value: Value) -> Option<f64> {
        self.known.number(value)
    }

    /// The halves of a float, if it was split in the open block.
    pub(crate) fn split(&self, value: Value) -> Option<Halves> {
        let (block, halves) = self.known.halves.get(&value)?;
        (*block == self.block).then_some(*halves)
    }

    /// Keeps the halves of a float for the rest of the open block.
    pub(crate) fn remember_split(&mut self, value: Value, halves: Halves) {
        self.known.halves.insert(value, (self.block, halves));
    }
}

/// What a number of another type can be as an `f64`.
fn range_of_type(elem: Elem) -> Option<Range> {
    match elem {
        Elem::Bool => Some(Range::new(0.0, 1.0, 0)),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            let (least, greatest) = elem.integer_range()?;
            Some(Range::new(least as f64, greatest as f64, 0))
        }
        Elem::F32 => Some(Range { grain: -149, ..Range::ANY }),
        Elem::F16 | Elem::BF16 => Some(Range { grain: -133, ..Range::ANY }),
        Elem::F64 => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<const N: usize>() -> [Value; N] {
        std::array::from_fn(|k| Value(k as u32))
    }

    #[test]
    fn a_constant_is_a_multiple_of_its_last_bit() {
        for (x, grain) in [(1.0, 0), (-0.75, -2), (6755399441055744.0, 51), (5e-324, -1074), (f64::MIN_POSITIVE, -1022)]
        {
            let range = Range::of(x);
            assert_eq!((range.least(), range.most(), range.grain()), (x.abs(), x.abs(), grain), "{x}");
        }
        assert_eq!(Range::of(0.0).grain(), GRAIN_OF_ZERO);
        assert_eq!(Range::of(f64::NAN), Range::ANY);
    }

    #[test]
    fn a_clamped_number_that_is_rounded_by_a_large_sum_is_whole() {
        let mut known = Known::default();
        let [x, low, high, is_low, raised, is_high, clamped, shift, sum, whole] = values();
        for (number, value) in [(-746.0, low), (710.0, high), (6_755_399_441_055_744.0, shift)] {
            known.constant(Register::Float64, f64::to_bits(number), value);
        }
        known.result(Instruction::Lt, Elem::F64, &[x, low], is_low);
        known.result(Instruction::Select, Elem::F64, &[is_low, low, x], raised);
        assert_eq!(known.range(raised), Range { low: -746.0, ..Range::ANY });
        known.result(Instruction::Lt, Elem::F64, &[high, raised], is_high);
        known.result(Instruction::Select, Elem::F64, &[is_high, high, raised], clamped);
        assert_eq!(known.range(clamped), Range { low: -746.0, high: 710.0, grain: LEAST_GRAIN });
        known.result(Instruction::Add, Elem::F64, &[clamped, shift], sum);
        known.result(Instruction::Sub, Elem::F64, &[sum, shift], whole);
        assert_eq!(known.range(whole), Range { low: -746.0, high: 710.0, grain: 0 });
    }

    #[test]
    fn a_choice_by_the_magnitude_bounds_both_sides() {
        let mut known = Known::default();
        let [x, limit, size, is_far, zero, near] = values();
        known.constant(Register::Float64, 8f64.to_bits(), limit);
        known.constant(Register::Float64, 0, zero);
        known.result(Instruction::Abs, Elem::F64, &[x], size);
        known.result(Instruction::Le, Elem::F64, &[limit, size], is_far);
        known.result(Instruction::Select, Elem::F64, &[is_far, zero, x], near);
        assert_eq!((known.range(near).low, known.range(near).high), (-8.0, 8.0));
    }

    #[test]
    fn a_significand_is_in_its_binade() {
        let mut known = Known::default();
        let [bits, mask, fraction, one, both, float] = values();
        known.constant(Register::Int64, (1 << 52) - 1, mask);
        known.constant(Register::Int64, 1f64.to_bits(), one);
        known.result(Instruction::And, Elem::U64, &[bits, mask], fraction);
        known.result(Instruction::Add, Elem::U64, &[fraction, one], both);
        known.result(Instruction::Bitcast(Elem::F64), Elem::U64, &[both], float);
        assert_eq!(known.range(float), Range { low: 1.0, high: 2f64.next_down(), grain: -52 });
    }

    #[test]
    fn unbounded_operands_give_no_bounds() {
        let zero = Range::of(0.0);
        assert_eq!(Range::ANY.product(zero).most(), f64::INFINITY);
        assert_eq!(Range::ANY.sum(Range::ANY.negated()).most(), f64::INFINITY);
        assert_eq!(Range::of(3.0).product(Range::of(-2.0)), Range::of(-6.0));
        assert_eq!(Range::of(3.0).quotient(Range::of(-1.0).hull(Range::of(1.0))), Range::ANY);
        assert_eq!(Range::of(-3.0).hull(Range::of(6.0)).quotient(Range::of(2.0)).most(), 3.0);
        assert_eq!(Range::of(-1.0).hull(Range::of(2.0)).square().least(), 0.0);
    }
}
