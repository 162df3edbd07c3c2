//! Polynomials in integer locals, as offsets of elements are.

use cotan_loops::node::Local;
use std::collections::BTreeMap;

/// Polynomials with more terms are left alone.
const MOST_TERMS: usize = 64;

/// A sum of products of locals with integer factors; no factor is zero. The locals of a product are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Poly(BTreeMap<Vec<Local>, i128>);

impl Poly {
    pub(super) fn constant(n: i128) -> Poly {
        Poly([(Vec::new(), n)].into_iter().filter(|(_, n)| *n != 0).collect())
    }

    pub(super) fn local(local: Local) -> Poly {
        Poly([(vec![local], 1)].into_iter().collect())
    }

    /// `self + factor * other`, unless that is too large to handle, as for all operations here.
    pub(super) fn plus(&self, factor: i128, other: &Poly) -> Option<Poly> {
        let mut sum = self.clone();
        for (product, n) in &other.0 {
            sum.add(product.clone(), n.checked_mul(factor)?)?;
        }
        (sum.0.len() <= MOST_TERMS).then_some(sum)
    }

    pub(super) fn times(&self, other: &Poly) -> Option<Poly> {
        let mut result = Poly::default();
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                let mut product = [a.as_slice(), b.as_slice()].concat();
                product.sort_unstable();
                result.add(product, n.checked_mul(*m)?)?;
            }
        }
        (result.0.len() <= MOST_TERMS).then_some(result)
    }

    fn add(&mut self, product: Vec<Local>, n: i128) -> Option<()> {
        let sum = self.0.remove(&product).unwrap_or(0).checked_add(n)?;
        if sum != 0 {
            self.0.insert(product, sum);
        }
        Some(())
    }

    /// `(a, b)` for `a + b * local`, if it is linear in the local.
    pub(super) fn split(&self, local: Local) -> Option<(Poly, Poly)> {
        let (mut rest, mut factor) = (Poly::default(), Poly::default());
        for (product, n) in &self.0 {
            match product.iter().filter(|l| **l == local).count() {
                0 => rest.add(product.clone(), *n)?,
                1 => factor.add(product.iter().copied().filter(|l| *l != local).collect(), *n)?,
                _ => return None,
            }
        }
        Some((rest, factor))
    }

    /// With `by` in the place of a local.
    pub(super) fn replace(&self, local: Local, by: &Poly) -> Option<Poly> {
        if !self.locals().any(|l| l == local) {
            return Some(self.clone());
        }
        let mut result = Poly::default();
        for (product, n) in &self.0 {
            let mut term = Poly::constant(*n);
            for l in product {
                term = if *l == local { term.times(by)? } else { term.times(&Poly::local(*l))? };
            }
            result = result.plus(1, &term)?;
        }
        Some(result)
    }

    /// The locals in it; one may come several times.
    pub(super) fn locals(&self) -> impl Iterator<Item = Local> + '_ {
        self.0.keys().flatten().copied()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// What does not depend on any local.
    pub(super) fn constant_term(&self) -> i128 {
        self.0.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// Whether no factor is negative.
    pub(super) fn has_natural_factors(&self) -> bool {
        self.0.values().all(|n| *n >= 0)
    }

    /// `(local, factor, constant)` if it is a multiple of one local and a constant.
    pub(super) fn as_multiple(&self) -> Option<(Local, i128, i128)> {
        let mut products = self.0.iter().filter(|(product, _)| !product.is_empty());
        match (products.next(), products.next()) {
            (Some((product, factor)), None) => match product[..] {
                [local] => Some((local, *factor, self.constant_term())),
                _ => None,
            },
            _ => None,
        }
    }

    /// The locals of its only product, if there is no other and the factor is positive.
    pub(super) fn as_product(&self) -> Option<&[Local]> {
        match self.0.iter().next() {
            Some((product, n)) if self.0.len() == 1 && *n > 0 => Some(product),
            Some(_) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_have_one_form() {
        let [x, y] = [0, 1].map(|n| Poly::local(Local(n)));
        let sum = x.plus(1, &y).unwrap();
        let square = sum.times(&sum).unwrap();
        let terms = [x.times(&x).unwrap(), y.times(&x).unwrap(), x.times(&y).unwrap(), y.times(&y).unwrap()];
        let expected = terms.iter().fold(Poly::default(), |sum, term| sum.plus(1, term).unwrap());
        assert_eq!(square, expected);
        assert!(square.plus(-1, &expected).unwrap().is_zero());
        assert_eq!(square.split(Local(0)), None);
        let at_zero = square.replace(Local(0), &Poly::default()).unwrap();
        assert_eq!(at_zero, y.times(&y).unwrap());
        assert_eq!(x.times(&y).unwrap().split(Local(0)).unwrap(), (Poly::default(), y));
    }
}
