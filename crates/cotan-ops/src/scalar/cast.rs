//! Conversions between element types: `to_<type>` from every type.
//!
//! To a float: rounded to nearest, once; a truth value gives 0 or 1. To an integer: from a float, the fraction is cut
//! and the result saturates (0 for NaN); from an integer, it wraps. Whether a conversion keeps the value is asked by
//! `cast_fits_<type>`.
//!
//! To a storage type (`f16`, `bf16`): rounded to nearest, once, from every type. From one the numbers are exact; to an
//! integer they go through f32.
//!
//! Between floats a conversion is linear: derivatives are converted likewise. To an integer it is piecewise constant.

use crate::float::Float;
use crate::formula::term;
use crate::kernel::kernels;
use crate::num::{Int, Num};
use crate::row::{Codegen, Group, Kinks, Partial, Proof, Sample};
use crate::signature::{UNARY, giving};
use crate::storage::{BF16, F16, Stored};
use crate::{Instruction, PrimRow, RealDenotation};
use cotan_ir::{Elem, ElemSet};

/// A type that can be converted.
trait Convert {
    fn to_float<F: Float>(self) -> F;
    fn to_storage<S: Stored>(self) -> S;
}

/// A type that can be converted to an integer.
trait ConvertToInteger {
    fn to_integer<I: Int>(self) -> I;
}

impl Convert for bool {
    fn to_float<F: Float>(self) -> F {
        if self { F::ONE } else { F::ZERO }
    }

    fn to_storage<S: Stored>(self) -> S {
        S::from_i128(self.into())
    }
}

impl ConvertToInteger for bool {
    fn to_integer<I: Int>(self) -> I {
        if self { I::ONE } else { I::ZERO }
    }
}

macro_rules! convert {
    (integers: $($t:ty)+) => {
        $(impl Convert for $t {
            fn to_float<F: Float>(self) -> F {
                F::from_i128(self.to_i128())
            }

            fn to_storage<S: Stored>(self) -> S {
                S::from_i128(self.to_i128())
            }
        }

        impl ConvertToInteger for $t {
            fn to_integer<I: Int>(self) -> I {
                I::wrap(self.to_i128())
            }
        })+
    };
    (floats: $($t:ty)+) => {
        $(impl Convert for $t {
            fn to_float<F: Float>(self) -> F {
                F::from_f64(self.to_f64())
            }

            fn to_storage<S: Stored>(self) -> S {
                S::from_f64(self.to_f64())
            }
        }

        impl ConvertToInteger for $t {
            fn to_integer<I: Int>(self) -> I {
                I::saturate(self.to_i128())
            }
        })+
    };
}

macro_rules! convert_storage {
    ($($t:ty)+) => {
        $(impl Convert for $t {
            fn to_float<F: Float>(self) -> F {
                F::from_f64(self.widen().into())
            }

            fn to_storage<S: Stored>(self) -> S {
                S::from_f64(self.widen().into())
            }
        })+
    };
}

convert!(integers: i8 i16 i32 i64 u8 u16 u32 u64);
convert!(floats: f32 f64);
convert_storage!(F16 BF16);

macro_rules! cast {
    (
        $row:ident, $name:literal, $t:ty, $elem:ident, $trait:ident::$via:ident from $from:ident ($group:ident),
        $denotation:expr, $proof:expr, $partial:expr, $kinks:expr, $doc:literal
    ) => {
        #[doc = $doc]
        pub static $row: PrimRow = PrimRow {
            sig: giving(&$row, $name, UNARY, ElemSet::$from, Elem::$elem),
            group: Group::Cast,
            doc: $doc,
            words: &[],
            kernels: {
                fn cast<S: $trait>(x: S) -> $t {
                    x.$via()
                }
                kernels!(cast, (T) on $group)
            },
            denotation: $denotation,
            codegen: Codegen::Native(Instruction::Cast(Elem::$elem)),
            fits: None,
            partials: &[$partial],
            kinks: $kinks,
            domain: &[],
            samples: &[Sample::Span(-3.0, 3.0)],
            expressions: &[],
            identities: &[],
            edge_points: &[],
            proof: $proof,
        };
    };
    (integer $row:ident, $name:literal, $t:ty, $elem:ident, $doc:literal) => {
        cast!(
            $row,
            $name,
            $t,
            $elem,
            ConvertToInteger::to_integer from ORDERED (ordered),
            RealDenotation::Other,
            Proof::Nothing,
            Partial::zero("a conversion to an integer is piecewise constant"),
            Kinks::Flat,
            $doc
        );
    };
    (float $row:ident, $name:literal, $t:ty, $elem:ident, $doc:literal) => {
        cast!($row, $name, $t, $elem, Convert::to_float from ANY (stored), RealDenotation::Term(term!(a0)), Proof::Proved, Partial::Convert, Kinks::Smooth, $doc);
    };
    (storage $row:ident, $name:literal, $t:ty, $elem:ident, $doc:literal) => {
        cast!($row, $name, $t, $elem, Convert::to_storage from ANY (stored), RealDenotation::Term(term!(a0)), Proof::Proved, Partial::Convert, Kinks::Smooth, $doc);
    };
}

cast!(integer TO_I8, "to_i8", i8, I8, "`a0` as i8: cut and saturated from floats, wrapped from integers.");
cast!(integer TO_I16, "to_i16", i16, I16, "`a0` as i16: cut and saturated from floats, wrapped from integers.");
cast!(integer TO_I32, "to_i32", i32, I32, "`a0` as i32: cut and saturated from floats, wrapped from integers.");
cast!(integer TO_I64, "to_i64", i64, I64, "`a0` as i64: cut and saturated from floats, wrapped from integers.");
cast!(integer TO_U8, "to_u8", u8, U8, "`a0` as u8: cut and saturated from floats, wrapped from integers.");
cast!(integer TO_U16, "to_u16", u16, U16, "`a0` as u16: cut and saturated from floats, wrapped from integers.");
cast!(integer TO_U32, "to_u32", u32, U32, "`a0` as u32: cut and saturated from floats, wrapped from integers.");
cast!(integer TO_U64, "to_u64", u64, U64, "`a0` as u64: cut and saturated from floats, wrapped from integers.");
cast!(storage TO_F16, "to_f16", F16, F16, "`a0` as f16, rounded to nearest; 0 or 1 for a truth value.");
cast!(storage TO_BF16, "to_bf16", BF16, BF16, "`a0` as bf16, rounded to nearest; 0 or 1 for a truth value.");
cast!(float TO_F32, "to_f32", f32, F32, "`a0` as f32, rounded to nearest; 0 or 1 for a truth value.");
cast!(float TO_F64, "to_f64", f64, F64, "`a0` as f64, rounded to nearest; 0 or 1 for a truth value.");

/// The conversion to a numeric type; for `bool`, where there is none, the one to i64.
pub fn cast_to(elem: Elem) -> &'static PrimRow {
    match elem {
        Elem::I8 => &TO_I8,
        Elem::I16 => &TO_I16,
        Elem::I32 => &TO_I32,
        Elem::Bool | Elem::I64 => &TO_I64,
        Elem::U8 => &TO_U8,
        Elem::U16 => &TO_U16,
        Elem::U32 => &TO_U32,
        Elem::U64 => &TO_U64,
        Elem::F16 => &TO_F16,
        Elem::BF16 => &TO_BF16,
        Elem::F32 => &TO_F32,
        Elem::F64 => &TO_F64,
    }
}

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] =
    &[&TO_I8, &TO_I16, &TO_I32, &TO_I64, &TO_U8, &TO_U16, &TO_U32, &TO_U64, &TO_F16, &TO_BF16, &TO_F32, &TO_F64];
