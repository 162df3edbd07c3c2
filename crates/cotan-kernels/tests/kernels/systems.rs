//! Factors and systems: Cholesky, triangular, LU, determinants.

use cotan_kernels::{Triangle, cholesky, lu, lu_permutation, slogdet, solve, triangular_solve};

use crate::sample::*;

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

/// Any row may have to come to any place: each is the only one with an entry in some column.
fn rows_are_put_in_order<T: Sample>() {
    for n in 1..=9 {
        for (step, start) in
            (1..n + 1).filter(|step| gcd(*step, n) == 1).flat_map(|step| (0..n).map(move |s| (step, s)))
        {
            let entry = |row: usize| (row * step + start) % n;
            let mut a = vec![T::of(0.0); n * n];
            (0..n).for_each(|row| a[row * n + entry(row)] = T::of(2.0));
            let b: Vec<T> = (0..n).map(|row| T::of(row as f64)).collect();
            let mut x = vec![T::of(9.0); n];
            solve(n, 1, &a, &b, &mut x, false);
            (0..n).for_each(|row| {
                assert_eq!(x[entry(row)].wide(), row as f64 / 2.0, "order {n}, step {step}, from {start}")
            });
        }
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn rows_in_any_order_are_exchanged() {
    rows_are_put_in_order::<f32>();
    rows_are_put_in_order::<f64>();
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
