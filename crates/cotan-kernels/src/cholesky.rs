//! Cholesky factors: `A = L L^T` for a symmetric, positive definite `A`.
//!
//! Small matrices are factored column by column, the rest of the triangle being updated at once (G. H. Golub and C. F. Van
//! Loan, Matrix Computations, 4th edition, 2013, section 4.2.5, outer products); larger ones by the blocked method of `faer`.

use faer::Par;
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::mat::MatMut;

use crate::Real;
use crate::batch::{DIRECT, each, is_empty, settle, slice, slice_scratch, transpose, with_scratch};

/// See `cholesky` of the crate.
pub(crate) fn cholesky<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    let size = n.saturating_mul(n);
    match n {
        // Known orders are unrolled.
        2 => each(a, size, to, size, |a, to| settle(direct(2, a, to), to)),
        3 => each(a, size, to, size, |a, to| settle(direct(3, a, to), to)),
        4 => each(a, size, to, size, |a, to| settle(direct(4, a, to), to)),
        _ if n <= DIRECT => each(a, size, to, size, |a, to| settle(direct(n, a, to), to)),
        _ if is_empty(a, size, to, size) => {}
        _ => by_library(n, a, to),
    }
}

/// The factor in place of the result. Whether there is one.
#[inline(always)]
fn direct<T: Real>(n: usize, a: &[T], to: &mut [T]) -> bool {
    let (a, to) = (&a[..n * n], &mut to[..n * n]);
    for i in 0..n {
        to[i * n..i * n + i + 1].copy_from_slice(&a[i * n..i * n + i + 1]);
        to[i * n + i + 1..i * n + n].fill(T::ZERO);
    }
    let mut column = [T::ZERO; DIRECT];
    for k in 0..n {
        let pivot = to[k * n + k];
        // NaN is not positive either.
        let is_positive = pivot > T::ZERO;
        if !is_positive {
            return false;
        }
        let diagonal = pivot.root();
        to[k * n + k] = diagonal;
        for i in k + 1..n {
            column[i] = to[i * n + k] / diagonal;
            to[i * n + k] = column[i];
            let factor = column[i];
            for (x, y) in to[i * n + k + 1..i * n + i + 1].iter_mut().zip(&column[k + 1..i + 1]) {
                *x -= factor * *y;
            }
        }
    }
    true
}

fn by_library<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    let need = slice_scratch::<T>(n * n).and(cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default()));
    with_scratch(need, |stack| {
        slice!(factor, stack, n * n);
        each(a, n * n, to, n * n, |a, to| {
            transpose(n, n, a, factor);
            let matrix = MatMut::from_column_major_slice_mut(&mut *factor, n, n);
            let done = cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default());
            transpose(n, n, factor, to);
            for i in 0..n {
                to[i * n + i + 1..(i + 1) * n].fill(T::ZERO);
            }
            settle(done.is_ok(), to);
        });
    });
}
