//! The two element types, and what the kernels need to know of them.
//!
//! The methods have names of their own because the libraries' traits, which come along as supertraits, have `abs` and `sqrt`
//! twice.

use std::cell::RefCell;

use crate::compiled::Compiled;
use crate::plans::Plans;

/// An element type of the kernels: `f32` or `f64`. Nothing outside of this crate can be one.
pub trait Real: sealed::Kernel + Compiled {}

impl Real for f32 {}
impl Real for f64 {}

pub(crate) mod sealed {
    use super::Plans;

    /// What the kernels need of a float.
    pub trait Kernel: faer::traits::RealField + rustfft::FftNum + bytemuck::Pod + Default {
        /// Zero.
        const ZERO: Self;
        /// One.
        const ONE: Self;
        /// Not a number.
        const NAN: Self;
        /// The distance from one to the next number.
        const EPSILON: Self;
        /// The smallest normal number.
        const TINY: Self;
        /// Minus infinity.
        const BELOW_ALL: Self;
        /// A relative difference that is less than symmetric entries of eigenvectors may have in f32.
        const NEGLIGIBLE: Self;

        /// The absolute value.
        fn modulus(self) -> Self;
        /// The square root.
        fn root(self) -> Self;
        /// The natural logarithm.
        fn log(self) -> Self;
        /// Whether it is neither infinite nor NaN.
        fn finite(self) -> bool;
        /// Whether it is NaN.
        fn nan(self) -> bool;
        /// The power of two at or below a positive number, and the smallest normal one for what is smaller.
        fn power_of_two(self) -> Self;
        /// Calls `body` with the plans of this thread.
        fn with_plans<R>(body: impl FnOnce(&mut Plans<Self>) -> R) -> R;
    }
}

macro_rules! kernel {
    ($float:ident, $fraction_bits:expr) => {
        impl sealed::Kernel for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NAN: Self = $float::NAN;
            const EPSILON: Self = $float::EPSILON;
            const TINY: Self = $float::MIN_POSITIVE;
            const BELOW_ALL: Self = $float::NEG_INFINITY;
            const NEGLIGIBLE: Self = 1.0 / (1 << 18) as $float;

            #[inline(always)]
            fn modulus(self) -> Self {
                $float::abs(self)
            }

            #[inline(always)]
            fn root(self) -> Self {
                $float::sqrt(self)
            }

            #[inline(always)]
            fn log(self) -> Self {
                $float::ln(self)
            }

            #[inline(always)]
            fn finite(self) -> bool {
                $float::is_finite(self)
            }

            #[inline(always)]
            fn nan(self) -> bool {
                $float::is_nan(self)
            }

            #[inline(always)]
            fn power_of_two(self) -> Self {
                $float::max($float::from_bits(self.to_bits() >> $fraction_bits << $fraction_bits), Self::TINY)
            }

            fn with_plans<R>(body: impl FnOnce(&mut Plans<Self>) -> R) -> R {
                thread_local! {
                    static PLANS: RefCell<Plans<$float>> = RefCell::new(Plans::new());
                }
                PLANS.with(|plans| body(&mut plans.borrow_mut()))
            }
        }
    };
}

kernel!(f32, 23);
kernel!(f64, 52);
