//! Random numbers from a seed.

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014).
pub(crate) struct Rng(u64);

impl Rng {
    /// A stream for every seed.
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn chance(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several values.
    pub(crate) fn choice<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of several values, mostly one of the last.
    pub(crate) fn recent<T: Copy>(&mut self, from: &[T]) -> T {
        let back = self.below(4).min(self.below(from.len()));
        from[from.len() - 1 - back]
    }
}
