//! Random inputs from a fixed seed, so that every run and every peer has the same.

use cotan::host::HostValue;
use cotan::host::Value;
use cotan::host::{Const, Elem};

const SEED: u64 = 20;

/// Random numbers of one type, by SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
/// 2014).
pub(crate) struct Random {
    elem: Elem,
    state: u64,
}

impl Random {
    pub(crate) fn new(elem: Elem) -> Random {
        Random { elem, state: SEED }
    }

    pub(crate) fn elem(&self) -> Elem {
        self.elem
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From -1 to 1.
    fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn tensor(&mut self, dims: &[usize], mut element: impl FnMut(&mut Random, usize) -> f64) -> HostValue {
        let n = dims.iter().product();
        let bits = (0..n).map(|k| bits(self.elem, element(self, k))).collect();
        HostValue::Tensor(Value { elem: self.elem, dims: dims.iter().map(|d| *d as i64).collect(), bits })
    }

    /// A tensor of numbers from -1 to 1.
    pub(crate) fn numbers(&mut self, dims: &[usize]) -> HostValue {
        self.tensor(dims, |random, _| random.number())
    }

    /// A tensor of numbers from `low` to `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64, dims: &[usize]) -> HostValue {
        self.tensor(dims, |random, _| low + (high - low) * 0.5 * (random.number() + 1.0))
    }

    /// A tensor of 0, 1/8, 2/8 and 3/8, of which millions have an exact sum in every type.
    pub(crate) fn eighths(&mut self, dims: &[usize]) -> HostValue {
        self.tensor(dims, |random, _| (random.next() >> 62) as f64 / 8.0)
    }

    /// The scalar 1.
    pub(crate) fn one(&self) -> HostValue {
        HostValue::Scalar(Const::from_bits(self.elem, bits(self.elem, 1.0)))
    }

    /// A tensor of positions below `n`.
    pub(crate) fn positions(&mut self, n: usize, dims: &[usize]) -> HostValue {
        let at: Vec<i64> = (0..dims.iter().product()).map(|_| (self.next() % n as u64) as i64).collect();
        HostValue::Tensor(Value::i64s(&dims.iter().map(|d| *d as i64).collect::<Vec<_>>(), &at))
    }

    /// Where each of `parts` parts of `n` elements begins, and the end: parts of random lengths, which may be empty.
    pub(crate) fn parts(&mut self, n: usize, parts: usize) -> HostValue {
        let mut starts: Vec<i64> = (0..parts).map(|_| (self.next() % (n as u64 + 1)) as i64).collect();
        starts.sort_unstable();
        starts.first_mut().into_iter().for_each(|first| *first = 0);
        starts.push(n as i64);
        HostValue::Tensor(Value::i64s(&[parts as i64 + 1], &starts))
    }

    /// Square matrices with a heavy diagonal, so that the digits of solutions are those of the arithmetic.
    pub(crate) fn matrices(&mut self, batch: usize, n: usize) -> HostValue {
        self.tensor(&[batch, n, n], |random, k| {
            let is_diagonal = k / n % n == k % n;
            random.number() + if is_diagonal { n as f64 } else { 0.0 }
        })
    }
}

fn bits(elem: Elem, x: f64) -> u64 {
    if elem == Elem::F32 { u64::from((x as f32).to_bits()) } else { x.to_bits() }
}

/// The extents of an argument, as a word.
pub(crate) fn size(value: &HostValue) -> String {
    let HostValue::Tensor(tensor) = value else { return "1".to_owned() };
    let dims: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
    dims.join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_in_both_types_but_for_rounding() {
        let (short, long) = (Random::new(Elem::F32).numbers(&[100]), Random::new(Elem::F64).numbers(&[100]));
        assert!(short.floats().iter().zip(long.floats()).all(|(a, b)| *a == f64::from(b as f32) && b.abs() <= 1.0));
        assert_eq!(Random::new(Elem::F64).numbers(&[100]), long);
    }

    #[test]
    fn sums_of_eighths_are_exact_in_f32() {
        let all = Random::new(Elem::F32).eighths(&[1 << 16]).floats();
        let in_f32 = all.iter().fold(0.0f32, |sum, x| sum + *x as f32);
        assert_eq!(f64::from(in_f32), all.iter().sum::<f64>());
        assert_eq!(all.iter().copied().fold(0.0, f64::max), 0.375);
    }

    #[test]
    fn parts_cover_all_elements_in_order() {
        let HostValue::Tensor(starts) = Random::new(Elem::F64).parts(10, 4) else { panic!("expected a tensor") };
        assert_eq!((starts.dims.as_slice(), starts.bits[0], starts.bits[4]), ([5].as_slice(), 0, 10));
        assert!(starts.bits.is_sorted());
    }

    #[test]
    fn diagonals_are_heavy() {
        let all = Random::new(Elem::F64).matrices(2, 3).floats();
        assert!(all.iter().enumerate().all(|(k, x)| (*x >= 2.0) == ([0, 4, 8].contains(&(k % 9)))));
    }
}
