//! What holds for all kernels: the same bits everywhere, and one missing result touches no other.

use cotan_kernels::{
    Triangle, argsort, cholesky, eigh, fft, irfft, lu, orthonormal, rfft, slogdet, solve, svd, triangular_solve,
};

use crate::kernels::sample::*;

const LOWER: Triangle = Triangle { upper: false, transposed: false, unit_diagonal: false };

/// A kernel on matrices `[n, n]`: its name, the size of a result, the call.
type Kernel<T> = (&'static str, fn(usize) -> usize, fn(usize, &[T], &mut [T]));

/// The right hand sides of a batch.
fn sides<T: Sample>(n: usize, len: usize) -> Vec<T> {
    let one = numbers::<T>(len.min(2 * n.min(len)), 41);
    one.iter().cycle().take(len).copied().collect()
}

/// The factorisations. The same right hand sides belong to each matrix.
fn factorisations<T: Sample>() -> [Kernel<T>; 8] {
    [
        ("cholesky", |n| n * n, cholesky),
        ("triangular_solve", |n| 2 * n, |n, a, to| triangular_solve(n, 2, a, &sides(n, to.len()), to, LOWER)),
        ("solve", |n| 2 * n, |n, a, to| solve(n, 2, a, &sides(n, to.len()), to, false)),
        ("lu", |n| n * n, lu),
        ("slogdet", |_| 2, slogdet),
        ("orthonormal", |n| n * n, |n, a, to| orthonormal(n, n, a, to)),
        ("eigh", |n| (n + 1) * n, eigh),
        ("svd", |n| (2 * n + 1) * n, |n, a, to| svd(n, n, a, to)),
    ]
}

fn bits<T: Sample>(x: &[T]) -> Vec<u64> {
    x.iter().map(|x| x.bits()).collect()
}

fn results_do_not_depend_on_the_place<T: Sample>() {
    let mut kernels = factorisations::<T>().to_vec();
    kernels.push(("fft", |n| 2 * (n * n / 2), |n, x, to| fft(n * n / 2, x, to, false)));
    kernels.push(("rfft", |n| 2 * (n * n / 2 + 1), |n, x, to| rfft(n * n, x, to)));
    for n in [1, 2, 3, 5, 8, 16, 17, 40] {
        let one = definite::<T>(n, 1, 42);
        let others = definite::<T>(n, 1, 43);
        for (name, size, call) in &kernels {
            if *name == "fft" && n % 2 == 1 {
                continue;
            }
            let mut expected = vec![T::of(9.0); size(n)];
            call(n, &one, &mut expected);
            // Seven matrices, two kinds of them, from a place in memory that is one off.
            let mut batch = vec![T::of(9.0)];
            (0..7).for_each(|i| batch.extend(if i % 3 == 1 { &others } else { &one }));
            let mut found = vec![T::of(9.0); 7 * size(n) + 1];
            call(n, &batch[1..], &mut found[1..]);
            for (i, found) in found[1..].chunks_exact(size(n)).enumerate().filter(|(i, _)| i % 3 != 1) {
                assert_eq!(bits(found), bits(&expected), "{name} of order {n} at {i}");
            }
            // The two kinds differ, so this compares something; of order one their directions and signs are one.
            if n == 1 {
                continue;
            }
            assert_ne!(
                bits(&found[1..]),
                expected.iter().map(|x| x.bits()).cycle().take(7 * size(n)).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn a_result_has_the_same_bits_wherever_it_stands() {
    results_do_not_depend_on_the_place::<f32>();
    results_do_not_depend_on_the_place::<f64>();
}

fn what_is_not_finite_stays_where_it_is<T: Sample>() {
    for n in [1, 2, 3, 5, 8, 16, 17, 40] {
        for (name, size, call) in factorisations::<T>() {
            let good = definite::<T>(n, 3, 44);
            let mut expected = vec![T::of(9.0); 3 * size(n)];
            call(n, &good, &mut expected);
            assert!(expected.iter().all(|x| x.wide().is_finite()));
            // All of these are in the lower triangle.
            for entry in [0, n * n - 1, (n - 1) * n, n / 2 * n] {
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut a = good.clone();
                    a[n * n + entry] = T::of(bad);
                    let mut found = vec![T::of(9.0); 3 * size(n)];
                    call(n, &a, &mut found);
                    let context = format!("{name} of order {n}, {bad} at {entry}");
                    assert!(found[size(n)..2 * size(n)].iter().all(|x| x.wide().is_nan()), "{context}");
                    assert_eq!(bits(&found[..size(n)]), bits(&expected[..size(n)]), "{context}");
                    assert_eq!(bits(&found[2 * size(n)..]), bits(&expected[2 * size(n)..]), "{context}");
                }
            }
        }
    }
}

#[test]
fn infinities_and_nan_make_all_of_their_own_result_nan() {
    what_is_not_finite_stays_where_it_is::<f32>();
    what_is_not_finite_stays_where_it_is::<f64>();
}

#[test]
fn right_hand_sides_that_are_not_finite_have_no_solution() {
    for (n, k) in [(1, 1), (3, 1), (4, 2), (16, 3), (17, 1), (40, 2)] {
        let a = definite::<f64>(n, 2, 45);
        let mut b = numbers::<f64>(2 * n * k, 46);
        b[n * k - 1] = f64::INFINITY;
        let mut x = vec![9.0; 2 * n * k];
        solve(n, k, &a, &b, &mut x, false);
        assert_nan(&x[..n * k]);
        assert!(x[n * k..].iter().all(|x| x.is_finite()));
        triangular_solve(n, k, &a, &b, &mut x, LOWER);
        assert_nan(&x[..n * k]);
        assert!(x[n * k..].iter().all(|x| x.is_finite()));
    }
}

#[test]
fn overflow_is_no_result() {
    for n in [2, 20] {
        let mut a = identity(n);
        a[0] = 1e-200;
        let mut x = vec![9.0; n];
        solve(n, 1, &a, &vec![1e200; n], &mut x, false);
        assert_nan(&x);
        triangular_solve(n, 1, &a, &vec![1e200; n], &mut x, LOWER);
        assert_nan(&x);
    }
}

#[test]
fn empty_batches_and_empty_matrices_do_nothing() {
    for (_, size, call) in factorisations::<f64>() {
        call(3, &[], &mut []);
        call(40, &[], &mut []);
        // Nothing is allocated or multiplied for the mere order.
        call(1 << 31, &[], &mut []);
        call(usize::MAX / 4, &[], &mut []);
        let mut result = vec![9.0; size(0)];
        call(0, &[], &mut result);
        // The determinant of nothing is one.
        assert!(result.is_empty() || result == [1.0, 0.0]);
    }
    argsort::<f64>(0, &[], &mut []);
    fft::<f64>(5, &[], &mut [], false);
    rfft::<f64>(5, &[], &mut []);
    irfft::<f64>(5, &[], &mut []);
}

#[test]
fn a_batch_ends_where_a_slice_has_no_whole_matrix_left() {
    let mut factors = [9.0; 7];
    cholesky(2, &[4.0, 0.0, 0.0, 9.0, 1.0, 0.0, 0.0], &mut factors);
    assert_eq!(factors, [2.0, 0.0, 0.0, 3.0, 9.0, 9.0, 9.0]);
}
