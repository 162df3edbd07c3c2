//! Maximum, minimum, and what is made of them.
//!
//! `max`: `wins(a0, a1)` and `wins(a1, a0)`, where `wins` is 1, 1/2 or 0; `min` the other way round. `clamp`: 1 for the
//! operand that the result is, `a0` at the bounds. `relu' = relu(sign a0)`. A NaN operand makes all of them NaN.

use crate::condition::Condition;
use crate::float::Float;
use crate::formula::{NAN, term};
use crate::kernel::kernels;
use crate::num::Num;
use crate::row::{Codegen, EdgePoint, Group, Identity, Kinks, Law, Partial, Proof, Sample};
use crate::signature::{BINARY, TERNARY, UNARY, same};
use crate::{Instruction, PrimRow, RealDenotation, SIGN, Term, Word, WordElems};
use cotan_ir::ElemSet;

/// The partial of an operand that the result is not.
const OUTSIDE: Term = term!(if r == r { 0 } else { NAN });

/// Maximum.
pub static MAX: PrimRow = PrimRow {
    sig: same(&MAX, "max", BINARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "The greater of `a0` and `a1`; NaN if one of them is NaN; 0.0 counts as greater than -0.0.",
    words: &[Word::new("max", WordElems::Numeric)],
    kernels: kernels!(Extremes::greater, (T, T) on numeric),
    denotation: RealDenotation::Term(term!(if a0 <= a1 { a1 } else { a0 })),
    codegen: Codegen::Native(Instruction::Max),
    fits: None,
    partials: &[Partial::term(term!(WINS(a0, a1))), Partial::term(term!(WINS(a1, a0)))],
    kinks: Kinks::At("equal operands get half each"),
    domain: &[Condition::Differ(0, 1)],
    samples: &[Sample::Span(-3.0, 0.0), Sample::Span(0.5, 3.0)],
    expressions: &["max(_, 0.7 * $)"],
    identities: &[
        Identity { on: ElemSet::NUMERIC, law: Law::Commutative },
        Identity { on: ElemSet::NUMERIC, law: Law::Associative },
        Identity { on: ElemSet::NUMERIC, law: Law::Idempotent },
    ],
    edge_points: &[
        EdgePoint { at: &[1.0, 1.0], value: 1.0, partials: &[0.5, 0.5], why: "half to each" },
        EdgePoint { at: &[f64::NAN, 1.0], value: f64::NAN, partials: &[f64::NAN, f64::NAN], why: "a NaN is passed on" },
    ],
    proof: Proof::Proved,
};

/// Minimum.
pub static MIN: PrimRow = PrimRow {
    sig: same(&MIN, "min", BINARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "The smaller of `a0` and `a1`; NaN if one of them is NaN; -0.0 counts as smaller than 0.0.",
    words: &[Word::new("min", WordElems::Numeric)],
    kernels: kernels!(Extremes::smaller, (T, T) on numeric),
    denotation: RealDenotation::Term(term!(if a0 <= a1 { a0 } else { a1 })),
    codegen: Codegen::Native(Instruction::Min),
    fits: None,
    partials: &[Partial::term(term!(WINS(a1, a0))), Partial::term(term!(WINS(a0, a1)))],
    kinks: Kinks::At("equal operands get half each"),
    domain: &[Condition::Differ(0, 1)],
    samples: &[Sample::Span(-3.0, 0.0), Sample::Span(0.5, 3.0)],
    expressions: &["min(_, 0.7 * $)"],
    identities: &[
        Identity { on: ElemSet::NUMERIC, law: Law::Commutative },
        Identity { on: ElemSet::NUMERIC, law: Law::Associative },
        Identity { on: ElemSet::NUMERIC, law: Law::Idempotent },
    ],
    edge_points: &[
        EdgePoint { at: &[1.0, 1.0], value: 1.0, partials: &[0.5, 0.5], why: "half to each" },
        EdgePoint { at: &[1.0, f64::NAN], value: f64::NAN, partials: &[f64::NAN, f64::NAN], why: "a NaN is passed on" },
    ],
    proof: Proof::Proved,
};

/// The share of the first operand in a maximum.
pub static WINS: PrimRow = PrimRow {
    sig: same(&WINS, "wins", BINARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "1 where `a0 > a1`, 1/2 where they are equal, else 0; NaN if one of them is NaN.",
    words: &[],
    kernels: kernels!(wins, (T, T) on float),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(if a0 > a1 {
        1
    } else if a0 < a1 {
        0
    } else if a0 == a1 {
        0.5
    } else {
        NAN
    })),
    fits: None,
    partials: &[
        Partial::zero("the comparison is piecewise constant"),
        Partial::zero("the comparison is piecewise constant"),
    ],
    kinks: Kinks::Flat,
    domain: &[Condition::Differ(0, 1)],
    samples: &[Sample::Span(-3.0, 0.0), Sample::Span(0.5, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// What the first operand of a maximum gets of a cotangent.
pub static SHARE: PrimRow = PrimRow {
    sig: same(&SHARE, "share", TERNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "`a0` where `a1 > a2`, half of it where they are equal, else 0; NaN if `a1` or `a2` is NaN.",
    words: &[],
    kernels: kernels!(share, (T, T, T) on float),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(if a1 > a2 {
        a0
    } else if a1 < a2 {
        0
    } else if a1 == a2 {
        0.5 * a0
    } else {
        NAN
    })),
    fits: None,
    partials: &[
        Partial::term(term!(WINS(a1, a2))),
        Partial::zero("the comparison is piecewise constant"),
        Partial::zero("the comparison is piecewise constant"),
    ],
    kinks: Kinks::At("equal operands get half each"),
    domain: &[Condition::Differ(1, 2)],
    samples: &[Sample::Span(-1.0, 1.0), Sample::Span(-3.0, 0.0), Sample::Span(0.5, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[EdgePoint { at: &[4.0, 1.0, 1.0], value: 2.0, partials: &[0.5, 0.0, 0.0], why: "half to each" }],
    proof: Proof::Proved,
};

fn wins<F: Float>(x: F, y: F) -> F {
    if x > y {
        F::ONE
    } else if x < y {
        F::ZERO
    } else if x == y {
        F::from_f64(0.5)
    } else {
        F::from_f64(f64::NAN)
    }
}

fn share<F: Float>(c: F, x: F, y: F) -> F {
    if x > y {
        c
    } else if x < y {
        F::ZERO
    } else if x == y {
        F::from_f64(0.5).mul(c)
    } else {
        F::from_f64(f64::NAN)
    }
}

/// Maximum and minimum.
pub(crate) trait Extremes {
    /// The greater one.
    fn greater(self, other: Self) -> Self;
    /// The smaller one.
    fn smaller(self, other: Self) -> Self;
}

macro_rules! float_extremes {
    ($($t:ty)+) => {
        $(impl Extremes for $t {
            fn greater(self, other: $t) -> $t {
                // Of two zeros the sum is -0.0 only if both are; a NaN is passed on by the sum as well.
                if self > other {
                    self
                } else if other > self {
                    other
                } else if self == 0.0 || self != other {
                    self + other
                } else {
                    self
                }
            }

            fn smaller(self, other: $t) -> $t {
                -(-self).greater(-other)
            }
        })+
    };
}

macro_rules! integer_extremes {
    ($($t:ty)+) => {
        $(impl Extremes for $t {
            fn greater(self, other: $t) -> $t {
                self.max(other)
            }

            fn smaller(self, other: $t) -> $t {
                self.min(other)
            }
        })+
    };
}

float_extremes!(f32 f64);
integer_extremes!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Clamping to a range.
pub static CLAMP: PrimRow = PrimRow {
    sig: same(&CLAMP, "clamp", TERNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "`a0` moved into the range from `a1` to `a2`: `min(max(a0, a1), a2)`.",
    words: &[Word::new("clamp", WordElems::Numeric), Word::new("clip", WordElems::Numeric)],
    kernels: kernels!(clamp, (T, T, T) on numeric),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(MIN(MAX(a0, a1), a2))),
    fits: None,
    partials: &[
        Partial::term(term!(if a1 <= a0 && a0 <= a2 { 1 } else { OUTSIDE })),
        Partial::term(term!(if a0 < a1 && a1 <= a2 { 1 } else { OUTSIDE })),
        Partial::term(term!(if a2 < a0 || a2 < a1 { 1 } else { OUTSIDE })),
    ],
    kinks: Kinks::At("at both bounds the derivative is that of the inside: 1 in `a0`"),
    domain: &[Condition::Differ(0, 1), Condition::Differ(0, 2), Condition::Differ(1, 2)],
    samples: &[Sample::Span(-1.0, 1.0), Sample::Span(-3.0, -2.0), Sample::Span(2.0, 3.0)],
    expressions: &["clamp(_, -0.6, 0.8)"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[2.0, 2.0, 5.0], value: 2.0, partials: &[1.0, 0.0, 0.0], why: "the lower bound passes" },
        EdgePoint { at: &[5.0, 2.0, 5.0], value: 5.0, partials: &[1.0, 0.0, 0.0], why: "the upper bound passes" },
        EdgePoint { at: &[1.0, 2.0, 5.0], value: 2.0, partials: &[0.0, 1.0, 0.0], why: "below" },
        EdgePoint { at: &[6.0, 2.0, 5.0], value: 5.0, partials: &[0.0, 0.0, 1.0], why: "above" },
        EdgePoint {
            at: &[f64::NAN, 2.0, 5.0],
            value: f64::NAN,
            partials: &[f64::NAN, f64::NAN, f64::NAN],
            why: "a NaN is passed on",
        },
    ],
    proof: Proof::Proved,
};

fn clamp<S: Extremes>(x: S, lo: S, hi: S) -> S {
    x.greater(lo).smaller(hi)
}

/// Positive part.
pub static RELU: PrimRow = PrimRow {
    sig: same(&RELU, "relu", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "`a0` where it is positive, else 0; NaN of NaN.",
    words: &[Word::new("relu", WordElems::Float)],
    kernels: kernels!(relu, (T) on numeric),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(if a0 <= 0 { 0 } else { a0 })),
    fits: None,
    partials: &[Partial::term(term!(RELU(SIGN(a0))))],
    kinks: Kinks::At("at 0 the derivative is 0"),
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    expressions: &["relu(_)"],
    identities: &[Identity { on: ElemSet::NUMERIC, law: Law::Projection }],
    edge_points: &[
        EdgePoint { at: &[0.0], value: 0.0, partials: &[0.0], why: "the side of the zeros" },
        EdgePoint { at: &[-1.0], value: 0.0, partials: &[0.0], why: "flat" },
        EdgePoint { at: &[f64::NAN], value: f64::NAN, partials: &[f64::NAN], why: "a NaN is passed on" },
    ],
    proof: Proof::Proved,
};

fn relu<S: Num>(x: S) -> S {
    if x <= S::ZERO { S::ZERO } else { x }
}

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&MAX, &MIN, &WINS, &SHARE, &CLAMP, &RELU];
