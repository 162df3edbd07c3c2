//! The kernels of both element types, compiled in this crate: what calls them, generic or not, does not compile the libraries'
//! generic code again, which takes minutes.

use crate::memory::with_elements;
use crate::triangular::Triangle;
use crate::{cholesky, eigh, fft, lu, orthonormal, svd, triangular};

macro_rules! compiled {
    (
        both { $($module:ident::$name:ident($($argument:ident: $type:ty),*);)* }
        double { $($wide_module:ident::$wide:ident($($size:ident: usize),*);)* }
    ) => {
        /// The kernels of an element type.
        pub trait Compiled: Sized {
            $(
                #[doc = concat!("See `", stringify!($name), "` of the crate.")]
                fn $name($($argument: $type),*);
            )*
            $(
                #[doc = concat!("See `", stringify!($wide), "` of the crate.")]
                fn $wide($($size: usize,)* a: &[Self], to: &mut [Self]);
            )*
        }

        impl Compiled for f64 {
            $(
                fn $name($($argument: $type),*) {
                    $module::$name::<f64>($($argument),*);
                }
            )*
            $(
                fn $wide($($size: usize,)* a: &[f64], to: &mut [f64]) {
                    $wide_module::$wide::<f64>($($size,)* a, to);
                }
            )*
        }

        impl Compiled for f32 {
            $(
                fn $name($($argument: $type),*) {
                    $module::$name::<f32>($($argument),*);
                }
            )*
            $(
                fn $wide($($size: usize,)* a: &[f32], to: &mut [f32]) {
                    in_double(a, to, |a, to| $wide_module::$wide::<f64>($($size,)* a, to));
                }
            )*
        }
    };
}

/// Does in f64 what is asked for in f32.
fn in_double(a: &[f32], to: &mut [f32], kernel: impl FnOnce(&[f64], &mut [f64])) {
    with_elements(a.len() + to.len(), 0.0, |both| {
        let (wide, result) = both.split_at_mut(a.len());
        wide.iter_mut().zip(a).for_each(|(wide, x)| *wide = f64::from(*x));
        kernel(wide, result);
        to.iter_mut().zip(result).for_each(|(to, x)| *to = *x as f32);
    });
}

compiled! {
    both {
    cholesky::cholesky(n: usize, a: &[Self], to: &mut [Self]);
    triangular::triangular_solve(n: usize, k: usize, a: &[Self], b: &[Self], to: &mut [Self], triangle: Triangle);
    lu::solve(n: usize, k: usize, a: &[Self], b: &[Self], to: &mut [Self], transposed: bool);
    lu::lu(n: usize, a: &[Self], to: &mut [Self]);
    lu::lu_permutation(n: usize, a: &[Self], to: &mut [i64]);
    lu::slogdet(n: usize, a: &[Self], to: &mut [Self]);
    fft::fft(n: usize, x: &[Self], to: &mut [Self], inverse: bool);
    fft::rfft(n: usize, x: &[Self], to: &mut [Self]);
    fft::irfft(n: usize, x: &[Self], to: &mut [Self]);
    }
    // The libraries' code for these is large, and nobody waits for it in f32 alone: that is computed in f64.
    double {
        orthonormal::orthonormal(m: usize, n: usize);
        eigh::eigh(n: usize);
        svd::svd(m: usize, n: usize);
    }
}
