//! Matrices to test with, and residuals, computed in `f64` whatever the element type.

use cotan_kernels::Real;

/// Orders on both sides of every change of method.
pub(crate) const SIZES: [usize; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 40];

/// How far rounding may take a residual, in units of the precision times the order.
pub(crate) const ROUNDING: f64 = 20.0;

/// An element type and the way to `f64` and back.
pub(crate) trait Sample: Real + PartialEq {
    /// The distance from one to the next number.
    const PRECISION: f64;
    /// The nearest number.
    fn of(x: f64) -> Self;
    /// The same number.
    fn wide(self) -> f64;
    /// The bits.
    fn bits(self) -> u64;
}

impl Sample for f32 {
    const PRECISION: f64 = f32::EPSILON as f64;

    fn of(x: f64) -> Self {
        x as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Sample for f64 {
    const PRECISION: f64 = f64::EPSILON;

    fn of(x: f64) -> Self {
        x
    }

    fn wide(self) -> f64 {
        self
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// Numbers between -1 and 1, the same for the same seed (a linear congruential generator by D. E. Knuth).
pub(crate) fn numbers<T: Sample>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| T::of(next())).collect()
}

/// A batch of symmetric, positive definite matrices: `B B^T + 1`.
pub(crate) fn definite<T: Sample>(n: usize, batch: usize, seed: u64) -> Vec<T> {
    let mut all = Vec::new();
    for position in 0..batch {
        let b = wide(&numbers::<T>(n * n, seed + position as u64));
        let mut a = product(n, n, n, &b, &transposed(n, n, &b));
        (0..n).for_each(|i| a[i * n + i] += 1.0);
        all.extend(a.iter().map(|x| T::of(*x)));
    }
    all
}

/// Numbers as `f64`.
pub(crate) fn wide<T: Sample>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| x.wide()).collect()
}

/// The product of an `[m, l]` with an `[l, n]` matrix.
pub(crate) fn product(m: usize, l: usize, n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for i in 0..m {
        for k in 0..l {
            for j in 0..n {
                c[i * n + j] += a[i * l + k] * b[k * n + j];
            }
        }
    }
    c
}

/// The transpose of an `[m, n]` matrix.
pub(crate) fn transposed(m: usize, n: usize, a: &[f64]) -> Vec<f64> {
    (0..n).flat_map(|j| (0..m).map(move |i| a[i * n + j])).collect()
}

/// The identity.
pub(crate) fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|i| f64::from(i / n == i % n)).collect()
}

/// Asserts that two lists of numbers agree up to the rounding of type `T` in sums of `n` terms of the size of the largest.
#[track_caller]
pub(crate) fn assert_close<T: Sample>(n: usize, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let scale = found.iter().chain(expected).fold(1.0f64, |most, x| most.max(x.abs()));
    let bound = ROUNDING * T::PRECISION * scale * (n + 1) as f64;
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= bound, "entry {i} of {n}: {x} and {y}, {bound:e} allowed");
    }
}

/// Asserts that all of a result is NaN.
#[track_caller]
pub(crate) fn assert_nan<T: Sample>(x: &[T]) {
    assert!(!x.is_empty() && x.iter().all(|x| x.wide().is_nan()), "{:?}", wide(x));
}
