//! Bounds of polynomials: whether one is positive for all values of its locals.
//!
//! A counter lies between 0 and a polynomial in counters around it. A polynomial that is linear in a counter is least at
//! one of its two ends, so counters go one by one, the innermost first. What is left are numbers that do not change while
//! the nest runs, and of which at most a lower bound is known.

use cotan_loops::node::Local;
use rustc_hash::FxHashMap;

/// An offset of an element, or a count. Those of tensors of eight axes are not too large.
pub(crate) type Poly = cotan_ir::Poly<Local, 8, 64>;

/// A counter, from 0 to any of `most`, whichever helps, all of which are true bounds.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) local: Local,
    pub(crate) most: Vec<Poly>,
}

/// What is known of numbers that do not change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    at_least: FxHashMap<Local, i128>,
}

impl Facts {
    /// A local is at least so much.
    pub(crate) fn at_least(&mut self, local: Local, n: i128) {
        let known = self.at_least.entry(local).or_insert(n);
        *known = n.max(*known);
    }

    /// A polynomial is at least 1, as the count of a loop that runs is.
    pub(crate) fn runs(&mut self, count: &Poly) {
        if let Some((local, factor, constant)) = count.as_linear()
            && factor > 0
        {
            // The least integer that makes it at least 1.
            self.at_least(
                local,
                (1 - constant).div_euclid(factor) + i128::from((1 - constant).rem_euclid(factor) != 0),
            );
        } else if let Some(product) = count.as_product()
            && product.iter().all(|local| self.at_least.get(local).is_some_and(|n| *n >= 0))
        {
            product.iter().for_each(|local| self.at_least(*local, 1));
        }
    }

    /// Whether a polynomial is at least `n`, for all counters that are not negative.
    fn is_at_least(&self, poly: &Poly, n: i128, counters: &[Counter]) -> bool {
        let mut poly = poly.clone();
        for local in poly.unknowns() {
            let least = if counters.iter().any(|c| c.local == local) { Some(&0) } else { self.at_least.get(&local) };
            let Some(least) = least else { return false };
            let shifted = Poly::unknown(local).plus(&Poly::number(*least));
            let Some(next) = shifted.and_then(|shifted| poly.with(local, &shifted)) else { return false };
            poly = next;
        }
        poly.is_sum_of_naturals(|_| true) && poly.constant() >= n
    }

    /// Whether a polynomial is positive wherever the counters are in their bounds. The bounds of a counter mention those
    /// after it alone.
    pub(crate) fn is_positive(&self, poly: &Poly, counters: &[Counter]) -> bool {
        let Some((counter, others)) = counters.split_first() else { return self.is_at_least(poly, 1, counters) };
        let Some((at_zero, slope)) = poly.split(counter.local) else { return false };
        if slope.is_zero() {
            return self.is_positive(poly, others);
        }
        let at_end = || {
            counter
                .most
                .iter()
                .any(|most| poly.with(counter.local, most).is_some_and(|at_most| self.is_positive(&at_most, others)))
        };
        if self.is_at_least(&slope, 0, others) {
            return self.is_positive(&at_zero, others);
        }
        let falls = Poly::number(0).minus(&slope).is_some_and(|slope| self.is_at_least(&slope, 0, others));
        (falls || self.is_positive(&at_zero, others)) && at_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Local = Local(0);
    const LAYER: Local = Local(1);
    const K: Local = Local(2);
    const L: Local = Local(3);
    const B: Local = Local(4);
    const COUNT: Local = Local(5);

    fn of(locals: &[Local]) -> Poly {
        locals.iter().fold(Poly::number(1), |product, l| product.times(&Poly::unknown(*l)).unwrap())
    }

    fn below(local: Local, count: &Poly) -> Counter {
        Counter { local, most: vec![count.minus(&Poly::number(1)).unwrap()] }
    }

    fn facts() -> Facts {
        let mut facts = Facts::default();
        [L, B].iter().for_each(|l| facts.at_least(*l, 0));
        facts
    }

    #[test]
    fn rows_of_a_flattened_array_lie_apart() {
        // L B - (layer B + k) with layer < L, k < B.
        let offset = of(&[LAYER, B]).plus(&of(&[K])).unwrap();
        let distance = of(&[L, B]).minus(&offset).unwrap();
        let counters = [below(K, &of(&[B])), below(LAYER, &of(&[L]))];
        assert!(facts().is_positive(&distance, &counters));
        // The last element of the row lies one before the next one, and not two.
        let nearer = distance.minus(&Poly::number(1)).unwrap();
        assert!(!facts().is_positive(&nearer, &counters));
    }

    #[test]
    fn nothing_follows_from_what_is_not_known() {
        let distance = of(&[COUNT]).minus(&of(&[K])).unwrap();
        assert!(!facts().is_positive(&distance, &[below(K, &of(&[B]))]));
        assert!(!facts().is_positive(&of(&[COUNT]), &[]));
        assert!(!facts().is_positive(&of(&[L]), &[]));
        let mut running = facts();
        running.runs(&of(&[L]));
        assert!(running.is_positive(&of(&[L]), &[]));
    }

    #[test]
    fn the_least_number_for_which_a_loop_runs() {
        let mut running = facts();
        // 3 L - 7 >= 1 from L = 3 on.
        running.runs(&Poly::number(0).plus_times(3, &of(&[L])).unwrap().minus(&Poly::number(7)).unwrap());
        let over_two = of(&[L]).minus(&Poly::number(2)).unwrap();
        assert!(running.is_positive(&over_two, &[]));
        assert!(!running.is_positive(&over_two.minus(&Poly::number(1)).unwrap(), &[]));
        // A product runs if its factors do, and T may be negative.
        running.runs(&of(&[T, B]));
        assert!(!running.is_positive(&of(&[B]), &[]));
    }

    #[test]
    fn a_counter_with_either_slope_is_looked_at_at_both_ends() {
        // (T - 1) k + T with k <= 1: T at 0, 2 T - 1 at 1.
        let mut facts = Facts::default();
        facts.at_least(T, 1);
        let slope = of(&[T]).minus(&Poly::number(2)).unwrap();
        let poly = slope.times(&of(&[K])).unwrap().plus(&of(&[T])).unwrap();
        let counter = Counter { local: K, most: vec![Poly::number(1)] };
        // At the far end it is 2 T - 2.
        assert!(!facts.is_positive(&poly, std::slice::from_ref(&counter)));
        facts.at_least(T, 2);
        assert!(facts.is_positive(&poly, &[counter]));
    }
}
