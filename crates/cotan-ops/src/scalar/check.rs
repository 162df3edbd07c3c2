//! Conditions for run-time checks: whether the total operation of that name gives the mathematical result.
//!
//! A check statement in front of an operation asks one of these, so that the operation itself never fails.

use crate::formula::term;
use crate::kernel::kernels;
use crate::num::{Int, Num};
use crate::row::{Codegen, Group, Kinks, Partial, Proof, Sample};
use crate::signature::{BINARY, I64_PAIR, UNARY, WITH_I64, giving};
use crate::{Instruction, PrimRow, RealDenotation};
use cotan_ir::{Elem, ElemSet};

const FLAT: Partial = Partial::zero("a truth value is piecewise constant");

/// Whether an index lies in its axis.
pub static IN_RANGE: PrimRow = PrimRow {
    sig: giving(&IN_RANGE, "in_range", I64_PAIR, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `0 <= a0 < a1`.",
    words: &[],
    kernels: kernels!(in_range, (i64, i64)),
    denotation: RealDenotation::Other,
    codegen: Codegen::Term(term!(int(0) <= a0 && a0 < a1)),
    fits: None,
    partials: &[FLAT, FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether `add` does not wrap.
pub static ADD_FITS: PrimRow = PrimRow {
    sig: giving(&ADD_FITS, "add_fits", BINARY, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `a0 + a1` fits the type.",
    words: &[],
    kernels: kernels!(add_fits, (T, T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Native(Instruction::AddFits),
    fits: None,
    partials: &[FLAT, FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether `sub` does not wrap.
pub static SUB_FITS: PrimRow = PrimRow {
    sig: giving(&SUB_FITS, "sub_fits", BINARY, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `a0 - a1` fits the type.",
    words: &[],
    kernels: kernels!(sub_fits, (T, T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Native(Instruction::SubFits),
    fits: None,
    partials: &[FLAT, FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether `mul` does not wrap.
pub static MUL_FITS: PrimRow = PrimRow {
    sig: giving(&MUL_FITS, "mul_fits", BINARY, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `a0 * a1` fits the type.",
    words: &[],
    kernels: kernels!(mul_fits, (T, T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Native(Instruction::MulFits),
    fits: None,
    partials: &[FLAT, FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether `neg` does not wrap.
pub static NEG_FITS: PrimRow = PrimRow {
    sig: giving(&NEG_FITS, "neg_fits", UNARY, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `-a0` fits the type.",
    words: &[],
    kernels: kernels!(neg_fits, (T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Term(term!(SUB_FITS(0, a0))),
    fits: None,
    partials: &[FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether `abs` does not wrap.
pub static ABS_FITS: PrimRow = PrimRow {
    sig: giving(&ABS_FITS, "abs_fits", UNARY, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether the magnitude of `a0` fits the type.",
    words: &[],
    kernels: kernels!(abs_fits, (T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Term(term!(a0 >= 0 || NEG_FITS(a0))),
    fits: None,
    partials: &[FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether `div` does not wrap.
pub static DIV_FITS: PrimRow = PrimRow {
    sig: giving(&DIV_FITS, "div_fits", BINARY, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `a0 / a1` fits the type: all but the least number divided by -1. A zero divisor is another matter.",
    words: &[],
    kernels: kernels!(div_fits, (T, T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Term(term!(a1 >= 0 || (a1 != -1 || NEG_FITS(a0)))),
    fits: None,
    partials: &[FLAT, FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether `powi` does not wrap.
pub static POWI_FITS: PrimRow = PrimRow {
    sig: giving(&POWI_FITS, "powi_fits", WITH_I64, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `a0` to the power `a1 >= 0` fits the type.",
    words: &[],
    kernels: kernels!(powi_fits, (T, i64) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Host,
    fits: None,
    partials: &[FLAT, FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(0, 7)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether a shift distance is not taken modulo the width.
pub static SHIFT_FITS: PrimRow = PrimRow {
    sig: giving(&SHIFT_FITS, "shift_fits", WITH_I64, ElemSet::INTEGER, Elem::Bool),
    group: Group::Check,
    doc: "Whether `a1` is at least 0 and less than the width of `a0`.",
    words: &[],
    kernels: kernels!(shift_fits, (T, i64) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Native(Instruction::ShiftFits),
    fits: None,
    partials: &[FLAT, FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-1, 9)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

fn in_range(index: i64, extent: i64) -> bool {
    (0..extent).contains(&index)
}

fn add_fits<I: Int>(x: I, y: I) -> bool {
    I::fits(x.to_i128() + y.to_i128())
}

fn sub_fits<I: Int>(x: I, y: I) -> bool {
    I::fits(x.to_i128() - y.to_i128())
}

fn mul_fits<I: Int>(x: I, y: I) -> bool {
    x.to_i128().checked_mul(y.to_i128()).is_some_and(I::fits)
}

fn neg_fits<I: Int>(x: I) -> bool {
    I::fits(-x.to_i128())
}

fn abs_fits<I: Int>(x: I) -> bool {
    I::fits(x.to_i128().abs())
}

fn div_fits<I: Int>(x: I, y: I) -> bool {
    x.to_i128().checked_div(y.to_i128()).is_none_or(I::fits)
}

pub(crate) fn powi_fits<I: Int>(x: I, exponent: i64) -> bool {
    // Of 0, 1 and -1 every power fits; of anything else none above 64 does.
    match u32::try_from(exponent) {
        Ok(n) => x.checked_power(n).is_some(),
        Err(_) => exponent > 0 && x.to_i128().abs() <= 1,
    }
}

fn shift_fits<I: Int>(_: I, distance: i64) -> bool {
    (0..i64::from(I::BITS)).contains(&distance)
}

/// Whether a value keeps its meaning as an integer of another type.
trait CastFits {
    fn cast_fits<I: Int>(self) -> bool;
}

macro_rules! cast_fits {
    ($($t:ty)+) => {
        $(impl CastFits for $t {
            fn cast_fits<I: Int>(self) -> bool {
                // A NaN becomes 0 on the way, and what saturates at the wide type does not fit the narrow one.
                !Num::is_nan(self) && I::fits(self.to_i128())
            }
        })+
    };
}

cast_fits!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

macro_rules! cast_row {
    ($row:ident, $name:literal, $t:ty, $elem:ident, $doc:literal) => {
        #[doc = $doc]
        pub static $row: PrimRow = PrimRow {
            sig: giving(&$row, $name, UNARY, ElemSet::NUMERIC, Elem::Bool),
            group: Group::Check,
            doc: $doc,
            words: &[],
            kernels: {
                fn fits<S: CastFits>(x: S) -> bool {
                    x.cast_fits::<$t>()
                }
        kernels!(fits, (T) on numeric)
            },
            denotation: RealDenotation::Other,
            codegen: Codegen::Native(Instruction::CastFits(Elem::$elem)),
            fits: None,
            partials: &[FLAT],
            kinks: Kinks::Flat,
            domain: &[],
            samples: &[Sample::Span(-3.0, 3.0)],
            expressions: &[],
            identities: &[],
            edge_points: &[],
            proof: Proof::Nothing,
        };
    };
}

cast_row!(CAST_FITS_I8, "cast_fits_i8", i8, I8, "Whether `a0`, its fraction cut, fits i8.");
cast_row!(CAST_FITS_I16, "cast_fits_i16", i16, I16, "Whether `a0`, its fraction cut, fits i16.");
cast_row!(CAST_FITS_I32, "cast_fits_i32", i32, I32, "Whether `a0`, its fraction cut, fits i32.");
cast_row!(CAST_FITS_I64, "cast_fits_i64", i64, I64, "Whether `a0`, its fraction cut, fits i64.");
cast_row!(CAST_FITS_U8, "cast_fits_u8", u8, U8, "Whether `a0`, its fraction cut, fits u8.");
cast_row!(CAST_FITS_U16, "cast_fits_u16", u16, U16, "Whether `a0`, its fraction cut, fits u16.");
cast_row!(CAST_FITS_U32, "cast_fits_u32", u32, U32, "Whether `a0`, its fraction cut, fits u32.");
cast_row!(CAST_FITS_U64, "cast_fits_u64", u64, U64, "Whether `a0`, its fraction cut, fits u64.");

/// The condition that a conversion to an integer type keeps the value; `None` for the other types, where it always does.
pub fn cast_fits(elem: Elem) -> Option<&'static PrimRow> {
    match elem {
        Elem::I8 => Some(&CAST_FITS_I8),
        Elem::I16 => Some(&CAST_FITS_I16),
        Elem::I32 => Some(&CAST_FITS_I32),
        Elem::I64 => Some(&CAST_FITS_I64),
        Elem::U8 => Some(&CAST_FITS_U8),
        Elem::U16 => Some(&CAST_FITS_U16),
        Elem::U32 => Some(&CAST_FITS_U32),
        Elem::U64 => Some(&CAST_FITS_U64),
        Elem::Bool | Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 => None,
    }
}

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[
    &IN_RANGE,
    &ADD_FITS,
    &SUB_FITS,
    &MUL_FITS,
    &NEG_FITS,
    &ABS_FITS,
    &DIV_FITS,
    &POWI_FITS,
    &SHIFT_FITS,
    &CAST_FITS_I8,
    &CAST_FITS_I16,
    &CAST_FITS_I32,
    &CAST_FITS_I64,
    &CAST_FITS_U8,
    &CAST_FITS_U16,
    &CAST_FITS_U32,
    &CAST_FITS_U64,
];
