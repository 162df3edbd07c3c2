//! Eigendecomposition of symmetric matrices, `A = V diag(w) V^T`.
//!
//! Small matrices by cyclic Jacobi rotations (C. G. J. Jacobi, 1846; G. H. Golub and C. F. Van Loan, Matrix Computations, 4th
//! edition, 2013, section 8.5), larger ones by `faer`: reduction to tridiagonal form, then divide and conquer (M. Gu and S. C.
//! Eisenstat, 1995). The matrix is brought to the magnitude of one first, by a power of two.

use faer::Par;
use faer::diag::DiagMut;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::mat::{MatMut, MatRef};

use crate::Real;
use crate::batch::{each, is_empty, largest, settle, slice, slice_scratch, with_scratch};

/// Up to this order rotations are faster than the library.
const ROTATED: usize = 5;

/// Sweeps of rotations until the method counts as not converging; it takes four to eight.
const SWEEPS: usize = 40;

/// See `eigh` of the crate.
pub(crate) fn eigh<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    let (size, size_to) = (n.saturating_mul(n), n.saturating_add(1).saturating_mul(n));
    if n <= ROTATED {
        each(a, size, to, size_to, |a, to| {
            let (mut matrix, mut vectors) = ([T::ZERO; ROTATED * ROTATED], [T::ZERO; ROTATED * ROTATED]);
            let (matrix, vectors) = (&mut matrix[..size], &mut vectors[..size]);
            let mut values = [T::ZERO; ROTATED];
            let scale = scaled(n, a, matrix);
            let done = scale.finite() && rotate(n, matrix, vectors);
            for i in 0..n {
                values[i] = matrix[i * n + i];
            }
            finish(n, scale, &values[..n], vectors, to);
            settle(done, to);
        });
        return;
    }
    if is_empty(a, size, to, size_to) {
        return;
    }
    let library = self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let need = slice_scratch::<T>(size).and(slice_scratch::<T>(size)).and(slice_scratch::<T>(n)).and(library);
    with_scratch(need, |stack| {
        slice!(matrix, stack, size);
        slice!(vectors, stack, size);
        slice!(values, stack, n);
        each(a, size, to, size_to, |a, to| {
            let scale = scaled(n, a, matrix);
            let done = scale.finite()
                && self_adjoint_evd(
                    MatRef::from_column_major_slice(&*matrix, n, n),
                    DiagMut::from_slice_mut(&mut *values),
                    Some(MatMut::from_column_major_slice_mut(&mut *vectors, n, n)),
                    Par::Seq,
                    stack,
                    Default::default(),
                )
                .is_ok();
            if done {
                finish(n, scale, values, vectors, to);
            }
            settle(done, to);
        });
    });
}

/// Copies the lower triangle, and its mirror image, divided by a power of two, which is the result: an infinity or NaN if
/// there is one in the triangle.
fn scaled<T: Real>(n: usize, a: &[T], to: &mut [T]) -> T {
    let mut most = T::ZERO;
    for i in 0..n {
        let row = &a[i * n..i * n + i + 1];
        if !row.iter().all(|x| x.finite()) {
            return T::NAN;
        }
        let here = largest(row);
        most = if here > most { here } else { most };
    }
    let scale = most.power_of_two();
    for i in 0..n {
        for j in 0..=i {
            let x = a[i * n + j] / scale;
            to[i * n + j] = x;
            to[j * n + i] = x;
        }
    }
    scale
}

/// Makes a symmetric matrix diagonal by rotations, and vectors, in rows, of the identity. Whether it converged.
fn rotate<T: Real>(n: usize, a: &mut [T], vectors: &mut [T]) -> bool {
    for i in 0..n {
        vectors[i * n..(i + 1) * n].fill(T::ZERO);
        vectors[i * n + i] = T::ONE;
    }
    for _ in 0..SWEEPS {
        let mut beside = T::ZERO;
        for i in 0..n {
            let here = largest(&a[i * n..i * n + i]);
            beside = if here > beside { here } else { beside };
        }
        // What is left moves eigenvalues by its square, and vectors by less than rounding does.
        if beside <= T::EPSILON * T::EPSILON {
            return true;
        }
        for p in 0..n {
            for q in p + 1..n {
                let Some((cosine, sine)) = rotation(a[p * n + p], a[p * n + q], a[q * n + q]) else { continue };
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    a[k * n + p] = cosine * x - sine * y;
                    a[k * n + q] = sine * x + cosine * y;
                }
                turn(n, p, q, cosine, sine, a);
                turn(n, p, q, cosine, sine, vectors);
                a[p * n + q] = T::ZERO;
                a[q * n + p] = T::ZERO;
            }
        }
    }
    false
}

/// The cosine and sine of the smaller rotation that makes the symmetric matrix `[x, y; y, z]` diagonal; nothing if it is.
pub(crate) fn rotation<T: Real>(x: T, y: T, z: T) -> Option<(T, T)> {
    if y == T::ZERO {
        return None;
    }
    let cotangent = (z - x) / (y + y);
    // The hypotenuse without overflow: beyond the inverse of the precision the one does not count.
    let hypotenuse = if cotangent.modulus() > T::ONE / T::EPSILON {
        cotangent.modulus()
    } else {
        (T::ONE + cotangent * cotangent).root()
    };
    let tangent = T::ONE / (cotangent.modulus() + hypotenuse);
    let tangent = if cotangent < T::ZERO { T::ZERO - tangent } else { tangent };
    let cosine = T::ONE / (T::ONE + tangent * tangent).root();
    Some((cosine, tangent * cosine))
}

/// Turns rows `p` and `q`, `p < q`, of a matrix with `n` columns.
pub(crate) fn turn<T: Real>(n: usize, p: usize, q: usize, cosine: T, sine: T, rows: &mut [T]) {
    let (before, from_q) = rows.split_at_mut(q * n);
    for (x, y) in before[p * n..(p + 1) * n].iter_mut().zip(&mut from_q[..n]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

/// Writes the result: values in ascending order, vectors, which come in rows, as columns.
fn finish<T: Real>(n: usize, scale: T, values: &[T], vectors: &[T], to: &mut [T]) {
    let (sorted, columns) = to.split_at_mut(n);
    sorted.fill(T::NAN);
    for (i, vector) in vectors.chunks_exact(n).enumerate() {
        // The place of a value is the number of those before it, the first of equal ones being before the others.
        let place = values.iter().enumerate().filter(|(j, x)| **x < values[i] || (**x == values[i] && *j < i)).count();
        sorted[place] = values[i] * scale;
        let sign = sign_of_largest(vector);
        for (row, x) in columns.chunks_exact_mut(n).zip(vector) {
            row[place] = sign * *x;
        }
    }
}

/// Minus one if the first of the entries of largest modulus is negative, one otherwise. Moduli that differ by little count as
/// equal: which is larger would be a matter of rounding where a symmetry makes them equal.
pub(crate) fn sign_of_largest<T: Real>(x: &[T]) -> T {
    let most = x.iter().fold(T::ZERO, |most, x| if x.modulus() > most { x.modulus() } else { most });
    let first = x.iter().find(|x| x.modulus() >= most - most * T::NEGLIGIBLE);
    if first.is_some_and(|x| *x < T::ZERO) { T::ZERO - T::ONE } else { T::ONE }
}
