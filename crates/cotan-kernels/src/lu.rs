//! LU decomposition with partial pivoting, `P A = L U`, and what is computed by it: solutions and determinants.
//!
//! Small matrices are eliminated row by row, right hand sides along with them (G. H. Golub and C. F. Van Loan, Matrix
//! Computations, 4th edition, 2013, section 3.4); larger ones by the recursive method of `faer`.

use faer::Par;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::lu::partial_pivoting::{factor, solve as library};
use faer::mat::{MatMut, MatRef};
use faer::perm::PermRef;

use crate::Real;
use crate::batch::{
    DIRECT, DIRECT_SIZE, all_finite, each, each_pair, is_empty, settle, slice, slice_scratch, transpose, with_scratch,
};

/// See `solve` of the crate.
pub(crate) fn solve<T: Real>(n: usize, k: usize, a: &[T], b: &[T], to: &mut [T], transposed: bool) {
    let (size_a, size_b) = (n.saturating_mul(n), n.saturating_mul(k));
    let mut rows = [T::ZERO; DIRECT_SIZE];
    match (n, k) {
        // Known orders are unrolled.
        (2, 1) => each_pair(a, 4, b, 2, to, 2, |a, b, to| solve_direct(2, 1, a, b, to, transposed, &mut rows)),
        (3, 1) => each_pair(a, 9, b, 3, to, 3, |a, b, to| solve_direct(3, 1, a, b, to, transposed, &mut rows)),
        (4, 1) => each_pair(a, 16, b, 4, to, 4, |a, b, to| solve_direct(4, 1, a, b, to, transposed, &mut rows)),
        // Of longer rows it pays to eliminate the whole.
        (5, 1) => solve_known::<5, T>(a, b, to, transposed),
        (6, 1) => solve_known::<6, T>(a, b, to, transposed),
        (7, 1) => solve_known::<7, T>(a, b, to, transposed),
        (8, 1) => solve_known::<8, T>(a, b, to, transposed),
        _ if n <= DIRECT => each_pair(a, size_a, b, size_b, to, size_b, |a, b, to| {
            solve_direct(n, k, a, b, to, transposed, &mut rows);
        }),
        _ if is_empty(a, size_a, to, size_b) => {}
        _ => solve_by_library(n, k, a, b, to, transposed),
    }
}

/// See `lu` of the crate.
pub(crate) fn lu<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    let size = n.saturating_mul(n);
    if n <= DIRECT {
        each(a, size, to, size, |a, to| {
            to.copy_from_slice(a);
            let done = eliminate(n, 0, to, &mut [], |_, _| {});
            settle(done == Elimination::Done, to);
        });
    } else {
        factor_by_library(n, a, to, size, false, |_, packed, _, to| {
            transpose(n, n, packed, to);
            settle(pivots(n, packed) == Elimination::Done, to);
        });
    }
}

/// See `lu_permutation` of the crate.
pub(crate) fn lu_permutation<T: Real>(n: usize, a: &[T], to: &mut [i64]) {
    let size = n.saturating_mul(n);
    let in_order = |to: &mut [i64]| to.iter_mut().zip(0..).for_each(|(row, i)| *row = i);
    if n <= DIRECT {
        let mut rows = [T::ZERO; DIRECT_SIZE];
        let rows = &mut rows[..size];
        each(a, size, to, n, |a, to| {
            rows.copy_from_slice(a);
            in_order(to);
            let done = eliminate(n, 0, rows, &mut [], |i, j| to.swap(i, j));
            if done != Elimination::Done || !all_finite(rows) {
                in_order(to);
            }
        });
    } else {
        factor_by_library(n, a, to, n, false, |_, packed, permutation, to| {
            if pivots(n, packed) == Elimination::Done && all_finite(packed) {
                for (row, from) in to.iter_mut().zip(permutation.arrays().0) {
                    *row = *from as i64;
                }
            } else {
                in_order(to);
            }
        });
    }
}

/// See `slogdet` of the crate.
pub(crate) fn slogdet<T: Real>(n: usize, a: &[T], to: &mut [T]) {
    let size = n.saturating_mul(n);
    if n <= DIRECT {
        let mut rows = [T::ZERO; DIRECT_SIZE];
        let rows = &mut rows[..size];
        each(a, size, to, 2, |a, to| {
            rows.copy_from_slice(a);
            let mut is_odd = false;
            let done = eliminate(n, 0, rows, &mut [], |_, _| is_odd = !is_odd);
            determinant(n, a, rows, is_odd, done, to);
        });
    } else {
        let mut seen = Vec::new();
        // The transpose has the same determinant, and needs no transposing.
        factor_by_library(n, a, to, 2, true, |a, packed, permutation, to| {
            let is_odd = is_odd(permutation.arrays().0, &mut seen);
            determinant(n, a, packed, is_odd, pivots(n, packed), to);
        });
    }
}

/// What became of an elimination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elimination {
    /// All pivots were found, and are not zero.
    Done,
    /// A column without an entry other than zero, of what are numbers up to there.
    Singular,
    /// A pivot is NaN.
    Undefined,
}

/// Replaces rows by their packed factors, with `k` right hand sides beside them, and tells which rows are exchanged.
#[inline(always)]
fn eliminate<T: Real>(
    n: usize,
    k: usize,
    a: &mut [T],
    x: &mut [T],
    mut exchanged: impl FnMut(usize, usize),
) -> Elimination {
    let (a, x) = (&mut a[..n * n], &mut x[..n * k]);
    for step in 0..n {
        let mut pivot_row = step;
        let mut most = a[step * n + step].modulus();
        for i in step + 1..n {
            let modulus = a[i * n + step].modulus();
            if modulus > most {
                (pivot_row, most) = (i, modulus);
            }
        }
        if most == T::ZERO {
            return Elimination::Singular;
        }
        if most.nan() {
            return Elimination::Undefined;
        }
        if pivot_row != step {
            exchanged(step, pivot_row);
            for j in 0..n {
                a.swap(step * n + j, pivot_row * n + j);
            }
            for j in 0..k {
                x.swap(step * k + j, pivot_row * k + j);
            }
        }
        let (done, below) = a.split_at_mut((step + 1) * n);
        let (x_done, x_below) = x.split_at_mut((step + 1) * k);
        let (pivot, x_pivot) = (&done[step * n..], &x_done[step * k..]);
        for i in 0..n - 1 - step {
            let row = &mut below[i * n..(i + 1) * n];
            let factor = row[step] / pivot[step];
            row[step] = factor;
            for j in step + 1..n {
                row[j] -= factor * pivot[j];
            }
            for j in 0..k {
                x_below[i * k + j] -= factor * x_pivot[j];
            }
        }
    }
    Elimination::Done
}

/// Systems of an order that is known, with one right hand side each.
fn solve_known<const N: usize, T: Real>(a: &[T], b: &[T], to: &mut [T], transposed: bool) {
    each_pair(a, N * N, b, N, to, N, |a, b, to| {
        let mut rows = [[T::ZERO; N]; N];
        for i in 0..N {
            for j in 0..N {
                rows[i][j] = if transposed { a[j * N + i] } else { a[i * N + j] };
            }
        }
        let mut x = [T::ZERO; N];
        x.copy_from_slice(b);
        let exists = eliminate_known(&mut rows, &mut x);
        to.copy_from_slice(&x);
        settle(exists && all_finite(rows.as_flattened()), to);
    });
}

/// Solves in place, with the operations of `eliminate` in their order. What stands before the pivot of a row takes part in its
/// elimination, because rows of a known length go through registers whole; nothing reads it any more.
#[inline(always)]
fn eliminate_known<const N: usize, T: Real>(rows: &mut [[T; N]; N], x: &mut [T; N]) -> bool {
    for step in 0..N {
        let mut pivot_row = step;
        let mut most = rows[step][step].modulus();
        for (i, row) in rows.iter().enumerate().skip(step + 1) {
            let modulus = row[step].modulus();
            if modulus > most {
                (pivot_row, most) = (i, modulus);
            }
        }
        if most == T::ZERO || most.nan() {
            return false;
        }
        if pivot_row != step {
            rows.swap(step, pivot_row);
            x.swap(step, pivot_row);
        }
        let pivot = rows[step];
        for i in step + 1..N {
            let factor = rows[i][step] / pivot[step];
            for j in 0..N {
                rows[i][j] -= factor * pivot[j];
            }
            x[i] -= factor * x[step];
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            x[i] -= rows[i][j] * x[j];
        }
        x[i] /= rows[i][i];
    }
    true
}

#[inline(always)]
fn solve_direct<T: Real>(n: usize, k: usize, a: &[T], b: &[T], to: &mut [T], transposed: bool, rows: &mut [T]) {
    let rows = &mut rows[..n * n];
    if transposed {
        transpose(n, n, a, rows);
    } else {
        rows.copy_from_slice(a);
    }
    let x = &mut to[..n * k];
    x.copy_from_slice(b);
    let done = eliminate(n, k, rows, x, |_, _| {});
    if done == Elimination::Done {
        for i in (0..n).rev() {
            let (above, solved) = x.split_at_mut((i + 1) * k);
            let this = &mut above[i * k..];
            for j in i + 1..n {
                let factor = rows[i * n + j];
                for column in 0..k {
                    this[column] -= factor * solved[(j - i - 1) * k + column];
                }
            }
            for column in this.iter_mut() {
                *column /= rows[i * n + i];
            }
        }
    }
    // An infinity in the matrix may leave a solution of numbers, which is none.
    settle(done == Elimination::Done && all_finite(rows), x);
}

/// The sign and the logarithm from packed factors.
fn determinant<T: Real>(n: usize, a: &[T], packed: &[T], is_odd: bool, done: Elimination, to: &mut [T]) {
    let (mut is_negative, mut log) = (is_odd, T::ZERO);
    for i in 0..n {
        let pivot = packed[i * n + i];
        is_negative ^= pivot < T::ZERO;
        log += pivot.modulus().log();
    }
    match done {
        Elimination::Singular if all_finite(a) => to.copy_from_slice(&[T::ZERO, T::BELOW_ALL]),
        Elimination::Done if all_finite(packed) => {
            to.copy_from_slice(&[if is_negative { T::ZERO - T::ONE } else { T::ONE }, log]);
        }
        Elimination::Done | Elimination::Singular | Elimination::Undefined => to.fill(T::NAN),
    }
}

/// What the pivots of packed factors of the library say: it goes on behind a zero, with NaN.
fn pivots<T: Real>(n: usize, packed: &[T]) -> Elimination {
    for i in 0..n {
        let pivot = packed[i * n + i];
        if pivot == T::ZERO {
            return Elimination::Singular;
        }
        if pivot.nan() {
            return Elimination::Undefined;
        }
    }
    Elimination::Done
}

/// Whether a permutation is an odd number of exchanges: a cycle of even length is.
fn is_odd(permutation: &[usize], seen: &mut Vec<bool>) -> bool {
    seen.clear();
    seen.resize(permutation.len(), false);
    let mut is_odd = false;
    for start in 0..permutation.len() {
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            at = permutation[at];
            is_odd ^= at != start;
        }
    }
    is_odd
}

/// Calls `finish` with each matrix, its packed factors, in columns, their permutation and the place of the result.
fn factor_by_library<T: Real, U>(
    n: usize,
    a: &[T],
    to: &mut [U],
    size_to: usize,
    transposed: bool,
    mut finish: impl FnMut(&[T], &[T], PermRef<'_, usize>, &mut [U]),
) {
    if is_empty(a, n.saturating_mul(n), to, size_to) {
        return;
    }
    with_scratch(factors_scratch::<T>(n), |stack| {
        slice!(packed, stack, n * n);
        slice!(forward, stack, n);
        slice!(backward, stack, n);
        each(a, n * n, to, size_to, |a, to| {
            let permutation = factors(n, a, transposed, packed, (forward, backward), stack);
            finish(a, packed, permutation, to);
        });
    });
}

fn solve_by_library<T: Real>(n: usize, k: usize, a: &[T], b: &[T], to: &mut [T], transposed: bool) {
    let solution = library::solve_in_place_scratch::<usize, T>(n, k, Par::Seq);
    let need = StackReq::all_of(&[factors_scratch::<T>(n), slice_scratch::<T>(n * k), solution]);
    with_scratch(need, |stack| {
        slice!(packed, stack, n * n);
        slice!(forward, stack, n);
        slice!(backward, stack, n);
        slice!(x, stack, n * k);
        each_pair(a, n * n, b, n * k, to, n * k, |a, b, to| {
            // The transpose is what the rows are when they are read as columns: it is factored, and the system solved is
            // the transposed one.
            let permutation = factors(n, a, true, packed, (forward, backward), stack);
            transpose(n, k, b, x);
            let packed_columns = MatRef::from_column_major_slice(&*packed, n, n);
            let sides = MatMut::from_column_major_slice_mut(&mut *x, n, k);
            if transposed {
                library::solve_in_place(packed_columns, packed_columns, permutation, sides, Par::Seq, stack);
            } else {
                library::solve_transpose_in_place(packed_columns, packed_columns, permutation, sides, Par::Seq, stack);
            }
            transpose(k, n, x, to);
            settle(pivots(n, packed) == Elimination::Done && all_finite(packed), to);
        });
    });
}

/// The scratch memory for packed factors, both permutations and the factorisation.
fn factors_scratch<T: Real>(n: usize) -> StackReq {
    let permutation = slice_scratch::<usize>(n);
    let factorisation = factor::lu_in_place_scratch::<usize, T>(n, n, Par::Seq, Default::default());
    StackReq::all_of(&[slice_scratch::<T>(n * n), permutation, permutation, factorisation])
}

/// Leaves the packed factors of a matrix, or of its transpose, in `packed`.
fn factors<'a, T: Real>(
    n: usize,
    a: &[T],
    transposed: bool,
    packed: &mut [T],
    (forward, backward): (&'a mut [usize], &'a mut [usize]),
    stack: &mut MemStack,
) -> PermRef<'a, usize> {
    if transposed {
        packed.copy_from_slice(a);
    } else {
        transpose(n, n, a, packed);
    }
    let matrix = MatMut::from_column_major_slice_mut(packed, n, n);
    factor::lu_in_place(matrix, forward, backward, Par::Seq, stack, Default::default()).1
}
