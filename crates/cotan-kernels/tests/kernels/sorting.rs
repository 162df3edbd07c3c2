//! Sorting against a stable sort by comparisons.

use std::cmp::Ordering;

use cotan_kernels::{Sortable, argsort, sort};

use crate::sample::*;

/// Lengths on both sides of every change of method.
const LENGTHS: [usize; 12] = [0, 1, 2, 3, 5, 16, 32, 33, 500, 511, 513, 3000];

/// The order of floats with NaN last.
fn order(x: f64, y: f64) -> Ordering {
    x.partial_cmp(&y).unwrap_or(x.is_nan().cmp(&y.is_nan()))
}

/// Asserts positions and elements of rows of length `n`, compared by their bits.
#[track_caller]
fn check<T: Sortable>(n: usize, x: &[T], order: impl Fn(&T, &T) -> Ordering, bits: impl Fn(T) -> u64) {
    let (mut positions, mut sorted) = (vec![-1; x.len()], x.to_vec());
    sorted.reverse();
    argsort(n, x, &mut positions);
    sort(n, x, &mut sorted);
    for (row, x) in x.chunks_exact(n.max(1)).enumerate() {
        let mut expected: Vec<usize> = (0..n).collect();
        expected.sort_by(|i, j| order(&x[*i], &x[*j]));
        let range = row * n..(row + 1) * n;
        assert!(positions[range.clone()].iter().zip(&expected).all(|(i, j)| *i == *j as i64), "length {n}");
        assert!(sorted[range].iter().zip(&expected).all(|(x_of, j)| bits(*x_of) == bits(x[*j])), "length {n}");
    }
}

#[test]
fn floats_are_sorted_stably_with_nan_last_and_equal_zeros() {
    let odd = [f64::NAN, 0.0, -0.0, f64::INFINITY, -f64::NAN, f64::NEG_INFINITY, 1e-310, -1e-310, 1.0, -1.0, f64::MAX];
    for (n, batch) in LENGTHS.into_iter().flat_map(|n| [0, 1, 3].map(|batch| (n, batch))) {
        let x = numbers::<f64>(n * batch, 31);
        check(n, &x, |x, y| order(*x, *y), f64::to_bits);
        let mixed: Vec<f64> = x
            .iter()
            .map(|x| if *x < 0.0 { odd[(-x * 1e6) as usize % odd.len()] } else { (x * 10.0).floor() })
            .collect();
        check(n, &mixed, |x, y| order(*x, *y), f64::to_bits);
        let narrow: Vec<f32> =
            mixed.iter().zip(&x).map(|(x, y)| if *y > 0.5 { *y as f32 } else { *x as f32 }).collect();
        check(n, &narrow, |x, y| order(f64::from(*x), f64::from(*y)), |x| u64::from(x.to_bits()));
        check(n, &vec![f64::NAN; n * batch], |x, y| order(*x, *y), f64::to_bits);
        check(n, &vec![2.0f32; n * batch], |x, y| order(f64::from(*x), f64::from(*y)), |x| u64::from(x.to_bits()));
    }
}

#[test]
fn integers_are_sorted_stably_over_their_whole_range() {
    for n in LENGTHS {
        let x: Vec<i64> = numbers::<f64>(2 * n, 32).iter().map(|x| x.to_bits().cast_signed()).collect();
        check(n, &x, Ord::cmp, i64::cast_unsigned);
        let few: Vec<i64> = x.iter().map(|x| [i64::MIN, -1, 0, 7, i64::MAX][x.rem_euclid(5) as usize]).collect();
        check(n, &few, Ord::cmp, i64::cast_unsigned);
    }
}

#[test]
fn a_known_order() {
    let mut positions = [0; 6];
    argsort(6, &[0.0, f64::NAN, -0.0, 2.0, -1.0, 2.0], &mut positions);
    assert_eq!(positions, [4, 0, 2, 3, 5, 1]);
}
