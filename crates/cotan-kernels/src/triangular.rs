//! Systems with a triangular matrix.
//!
//! Small ones, and those with one right hand side, by substitution along rows of the matrix, which are what lies together in
//! memory (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition, 2013, section 3.1); the others by the recursion
//! of `faer` on products of matrices.

use faer::Par;
use faer::linalg::triangular_solve as library;
use faer::mat::{MatMut, MatRef};

use crate::Real;
use crate::batch::{DIRECT, all_finite, each_pair, is_empty, settle, slice, slice_scratch, transpose, with_scratch};

/// Which triangle of a matrix a system is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// The matrix is the upper triangle, otherwise the lower one. The other one is not read.
    pub upper: bool,
    /// The system is with the transpose of that triangle.
    pub transposed: bool,
    /// The diagonal is taken to be ones and is not read.
    pub unit_diagonal: bool,
}

/// See `triangular_solve` of the crate.
pub(crate) fn triangular_solve<T: Real>(n: usize, k: usize, a: &[T], b: &[T], to: &mut [T], triangle: Triangle) {
    let (size_a, size_b) = (n.saturating_mul(n), n.saturating_mul(k));
    if n <= DIRECT || k <= 1 {
        each_pair(a, size_a, b, size_b, to, size_b, |a, b, to| {
            to.copy_from_slice(b);
            direct(n, k, a, to, triangle);
            settle(exists(n, a, triangle), to);
        });
    } else if !is_empty(a, size_a, to, size_b) {
        by_library(n, k, a, b, to, triangle);
    }
}

/// Whether the entries that are read are finite and none of the diagonal is zero.
fn exists<T: Real>(n: usize, a: &[T], triangle: Triangle) -> bool {
    (0..n).all(|i| {
        let row = &a[i * n..(i + 1) * n];
        let beside = if triangle.upper { &row[i + 1..] } else { &row[..i] };
        all_finite(beside) && (triangle.unit_diagonal || (row[i].finite() && row[i] != T::ZERO))
    })
}

/// Solves in place of the right hand side.
fn direct<T: Real>(n: usize, k: usize, a: &[T], x: &mut [T], triangle: Triangle) {
    let Triangle { upper, transposed, unit_diagonal } = triangle;
    let is_upward = upper != transposed;
    for step in 0..n {
        let i = if is_upward { n - 1 - step } else { step };
        let row = &a[i * n..(i + 1) * n];
        let beside = if upper { &row[i + 1..] } else { &row[..i] };
        if transposed {
            // Row `i` of the matrix is column `i` of the system: what is found now leaves the right hand sides that follow.
            if !unit_diagonal {
                x[i * k..(i + 1) * k].iter_mut().for_each(|x| *x /= row[i]);
            }
            let (before, from_this) = x.split_at_mut(i * k);
            let (this, after) = from_this.split_at_mut(k);
            let others = if upper { after } else { before };
            if let [value] = *this {
                for (other, factor) in others.iter_mut().zip(beside) {
                    *other -= *factor * value;
                }
            } else {
                for (other, factor) in others.chunks_exact_mut(k).zip(beside) {
                    subtract(other, *factor, this);
                }
            }
        } else {
            let (before, from_this) = x.split_at_mut(i * k);
            let (this, after) = from_this.split_at_mut(k);
            let others: &[T] = if upper { after } else { before };
            if let [value] = this {
                *value -= dot(beside, others);
            } else {
                for (other, factor) in others.chunks_exact(k).zip(beside) {
                    subtract(this, *factor, other);
                }
            }
            if !unit_diagonal {
                this.iter_mut().for_each(|x| *x /= row[i]);
            }
        }
    }
}

/// `x -= factor * y`.
#[inline(always)]
fn subtract<T: Real>(x: &mut [T], factor: T, y: &[T]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x -= factor * *y;
    }
}

/// The inner product with eight partial sums, so that it can be vectorised.
#[inline(always)]
fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    let mut sums = [T::ZERO; 8];
    let (blocks, others) = (x.chunks_exact(8), y.chunks_exact(8));
    let mut rest = T::ZERO;
    for (x, y) in blocks.remainder().iter().zip(others.remainder()) {
        rest += *x * *y;
    }
    for (x, y) in blocks.zip(others) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().fold(rest, |total, sum| total + *sum)
}

fn by_library<T: Real>(n: usize, k: usize, a: &[T], b: &[T], to: &mut [T], triangle: Triangle) {
    let need = slice_scratch::<T>(n * n).and(slice_scratch::<T>(n * k));
    with_scratch(need, |stack| {
        slice!(matrix, stack, n * n);
        slice!(right, stack, n * k);
        // The last slice takes what it needs, and the solver needs nothing.
        let _ = stack;
        each_pair(a, n * n, b, n * k, to, n * k, |a, b, to| {
            let exists = exists(n, a, triangle);
            if exists {
                matrix.copy_from_slice(a);
                transpose(n, k, b, right);
                // Rows in memory read as columns are the transpose.
                let columns = MatRef::from_column_major_slice(&*matrix, n, n);
                let operator = if triangle.transposed { columns } else { columns.transpose() };
                let sides = MatMut::from_column_major_slice_mut(&mut *right, n, k);
                match (triangle.upper != triangle.transposed, triangle.unit_diagonal) {
                    (false, false) => library::solve_lower_triangular_in_place(operator, sides, Par::Seq),
                    (false, true) => library::solve_unit_lower_triangular_in_place(operator, sides, Par::Seq),
                    (true, false) => library::solve_upper_triangular_in_place(operator, sides, Par::Seq),
                    (true, true) => library::solve_unit_upper_triangular_in_place(operator, sides, Par::Seq),
                }
                transpose(k, n, right, to);
            }
            settle(exists, to);
        });
    });
}
