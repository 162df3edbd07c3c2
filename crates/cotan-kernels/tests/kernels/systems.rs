//! Factors and systems: Cholesky, triangular, LU, determinants.

use cotan_kernels::{Triangle, cholesky, lu, lu_permutation, slogdet, solve, triangular_solve};

use crate::kernels::sample::*;

const TRIANGLES: [Triangle; 8] = {
    let mut all = [Triangle { upper: false, transposed: false, unit_diagonal: false }; 8];
    let mut i = 0;
    while i < 8 {
        all[i] = Triangle { upper: i & 1 == 1, transposed: i & 2 == 2, unit_diagonal: i & 4 == 4 };
        i += 1;
    }
    all
};

fn cholesky_squares_to_the_matrix<T: Sample>() {
    for n in SIZES {
        let a = definite::<T>(n, 3, 7);
        // What stands above the diagonal is not read.
        let mut lower = a.clone();
        (0..3 * n * n).filter(|i| i % n > i / n % n).for_each(|i| lower[i] = T::of(f64::NAN));
        let mut factor = vec![T::of(9.0); 3 * n * n];
        cholesky(n, &lower, &mut factor);
        for (a, factor) in a.chunks_exact((n * n).max(1)).zip(factor.chunks_exact((n * n).max(1))) {
            let l = wide(factor);
            assert!((0..n * n).all(|i| i % n <= i / n || l[i] == 0.0));
            assert!((0..n).all(|i| l[i * n + i] > 0.0));
            assert_close::<T>(n, &product(n, n, n, &l, &transposed(n, n, &l)), &wide(a));
        }
    }
}

#[test]
fn a_cholesky_factor_squares_to_the_matrix() {
    cholesky_squares_to_the_matrix::<f32>();
    cholesky_squares_to_the_matrix::<f64>();
}

#[test]
fn a_known_cholesky_factor() {
    let mut factor = [0.0; 4];
    cholesky(2, &[4.0, f64::NAN, 2.0, 10.0], &mut factor);
    assert_eq!(factor, [2.0, 0.0, 1.0, 3.0]);
}

fn triangular_systems_are_solved<T: Sample>() {
    for (n, k) in SIZES.iter().flat_map(|n| [0, 1, 2, 5].map(|k| (*n, k))) {
        for triangle in TRIANGLES {
            let mut a = numbers::<T>(2 * n * n, 3);
            let mut operator = vec![0.0; 2 * n * n];
            for i in 0..2 * n * n {
                let (row, column) = (i / n % n, i % n);
                if row == column {
                    a[i] = if triangle.unit_diagonal { T::of(f64::NAN) } else { T::of(2.0 + a[i].wide()) };
                    operator[i] = if triangle.unit_diagonal { 1.0 } else { a[i].wide() };
                } else if (column > row) == triangle.upper {
                    // Small enough for solutions not to grow.
                    a[i] = T::of(a[i].wide() / n as f64);
                    operator[i] = a[i].wide();
                } else {
                    a[i] = T::of(f64::NAN);
                }
            }
            let b = numbers::<T>(2 * n * k, 4);
            let mut x = vec![T::of(9.0); 2 * n * k];
            triangular_solve(n, k, &a, &b, &mut x, triangle);
            for position in 0..2 {
                let operator = &operator[position * n * n..(position + 1) * n * n];
                let operator = if triangle.transposed { transposed(n, n, operator) } else { operator.to_vec() };
                let range = position * n * k..(position + 1) * n * k;
                let found = product(n, n, k, &operator, &wide(&x[range.clone()]));
                assert_close::<T>(n, &found, &wide(&b[range]));
            }
        }
    }
}

#[test]
fn triangular_systems_of_every_kind_read_their_triangle_alone() {
    triangular_systems_are_solved::<f32>();
    triangular_systems_are_solved::<f64>();
}

fn systems_are_solved<T: Sample>() {
    for (n, k) in SIZES.iter().flat_map(|n| [0, 1, 2, 5].map(|k| (*n, k))) {
        let (mut a, b) = (numbers::<T>(3 * n * n, 5), numbers::<T>(3 * n * k, 6));
        // The diagonal is zero, so that nothing goes without exchanges, and what stands beside it is large.
        for i in (0..3 * n * n).filter(|_| n > 1) {
            let (row, column) = (i / n % n, i % n);
            if row == column {
                a[i] = T::of(0.0);
            } else if (row + 1) % n == column {
                a[i] = T::of(a[i].wide() + n as f64);
            }
        }
        for is_transposed in [false, true] {
            let mut x = vec![T::of(9.0); 3 * n * k];
            solve(n, k, &a, &b, &mut x, is_transposed);
            for position in 0..3 {
                let a = wide(&a[position * n * n..(position + 1) * n * n]);
                let a = if is_transposed { transposed(n, n, &a) } else { a };
                let range = position * n * k..(position + 1) * n * k;
                let scale = if n == 1 { 1.0 / a[0].abs() } else { 1.0 };
                let found = product(n, n, k, &a, &wide(&x[range.clone()]));
                assert_close::<T>(n + scale as usize, &found, &wide(&b[range]));
            }
        }
    }
}

#[test]
fn systems_are_solved_with_exchanges_of_rows() {
    systems_are_solved::<f32>();
    systems_are_solved::<f64>();
}

fn factors_multiply_to_the_exchanged_rows<T: Sample>() {
    for n in SIZES {
        let a = numbers::<T>(3 * n * n, 8);
        let (mut packed, mut rows) = (vec![T::of(9.0); 3 * n * n], vec![-1; 3 * n]);
        lu(n, &a, &mut packed);
        lu_permutation(n, &a, &mut rows);
        for position in 0..3 {
            let range = position * n * n..(position + 1) * n * n;
            let (a, packed) = (wide(&a[range.clone()]), wide(&packed[range]));
            let rows = &rows[position * n..(position + 1) * n];
            let (mut l, mut u) = (identity(n), vec![0.0; n * n]);
            for i in 0..n * n {
                if i % n < i / n {
                    assert!(packed[i].abs() <= 1.0);
                    l[i] = packed[i];
                } else {
                    u[i] = packed[i];
                }
            }
            let exchanged: Vec<f64> =
                rows.iter().flat_map(|row| a[*row as usize * n..(*row as usize + 1) * n].to_vec()).collect();
            assert_close::<T>(n, &product(n, n, n, &l, &u), &exchanged);
        }
    }
}

#[test]
fn lu_factors_multiply_to_the_rows_in_their_new_order() {
    factors_multiply_to_the_exchanged_rows::<f32>();
    factors_multiply_to_the_exchanged_rows::<f64>();
}

#[test]
fn a_known_permutation() {
    let a = [0.0, 2.0, 1.0, 1.0, 0.0, 0.0, 4.0, 0.0, 3.0];
    let (mut packed, mut rows) = ([0.0; 9], [0; 3]);
    lu(3, &a, &mut packed);
    lu_permutation(3, &a, &mut rows);
    assert_eq!(rows, [2, 0, 1]);
    assert_eq!(packed, [4.0, 0.0, 3.0, 0.0, 2.0, 1.0, 0.25, 0.0, -0.75]);
}

fn determinants_are_products_of_triangles<T: Sample>() {
    for n in SIZES {
        // A unit triangle times a triangle with this diagonal, in reverse order of rows.
        let mut l = identity(n);
        let mut u = vec![0.0; n * n];
        for i in 0..n * n {
            let x = numbers::<f64>(1, i as u64 + 1)[0] / (n + 1) as f64;
            if i % n < i / n {
                l[i] = x;
            } else {
                u[i] = x;
            }
        }
        let diagonal: Vec<f64> = (0..n).map(|i| if i % 3 == 1 { -1.5 } else { 0.5 + i as f64 / n as f64 }).collect();
        (0..n).for_each(|i| u[i * n + i] = diagonal[i]);
        let a = product(n, n, n, &l, &u);
        let reversed: Vec<T> = (0..n * n).map(|i| T::of(a[(n - 1 - i / n) * n + i % n])).collect();
        let is_odd = n * n.saturating_sub(1) / 2 % 2 == 1;
        let sign = diagonal.iter().map(|x| x.signum()).product::<f64>() * if is_odd { -1.0 } else { 1.0 };
        let log = diagonal.iter().map(|x| x.abs().ln()).sum::<f64>();
        let mut found = [T::of(9.0); 2];
        slogdet(n, &reversed, &mut found);
        assert_eq!(found[0].wide(), sign, "order {n}");
        assert_close::<T>(4 * n, &[found[1].wide()], &[log]);
    }
}

#[test]
fn a_determinant_is_its_sign_and_logarithm() {
    determinants_are_products_of_triangles::<f32>();
    determinants_are_products_of_triangles::<f64>();
}

fn singular_matrices_have_no_solution<T: Sample>() {
    for n in SIZES.into_iter().filter(|n| *n > 0) {
        // The second matrix has two equal rows, exactly so: integers, and a row of them alone.
        let mut a = identity(n);
        a.extend(identity(n).iter().map(|x| 2.0 * x));
        a.extend(identity(n));
        let (last, first) = (n * n + (n - 1) * n, n * n);
        (0..n).for_each(|j| a[last + j] = if n == 1 { 0.0 } else { a[first + j] });
        let a: Vec<T> = a.iter().map(|x| T::of(*x)).collect();
        let b = vec![T::of(3.0); 3 * n];
        for is_transposed in [false, true] {
            let mut x = vec![T::of(9.0); 3 * n];
            solve(n, 1, &a, &b, &mut x, is_transposed);
            assert!(x[..n] == b[..n] && x[2 * n..] == b[..n]);
            assert_nan(&x[n..2 * n]);
        }
        let mut packed = vec![T::of(9.0); 3 * n * n];
        lu(n, &a, &mut packed);
        assert!(packed[..n * n] == a[..n * n] && packed[2 * n * n..] == a[..n * n]);
        assert_nan(&packed[n * n..2 * n * n]);
        let mut rows = vec![-1; 3 * n];
        lu_permutation(n, &a, &mut rows);
        assert!(rows.chunks_exact(n).all(|rows| rows.iter().zip(0..).all(|(row, i)| *row == i)));
        let mut determinants = [T::of(9.0); 6];
        slogdet(n, &a, &mut determinants);
        assert_eq!(wide(&determinants), [1.0, 0.0, 0.0, f64::NEG_INFINITY, 1.0, 0.0]);
        for triangle in TRIANGLES.iter().filter(|triangle| !triangle.unit_diagonal) {
            let mut triangles = identity(n);
            triangles.extend(identity(n));
            triangles[n * n - 1] = 0.0;
            let triangles: Vec<T> = triangles.iter().map(|x| T::of(*x)).collect();
            for k in [1, 3] {
                let b = vec![T::of(3.0); 2 * n * k];
                let mut x = vec![T::of(9.0); 2 * n * k];
                triangular_solve(n, k, &triangles, &b, &mut x, *triangle);
                assert_nan(&x[..n * k]);
                assert!(x[n * k..] == b[n * k..]);
            }
        }
    }
}

#[test]
fn singular_matrices_give_nan_and_a_determinant_of_zero() {
    singular_matrices_have_no_solution::<f32>();
    singular_matrices_have_no_solution::<f64>();
}

#[test]
fn a_matrix_that_is_not_positive_definite_has_no_cholesky_factor() {
    for n in [1, 2, 3, 4, 5, 16, 17, 40] {
        for bad in [0.0, -1.0, -0.0] {
            let mut a = identity(n);
            a.extend(identity(n));
            a[n * n - 1] = bad;
            let mut factor = vec![9.0; 2 * n * n];
            cholesky(n, &a, &mut factor);
            assert_nan(&factor[..n * n]);
            assert_eq!(factor[n * n..], identity(n));
        }
    }
}

/// The orders that are eliminated in registers where there is one right hand side.
const KNOWN: std::ops::RangeInclusive<usize> = 5..=8;

/// Solutions for one right hand side each, by the elimination for any number of them: the side is given twice.
fn solved_beside<T: Sample>(n: usize, a: &[T], b: &[T], is_transposed: bool) -> Vec<T> {
    let twice: Vec<T> = b.iter().flat_map(|x| [*x, *x]).collect();
    let mut x = vec![T::of(9.0); 2 * b.len()];
    solve(n, 2, a, &twice, &mut x, is_transposed);
    assert!(x.chunks_exact(2).all(|pair| pair[0].bits() == pair[1].bits()));
    x.chunks_exact(2).map(|pair| pair[0]).collect()
}

fn known_orders_have_the_bits_of_any<T: Sample>() {
    for n in KNOWN {
        for (batch, is_transposed) in [0, 1, 9].iter().flat_map(|batch| [false, true].map(|t| (*batch, t))) {
            let (mut a, b) = (numbers::<T>(batch * n * n, 51), numbers::<T>(batch * n, 52));
            // Products that leave the range of f32 below, and pivots that are all the same.
            (0..a.len()).filter(|i| i / (n * n) == 2).for_each(|i| a[i] = T::of(a[i].wide() * 1e-35));
            (0..a.len()).filter(|i| i / (n * n) == 5).for_each(|i| a[i] = T::of(a[i].wide().signum()));
            let mut x = vec![T::of(9.0); batch * n];
            solve(n, 1, &a, &b, &mut x, is_transposed);
            let bits = |x: &[T]| x.iter().map(|x| x.bits()).collect::<Vec<_>>();
            assert_eq!(bits(&x), bits(&solved_beside(n, &a, &b, is_transposed)), "order {n}, {batch} systems");
        }
    }
}

#[test]
fn a_system_of_a_known_order_has_the_bits_of_one_of_several_sides() {
    known_orders_have_the_bits_of_any::<f32>();
    known_orders_have_the_bits_of_any::<f64>();
}

/// All permutations of so many rows (B. R. Heap, 1963).
fn each_permutation(rows: &mut [usize], n: usize, each: &mut impl FnMut(&[usize])) {
    if n <= 1 {
        return each(rows);
    }
    for i in 0..n {
        each_permutation(rows, n - 1, each);
        rows.swap(if n.is_multiple_of(2) { i } else { 0 }, n - 1);
    }
}

fn rows_in_every_order_are_found<T: Sample>() {
    for n in KNOWN {
        let mut n_orders = 0;
        each_permutation(&mut (0..n).collect::<Vec<_>>(), n, &mut |rows| {
            // The rows of a triangle: each column has one that can be its pivot, and nothing is rounded.
            let entry = |i: usize, j: usize| match j.cmp(&i) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => -4.0 * (i + 1) as f64,
                std::cmp::Ordering::Greater => 1.0,
            };
            let a: Vec<T> = rows.iter().flat_map(|row| (0..n).map(move |j| T::of(entry(*row, j)))).collect();
            let expected: Vec<T> = (0..n).map(|j| T::of(j as f64 - 2.5)).collect();
            let b: Vec<T> =
                (0..n).map(|i| T::of((0..n).map(|j| entry(rows[i], j) * expected[j].wide()).sum())).collect();
            let mut x = vec![T::of(9.0); n];
            solve(n, 1, &a, &b, &mut x, false);
            assert!(x == expected, "{rows:?}: {:?}", wide(&x));
            let columns: Vec<T> = (0..n * n).map(|i| a[i % n * n + i / n]).collect();
            solve(n, 1, &columns, &b, &mut x, true);
            assert!(x == expected, "{rows:?}, transposed: {:?}", wide(&x));
            n_orders += 1;
        });
        assert_eq!(n_orders, (1..=n).product::<usize>());
    }
}

#[test]
fn the_rows_of_a_system_of_a_known_order_may_stand_in_every_order() {
    rows_in_every_order_are_found::<f32>();
    rows_in_every_order_are_found::<f64>();
}

fn systems_without_a_solution_touch_no_other<T: Sample>() {
    for n in KNOWN {
        let (good, b) = (definite::<T>(n, 3, 53), numbers::<T>(3 * n, 54));
        let mut expected = vec![T::of(9.0); 3 * n];
        solve(n, 1, &good, &b, &mut expected, false);
        assert!(expected.iter().all(|x| x.wide().is_finite()));
        let has_none = |a: &[T], b: &[T], what: &str| {
            let mut x = vec![T::of(9.0); 3 * n];
            solve(n, 1, a, b, &mut x, false);
            assert!(x[n..2 * n].iter().all(|x| x.wide().is_nan()), "order {n}, {what}: {:?}", wide(&x));
            assert!(x[..n] == expected[..n] && x[2 * n..] == expected[2 * n..], "order {n}, {what}: {:?}", wide(&x));
        };
        for step in 0..n {
            // The column has no entry left when its turn comes, exactly so.
            let mut a = good.clone();
            (0..n * n).for_each(|i| a[n * n + i] = T::of(f64::from(i / n == i % n && i % n != step)));
            has_none(&a, &b, &format!("no pivot {step}"));
        }
        for (entry, bad) in (0..n * n).flat_map(|i| [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|bad| (i, bad))) {
            let mut a = good.clone();
            a[n * n + entry] = T::of(bad);
            has_none(&a, &b, &format!("{bad} at {entry}"));
        }
        for entry in 0..n {
            let mut b = b.clone();
            b[n + entry] = T::of(f64::INFINITY);
            has_none(&good, &b, &format!("an infinite side at {entry}"));
        }
    }
}

#[test]
fn a_system_of_a_known_order_without_a_solution_is_nan_and_touches_no_other() {
    systems_without_a_solution_touch_no_other::<f32>();
    systems_without_a_solution_touch_no_other::<f64>();
}
