//! Numbers of bytes as sums of products of sizes, for people to read.
//!
//! A formula is what grows, not the last byte: rounding to whole numbers and clamping to 0 or 1 are left out.

use std::collections::BTreeMap;
use std::fmt;

/// A size that is not taken apart further: a parameter, an extent, a trip count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Symbol {
    pub(super) name: String,
    /// Tells apart what has the same name; 0 where the name is enough.
    pub(super) number: u32,
    /// The innermost region of the function in whose runs it differs; none if it is the same in the whole call.
    pub(super) region: Option<usize>,
}

/// A power with a rational exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Exponent {
    over: i32,
    under: i32,
}

impl Exponent {
    const ONE: Exponent = Exponent { over: 1, under: 1 };

    /// The simplest fraction that is `x` but for rounding.
    fn near(x: f64) -> Option<Exponent> {
        (1..=16).find_map(|under| {
            let over = x * f64::from(under);
            let is_whole = (over - over.round()).abs() < 1e-9 && over.abs() < 1e3;
            is_whole.then_some(Exponent { over: over.round() as i32, under })
        })
    }

    fn value(self) -> f64 {
        f64::from(self.over) / f64::from(self.under)
    }

    fn plus(self, other: Exponent) -> Exponent {
        Exponent::near(self.value() + other.value()).unwrap_or(self)
    }

    fn times(self, other: Exponent) -> Exponent {
        Exponent::near(self.value() * other.value()).unwrap_or(self)
    }
}

/// Factors with their exponents; empty for 1.
type Monomial = BTreeMap<Symbol, Exponent>;

/// A sum of products of sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formula {
    /// Without zero coefficients.
    terms: BTreeMap<Monomial, f64>,
}

impl Formula {
    /// A number.
    pub(super) fn number(n: f64) -> Formula {
        Formula::term(Monomial::new(), n)
    }

    /// A size.
    pub(super) fn symbol(symbol: Symbol) -> Formula {
        Formula::term(Monomial::from([(symbol, Exponent::ONE)]), 1.0)
    }

    fn term(factors: Monomial, coefficient: f64) -> Formula {
        let mut formula = Formula::default();
        formula.add(factors, coefficient);
        formula
    }

    fn add(&mut self, factors: Monomial, coefficient: f64) {
        let sum = self.terms.get(&factors).copied().unwrap_or(0.0) + coefficient;
        if sum == 0.0 {
            self.terms.remove(&factors);
        } else {
            self.terms.insert(factors, sum);
        }
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The number, if there is nothing else.
    pub(super) fn as_number(&self) -> Option<f64> {
        match self.terms.iter().next() {
            None => Some(0.0),
            Some((factors, coefficient)) => (self.terms.len() == 1 && factors.is_empty()).then_some(*coefficient),
        }
    }

    fn as_term(&self) -> Option<(&Monomial, f64)> {
        let mut terms = self.terms.iter();
        let (factors, coefficient) = terms.next()?;
        terms.next().is_none().then_some((factors, *coefficient))
    }

    pub(super) fn plus(&self, other: &Formula) -> Formula {
        let mut sum = self.clone();
        other.terms.iter().for_each(|(factors, coefficient)| sum.add(factors.clone(), *coefficient));
        sum
    }

    pub(super) fn minus(&self, other: &Formula) -> Formula {
        self.plus(&other.times(&Formula::number(-1.0)))
    }

    pub(super) fn times(&self, other: &Formula) -> Formula {
        let mut product = Formula::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                product.add(multiplied(a, b), x * y);
            }
        }
        product
    }

    /// The positive term that grows fastest.
    fn leading(&self) -> Option<(&Monomial, f64)> {
        let positive = self.terms.iter().filter(|(_, coefficient)| **coefficient > 0.0);
        let leading = positive.max_by(|(a, _), (b, _)| degree(a).total_cmp(&degree(b)));
        leading.map(|(factors, coefficient)| (factors, *coefficient))
    }

    /// The power, of its leading term where there are several.
    pub(super) fn power(&self, exponent: f64) -> Option<Formula> {
        let (factors, coefficient) = self.leading()?;
        let by = Exponent::near(exponent)?;
        let raised = factors.iter().map(|(symbol, e)| (symbol.clone(), e.times(by))).collect();
        Some(Formula::term(raised, coefficient.powf(exponent)))
    }

    /// The quotient, rounding left out: that of `n + d - 1` by `d`, which rounds up, is `n / d`. So is what gets less
    /// with the sizes.
    pub(super) fn over(&self, divisor: &Formula) -> Option<Formula> {
        let rounding = divisor.minus(&Formula::number(1.0));
        let rest = self.minus(&rounding);
        let n = if rest.terms.len() < self.terms.len() { &rest } else { self };
        let mut quotient = n.times(&divisor.power(-1.0)?);
        quotient.terms.retain(|factors, _| degree(factors) >= 0.0);
        Some(quotient)
    }

    /// Whether this is at least `other` whatever the sizes are, as far as the terms tell one by one.
    fn covers(&self, other: &Formula) -> bool {
        let is_covered =
            |(factors, coefficient): (&Monomial, &f64)| self.terms.get(factors).copied().unwrap_or(0.0) >= *coefficient;
        let is_natural =
            |(factors, coefficient): (&Monomial, &f64)| *coefficient >= 0.0 || other.terms.contains_key(factors);
        other.terms.iter().all(is_covered) && self.terms.iter().all(is_natural)
    }

    /// The greater of two.
    pub(super) fn max(self, other: Formula) -> Formula {
        if self.covers(&other) {
            self
        } else if other.covers(&self) {
            other
        } else {
            self.called("max", &other)
        }
    }

    /// The smaller of two.
    pub(super) fn min(self, other: Formula) -> Formula {
        if self.covers(&other) || other.is_root_of(&self) {
            other
        } else if other.covers(&self) || self.is_root_of(&other) {
            self
        } else {
            self.called("min", &other)
        }
    }

    /// Whether this is a root of the other, and so smaller but for small sizes.
    fn is_root_of(&self, other: &Formula) -> bool {
        let (Some((root, _)), Some((whole, _))) = (self.as_term(), other.leading()) else { return false };
        let is_smaller = |(symbol, e): (&Symbol, &Exponent)| whole.get(symbol).is_some_and(|w| w.value() > e.value());
        root.len() == whole.len() && root.iter().all(is_smaller)
    }

    /// A function of two formulas, not taken apart further.
    pub(super) fn called(&self, name: &str, other: &Formula) -> Formula {
        let region = self.region().max(other.region());
        Formula::symbol(Symbol { name: format!("{name}({self}, {other})"), number: 0, region })
    }

    /// The sizes in it.
    pub(super) fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.terms.keys().flat_map(BTreeMap::keys)
    }

    /// The innermost region in whose runs it differs. (Regions are numbered from the outside to the inside.)
    pub(super) fn region(&self) -> Option<usize> {
        self.symbols().filter_map(|symbol| symbol.region).max()
    }

    /// The same with other formulas for some symbols.
    pub(super) fn replaced(&self, by: &dyn Fn(&Symbol) -> Option<Formula>) -> Formula {
        let mut sum = Formula::default();
        for (factors, coefficient) in &self.terms {
            let mut product = Formula::number(*coefficient);
            for (symbol, exponent) in factors {
                let factor = by(symbol).and_then(|formula| formula.power_or_symbol(*exponent));
                let kept = || Formula::term(Monomial::from([(symbol.clone(), *exponent)]), 1.0);
                product = product.times(&factor.unwrap_or_else(kept));
            }
            sum = sum.plus(&product);
        }
        sum
    }

    fn power_or_symbol(self, exponent: Exponent) -> Option<Formula> {
        if exponent == Exponent::ONE { Some(self) } else { self.power(exponent.value()) }
    }
}

fn degree(factors: &Monomial) -> f64 {
    let sum: f64 = factors.values().map(|e| e.value()).sum();
    // Thirds and the like add up but for rounding.
    (sum * 1e6).round() / 1e6
}

fn multiplied(a: &Monomial, b: &Monomial) -> Monomial {
    let mut product = a.clone();
    for (symbol, exponent) in b {
        let sum = product.get(symbol).map_or(*exponent, |e| e.plus(*exponent));
        if sum.over == 0 {
            product.remove(symbol);
        } else {
            product.insert(symbol.clone(), sum);
        }
    }
    product
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return out.write_str("0");
        }
        let mut terms: Vec<(&Monomial, f64)> = self.terms.iter().map(|(factors, c)| (factors, *c)).collect();
        // What grows fastest stands first, and nothing begins with a minus where it can be helped.
        terms.sort_by(|(a, x), (b, y)| degree(b).total_cmp(&degree(a)).then((*x < 0.0).cmp(&(*y < 0.0))));
        for (k, (factors, coefficient)) in terms.into_iter().enumerate() {
            match (k, coefficient < 0.0) {
                (0, false) => {}
                (0, true) => out.write_str("-")?,
                (_, false) => out.write_str(" + ")?,
                (_, true) => out.write_str(" - ")?,
            }
            write_term(out, factors, coefficient.abs())?;
        }
        Ok(())
    }
}

fn write_term(out: &mut fmt::Formatter<'_>, factors: &Monomial, coefficient: f64) -> fmt::Result {
    let mut parts = Vec::new();
    let mut divisors = Vec::new();
    for (Symbol { name, .. }, Exponent { over, under }) in factors {
        match (over, under) {
            (1, 1) => parts.push(name.clone()),
            (-1, 1) => divisors.push(name.clone()),
            (1, 2) => parts.push(format!("sqrt({name})")),
            (-1, 2) => divisors.push(format!("sqrt({name})")),
            (over, 1) => parts.push(format!("{name}^{over}")),
            (over, under) => parts.push(format!("{name}^({over}/{under})")),
        }
    }
    if coefficient != 1.0 || parts.is_empty() {
        parts.insert(0, number(coefficient));
    }
    out.write_str(&parts.join(" * "))?;
    divisors.iter().try_for_each(|divisor| write!(out, " / {divisor}"))
}

/// A whole number in full, another one with three digits.
fn number(x: f64) -> String {
    if x.fract() == 0.0 {
        return format!("{x}");
    }
    let n_decimals = (2.0 - x.abs().log10().floor()).max(0.0) as usize;
    let text = format!("{x:.n_decimals$}");
    if n_decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(name: &str) -> Formula {
        Formula::symbol(Symbol { name: name.to_owned(), number: 0, region: None })
    }

    fn n(x: f64) -> Formula {
        Formula::number(x)
    }

    #[test]
    fn sums_of_products_are_written_as_in_the_source() {
        let table = size("n").plus(&n(1.0)).times(&size("m").plus(&n(1.0))).times(&n(8.0));
        assert_eq!(table.to_string(), "8 * m * n + 8 * m + 8 * n + 8");
        assert_eq!(size("n").minus(&n(1.0)).times(&n(8.0)).to_string(), "8 * n - 8");
        assert_eq!(Formula::default().to_string(), "0");
        assert_eq!(size("n").minus(&size("n")).to_string(), "0");
    }

    #[test]
    fn the_states_of_segments_are_roots_of_the_trip_count() {
        let count = size("steps");
        let length = count.power(2.0 / 3.0).expect("a single product").min(count.clone());
        assert_eq!(length.to_string(), "steps^(2/3)");
        let n_segments = count.plus(&length.minus(&n(1.0))).over(&length).expect("a single product");
        assert_eq!(n_segments.to_string(), "steps^(1/3)");
        let inner = length.power(0.5).expect("a single product");
        assert_eq!(inner.plus(&n_segments).times(&n(16.0)).to_string(), "32 * steps^(1/3)");
        let rows = size("n").minus(&n(1.0));
        let length = rows.power(0.5).expect("it grows").min(rows.clone());
        assert_eq!(rows.plus(&length).minus(&n(1.0)).over(&length).expect("it grows").to_string(), "sqrt(n)");
        assert_eq!(count.plus(&n(99.0)).over(&n(100.0)).expect("a number").times(&n(16.0)).to_string(), "0.16 * steps");
    }

    #[test]
    fn of_two_the_greater_is_told_where_the_terms_tell_it() {
        let (small, large) = (size("n"), size("n").times(&n(2.0)));
        assert_eq!(small.clone().max(large.clone()), large);
        assert_eq!(small.clone().min(large), small);
        assert_eq!(size("n").max(size("m")).to_string(), "max(n, m)");
        assert_eq!(n(0.0).max(size("n")), size("n"));
    }

    #[test]
    fn a_symbol_is_replaced_inside_products_and_powers() {
        let formula = size("i").times(&n(8.0)).plus(&n(8.0));
        let by = |symbol: &Symbol| (symbol.name == "i").then(|| size("n").minus(&n(1.0)));
        assert_eq!(formula.replaced(&by).to_string(), "8 * n");
    }
}
