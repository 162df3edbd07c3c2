//! Fourier transforms against their definition.

use cotan_kernels::{fft, irfft, rfft};

use crate::kernels::sample::*;

/// Powers of two, products, primes that need a method of their own.
const LENGTHS: [usize; 17] = [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 37, 40, 64, 97, 101, 263];

/// The definition.
fn transform(n: usize, x: &[f64], sign: f64) -> Vec<f64> {
    let mut y = vec![0.0; 2 * n];
    for j in 0..n {
        for k in 0..n {
            let angle = sign * 2.0 * std::f64::consts::PI * ((j * k) % n) as f64 / n as f64;
            y[2 * j] += x[2 * k] * angle.cos() - x[2 * k + 1] * angle.sin();
            y[2 * j + 1] += x[2 * k] * angle.sin() + x[2 * k + 1] * angle.cos();
        }
    }
    y
}

fn complex_transforms<T: Sample>() {
    for (n, batch) in LENGTHS.into_iter().flat_map(|n| [0, 1, 3].map(|batch| (n, batch))) {
        let x = numbers::<T>(2 * n * batch, 21);
        for inverse in [false, true] {
            let mut y = vec![T::of(9.0); 2 * n * batch];
            fft(n, &x, &mut y, inverse);
            for position in 0..batch {
                let range = 2 * n * position..2 * n * (position + 1);
                let expected = transform(n, &wide(&x[range.clone()]), if inverse { 1.0 } else { -1.0 });
                assert_close::<T>(4, &wide(&y[range]), &expected);
            }
        }
    }
}

#[test]
fn complex_transforms_are_the_sums_of_their_definition() {
    complex_transforms::<f32>();
    complex_transforms::<f64>();
}

fn real_transforms<T: Sample>() {
    for (n, batch) in LENGTHS.into_iter().flat_map(|n| [0, 1, 3].map(|batch| (n, batch))) {
        let len = 2 * (n / 2 + 1);
        let x = numbers::<T>(n * batch, 22);
        let mut y = vec![T::of(9.0); len * batch];
        rfft(n, &x, &mut y);
        for position in 0..batch {
            let pairs: Vec<f64> = wide(&x[n * position..n * (position + 1)]).iter().flat_map(|x| [*x, 0.0]).collect();
            let expected = if n == 0 { vec![0.0; 2] } else { transform(n, &pairs, -1.0)[..len].to_vec() };
            assert_close::<T>(4, &wide(&y[len * position..len * (position + 1)]), &expected);
        }
        // Back again, with imaginary parts that are ignored.
        for position in 0..batch {
            y[len * position + 1] = T::of(f64::NAN);
            if n % 2 == 0 {
                y[len * (position + 1) - 1] = T::of(f64::NAN);
            }
        }
        let mut again = vec![T::of(9.0); n * batch];
        irfft(n, &y, &mut again);
        let expected: Vec<f64> = x.iter().map(|x| x.wide() * n as f64).collect();
        assert_close::<T>(4, &wide(&again), &expected);
    }
}

#[test]
fn real_transforms_are_half_of_the_complex_ones_and_come_back_times_n() {
    real_transforms::<f32>();
    real_transforms::<f64>();
}

#[test]
fn an_inverse_real_transform_is_that_of_the_conjugate_symmetric_sequence() {
    for n in LENGTHS.into_iter().skip(1) {
        let mut half = numbers::<f64>(2 * (n / 2 + 1), 23);
        half[1] = 0.0;
        if n % 2 == 0 {
            half[n + 1] = 0.0;
        }
        let mut whole = vec![0.0; 2 * n];
        for j in 0..n {
            let (from, sign) = if j <= n / 2 { (j, 1.0) } else { (n - j, -1.0) };
            whole[2 * j] = half[2 * from];
            whole[2 * j + 1] = sign * half[2 * from + 1];
        }
        let mut found = vec![9.0; n];
        irfft(n, &half, &mut found);
        let expected: Vec<f64> = transform(n, &whole, 1.0).chunks_exact(2).map(|pair| pair[0]).collect();
        assert_close::<f64>(4, &found, &expected);
    }
}

#[test]
fn bits_do_not_depend_on_what_was_planned_before() {
    let of = |lengths: &'static [usize]| {
        std::thread::spawn(move || {
            let mut bits = std::collections::BTreeMap::new();
            for n in lengths {
                let mut y = vec![0.0; 2 * n];
                fft(*n, &numbers::<f64>(2 * n, 24), &mut y, false);
                bits.insert(*n, y.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            }
            bits
        })
    };
    let (up, down) = (of(&[4, 8, 64, 97, 360, 1024, 1536]), of(&[1536, 1024, 360, 97, 64, 8, 4]));
    assert_eq!(up.join().unwrap(), down.join().unwrap());
}

#[test]
fn plans_that_were_given_up_are_made_again_with_the_same_bits() {
    let transformed = |n: usize| {
        let mut y = vec![0.0; 2 * n];
        fft(n, &numbers::<f64>(2 * n, 23), &mut y, false);
        y
    };
    let lengths = [8, 97, 360];
    let before = lengths.map(transformed);
    // More than are kept.
    for n in 1..1600 {
        transformed(n);
    }
    assert_eq!(lengths.map(transformed), before);
}
