//! Random numbers from a seed: the same on every machine, for ever, so that a failing program can be named by a number.

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A stream of its own for every seed, neighbouring seeds included.
    pub fn new(seed: u64) -> Rng {
        let mut rng = Rng(seed);
        Rng(rng.bits())
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A whole number in `lo..hi`.
    pub fn range(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo).max(0) as usize) as i64
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in `[lo, hi)`.
    pub fn span(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of several values.
    pub fn choice<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of several values, the later the likelier: recent values are the interesting ones.
    pub fn recent<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let back = (-(1.0 - self.unit()).ln() / 0.6) as usize;
        &from[from.len() - 1 - back.min(from.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_ranges_and_repeat_by_seed() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        for _ in 0..1_000 {
            let (x, y) = (a.range(-3, 4), b.range(-3, 4));
            assert!(x == y && (-3..4).contains(&x));
            let u = a.span(-1.5, 2.0);
            assert!((-1.5..2.0).contains(&u) && u.to_bits() == b.span(-1.5, 2.0).to_bits());
        }
        assert_ne!(Rng::new(1).bits(), Rng::new(2).bits());
        assert_eq!(Rng::new(1).range(5, 5), 5);
    }
}
