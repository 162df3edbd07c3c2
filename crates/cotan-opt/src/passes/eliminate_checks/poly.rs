//! Polynomials with rational coefficients: what integers are as functions of others, exactly.

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// An unknown integer.
pub(super) type Sym = u32;

/// A product of unknowns, sorted, and padded with [`NONE`].
type Monomial = [Sym; MAX_DEGREE];

/// No factor.
const NONE: Sym = Sym::MAX;
const ONE: Monomial = [NONE; MAX_DEGREE];

fn factors(m: &Monomial) -> impl Iterator<Item = Sym> + '_ {
    m.iter().copied().take_while(|s| *s != NONE)
}

fn linear(sym: Sym) -> Monomial {
    let mut m = ONE;
    m[0] = sym;
    m
}

/// The product of two monomials, if it has few factors.
fn product(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut m = ONE;
    let mut slots = m.iter_mut();
    for s in factors(a).chain(factors(b)) {
        *slots.next()? = s;
    }
    m.sort_unstable();
    Some(m)
}

/// More terms or factors than this are not worth it.
const MAX_TERMS: usize = 24;
const MAX_DEGREE: usize = 4;

/// `(sum of coefficient * monomial) / denominator`, sorted by monomials, each with a coefficient that is not zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Poly {
    terms: Vec<(Monomial, i128)>,
    denominator: i128,
}

/// The greatest common divisor, of either sign; coefficients are far from the least number.
fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a.wrapping_rem(b)) }
}

impl Poly {
    pub(super) fn number(n: i128) -> Poly {
        let terms = (n != 0).then_some((ONE, n)).into_iter().collect();
        Poly { terms, denominator: 1 }
    }

    pub(super) fn unknown(sym: Sym) -> Poly {
        Poly { terms: vec![(linear(sym), 1)], denominator: 1 }
    }

    /// The number that it is, if no unknown is in it.
    pub(super) fn as_number(&self) -> Option<i128> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(m, n)] if *m == ONE && self.denominator == 1 => Some(*n),
            [..] => None,
        }
    }

    /// The unknown that it is, if it is nothing else.
    pub(super) fn as_unknown(&self) -> Option<Sym> {
        match self.terms.as_slice() {
            [(m, 1)] if self.denominator == 1 && *m != ONE && *m == linear(m[0]) => Some(m[0]),
            [..] => None,
        }
    }

    pub(super) fn unknowns(&self) -> BTreeSet<Sym> {
        self.terms.iter().flat_map(|(m, _)| factors(m)).collect()
    }

    /// With other names for the unknowns, in the same order as theirs.
    pub(super) fn renamed(&self, name: impl Fn(Sym) -> Sym) -> Poly {
        let rename = |m: &Monomial| m.map(|s| if s == NONE { NONE } else { name(s) });
        let terms = self.terms.iter().map(|(m, n)| (rename(m), *n)).collect();
        Poly { terms, denominator: self.denominator }
    }

    pub(super) fn has(&self, sym: Sym) -> bool {
        self.terms.iter().any(|(m, _)| m.contains(&sym))
    }

    /// Whether all coefficients are natural and all unknowns satisfy `is_natural`.
    pub(super) fn is_sum_of_naturals(&self, is_natural: impl Fn(Sym) -> bool) -> bool {
        self.terms.iter().all(|(m, n)| *n >= 0 && factors(m).all(&is_natural))
    }

    /// The unknowns of terms that are subtracted.
    pub(super) fn subtracted(&self) -> BTreeSet<Sym> {
        self.terms.iter().filter(|(_, n)| *n < 0).flat_map(|(m, _)| factors(m)).collect()
    }

    /// Whether some term has two factors.
    pub(super) fn has_products(&self) -> bool {
        self.terms.iter().any(|(m, _)| m[1] != NONE)
    }

    /// The term without unknowns, rounded.
    pub(super) fn constant(&self) -> i128 {
        self.coefficient(&ONE).map_or(0, |n| n / self.denominator)
    }

    fn coefficient(&self, m: &Monomial) -> Option<i128> {
        self.terms.binary_search_by(|(at, _)| at.cmp(m)).ok().map(|at| self.terms[at].1)
    }

    /// Of terms that are sorted, with each monomial once: those that are not zero, and without common divisors.
    fn reduced(mut self) -> Option<Poly> {
        self.terms.retain(|(_, n)| *n != 0);
        if self.terms.len() > MAX_TERMS {
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
    fn numerators(&self, factor: i128, other: &Poly, other_factor: i128) -> Option<Vec<(Monomial, i128)>> {
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

    /// The sum, if its coefficients are not too large.
    pub(super) fn plus(&self, other: &Poly) -> Option<Poly> {
        let terms = self.numerators(other.denominator, other, self.denominator)?;
        Poly { terms, denominator: self.denominator.checked_mul(other.denominator)? }.reduced()
    }

    pub(super) fn minus(&self, other: &Poly) -> Option<Poly> {
        let terms = self.numerators(other.denominator, other, self.denominator.checked_neg()?)?;
        Poly { terms, denominator: self.denominator.checked_mul(other.denominator)? }.reduced()
    }

    pub(super) fn times(&self, other: &Poly) -> Option<Poly> {
        let mut products = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (a, n) in &self.terms {
            for (b, k) in &other.terms {
                products.push((product(a, b)?, n.checked_mul(*k)?));
            }
        }
        products.sort_unstable_by_key(|(m, _)| *m);
        let mut terms: Vec<(Monomial, i128)> = Vec::with_capacity(products.len());
        for (m, n) in products {
            match terms.last_mut() {
                Some((last, sum)) if *last == m => *sum = sum.checked_add(n)?,
                Some(_) | None => terms.push((m, n)),
            }
        }
        Poly { terms, denominator: self.denominator.checked_mul(other.denominator)? }.reduced()
    }

    /// The quotient by a number that is not zero.
    pub(super) fn over(&self, n: i128) -> Option<Poly> {
        let mut terms = self.terms.clone();
        for (_, k) in &mut terms {
            *k = k.checked_mul(n.signum())?;
        }
        Poly { terms, denominator: self.denominator.checked_mul(n.checked_abs()?)? }.reduced()
    }

    /// The unknown in terms of the value of this and of the other unknowns: `(this - rest) / coefficient`. None if it
    /// is multiplied with another one.
    pub(super) fn solved_for(&self, sym: Sym, value: Sym) -> Option<Poly> {
        let n = self.coefficient(&linear(sym))?;
        let mut rest = self.clone();
        rest.terms.retain(|(m, _)| *m != linear(sym));
        if rest.has(sym) {
            return None;
        }
        // `value = (n sym + rest) / d`, so `sym = (d value - rest) / n`.
        let (d, rest) = (self.denominator, Poly { denominator: 1, ..rest });
        Poly::unknown(value).times(&Poly::number(d))?.minus(&rest)?.over(n)
    }

    /// With an expression in the place of an unknown.
    pub(super) fn with(&self, sym: Sym, value: &Poly) -> Option<Poly> {
        let mut rest = Poly::number(0);
        let mut sum = Poly::number(0);
        for (m, n) in &self.terms {
            let n_times = factors(m).filter(|s| *s == sym).count();
            if n_times == 0 {
                rest.terms.push((*m, *n));
                continue;
            }
            let mut others = ONE;
            factors(m).filter(|s| *s != sym).zip(&mut others).for_each(|(s, slot)| *slot = s);
            let mut term = Poly { terms: vec![(others, *n)], denominator: 1 };
            for _ in 0..n_times {
                term = term.times(value)?;
            }
            sum = sum.plus(&term)?;
        }
        sum.plus(&rest)?.over(self.denominator)
    }

    /// Whether it is a multiple of `n` for all integers in the place of the unknowns, of which there are few.
    pub(super) fn is_multiple(&self, n: i128) -> bool {
        let unknowns: Vec<Sym> = self.unknowns().into_iter().collect();
        if self.denominator != 1 || unknowns.len() > 3 || n > 4 {
            return false;
        }
        let n_cases = n.pow(unknowns.len() as u32);
        (0..n_cases).all(|case| {
            let residue = |s: Sym| {
                let at = unknowns.iter().position(|u| *u == s).unwrap_or(0);
                case / n.pow(at as u32) % n
            };
            let value = |m: &Monomial| factors(m).fold(1, |p, s| p * residue(s) % n);
            self.terms.iter().fold(0, |sum, (m, k)| (sum + (k % n) * value(m)) % n) == 0
        })
    }
}
