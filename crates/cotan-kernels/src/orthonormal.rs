//! The orthonormal factor of the QR decomposition.
//!
//! Householder reflections: one by one for small matrices (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition,
//! 2013, sections 5.1.6 and 5.2.2), in blocks by `faer` for larger ones. Columns are brought to the magnitude of one first, by
//! powers of two, which leaves `Q` what it is and keeps sums of squares in range.

use faer::Par;
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor;
use faer::mat::{MatMut, MatRef};

use crate::Real;
use crate::batch::{
    DIRECT, DIRECT_SIZE, all_finite, each, is_empty, settle, slice, slice_scratch, transpose, with_scratch,
};

/// See `orthonormal` of the crate.
pub(crate) fn orthonormal<T: Real>(m: usize, n: usize, a: &[T], to: &mut [T]) {
    let size = m.saturating_mul(n);
    if m < n {
        to.fill(T::NAN);
    } else if m <= DIRECT {
        each(a, size, to, size, |a, to| {
            direct(m, n, a, to);
            settle(all_finite(a), to);
        });
    } else if !is_empty(a, size, to, size) {
        by_library(m, n, a, to);
    }
}

/// Copies a matrix with its columns scaled, by a place for the entry at row and column.
fn scale_columns<T: Real>(m: usize, n: usize, a: &[T], mut place: impl FnMut(usize, usize, T)) {
    for j in 0..n {
        let most = (0..m).fold(T::ZERO, |most, i| {
            let modulus = a[i * n + j].modulus();
            if modulus > most { modulus } else { most }
        });
        let scale = most.power_of_two();
        for i in 0..m {
            place(i, j, a[i * n + j] / scale);
        }
    }
}

/// The reflection of column `k` is `1 - v v^T / v[k]`, the vector `v` left in the column from `k` on.
fn direct<T: Real>(m: usize, n: usize, a: &[T], q: &mut [T]) {
    let mut rows = [T::ZERO; DIRECT_SIZE];
    let rows = &mut rows[..m * n];
    scale_columns(m, n, a, |i, j, x| rows[i * n + j] = x);
    let mut is_flipped = [false; DIRECT];
    for k in 0..n {
        let head = rows[k * n + k];
        let norm = (k..m).fold(T::ZERO, |sum, i| sum + rows[i * n + k] * rows[i * n + k]).root();
        if norm == T::ZERO {
            // Nothing to reflect: the vector stays zero.
            continue;
        }
        // With `v = (x + s |x| e) / (s |x|)`, `s` the sign of the head, the first entry is between one and two.
        let image = if head < T::ZERO { T::ZERO - norm } else { norm };
        is_flipped[k] = head >= T::ZERO;
        for i in k..m {
            rows[i * n + k] /= image;
        }
        rows[k * n + k] += T::ONE;
        let (vector, others) = ([T::ZERO; DIRECT], k + 1..n);
        let vector = column(m, n, k, rows, vector);
        reflect(n, k, others, &vector[..m], rows);
    }
    q.fill(T::ZERO);
    for k in (0..n).rev() {
        q[k * n + k] = T::ONE;
        let vector = column(m, n, k, rows, [T::ZERO; DIRECT]);
        if vector[k] != T::ZERO {
            reflect(n, k, k..n, &vector[..m], q);
        }
    }
    for row in q.chunks_exact_mut(n) {
        for (x, is_flipped) in row.iter_mut().zip(is_flipped) {
            if is_flipped {
                *x = T::ZERO - *x;
            }
        }
    }
}

/// Column `k` from row `k` on.
fn column<T: Real>(m: usize, n: usize, k: usize, rows: &[T], mut vector: [T; DIRECT]) -> [T; DIRECT] {
    for i in k..m {
        vector[i] = rows[i * n + k];
    }
    vector
}

/// Applies the reflection of column `k` to the given columns of a matrix with `n` columns.
fn reflect<T: Real>(n: usize, k: usize, columns: std::ops::Range<usize>, vector: &[T], rows: &mut [T]) {
    let mut products = [T::ZERO; DIRECT];
    let products = &mut products[columns.clone()];
    for (row, factor) in rows.chunks_exact(n).zip(vector).skip(k) {
        for (product, x) in products.iter_mut().zip(&row[columns.clone()]) {
            *product += *factor * *x;
        }
    }
    for product in products.iter_mut() {
        *product /= vector[k];
    }
    for (row, factor) in rows.chunks_exact_mut(n).zip(vector).skip(k) {
        for (x, product) in row[columns.clone()].iter_mut().zip(&*products) {
            *x -= *factor * *product;
        }
    }
}

fn by_library<T: Real>(m: usize, n: usize, a: &[T], to: &mut [T]) {
    let block = factor::recommended_block_size::<T>(m, n).min(n).max(1);
    let need = slice_scratch::<T>(m * n).and(slice_scratch::<T>(m * n)).and(slice_scratch::<T>(block * n)).and(
        factor::qr_in_place_scratch::<T>(m, n, block, Par::Seq, Default::default())
            .or(householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, n)),
    );
    with_scratch(need, |stack| {
        slice!(reflections, stack, m * n);
        slice!(coefficients, stack, block * n);
        slice!(q, stack, m * n);
        each(a, m * n, to, m * n, |a, to| {
            scale_columns(m, n, a, |i, j, x| reflections[j * m + i] = x);
            coefficients.fill(T::ZERO);
            factor::qr_in_place(
                MatMut::from_column_major_slice_mut(&mut *reflections, m, n),
                MatMut::from_column_major_slice_mut(&mut *coefficients, block, n),
                Par::Seq,
                stack,
                Default::default(),
            );
            q.fill(T::ZERO);
            for j in 0..n {
                q[j * m + j] = T::ONE;
            }
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                MatRef::from_column_major_slice(&*reflections, m, n),
                MatRef::from_column_major_slice(&*coefficients, block, n),
                faer::Conj::No,
                MatMut::from_column_major_slice_mut(&mut *q, m, n),
                Par::Seq,
                stack,
            );
            for (j, column) in q.chunks_exact_mut(m).enumerate() {
                if reflections[j * m + j] < T::ZERO {
                    column.iter_mut().for_each(|x| *x = T::ZERO - *x);
                }
            }
            transpose(n, m, q, to);
            settle(all_finite(a), to);
        });
    });
}
