//! Sorting against a stable sort by comparisons.

use std::cmp::Ordering;

use cotan_kernels::{Sortable, argsort};

use crate::kernels::sample::*;

/// Lengths on both sides of every change of method.
const LENGTHS: [usize; 12] = [0, 1, 2, 3, 5, 16, 32, 33, 255, 256, 500, 5000];

/// The order of floats with NaN last.
fn order(x: f64, y: f64) -> Ordering {
    x.partial_cmp(&y).unwrap_or(x.is_nan().cmp(&y.is_nan()))
}

/// Asserts the positions of rows of length `n`.
#[track_caller]
fn check<T: Sortable>(n: usize, x: &[T], order: impl Fn(&T, &T) -> Ordering) {
    let mut positions = vec![-1; x.len()];
    argsort(n, x, &mut positions);
    for (row, x) in x.chunks_exact(n.max(1)).enumerate() {
        let mut expected: Vec<usize> = (0..n).collect();
        expected.sort_by(|i, j| order(&x[*i], &x[*j]));
        assert!(positions[row * n..][..n].iter().zip(&expected).all(|(i, j)| *i == *j as i64), "length {n}");
    }
}

#[test]
fn floats_are_sorted_stably_with_nan_last_and_equal_zeros() {
    let odd = [f64::NAN, 0.0, -0.0, f64::INFINITY, -f64::NAN, f64::NEG_INFINITY, 1e-310, -1e-310, 1.0, -1.0, f64::MAX];
    for (n, batch) in LENGTHS.into_iter().flat_map(|n| [0, 1, 3].map(|batch| (n, batch))) {
        let x = numbers::<f64>(n * batch, 31);
        check(n, &x, |x, y| order(*x, *y));
        let mixed: Vec<f64> = x
            .iter()
            .map(|x| if *x < 0.0 { odd[(-x * 1e6) as usize % odd.len()] } else { (x * 10.0).floor() })
            .collect();
        check(n, &mixed, |x, y| order(*x, *y));
        let narrow: Vec<f32> =
            mixed.iter().zip(&x).map(|(x, y)| if *y > 0.5 { *y as f32 } else { *x as f32 }).collect();
        check(n, &narrow, |x, y| order(f64::from(*x), f64::from(*y)));
        check(n, &vec![f64::NAN; n * batch], |x, y| order(*x, *y));
        check(n, &vec![2.0f32; n * batch], |x, y| order(f64::from(*x), f64::from(*y)));
    }
}

#[test]
fn integers_are_sorted_stably_over_their_whole_range() {
    for n in LENGTHS {
        let x: Vec<i64> = numbers::<f64>(2 * n, 32).iter().map(|x| x.to_bits().cast_signed()).collect();
        check(n, &x, Ord::cmp);
        let few: Vec<i64> = x.iter().map(|x| [i64::MIN, -1, 0, 7, i64::MAX][x.rem_euclid(5) as usize]).collect();
        check(n, &few, Ord::cmp);
    }
}

#[test]
fn narrow_and_unsigned_integers_are_sorted_as_numbers() {
    for n in LENGTHS {
        let bits: Vec<u64> = numbers::<f64>(2 * n, 33).iter().map(|x| x.to_bits().wrapping_mul(0x9e37_79b9)).collect();
        check(n, &bits, Ord::cmp);
        check(n, &bits.iter().map(|b| (b >> 32) as u32).collect::<Vec<_>>(), Ord::cmp);
        check(n, &bits.iter().map(|b| (b >> 32) as i32).collect::<Vec<_>>(), Ord::cmp);
        check(n, &bits.iter().map(|b| (b >> 32) as u16).collect::<Vec<_>>(), Ord::cmp);
        check(n, &bits.iter().map(|b| (b >> 32) as i16).collect::<Vec<_>>(), Ord::cmp);
        check(n, &bits.iter().map(|b| (b >> 32) as u8).collect::<Vec<_>>(), Ord::cmp);
        check(n, &bits.iter().map(|b| (b >> 32) as i8).collect::<Vec<_>>(), Ord::cmp);
    }
}

#[test]
fn keys_that_agree_in_their_leading_bits_are_sorted_by_the_others() {
    let n = 5000;
    for shift in [0, 20, 40] {
        // An outlier makes the leading bits differ; the others lie close together, most of them in long runs.
        let mut x: Vec<i64> =
            numbers::<f64>(n, 34).iter().map(|x| (x.to_bits() >> 12 << shift).cast_signed()).collect();
        x[n / 2] = i64::MIN;
        check(n, &x, Ord::cmp);
        x.iter_mut().for_each(|x| *x &= 0x0fff);
        x[n / 3] = i64::MIN;
        check(n, &x, Ord::cmp);
    }
}

#[test]
fn a_known_order() {
    let mut positions = [0; 6];
    argsort(6, &[0.0, f64::NAN, -0.0, 2.0, -1.0, 2.0], &mut positions);
    assert_eq!(positions, [4, 0, 2, 3, 5, 1]);
}
