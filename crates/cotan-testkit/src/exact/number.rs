//! Binary floating-point numbers of `N` times 64 bits, with exponents that do not end.
//!
//! Results are cut, not rounded: each operation is off by a few units in its last place at most. With the five words of
//! [`Number`] that leaves more than 90 decimal digits.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The numbers that exact values are worked out in.
pub type Number = Float<5>;

/// A number: `+-0.words * 2^exponent`, the first bit of the words set, or zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float<const N: usize> {
    is_negative: bool,
    exponent: i64,
    /// The last word counts most.
    words: [u64; N],
}

impl<const N: usize> Float<N> {
    /// Zero.
    pub const ZERO: Float<N> = Float { is_negative: false, exponent: 0, words: [0; N] };

    /// A whole number.
    pub fn whole(n: i64) -> Float<N> {
        let mut words = [0; N];
        words[N - 1] = n.unsigned_abs();
        Float { is_negative: n < 0, exponent: 64, words }.normal()
    }

    /// A finite float, exactly.
    pub fn of(x: f64) -> Float<N> {
        let bits = x.to_bits();
        let (biased, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        let (mantissa, power) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
        let mut words = [0; N];
        words[N - 1] = mantissa;
        Float { is_negative: x.is_sign_negative(), exponent: 64 + power, words }.normal()
    }

    /// The number that is written with these decimal digits.
    pub fn decimal(text: &str) -> Float<N> {
        let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let after_point = digits.split_once('.').map_or(0, |(_, after)| after.len());
        let ten = Float::whole(10);
        let read = digits.bytes().filter(u8::is_ascii_digit);
        let whole = read.fold(Float::ZERO, |sum, digit| sum * ten + Float::whole(i64::from(digit - b'0')));
        let value = (0..after_point).fold(Float::whole(1), |power, _| power * ten).reciprocal() * whole;
        if is_negative { -value } else { value }
    }

    /// With the first bit set.
    fn normal(self) -> Float<N> {
        let Some(top) = (0..N).rev().find(|k| self.words[*k] != 0) else { return Float::ZERO };
        let leading = 64 * (N - 1 - top) as u32 + self.words[top].leading_zeros();
        let words = shifted_up(&self.words, leading);
        Float { words, exponent: self.exponent - i64::from(leading), ..self }
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.words[N - 1] == 0
    }

    /// Whether this is less than zero.
    pub fn is_negative(&self) -> bool {
        self.is_negative && !self.is_zero()
    }

    /// The least power of two that is greater than the magnitude.
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Magnitude.
    pub fn abs(self) -> Float<N> {
        Float { is_negative: false, ..self }
    }

    /// The product with a power of two.
    pub fn scaled(self, power: i64) -> Float<N> {
        if self.is_zero() { self } else { Float { exponent: self.exponent + power, ..self } }
    }

    /// The nearest float, about; infinite where that is so large.
    pub fn rough(&self) -> f64 {
        let magnitude = (self.words[N - 1] >> 11) as f64;
        let power = (self.exponent - 53).clamp(-3000, 3000) as i32;
        // In two steps, because a power of two need not be a float where the product is.
        let half = power / 2;
        let size = magnitude * 2.0_f64.powi(half) * 2.0_f64.powi(power - half);
        if self.is_negative { -size } else { size }
    }

    /// The same number with more or fewer words.
    pub fn resized<const M: usize>(&self) -> Float<M> {
        let mut words = [0; M];
        for k in 1..=M.min(N) {
            words[M - k] = self.words[N - k];
        }
        Float { is_negative: self.is_negative, exponent: self.exponent, words }
    }

    /// The whole part, cut towards zero.
    pub fn trunc(self) -> Float<N> {
        let n_bits = 64 * N as i64;
        if self.exponent <= 0 {
            return Float::ZERO;
        }
        let dropped = (n_bits - self.exponent).max(0) as u32;
        let words = shifted_up(&shifted_down(&self.words, dropped), dropped);
        Float { words, ..self }
    }

    /// The nearest whole number.
    pub fn round(self) -> Float<N> {
        let half = Float::whole(1).scaled(-1);
        let moved = (self.abs() + half).trunc();
        if self.is_negative { -moved } else { moved }
    }

    /// A whole number modulo 4.
    pub fn quarter(&self) -> u64 {
        let place = 64 * N as i64 - self.exponent;
        let bit = |k: i64| match usize::try_from(place + k) {
            Ok(at) if at < 64 * N => self.words[at / 64] >> (at % 64) & 1,
            Ok(_) | Err(_) => 0,
        };
        let size = bit(0) + 2 * bit(1);
        if self.is_negative { (4 - size) % 4 } else { size }
    }

    /// `1 / self`, by Newton's method.
    pub fn reciprocal(self) -> Float<N> {
        let mantissa = Float { exponent: 0, is_negative: false, ..self };
        let mut near = Float::of(1.0 / mantissa.rough());
        let two = Float::whole(2);
        let mut bits = 50;
        while bits < 64 * N {
            near = near * (two - mantissa * near);
            bits *= 2;
        }
        Float { is_negative: self.is_negative, ..near.scaled(-self.exponent) }
    }

    /// Square root of what is not negative, by Newton's method for its reciprocal.
    pub fn sqrt(self) -> Float<N> {
        if self.is_zero() {
            return self;
        }
        let half_exponent = self.exponent.div_euclid(2);
        let mantissa = self.scaled(-2 * half_exponent);
        let mut near = Float::of(1.0 / mantissa.rough().sqrt());
        let three = Float::whole(3);
        let mut bits = 50;
        while bits < 64 * N {
            near = (near * (three - mantissa * near * near)).scaled(-1);
            bits *= 2;
        }
        (mantissa * near).scaled(half_exponent)
    }

    /// Whether the magnitude is less.
    fn is_smaller(&self, other: &Float<N>) -> bool {
        if self.is_zero() || other.is_zero() {
            return self.is_zero() && !other.is_zero();
        }
        let by_words = || self.words.iter().rev().cmp(other.words.iter().rev());
        self.exponent.cmp(&other.exponent).then_with(by_words).is_lt()
    }

    /// The sum.
    fn plus(self, other: Float<N>) -> Float<N> {
        let (large, small) = if self.is_smaller(&other) { (other, self) } else { (self, other) };
        if small.is_zero() {
            return large;
        }
        let distance = (large.exponent - small.exponent).min(64 * N as i64) as u32;
        let lower = shifted_down(&small.words, distance);
        let mut words = large.words;
        let mut carry = false;
        let is_sum = large.is_negative == small.is_negative;
        let step: fn(u64, u64) -> (u64, bool) = if is_sum { u64::overflowing_add } else { u64::overflowing_sub };
        for (word, other) in words.iter_mut().zip(lower) {
            let (first, over) = step(*word, other);
            let (second, again) = step(first, u64::from(carry));
            *word = second;
            carry = over || again;
        }
        if is_sum && carry {
            let mut halved = shifted_down(&words, 1);
            halved[N - 1] |= 1 << 63;
            return Float { words: halved, exponent: large.exponent + 1, ..large };
        }
        Float { words, ..large }.normal()
    }

    /// Whether this is less.
    pub fn is_less(&self, other: &Float<N>) -> bool {
        (*self - *other).is_negative()
    }
}

/// The words moved up by so many bits.
fn shifted_up<const N: usize>(words: &[u64; N], distance: u32) -> [u64; N] {
    let (whole, rest) = ((distance / 64) as usize, distance % 64);
    std::array::from_fn(|k| {
        let word = |k: Option<usize>| k.and_then(|k| words.get(k)).copied().unwrap_or(0);
        let low = if rest == 0 { 0 } else { word(k.checked_sub(whole + 1)) >> (64 - rest) };
        word(k.checked_sub(whole)) << rest | low
    })
}

/// The words moved down by so many bits.
fn shifted_down<const N: usize>(words: &[u64; N], distance: u32) -> [u64; N] {
    let (whole, rest) = ((distance / 64) as usize, distance % 64);
    std::array::from_fn(|k| {
        let word = |k: usize| words.get(k).copied().unwrap_or(0);
        let high = if rest == 0 { 0 } else { word(k + whole + 1) << (64 - rest) };
        word(k + whole) >> rest | high
    })
}

impl<const N: usize> Neg for Float<N> {
    type Output = Float<N>;

    fn neg(self) -> Float<N> {
        Float { is_negative: !self.is_negative, ..self }
    }
}

impl<const N: usize> Add for Float<N> {
    type Output = Float<N>;

    fn add(self, other: Float<N>) -> Float<N> {
        self.plus(other)
    }
}

impl<const N: usize> Sub for Float<N> {
    type Output = Float<N>;

    fn sub(self, other: Float<N>) -> Float<N> {
        self.plus(-other)
    }
}

impl<const N: usize> Mul for Float<N> {
    type Output = Float<N>;

    fn mul(self, other: Float<N>) -> Float<N> {
        if self.is_zero() || other.is_zero() {
            return Float::ZERO;
        }
        // The lower half of the product is kept for what it carries, and for a first bit that is not set.
        let (mut low, mut high) = ([0_u64; N], [0_u64; N]);
        for (k, a) in self.words.iter().enumerate() {
            let mut carry = 0_u128;
            for (j, b) in other.words.iter().enumerate() {
                let place = if k + j < N { &mut low[k + j] } else { &mut high[k + j - N] };
                let sum = u128::from(*a) * u128::from(*b) + u128::from(*place) + carry;
                *place = sum as u64;
                carry = sum >> 64;
            }
            high[k] = carry as u64;
        }
        let is_negative = self.is_negative != other.is_negative;
        let exponent = self.exponent + other.exponent;
        if high[N - 1] >> 63 == 1 {
            return Float { is_negative, exponent, words: high };
        }
        let mut words = shifted_up(&high, 1);
        words[0] |= low[N - 1] >> 63;
        Float { is_negative, exponent: exponent - 1, words }
    }
}

impl<const N: usize> Div for Float<N> {
    type Output = Float<N>;

    fn div(self, other: Float<N>) -> Float<N> {
        let reciprocal = other.reciprocal();
        let quotient = self * reciprocal;
        quotient + (self - quotient * other) * reciprocal
    }
}
