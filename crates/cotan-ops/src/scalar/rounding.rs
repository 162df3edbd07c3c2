//! Magnitude, sign, rounding and remainder.
//!
//! `abs' = sign a0`; `sign`, `floor`, `ceil`, `trunc`, `round` are flat; `copysign' = sign(a0) copysign(1, a1)`;
//! `hypot`: `a0/r` and `a1/r`. `rem = a0 - q a1` with `q = trunc(a0/a1)`: derivatives 1 and `-q`. The quotient is taken
//! from `(a0 - r)/a1`, because `a0/a1` may round up to the next whole number.

use crate::condition::Condition;
use crate::elementary::{self, expansion};
use crate::float::Float;
use crate::formula::{NAN, term};
use crate::kernel::kernels;
use crate::num::Num;
use crate::row::{Codegen, EdgePoint, Group, Identity, Kinks, Law, Partial, Proof, Sample};
use crate::signature::{BINARY, UNARY, same};
use crate::{ABS_FITS, Instruction, Known, PrimRow, RealDenotation, SQRT, Word, WordElems};
use cotan_ir::ElemSet;

/// Magnitude.
pub static ABS: PrimRow = PrimRow {
    sig: same(&ABS, "abs", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "The magnitude of `a0`; the least integer wraps to itself.",
    words: &[Word::new("abs", WordElems::Numeric), Word::wrapping("wrapping_abs")],
    kernels: kernels!(Num::abs, (T) on numeric),
    denotation: RealDenotation::Term(term!(if a0 >= 0 { a0 } else { -a0 })),
    codegen: Codegen::Native(Instruction::Abs),
    fits: Some(&ABS_FITS),
    partials: &[Partial::term(term!(SIGN(a0)))],
    kinks: Kinks::At("at 0 the derivative is 0"),
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    expressions: &["abs(_)"],
    identities: &[Identity { on: ElemSet::NUMERIC, law: Law::Projection }],
    edge_points: &[
        EdgePoint { at: &[0.0], value: 0.0, partials: &[0.0], why: "the mean of both slopes" },
        EdgePoint { at: &[f64::NAN], value: f64::NAN, partials: &[f64::NAN], why: "a NaN is passed on" },
    ],
    proof: Proof::Proved,
};

/// Sign.
pub static SIGN: PrimRow = PrimRow {
    sig: same(&SIGN, "sign", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "-1, 0 or 1 as `a0` is negative, zero or positive; NaN of NaN.",
    words: &[Word::new("sign", WordElems::Numeric)],
    kernels: kernels!(Num::sign, (T) on numeric),
    denotation: RealDenotation::Codegen,
    codegen: Codegen::Term(term!(if a0 > 0 {
        1
    } else if a0 < 0 {
        -1
    } else {
        a0
    })),
    fits: None,
    partials: &[Partial::zero("the sign is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::NUMERIC, law: Law::Projection }],
    edge_points: &[EdgePoint { at: &[0.0], value: 0.0, partials: &[0.0], why: "flat on both sides" }],
    proof: Proof::Proved,
};

/// Rounding down.
pub static FLOOR: PrimRow = PrimRow {
    sig: same(&FLOOR, "floor", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The greatest whole number that is at most `a0`.",
    words: &[Word::new("floor", WordElems::Float)],
    kernels: kernels!(Float::floor, (T) on float),
    denotation: RealDenotation::Known(Known::Floor),
    codegen: Codegen::Native(Instruction::Floor),
    fits: None,
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotWhole(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Rounding up.
pub static CEIL: PrimRow = PrimRow {
    sig: same(&CEIL, "ceil", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The least whole number that is at least `a0`.",
    words: &[Word::new("ceil", WordElems::Float)],
    kernels: kernels!(Float::ceil, (T) on float),
    denotation: RealDenotation::Term(term!(-FLOOR(-a0))),
    codegen: Codegen::Native(Instruction::Ceil),
    fits: None,
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotWhole(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Rounding towards 0.
pub static TRUNC: PrimRow = PrimRow {
    sig: same(&TRUNC, "trunc", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The whole part of `a0`: rounded towards 0.",
    words: &[Word::new("trunc", WordElems::Float)],
    kernels: kernels!(Float::trunc, (T) on float),
    denotation: RealDenotation::Term(term!(if a0 >= 0 { FLOOR(a0) } else { -FLOOR(-a0) })),
    codegen: Codegen::Native(Instruction::Trunc),
    fits: None,
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotWhole(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Rounding to nearest.
pub static ROUND: PrimRow = PrimRow {
    sig: same(&ROUND, "round", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The whole number nearest to `a0`; halves away from 0.",
    words: &[Word::new("round", WordElems::Float)],
    kernels: kernels!(elementary::round, (T) on float),
    denotation: RealDenotation::Term(term!(if a0 >= 0 { FLOOR(a0 + 0.5) } else { -FLOOR(-a0 + 0.5) })),
    codegen: Codegen::Expansion(expansion!(|x| elementary::round(x))),
    fits: None,
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotHalf(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Magnitude with the sign of another number.
pub static COPYSIGN: PrimRow = PrimRow {
    sig: same(&COPYSIGN, "copysign", BINARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The magnitude of `a0` with the sign of `a1`.",
    words: &[Word::new("copysign", WordElems::Float)],
    kernels: kernels!(Float::copysign, (T, T) on float),
    denotation: RealDenotation::Term(term!(if a1 >= 0 { ABS(a0) } else { -ABS(a0) })),
    codegen: Codegen::Native(Instruction::Copysign),
    fits: None,
    partials: &[
        Partial::term(term!(SIGN(a0) * COPYSIGN(1, a1))),
        Partial::zero("only the sign of the second operand counts, which is piecewise constant"),
    ],
    kinks: Kinks::At("at `a0 = 0` the derivative is 0"),
    domain: &[Condition::IsNot(0, 0.0), Condition::IsNot(1, 0.0)],
    samples: &[Sample::Span(0.5, 3.0), Sample::Span(0.5, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[EdgePoint { at: &[0.0, -1.0], value: -0.0, partials: &[0.0, 0.0], why: "the mean of both slopes" }],
    proof: Proof::Proved,
};

/// Identity without a derivative.
pub static STOP_GRADIENT: PrimRow = PrimRow {
    sig: same(&STOP_GRADIENT, "stop_gradient", UNARY, ElemSet::ANY),
    group: Group::Arithmetic,
    doc: "`a0`; no derivative flows.",
    words: &[],
    kernels: kernels!(std::convert::identity, (T) on any),
    denotation: RealDenotation::Term(term!(a0)),
    codegen: Codegen::Native(Instruction::Identity),
    fits: None,
    partials: &[Partial::zero("the program asked for it")],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::ANY, law: Law::Projection }],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// The first operand, once the second one is computed. Keeps a computation alive whose checks must come first.
pub static AFTER: PrimRow = PrimRow {
    sig: same(&AFTER, "after", BINARY, ElemSet::ANY),
    group: Group::Arithmetic,
    doc: "`a0`, once `a1` is computed and all checks that it needs have passed.",
    words: &[],
    kernels: kernels!(after, (T, T) on any),
    denotation: RealDenotation::Term(term!(a0)),
    codegen: Codegen::Native(Instruction::Identity),
    fits: None,
    partials: &[Partial::finite(term!(1)), Partial::zero("it decides when, not what")],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0), Sample::Span(-3.0, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// A value computed in one way, with the derivative of the same value computed in another. Lets a reduction keep its
/// documented order while its derivative comes from a form that is simple to differentiate.
pub static WITH_DERIVATIVE_OF: PrimRow = PrimRow {
    sig: same(&WITH_DERIVATIVE_OF, "with_derivative_of", BINARY, ElemSet::ANY),
    group: Group::Arithmetic,
    doc: "`a0`, with the derivative of `a1`, which is the same number computed in another way.",
    words: &[],
    kernels: kernels!(after, (T, T) on any),
    denotation: RealDenotation::Term(term!(a0)),
    codegen: Codegen::Native(Instruction::Identity),
    fits: None,
    partials: &[Partial::zero("the second operand carries the derivative"), Partial::finite(term!(1))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0), Sample::Span(-3.0, 3.0)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::ANY, law: Law::Idempotent }],
    edge_points: &[],
    proof: Proof::Nothing,
};

fn after<T>(value: T, _: T) -> T {
    value
}

/// Remainder.
pub static REM: PrimRow = PrimRow {
    sig: same(&REM, "rem", BINARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "The remainder of `a0 / a1`, with the sign of `a0`; integers give 0 for a zero divisor.",
    words: &[],
    kernels: kernels!(Num::rem, (T, T) on numeric),
    denotation: RealDenotation::Term(term!(a0 - a1 * TRUNC(a0 / a1))),
    codegen: Codegen::NativeOrHost(Instruction::Rem),
    fits: None,
    partials: &[Partial::term(term!(if r == r { 1 } else { NAN })), Partial::term(term!(-ROUND((a0 - r) / a1)))],
    kinks: Kinks::At("where the quotient is whole, it counts itself: `4 % 2` has the derivative -2 in the divisor"),
    domain: &[Condition::IsNot(1, 0.0), Condition::NotWholeRatio(0, 1)],
    samples: &[Sample::Span(5.2, 5.9), Sample::Span(1.05, 1.2)],
    expressions: &["(_ % (1.5 + sin($)))"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[5.0, 2.0], value: 1.0, partials: &[1.0, -2.0], why: "1 and -trunc(5/2)" },
        EdgePoint { at: &[-5.0, 2.0], value: -1.0, partials: &[1.0, 2.0], why: "1 and -trunc(-5/2)" },
        EdgePoint { at: &[1.0, 0.0], value: f64::NAN, partials: &[f64::NAN, f64::NAN], why: "outside the domain" },
    ],
    proof: Proof::Proved,
};

/// Length of a vector of two.
pub static HYPOT: PrimRow = PrimRow {
    sig: same(&HYPOT, "hypot", BINARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The length of `(a0, a1)`, without overflow.",
    words: &[Word::new("hypot", WordElems::Float)],
    kernels: kernels!(elementary::hypot, (T, T) on float),
    denotation: RealDenotation::Term(term!(SQRT(a0 * a0 + a1 * a1))),
    codegen: Codegen::Expansion(expansion!(|x, y| elementary::hypot(x, y))),
    fits: None,
    partials: &[
        Partial::term(term!(if r == 0 { 0 } else { a0 / r })),
        Partial::term(term!(if r == 0 { 0 } else { a1 / r })),
    ],
    kinks: Kinks::At("at (0, 0) both derivatives are 0"),
    domain: &[Condition::NotBothZero(0, 1)],
    samples: &[Sample::Span(0.5, 3.0), Sample::Span(0.5, 3.0)],
    expressions: &["hypot(_, 1.0 + abs($))"],
    identities: &[],
    edge_points: &[EdgePoint {
        at: &[0.0, 0.0],
        value: 0.0,
        partials: &[0.0, 0.0],
        why: "the mean over all directions",
    }],
    proof: Proof::Proved,
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] =
    &[&ABS, &SIGN, &FLOOR, &CEIL, &TRUNC, &ROUND, &COPYSIGN, &STOP_GRADIENT, &AFTER, &WITH_DERIVATIVE_OF, &REM, &HYPOT];
