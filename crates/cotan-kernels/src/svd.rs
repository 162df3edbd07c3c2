//! Singular value decomposition, `A = U diag(s) V^T`.
//!
//! Small matrices by one-sided Jacobi rotations (M. R. Hestenes, 1958; G. H. Golub and C. F. Van Loan, Matrix Computations, 4th
//! edition, 2013, section 8.6.3): columns are turned in pairs until all are orthogonal. Larger ones by `faer`: reduction to
//! bidiagonal form, then divide and conquer (M. Gu and S. C. Eisenstat, 1995). The matrix is brought to the magnitude of one
//! first, by a power of two.

use faer::Par;
use faer::diag::DiagMut;
use faer::dyn_stack::StackReq;
use faer::linalg::svd::{ComputeSvdVectors, svd as by_library, svd_scratch};
use faer::mat::{MatMut, MatRef};

use crate::Real;
use crate::batch::{all_finite, each, is_empty, largest, settle, slice, slice_scratch, transpose, with_scratch};
use crate::eigh::{rotation, sign_of_largest, turn};

/// Up to this many rows and columns rotations are faster than the library.
const ROTATED: usize = 8;

/// Sweeps of rotations until the method counts as not converging; it takes four to ten.
const SWEEPS: usize = 60;

/// See `svd` of the crate.
pub(crate) fn svd<T: Real>(m: usize, n: usize, a: &[T], to: &mut [T]) {
    let k = m.min(n);
    let (size, size_to) = (m.saturating_mul(n), m.saturating_add(1).saturating_add(n).saturating_mul(k));
    if size_to == 0 || is_empty(a, size, to, size_to) {
        return;
    }
    if m.max(n) <= ROTATED {
        each(a, size, to, size_to, |a, to| {
            let (mut matrix, mut left, mut right) =
                ([T::ZERO; ROTATED * ROTATED], [T::ZERO; ROTATED * ROTATED], [T::ZERO; ROTATED * ROTATED]);
            let (left, right, mut values) = (&mut left[..k * m], &mut right[..k * n], [T::ZERO; ROTATED]);
            let scale = scaled(a, &mut matrix[..size]);
            let values = &mut values[..k];
            // Columns are turned that lie in rows; of a wide matrix the transpose is decomposed.
            let done = scale.finite()
                && if m < n {
                    right.copy_from_slice(&matrix[..size]);
                    orthogonalise(n, k, right, left, values)
                } else {
                    transpose(m, n, &matrix[..size], left);
                    orthogonalise(m, k, left, right, values)
                };
            if done {
                finish(m, n, scale, left, values, right, to);
            }
            settle(done, to);
        });
        return;
    }
    let vectors = ComputeSvdVectors::Thin;
    // Rows read as columns are the transpose, so left and right change places.
    let need = StackReq::all_of(&[
        slice_scratch::<T>(size),
        slice_scratch::<T>(m * k),
        slice_scratch::<T>(n * k),
        slice_scratch::<T>(k),
        svd_scratch::<T>(n, m, vectors, vectors, Par::Seq, Default::default()),
    ]);
    with_scratch(need, |stack| {
        slice!(matrix, stack, size);
        slice!(left, stack, m * k);
        slice!(right, stack, n * k);
        slice!(values, stack, k);
        each(a, size, to, size_to, |a, to| {
            let scale = scaled(a, matrix);
            let done = scale.finite()
                && by_library(
                    MatRef::from_column_major_slice(&*matrix, n, m),
                    DiagMut::from_slice_mut(&mut *values),
                    Some(MatMut::from_column_major_slice_mut(&mut *right, n, k)),
                    Some(MatMut::from_column_major_slice_mut(&mut *left, m, k)),
                    Par::Seq,
                    stack,
                    Default::default(),
                )
                .is_ok();
            if done {
                finish(m, n, scale, left, values, right, to);
            }
            settle(done, to);
        });
    });
}

/// Copies a matrix divided by a power of two, which is the result: NaN if an entry is not finite.
fn scaled<T: Real>(a: &[T], to: &mut [T]) -> T {
    if !all_finite(a) {
        return T::NAN;
    }
    let scale = largest(a).power_of_two();
    for (to, x) in to.iter_mut().zip(a) {
        *to = *x / scale;
    }
    scale
}

/// Turns the `k` vectors of length `len` until they are orthogonal, and divides them by their lengths, the singular values;
/// the same rotations make `other` of the identity. Whether it converged.
fn orthogonalise<T: Real>(len: usize, k: usize, vectors: &mut [T], other: &mut [T], values: &mut [T]) -> bool {
    other.fill(T::ZERO);
    for i in 0..k {
        other[i * k + i] = T::ONE;
    }
    // Squares of lengths below this are no numbers to compute with. The lengths are below the rounding of the largest.
    let nothing = T::TINY / T::EPSILON;
    let mut is_done = false;
    for _ in 0..SWEEPS {
        is_done = true;
        for p in 0..k {
            for q in p + 1..k {
                let (x, y) = (&vectors[p * len..(p + 1) * len], &vectors[q * len..(q + 1) * len]);
                let (xx, xy, yy) = (inner(x, x), inner(x, y), inner(y, y));
                let bound = T::EPSILON * xx.root() * yy.root();
                if xx <= nothing || yy <= nothing || xy.modulus() <= bound {
                    continue;
                }
                is_done = false;
                if let Some((cosine, sine)) = rotation(xx, xy, yy) {
                    turn(len, p, q, cosine, sine, vectors);
                    turn(k, p, q, cosine, sine, other);
                }
            }
        }
        if is_done {
            break;
        }
    }
    for i in 0..k {
        let square = inner(&vectors[i * len..(i + 1) * len], &vectors[i * len..(i + 1) * len]);
        values[i] = if square <= nothing { T::ZERO } else { square.root() };
        if values[i] != T::ZERO {
            let value = values[i];
            vectors[i * len..(i + 1) * len].iter_mut().for_each(|x| *x /= value);
        }
    }
    complete(len, k, vectors, values);
    is_done
}

/// Gives the vectors of zero length a direction that is orthogonal to all others: what is left of a vector of the standard
/// basis, of the one of which most is left, when the others are taken off, twice for the rounding.
fn complete<T: Real>(len: usize, k: usize, vectors: &mut [T], values: &[T]) {
    let mut is_unit = [false; ROTATED];
    for (is_unit, value) in is_unit.iter_mut().zip(values) {
        *is_unit = *value != T::ZERO;
    }
    for i in 0..k {
        if is_unit[i] {
            continue;
        }
        let mut best = ([T::ZERO; ROTATED], T::ZERO);
        for axis in 0..len {
            let mut candidate = [T::ZERO; ROTATED];
            candidate[axis] = T::ONE;
            let rest = &mut candidate[..len];
            for _ in 0..2 {
                for (vector, _) in vectors.chunks_exact(len).zip(is_unit).filter(|(_, is_unit)| *is_unit) {
                    let share = inner(vector, rest);
                    rest.iter_mut().zip(vector).for_each(|(x, y)| *x -= share * *y);
                }
            }
            let length = inner(rest, rest).root();
            if length > best.1 {
                best = (candidate, length);
            }
        }
        for (x, y) in vectors[i * len..(i + 1) * len].iter_mut().zip(best.0) {
            *x = y / best.1;
        }
        is_unit[i] = true;
    }
}

/// The inner product.
fn inner<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).fold(T::ZERO, |sum, (x, y)| sum + *x * *y)
}

/// Writes the result: values in descending order, vectors, which come in rows, as columns.
fn finish<T: Real>(m: usize, n: usize, scale: T, left: &[T], values: &[T], right: &[T], to: &mut [T]) {
    let k = values.len();
    let (u, rest) = to.split_at_mut(m * k);
    let (sorted, v) = rest.split_at_mut(k);
    sorted.fill(T::NAN);
    for (i, (x, y)) in left.chunks_exact(m).zip(right.chunks_exact(n)).enumerate() {
        // The place of a value is the number of those before it, the first of equal ones being before the others.
        let place = values.iter().enumerate().filter(|(j, x)| **x > values[i] || (**x == values[i] && *j < i)).count();
        sorted[place] = values[i] * scale;
        let sign = sign_of_largest(x);
        u.chunks_exact_mut(k).zip(x).for_each(|(row, x)| row[place] = sign * *x);
        v.chunks_exact_mut(k).zip(y).for_each(|(row, y)| row[place] = sign * *y);
    }
}
