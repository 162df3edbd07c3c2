//! Orthonormal factors, eigenvectors, singular vectors.

use cotan_kernels::{eigh, orthonormal, svd};

use crate::kernels::sample::*;

/// Shapes on both sides of every change of method: tall, square, wide.
const SHAPES: [(usize, usize); 20] = [
    (0, 0),
    (3, 0),
    (0, 3),
    (1, 1),
    (1, 4),
    (4, 1),
    (2, 2),
    (3, 2),
    (2, 5),
    (5, 5),
    (8, 8),
    (9, 3),
    (3, 9),
    (16, 16),
    (16, 5),
    (17, 2),
    (17, 17),
    (40, 3),
    (40, 40),
    (7, 40),
];

/// Asserts that the entry of largest modulus of each of the `k` columns, the first of equal ones, is positive.
#[track_caller]
fn assert_signs(k: usize, columns: &[f64]) {
    for j in 0..k {
        let column: Vec<f64> = columns.iter().skip(j).step_by(k).copied().collect();
        let most = column.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        // Moduli that differ by rounding count as equal.
        let first = column.iter().find(|x| x.abs() >= most * (1.0 - 0.5f64.powi(18)));
        assert!(first.is_some_and(|x| *x > 0.0), "column {j}: {columns:?}");
    }
}

/// Asserts that the columns of an `[m, k]` matrix are orthonormal.
#[track_caller]
fn assert_orthonormal<T: Sample>(m: usize, k: usize, columns: &[f64]) {
    assert_close::<T>(m, &product(k, m, k, &transposed(m, k, columns), columns), &identity(k));
}

fn check_orthonormal<T: Sample>(m: usize, n: usize, a: &[T]) {
    let mut q = vec![T::of(9.0); m * n];
    orthonormal(m, n, a, &mut q);
    let (a, q) = (wide(a), wide(&q));
    assert_orthonormal::<T>(m, n, &q);
    let r = product(n, m, n, &transposed(m, n, &q), &a);
    // Each column by itself, as columns may differ in magnitude.
    let again = product(m, n, n, &q, &r);
    for j in 0..n {
        let scale = (0..m).fold(f64::MIN_POSITIVE, |most, i| most.max(a[i * n + j].abs()));
        let column = |of: &[f64], rows: usize| -> Vec<f64> { (0..rows).map(|i| of[i * n + j] / scale).collect() };
        assert_close::<T>(m, &column(&again, m), &column(&a, m));
        let r = column(&r, n);
        assert_close::<T>(m, &r[j + 1..], &vec![0.0; n - j - 1]);
        assert!(r[j] >= -ROUNDING * T::PRECISION * m as f64, "a negative diagonal of R: {r:?}");
    }
}

fn orthonormal_factors<T: Sample>() {
    for (m, n) in SHAPES.into_iter().filter(|(m, n)| m >= n) {
        let a = numbers::<T>(m * n, 11);
        check_orthonormal(m, n, &a);
        // Columns of very different magnitude have the same factor.
        let scaled: Vec<T> =
            a.iter().enumerate().map(|(i, x)| T::of(x.wide() * 2f64.powi(30 - 25 * (i % n % 4) as i32))).collect();
        check_orthonormal(m, n, &scaled);
        let (mut q, mut of_scaled) = (vec![T::of(9.0); m * n], vec![T::of(9.0); m * n]);
        orthonormal(m, n, &a, &mut q);
        orthonormal(m, n, &scaled, &mut of_scaled);
        assert!(q == of_scaled);
        // The last columns are the first one again, and zero.
        let dependent: Vec<T> = (0..m * n).map(|i| if i % n < 2 { a[i / n * n] } else { T::of(0.0) }).collect();
        check_orthonormal(m, n, &dependent);
    }
}

#[test]
fn q_is_orthonormal_and_r_has_a_diagonal_that_is_not_negative() {
    orthonormal_factors::<f32>();
    orthonormal_factors::<f64>();
}

#[test]
fn there_is_no_thin_q_of_a_wide_matrix() {
    let mut q = [9.0; 6];
    orthonormal(2, 3, &[1.0; 6], &mut q);
    assert_nan(&q);
}

fn check_eigh<T: Sample>(n: usize, a: &[T]) -> Vec<f64> {
    let mut lower = a.to_vec();
    (0..n * n).filter(|i| i % n > i / n).for_each(|i| lower[i] = T::of(f64::NAN));
    let mut found = vec![T::of(9.0); (n + 1) * n];
    eigh(n, &lower, &mut found);
    let found = wide(&found);
    let (values, vectors) = found.split_at(n);
    assert!(values.is_sorted(), "{values:?}");
    assert_orthonormal::<T>(n, n, vectors);
    assert_signs(n, vectors);
    let stretched: Vec<f64> = vectors.iter().enumerate().map(|(i, x)| x * values[i % n.max(1)]).collect();
    assert_close::<T>(n, &product(n, n, n, &stretched, &transposed(n, n, vectors)), &wide(a));
    values.to_vec()
}

fn eigendecompositions<T: Sample>() {
    for n in SIZES {
        let b = numbers::<T>(n * n, 12);
        let a: Vec<T> = (0..n * n).map(|i| T::of((b[i].wide() + b[i % n * n + i / n].wide()) / 2.0)).collect();
        check_eigh(n, &a);
        // All eigenvalues zero, all equal, two of them for all vectors, and a line.
        assert_eq!(check_eigh(n, &vec![T::of(0.0); n * n]), vec![0.0; n]);
        let same: Vec<T> = identity(n).iter().map(|x| T::of(3.0 * x)).collect();
        assert_eq!(check_eigh(n, &same), vec![3.0; n]);
        let ones = check_eigh(n, &vec![T::of(1.0); n * n]);
        assert_close::<T>(n, &ones, &(0..n).map(|i| if i + 1 == n { n as f64 } else { 0.0 }).collect::<Vec<_>>());
        let line: Vec<T> = (0..n * n).map(|i| T::of(f64::from((i / n).abs_diff(i % n) == 1))).collect();
        let expected: Vec<f64> =
            (1..=n).map(|i| -2.0 * (i as f64 * std::f64::consts::PI / (n + 1) as f64).cos()).collect();
        assert_close::<T>(n, &check_eigh(n, &line), &expected);
    }
}

#[test]
fn eigenvectors_are_orthonormal_and_give_back_the_matrix() {
    eigendecompositions::<f32>();
    eigendecompositions::<f64>();
}

#[test]
fn a_known_eigendecomposition() {
    let mut found = [0.0; 6];
    eigh(2, &[2.0, f64::NAN, 1.0, 2.0], &mut found);
    let half = 0.5f64.sqrt();
    // Of entries with the same modulus the first is positive.
    assert_close::<f64>(1, &found, &[1.0, 3.0, half, half, -half, half]);
}

fn check_svd<T: Sample>(m: usize, n: usize, a: &[T]) -> Vec<f64> {
    let k = m.min(n);
    let mut found = vec![T::of(9.0); (m + 1 + n) * k];
    svd(m, n, a, &mut found);
    let found = wide(&found);
    let (u, rest) = found.split_at(m * k);
    let (values, v) = rest.split_at(k);
    assert!(values.iter().rev().is_sorted() && values.iter().all(|x| *x >= 0.0), "{values:?}");
    assert_orthonormal::<T>(m, k, u);
    assert_orthonormal::<T>(n, k, v);
    assert_signs(k, u);
    let stretched: Vec<f64> = u.iter().enumerate().map(|(i, x)| x * values[i % k]).collect();
    assert_close::<T>(m + n, &product(m, k, n, &stretched, &transposed(n, k, v)), &wide(a));
    values.to_vec()
}

fn singular_values<T: Sample>() {
    for (m, n) in SHAPES {
        let k = m.min(n);
        let a = numbers::<T>(m * n, 13);
        check_svd(m, n, &a);
        assert_eq!(check_svd(m, n, &vec![T::of(0.0); m * n]), vec![0.0; k]);
        let ones = check_svd(m, n, &vec![T::of(1.0); m * n]);
        let expected: Vec<f64> = (0..k).map(|i| if i == 0 { ((m * n) as f64).sqrt() } else { 0.0 }).collect();
        assert_close::<T>(m + n, &ones, &expected);
        // A part of the identity: all values equal.
        let part: Vec<T> = (0..m * n).map(|i| T::of(f64::from(i / n == i % n) * 3.0)).collect();
        assert_close::<T>(1, &check_svd(m, n, &part), &vec![3.0; k]);
        // Values over many magnitudes, some of them below the rounding of the largest.
        let graded: Vec<T> =
            (0..m * n).map(|i| T::of(a[i].wide() * 10f64.powi(-3 * (i / n % 8) as i32 - (i % n % 5) as i32))).collect();
        check_svd(m, n, &graded);
    }
}

#[test]
fn singular_vectors_are_orthonormal_and_give_back_the_matrix() {
    singular_values::<f32>();
    singular_values::<f64>();
}

fn magnitudes<T: Sample>(powers: [i32; 2]) {
    for n in [3, 8, 20] {
        for power in powers {
            let a: Vec<T> = definite::<T>(n, 1, 14).iter().map(|x| T::of(x.wide() * 2f64.powi(power))).collect();
            let (mut plain, mut found) = (vec![T::of(9.0); (n + 1) * n], vec![T::of(9.0); (n + 1) * n]);
            eigh(n, &definite::<T>(n, 1, 14), &mut plain);
            eigh(n, &a, &mut found);
            assert!(plain[n..] == found[n..]);
            let (mut plain, mut found) = (vec![T::of(9.0); (2 * n + 1) * n], vec![T::of(9.0); (2 * n + 1) * n]);
            svd(n, n, &definite::<T>(n, 1, 14), &mut plain);
            svd(n, n, &a, &mut found);
            assert!(plain[..n * n] == found[..n * n] && plain[n * n + n..] == found[n * n + n..]);
            let expected: Vec<f64> = plain[n * n..n * n + n].iter().map(|x| x.wide()).collect();
            let scaled: Vec<f64> = found[n * n..n * n + n].iter().map(|x| x.wide() / 2f64.powi(power)).collect();
            assert_eq!(scaled, expected);
        }
    }
}

#[test]
fn very_large_and_very_small_matrices_have_the_same_vectors() {
    magnitudes::<f32>([110, -80]);
    magnitudes::<f64>([1000, -900]);
}
