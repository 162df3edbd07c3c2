//! The kernels of both element types, compiled in this crate: what calls them, generic or not, does not compile the libraries'
//! generic code again, which takes minutes.

use crate::triangular::Triangle;
use crate::{cholesky, eigh, fft, lu, orthonormal, svd, triangular};

macro_rules! compiled {
    ($($module:ident::$name:ident($($argument:ident: $type:ty),*);)*) => {
        /// The kernels of an element type.
        pub trait Compiled: Sized {
            $(
                #[doc = concat!("See `", stringify!($name), "` of the crate.")]
                fn $name($($argument: $type),*);
            )*
        }

        compiled!(f32: $($module::$name($($argument: $type),*);)*);
        compiled!(f64: $($module::$name($($argument: $type),*);)*);
    };
    ($float:ident: $($module:ident::$name:ident($($argument:ident: $type:ty),*);)*) => {
        impl Compiled for $float {
            $(
                fn $name($($argument: $type),*) {
                    $module::$name::<$float>($($argument),*);
                }
            )*
        }
    };
}

compiled! {
    cholesky::cholesky(n: usize, a: &[Self], to: &mut [Self]);
    triangular::triangular_solve(n: usize, k: usize, a: &[Self], b: &[Self], to: &mut [Self], triangle: Triangle);
    lu::solve(n: usize, k: usize, a: &[Self], b: &[Self], to: &mut [Self], transposed: bool);
    lu::lu(n: usize, a: &[Self], to: &mut [Self]);
    lu::lu_permutation(n: usize, a: &[Self], to: &mut [i64]);
    lu::slogdet(n: usize, a: &[Self], to: &mut [Self]);
    orthonormal::orthonormal(m: usize, n: usize, a: &[Self], to: &mut [Self]);
    eigh::eigh(n: usize, a: &[Self], to: &mut [Self]);
    svd::svd(m: usize, n: usize, a: &[Self], to: &mut [Self]);
    fft::fft(n: usize, x: &[Self], to: &mut [Self], inverse: bool);
    fft::rfft(n: usize, x: &[Self], to: &mut [Self]);
    fft::irfft(n: usize, x: &[Self], to: &mut [Self]);
}
