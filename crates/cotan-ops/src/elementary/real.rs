//! The trait of floats that elementary functions are written on: the few operations that every machine has.
//!
//! A function is generic over [`Real`] and so written once. On `f64` and `f32` it computes; that is the kernel of a row.
//! On [`Traced`](super::traced::Traced) it leaves its steps as data, from which backends write their code. Both do the same
//! operations in the same order, each rounded once, so that all of them give the same bits. There are no branches and no
//! tables in memory: a choice is a [`Real::select`] between values that are both computed.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A float, and what it is made of.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The bits of the float, as an unsigned integer of the same width.
    type Bits: Bits<Truth = Self::Truth>;
    /// What a comparison gives.
    type Truth: Copy + BitAnd<Output = Self::Truth> + BitOr<Output = Self::Truth> + Not<Output = Self::Truth>;
    /// Whether this is an f32, else an f64.
    const IS_SINGLE: bool;

    /// A constant, rounded to the type.
    fn of(value: f64) -> Self;
    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The whole part, rounded towards 0.
    fn trunc(self) -> Self;
    /// The magnitude of this with the sign of the other.
    fn copysign(self, sign: Self) -> Self;
    /// Whether this is less.
    fn lt(self, other: Self) -> Self::Truth;
    /// Whether this is at most the other.
    fn le(self, other: Self) -> Self::Truth;
    /// Whether both are the same number; the zeros are, NaN is not.
    fn same(self, other: Self) -> Self::Truth;
    /// The first if the condition holds, else the second.
    fn select(condition: Self::Truth, yes: Self, no: Self) -> Self;
    /// The bits.
    fn bits(self) -> Self::Bits;
    /// The float with these bits.
    fn from_bits(bits: Self::Bits) -> Self;

    /// Whether this is greater.
    fn gt(self, other: Self) -> Self::Truth {
        other.lt(self)
    }

    /// Whether this is at least the other.
    fn ge(self, other: Self) -> Self::Truth {
        other.le(self)
    }
}

/// Unsigned integers that hold the bits of floats. Sums and differences wrap.
pub(crate) trait Bits: Copy {
    /// What a comparison gives.
    type Truth;
    /// A constant.
    fn of(value: u64) -> Self;
    /// Sum.
    fn plus(self, other: Self) -> Self;
    /// Difference.
    fn minus(self, other: Self) -> Self;
    /// The bits that are set in both.
    fn and(self, other: Self) -> Self;
    /// The bits that are set in one of them.
    fn xor(self, other: Self) -> Self;
    /// The bits moved up.
    fn up(self, distance: u32) -> Self;
    /// The bits moved down, zeros coming in.
    fn down(self, distance: u32) -> Self;
    /// Whether both are the same.
    fn same(self, other: Self) -> Self::Truth;
}

/// A float of this machine, which host functions compute with.
pub(crate) trait Machine: Real<Truth = bool> {
    /// The value as an f64.
    fn widen(self) -> f64;
    /// An f64 rounded to this type.
    fn narrow(value: f64) -> Self;
}

/// A constant.
pub(super) fn c<F: Real>(value: f64) -> F {
    F::of(value)
}

/// What differs with the type: the first for f64, the second for f32.
pub(super) fn by_type<F: Real, T>(double: T, single: T) -> T {
    if F::IS_SINGLE { single } else { double }
}

/// The coefficients of a polynomial, the lowest power first, of a degree that the precision asks for.
pub(super) struct Series {
    pub(super) double: &'static [f64],
    pub(super) single: &'static [f64],
}

impl Series {
    fn of<F: Real>(&self) -> &'static [f64] {
        by_type::<F, _>(self.double, self.single)
    }
}

/// A constant as the sum of floats.
pub(super) struct Parts<const N: usize> {
    pub(super) double: [f64; N],
    pub(super) single: [f64; N],
}

impl<const N: usize> Parts<N> {
    /// The parts for a type.
    pub(super) fn of<F: Real>(&self) -> [f64; N] {
        by_type::<F, _>(self.double, self.single)
    }
}

/// The value of a polynomial.
pub(super) fn polynomial<F: Real>(series: &Series, x: F) -> F {
    terms(series.of::<F>(), x)
}

/// The polynomial with these coefficients: even and odd powers apart, so that half of the operations do not wait for the
/// other half.
fn terms<F: Real>(coefficients: &[f64], x: F) -> F {
    let square = x * x;
    let half = |first: usize| {
        let chosen = coefficients.iter().skip(first).step_by(2).rev();
        let mut powers = chosen.map(|a| F::of(*a));
        let highest = powers.next().expect("invariant: a polynomial has two coefficients or more");
        powers.fold(highest, |sum, a| sum.fma(square, a))
    };
    half(1).fma(x, half(0))
}

/// The same, with the rounding error of the last sum kept apart. The constant has to be the greatest term.
pub(super) fn polynomial_in_parts<F: Real>(series: &Series, x: F) -> Pair<F> {
    let (constant, others) = series.of::<F>().split_first().expect("invariant: a polynomial has coefficients");
    Pair::ordered_sum(c(*constant), x * terms(others, x))
}

/// A value as the sum of two floats, the second at most as large as the rounding error of the first.
#[derive(Clone, Copy)]
pub(super) struct Pair<F> {
    pub(super) hi: F,
    pub(super) lo: F,
}

impl<F: Real> Pair<F> {
    pub(super) fn new(hi: F, lo: F) -> Pair<F> {
        Pair { hi, lo }
    }

    /// A constant.
    pub(super) fn of([hi, lo]: [f64; 2]) -> Pair<F> {
        Pair { hi: c(hi), lo: c(lo) }
    }

    /// The exact sum of two floats (D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2).
    pub(super) fn sum(a: F, b: F) -> Pair<F> {
        let hi = a + b;
        let part = hi - a;
        Pair { hi, lo: (a - (hi - part)) + (b - part) }
    }

    /// The exact sum of two floats, where the first has the greater magnitude or is zero (T. J. Dekker, 1971).
    pub(super) fn ordered_sum(a: F, b: F) -> Pair<F> {
        let hi = a + b;
        Pair { hi, lo: b - (hi - a) }
    }

    /// The exact product of two floats.
    pub(super) fn product(a: F, b: F) -> Pair<F> {
        let hi = a * b;
        Pair { hi, lo: a.fma(b, -hi) }
    }

    /// The product with a float.
    pub(super) fn times(self, factor: F) -> Pair<F> {
        let Pair { hi, lo } = Pair::product(self.hi, factor);
        Pair { hi, lo: self.lo.fma(factor, lo) }
    }

    /// The product, but for the product of the second parts.
    pub(super) fn times_pair(self, other: Pair<F>) -> Pair<F> {
        let Pair { hi, lo } = Pair::product(self.hi, other.hi);
        Pair { hi, lo: self.hi.fma(other.lo, self.lo.fma(other.hi, lo)) }
    }

    /// The sum with a float.
    pub(super) fn plus(self, other: F) -> Pair<F> {
        let Pair { hi, lo } = Pair::sum(self.hi, other);
        Pair { hi, lo: lo + self.lo }
    }

    /// The same value, with a first part that is the rounded sum.
    pub(super) fn settled(self) -> Pair<F> {
        Pair::ordered_sum(self.hi, self.lo)
    }

    /// The quotient: divided once, and corrected by what is left.
    pub(super) fn over(self, divisor: Pair<F>) -> Pair<F> {
        let reciprocal = c::<F>(1.0) / divisor.hi;
        let quotient = self.hi * reciprocal;
        let left = (-quotient).fma(divisor.hi, self.hi) + (-quotient).fma(divisor.lo, self.lo);
        Pair { hi: quotient, lo: left * reciprocal }
    }

    /// The square root; that of 0 is 0.
    pub(super) fn root(self) -> Pair<F> {
        let hi = self.hi.sqrt();
        let lo = ((-hi).fma(hi, self.hi) + self.lo) / (hi + hi);
        Pair { hi, lo: F::select(hi.gt(c(0.0)), lo, c(0.0)) }
    }

    /// The same value with the other sign.
    pub(super) fn negated(self) -> Pair<F> {
        Pair { hi: -self.hi, lo: -self.lo }
    }

    /// The exact sum of a pair of small parts with a float that is greater, or zero.
    pub(super) fn beside(self, greater: F) -> Pair<F> {
        let Pair { hi, lo } = Pair::ordered_sum(greater, self.hi);
        Pair { hi, lo: lo + self.lo }
    }

    /// One of two.
    pub(super) fn select(condition: F::Truth, yes: Pair<F>, no: Pair<F>) -> Pair<F> {
        Pair { hi: F::select(condition, yes.hi, no.hi), lo: F::select(condition, yes.lo, no.lo) }
    }

    /// Both parts times a power of two.
    pub(super) fn scaled(self, power: F) -> Pair<F> {
        Pair { hi: self.hi * power, lo: self.lo * power }
    }

    /// The rounded sum.
    pub(super) fn value(self) -> F {
        self.hi + self.lo
    }
}

macro_rules! machine {
    ($t:ident, $bits:ident, $fma:path) => {
        impl Real for $t {
            type Bits = $bits;
            type Truth = bool;
            const IS_SINGLE: bool = size_of::<$t>() == 4;

            fn of(value: f64) -> $t {
                value as $t
            }

            fn fma(self, factor: $t, addend: $t) -> $t {
                $fma(self, factor, addend)
            }

            fn abs(self) -> $t {
                $t::abs(self)
            }

            fn sqrt(self) -> $t {
                $t::sqrt(self)
            }

            fn trunc(self) -> $t {
                $t::trunc(self)
            }

            fn copysign(self, sign: $t) -> $t {
                $t::copysign(self, sign)
            }

            fn lt(self, other: $t) -> bool {
                self < other
            }

            fn le(self, other: $t) -> bool {
                self <= other
            }

            fn same(self, other: $t) -> bool {
                self == other
            }

            fn select(condition: bool, yes: $t, no: $t) -> $t {
                if condition { yes } else { no }
            }

            fn bits(self) -> $bits {
                self.to_bits()
            }

            fn from_bits(bits: $bits) -> $t {
                $t::from_bits(bits)
            }
        }

        impl Machine for $t {
            fn widen(self) -> f64 {
                self.into()
            }

            fn narrow(value: f64) -> $t {
                value as $t
            }
        }

        impl Bits for $bits {
            type Truth = bool;

            fn of(value: u64) -> $bits {
                value as $bits
            }

            fn plus(self, other: $bits) -> $bits {
                self.wrapping_add(other)
            }

            fn minus(self, other: $bits) -> $bits {
                self.wrapping_sub(other)
            }

            fn and(self, other: $bits) -> $bits {
                self & other
            }

            fn xor(self, other: $bits) -> $bits {
                self ^ other
            }

            fn up(self, distance: u32) -> $bits {
                self << distance
            }

            fn down(self, distance: u32) -> $bits {
                self >> distance
            }

            fn same(self, other: $bits) -> bool {
                self == other
            }
        }
    };
}

machine!(f32, u32, libm::fmaf);
machine!(f64, u64, libm::fma);
