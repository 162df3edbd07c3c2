//! Numerical kernels that Cotan takes from libraries, on row-major slices: dense factorisations (`faer`), Fourier transforms
//! (`rustfft`, `realfft`), and sorting.
//!
//! It must not know anything of Cotan: programs, types, derivatives. There are no threads, no `unsafe`, no panics.
//!
//! Every function works on a batch: slices hold one matrix, or sequence, after the other, and their lengths tell how many. A
//! batch ends where one of the slices does. The result of each is the same, to the bit, on each call and wherever in a batch
//! it stands. It may differ from one machine to another, as the libraries choose instructions when they run.
//!
//! A result of a factorisation is finite in all entries or NaN in all of them: the latter where there is none (a singular
//! matrix, one that is not positive definite, no convergence, an overflow) and where an entry that is read is infinite or NaN.
//! Others of the batch are not touched by that. Small matrices need no allocation; for larger ones memory is allocated once per
//! call, and [counted](memory).
//!
//! ```
//! // Two systems of order two with one right hand side each; the second one is singular.
//! let a = [2.0, 1.0, 0.0, 4.0, 1.0, 1.0, 1.0, 1.0];
//! let b = [3.0, 4.0, 1.0, 1.0];
//! let mut x = [0.0; 4];
//! cotan_kernels::solve(2, 1, &a, &b, &mut x, false);
//! assert_eq!(x[..2], [1.0, 1.0]);
//! assert!(x[2..].iter().all(|x: &f64| x.is_nan()));
//! ```

mod batch;
mod cholesky;
mod compiled;
mod eigh;
mod fft;
mod lu;
pub mod memory;
mod orthonormal;
mod plans;
mod real;
mod sort;
mod svd;
mod triangular;

pub use real::Real;
pub use sort::{Sortable, argsort};
pub use triangular::Triangle;

/// The lower Cholesky factor of each symmetric matrix: `a` and `to` hold matrices `[n, n]`.
///
/// Only the lower triangle of `a` is read; the strict upper triangle of the result is zero. A matrix that is not positive
/// definite gives NaN.
pub fn cholesky<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    T::cholesky(n, a, to);
}

/// The solution of `op(a) x = b` for each matrix: `a` holds matrices `[n, n]`, `b` and `to` hold `[n, k]`.
///
/// A zero on the diagonal gives NaN.
pub fn triangular_solve<T: Real>(n: usize, k: usize, a: &[T], b: &[T], to: &mut [T], triangle: Triangle) {
    T::triangular_solve(n, k, a, b, to, triangle);
}

/// The solution of `a x = b`, or of `a^T x = b`, for each matrix: `a` holds matrices `[n, n]`, `b` and `to` hold `[n, k]`.
///
/// A singular matrix (a pivot that is exactly zero) gives NaN.
pub fn solve<T: Real>(n: usize, k: usize, a: &[T], b: &[T], to: &mut [T], transposed: bool) {
    T::solve(n, k, a, b, to, transposed);
}

/// The packed factors of each matrix `[n, n]`: `U` on and above the diagonal, below it `L`, whose diagonal is ones.
///
/// A singular matrix gives NaN.
pub fn lu<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    T::lu(n, a, to);
}

/// The rows that `lu` exchanged, for each matrix `[n, n]` of `a` a row `[n]` of `to`: row `i` of `P a` is row `to[i]` of `a`.
///
/// Where there are no factors the rows stay in their order.
pub fn lu_permutation<T: Real>(n: usize, a: &[T], to: &mut [i64]) {
    T::lu_permutation(n, a, to);
}

/// The sign and the logarithm of the modulus of the determinant of each matrix `[n, n]`: `to` holds pairs.
///
/// A singular matrix gives zero and minus infinity.
pub fn slogdet<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    T::slogdet(n, a, to);
}

/// The thin `Q` of `a = Q R` for each matrix, where the diagonal of `R` is not negative: `a` and `to` hold matrices `[m, n]`,
/// `m >= n`.
///
/// Columns that depend on those before them give columns of `Q` that complete it. There is no such `Q` for `m < n`: NaN.
pub fn orthonormal<T: Real>(m: usize, n: usize, a: &[T], to: &mut [T]) {
    T::orthonormal(m, n, a, to);
}

/// The eigenvalues and eigenvectors of each symmetric matrix: `a` holds matrices `[n, n]`, of which the lower triangle is
/// read, `to` holds `[n + 1, n]`: the eigenvalues in ascending order, then the rows of `V`, column `j` the vector `j`.
///
/// The entry of largest modulus of each vector, the first of equal ones, is positive.
pub fn eigh<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    T::eigh(n, a, to);
}

/// The thin decomposition of each matrix: with `k = min(m, n)`, `a` holds matrices `[m, n]` and `to` holds `[m + 1 + n, k]`:
/// the rows of `U`, one row of singular values in descending order, the rows of `V`.
///
/// The entry of largest modulus of each column of `U`, the first of equal ones, is positive.
pub fn svd<T: Real>(m: usize, n: usize, a: &[T], to: &mut [T]) {
    T::svd(m, n, a, to);
}

/// The transform of each sequence of `n` pairs (real and imaginary part): entry `j` of the result is the sum over `k` of
/// `x[k] exp(-2 pi i j k / n)`, with `+2 pi i` for the inverse. Neither is divided by `n`.
pub fn fft<T: Real>(n: usize, x: &[T], to: &mut [T], inverse: bool) {
    T::fft(n, x, to, inverse);
}

/// The first `n / 2 + 1` entries of the transform of each real sequence of length `n`, as pairs; the others are their
/// conjugates in reverse order.
pub fn rfft<T: Real>(n: usize, x: &[T], to: &mut [T]) {
    T::rfft(n, x, to);
}

/// The inverse of `rfft` times `n`: real sequences of length `n` from `n / 2 + 1` pairs each.
///
/// The imaginary part of the first entry, and for even `n` that of the last, would be zero and are not read.
pub fn irfft<T: Real>(n: usize, x: &[T], to: &mut [T]) {
    T::irfft(n, x, to);
}
