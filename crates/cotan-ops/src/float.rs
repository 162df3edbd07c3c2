//! The elementary functions of `f32` and `f64`.

use crate::num::Num;

macro_rules! functions {
    ($($name:ident($($arg:ident),+): $single:path, $double:path;)+) => {
        /// A float with its elementary functions. Names are those of the rows.
        #[expect(missing_docs, reason = "the rows of the same names are documented")]
        pub trait Float: Num {
            /// The number rounded to this type.
            fn from_f64(value: f64) -> Self;
            /// The integer rounded to this type, once.
            fn from_i128(value: i128) -> Self;
            $(fn $name($($arg: Self),+) -> Self;)+
        }

        impl Float for f32 {
            fn from_f64(value: f64) -> f32 {
                value as f32
            }

            fn from_i128(value: i128) -> f32 {
                value as f32
            }

            $(fn $name($($arg: f32),+) -> f32 {
                $single($($arg),+)
            })+
        }

        impl Float for f64 {
            fn from_f64(value: f64) -> f64 {
                value
            }

            fn from_i128(value: i128) -> f64 {
                value as f64
            }

            $(fn $name($($arg: f64),+) -> f64 {
                $double($($arg),+)
            })+
        }
    };
}

functions! {
    sqrt(x): libm::sqrtf, libm::sqrt;
    floor(x): libm::floorf, libm::floor;
    ceil(x): libm::ceilf, libm::ceil;
    trunc(x): libm::truncf, libm::trunc;
    copysign(magnitude, sign): libm::copysignf, libm::copysign;
}
