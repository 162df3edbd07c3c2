//! Multivariate polynomials with rational coefficients: what integers are as functions of others, exactly.
//!
//! All operations are total but for their limits: `None` says that a result has too many terms or factors, or coefficients
//! that are too large, to be worth it.

use crate::atom::Var;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::hash::Hash;

/// An integer of which nothing is known, in polynomials.
pub trait Unknown: Copy + Ord + Hash {
    /// No unknown, which is behind every other one in their order.
    const NONE: Self;
}

impl Unknown for u32 {
    const NONE: u32 = u32::MAX;
}

impl Unknown for Var {
    const NONE: Var = Var(u32::MAX);
}

/// A product of at most `DEGREE` unknowns, sorted, and padded with [`Unknown::NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Monomial<S, const DEGREE: usize>([S; DEGREE]);

impl<S: Unknown, const DEGREE: usize> Monomial<S, DEGREE> {
    /// The product of nothing.
    const ONE: Self = Monomial([S::NONE; DEGREE]);

    fn linear(unknown: S) -> Self {
        let mut m = Self::ONE;
        m.0[0] = unknown;
        m
    }

    fn factors(&self) -> impl Iterator<Item = S> + '_ {
        self.0.iter().copied().take_while(|s| *s != S::NONE)
    }

    /// The product of two monomials, if it has few factors.
    fn times(&self, other: &Self) -> Option<Self> {
        let mut m = Self::ONE;
        let mut slots = m.0.iter_mut();
        for s in self.factors().chain(other.factors()) {
            *slots.next()? = s;
        }
        m.0.sort_unstable();
        Some(m)
    }

    /// What is left of it without an unknown.
    fn without(&self, unknown: S) -> Self {
        let mut others = Self::ONE;
        self.factors().filter(|s| *s != unknown).zip(&mut others.0).for_each(|(s, slot)| *slot = s);
        others
    }

    /// How often an unknown is a factor.
    fn power_of(&self, unknown: S) -> usize {
        self.factors().filter(|s| *s == unknown).count()
    }
}

/// `(sum of coefficient * monomial) / denominator`, sorted by monomials, each with a coefficient that is not zero: at most
/// `TERMS` terms of at most `DEGREE` factors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Poly<S, const DEGREE: usize, const TERMS: usize> {
    terms: Vec<(Monomial<S, DEGREE>, i128)>,
    denominator: i128,
}

/// The greatest common divisor, of either sign; coefficients are far from the least number.
fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a.wrapping_rem(b)) }
}

impl<S: Unknown, const DEGREE: usize, const TERMS: usize> Poly<S, DEGREE, TERMS> {
    /// A number.
    pub fn number(n: i128) -> Self {
        let terms = (n != 0).then_some((Monomial::ONE, n)).into_iter().collect();
        Poly { terms, denominator: 1 }
    }

    /// An unknown.
    pub fn unknown(sym: S) -> Self {
        Poly { terms: vec![(Monomial::linear(sym), 1)], denominator: 1 }
    }

    /// The number that it is, if no unknown is in it.
    pub fn as_number(&self) -> Option<i128> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(m, n)] if *m == Monomial::ONE && self.denominator == 1 => Some(*n),
            [..] => None,
        }
    }

    /// The unknown that it is, if it is nothing else.
    pub fn as_unknown(&self) -> Option<S> {
        match self.terms.as_slice() {
            [(m, 1)] if self.denominator == 1 && *m != Monomial::ONE && *m == Monomial::linear(m.0[0]) => Some(m.0[0]),
            [..] => None,
        }
    }

    /// The unknowns in it.
    pub fn unknowns(&self) -> BTreeSet<S> {
        self.terms.iter().flat_map(|(m, _)| m.factors()).collect()
    }

    /// With other names for the unknowns, in the same order as theirs.
    pub fn renamed<T: Unknown>(&self, name: impl Fn(S) -> T) -> Poly<T, DEGREE, TERMS> {
        let rename = |m: &Monomial<S, DEGREE>| Monomial(m.0.map(|s| if s == S::NONE { T::NONE } else { name(s) }));
        let terms = self.terms.iter().map(|(m, n)| (rename(m), *n)).collect();
        Poly { terms, denominator: self.denominator }
    }

    /// Whether an unknown is in it.
    pub fn has(&self, sym: S) -> bool {
        self.terms.iter().any(|(m, _)| m.0.contains(&sym))
    }

    /// Whether all coefficients are natural and all unknowns satisfy `is_natural`.
    pub fn is_sum_of_naturals(&self, is_natural: impl Fn(S) -> bool) -> bool {
        self.terms.iter().all(|(m, n)| *n >= 0 && m.factors().all(&is_natural))
    }

    /// The unknowns of terms that are subtracted.
    pub fn subtracted(&self) -> BTreeSet<S> {
        self.terms.iter().filter(|(_, n)| *n < 0).flat_map(|(m, _)| m.factors()).collect()
    }

    /// Whether some term has two factors.
    pub fn has_products(&self) -> bool {
        self.terms.iter().any(|(m, _)| m.0.get(1).is_some_and(|s| *s != S::NONE))
    }

    /// The term without unknowns, rounded.
    pub fn constant(&self) -> i128 {
        self.coefficient(&Monomial::ONE).map_or(0, |n| n / self.denominator)
    }

    fn coefficient(&self, m: &Monomial<S, DEGREE>) -> Option<i128> {
        self.terms.binary_search_by(|(at, _)| at.cmp(m)).ok().map(|at| self.terms[at].1)
    }

    /// Of terms that are sorted, with each monomial once: those that are not zero, and without common divisors.
    fn reduced(mut self) -> Option<Self> {
        self.terms.retain(|(_, n)| *n != 0);
        if self.terms.len() > TERMS {
            return None;
        }
        if self.denominator > 1 {
            let common = self.terms.iter().fold(self.denominator, |g, (_, n)| gcd(g, *n)).checked_abs()?;
            if common > 1 {
                self.terms.iter_mut().for_each(|(_, n)| *n /= common);
                self.denominator /= common;
            }
        }
        Some(self)
    }

    /// `self * factor + other * other_factor` of the numerators.
    fn numerators(&self, factor: i128, other: &Self, other_factor: i128) -> Option<Vec<(Monomial<S, DEGREE>, i128)>> {
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return Some(terms),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let ours = if order.is_le() { left.next() } else { None };
            let theirs = if order.is_ge() { right.next() } else { None };
            let mut sum = 0i128;
            for ((_, n), factor) in ours.map(|t| (t, factor)).into_iter().chain(theirs.map(|t| (t, other_factor))) {
                sum = sum.checked_add(n.checked_mul(factor)?)?;
            }
            terms.extend(ours.or(theirs).map(|(m, _)| (*m, sum)));
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.plus_times(1, other)
    }

    /// The difference.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus_times(-1, other)
    }

    /// `self + factor * other`.
    pub fn plus_times(&self, factor: i128, other: &Self) -> Option<Self> {
        let terms = self.numerators(other.denominator, other, self.denominator.checked_mul(factor)?)?;
        Poly { terms, denominator: self.denominator.checked_mul(other.denominator)? }.reduced()
    }

    /// The product.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut products = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (a, n) in &self.terms {
            for (b, k) in &other.terms {
                products.push((a.times(b)?, n.checked_mul(*k)?));
            }
        }
        products.sort_unstable_by_key(|(m, _)| *m);
        let mut terms: Vec<(Monomial<S, DEGREE>, i128)> = Vec::with_capacity(products.len());
        for (m, n) in products {
            match terms.last_mut() {
                Some((last, sum)) if *last == m => *sum = sum.checked_add(n)?,
                Some(_) | None => terms.push((m, n)),
            }
        }
        Poly { terms, denominator: self.denominator.checked_mul(other.denominator)? }.reduced()
    }

    /// The quotient by a number that is not zero.
    pub fn over(&self, n: i128) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (_, k) in &mut terms {
            *k = k.checked_mul(n.signum())?;
        }
        Poly { terms, denominator: self.denominator.checked_mul(n.checked_abs()?)? }.reduced()
    }

    /// The unknown in terms of the value of this and of the other unknowns: `(this - rest) / coefficient`. None if it
    /// is multiplied with another one.
    pub fn solved_for(&self, sym: S, value: S) -> Option<Self> {
        let n = self.coefficient(&Monomial::linear(sym))?;
        let mut rest = self.clone();
        rest.terms.retain(|(m, _)| *m != Monomial::linear(sym));
        if rest.has(sym) {
            return None;
        }
        // `value = (n sym + rest) / d`, so `sym = (d value - rest) / n`.
        let (d, rest) = (self.denominator, Poly { denominator: 1, ..rest });
        Poly::unknown(value).times(&Poly::number(d))?.minus(&rest)?.over(n)
    }

    /// With an expression in the place of an unknown.
    pub fn with(&self, sym: S, value: &Self) -> Option<Self> {
        let mut rest = Poly::number(0);
        let mut sum = Poly::number(0);
        for (m, n) in &self.terms {
            let n_times = m.power_of(sym);
            if n_times == 0 {
                rest.terms.push((*m, *n));
                continue;
            }
            let mut term = Poly { terms: vec![(m.without(sym), *n)], denominator: 1 };
            for _ in 0..n_times {
                term = term.times(value)?;
            }
            sum = sum.plus(&term)?;
        }
        sum.plus(&rest)?.over(self.denominator)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// `(a, b)` of `a + b * sym`, if it is linear in the unknown.
    pub fn split(&self, sym: S) -> Option<(Self, Self)> {
        let (mut rest, mut slope) = (Vec::new(), Vec::new());
        for (m, n) in &self.terms {
            match m.power_of(sym) {
                0 => rest.push((*m, *n)),
                // The order stays: one and the same factor is taken from all of them.
                1 => slope.push((m.without(sym), *n)),
                _ => return None,
            }
        }
        let whole = |terms| Poly { terms, denominator: self.denominator }.reduced();
        Some((whole(rest)?, whole(slope)?))
    }

    /// `(sym, n, constant)` of `n * sym + constant`, if it is that and its coefficients are integers.
    pub fn as_linear(&self) -> Option<(S, i128, i128)> {
        let mut products = self.terms.iter().filter(|(m, _)| *m != Monomial::ONE);
        match (products.next(), products.next()) {
            (Some((m, n)), None) if self.denominator == 1 && *m == Monomial::linear(m.0[0]) => {
                Some((m.0[0], *n, self.constant()))
            }
            _ => None,
        }
    }

    /// The factors of its only term, if there is no other and its coefficient is positive.
    pub fn as_product(&self) -> Option<Vec<S>> {
        match self.terms.as_slice() {
            [(m, n)] if *n > 0 => Some(m.factors().collect()),
            [..] => None,
        }
    }

    /// Whether it is a multiple of `n` for all integers in the place of the unknowns, of which there are few.
    pub fn is_multiple(&self, n: i128) -> bool {
        let unknowns: Vec<S> = self.unknowns().into_iter().collect();
        if self.denominator != 1 || unknowns.len() > 3 || n > 4 {
            return false;
        }
        let n_cases = n.pow(unknowns.len() as u32);
        (0..n_cases).all(|case| {
            let residue = |s: S| {
                let at = unknowns.iter().position(|u| *u == s).unwrap_or(0);
                case / n.pow(at as u32) % n
            };
            let value = |m: &Monomial<S, DEGREE>| m.factors().fold(1, |p, s| p * residue(s) % n);
            self.terms.iter().fold(0, |sum, (m, k)| (sum + (k % n) * value(m)) % n) == 0
        })
    }
}

#[cfg(test)]
mod tests {
    type Poly = super::Poly<u32, 4, 24>;

    #[test]
    fn sums_and_products_have_one_form() {
        let [x, y] = [0, 1].map(Poly::unknown);
        let sum = x.plus(&y).unwrap();
        let square = sum.times(&sum).unwrap();
        let terms = [x.times(&x).unwrap(), y.times(&x).unwrap(), x.times(&y).unwrap(), y.times(&y).unwrap()];
        let expected = terms.iter().fold(Poly::number(0), |sum, term| sum.plus(term).unwrap());
        assert_eq!(square, expected);
        assert!(square.minus(&expected).unwrap().is_zero());
        assert_eq!(square.split(0), None);
        let at_zero = square.with(0, &Poly::number(0)).unwrap();
        assert_eq!(at_zero, y.times(&y).unwrap());
        assert_eq!(x.times(&y).unwrap().split(0).unwrap(), (Poly::number(0), y));
    }

    #[test]
    fn an_unknown_is_split_off_in_the_order_of_terms() {
        let [x, y, z] = [0, 1, 2].map(Poly::unknown);
        // (x y + x z + y) with denominators: slope and rest are polynomials as any others.
        let slope = y.plus(&z).unwrap().over(2).unwrap();
        let poly = x.times(&slope).unwrap().plus(&y).unwrap();
        assert_eq!(poly.split(0), Some((y.clone(), slope)));
        assert_eq!(
            poly.split(1),
            Some((x.times(&z).unwrap().over(2).unwrap(), x.over(2).unwrap().plus(&Poly::number(1)).unwrap()))
        );
        assert_eq!(y.plus_times(3, &Poly::number(2)).unwrap().as_linear(), Some((1, 1, 6)));
        assert_eq!(poly.as_linear(), None);
        assert_eq!(x.times(&z).unwrap().as_product(), Some(vec![0, 2]));
    }

    #[test]
    fn products_of_too_many_factors_are_left_alone() {
        let x = Poly::unknown(7);
        let fourth = x.times(&x).and_then(|square| square.times(&square)).unwrap();
        assert_eq!(fourth.times(&x), None);
    }
}
