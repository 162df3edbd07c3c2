//! Magnitude, sign, rounding and remainder.
//!
//! `abs' = sign a0`; `sign`, `floor`, `ceil`, `trunc`, `round` are flat; `copysign' = sign(a0) copysign(1, a1)`;
//! `hypot`: `a0/r` and `a1/r`. `rem = a0 - q a1` with `q = trunc(a0/a1)`: derivatives 1 and `-q`. The quotient is taken
//! from `(a0 - r)/a1`, because `a0/a1` may round up to the next whole number.

use crate::elementary::{self, formula};
use crate::float::Float;
use crate::kernel::kernels;
use crate::num::Num;
use crate::row::{Awkward, Condition, Group, Identity, Instruction, Kinks, Law, Lowering, Partial, Proof, Sample};
use crate::signature::{BINARY, UNARY, same};
use crate::term::{A0, A1, HALF, MINUS_ONE, NAN, ONE, R, ZERO, t};
use crate::{ADD, DIV, EQ, GE, GT, Known, LT, MUL, Meaning, NEG, PrimRow, SELECT, SQRT, SUB};
use cotan_ir::ElemSet;

/// Magnitude.
pub static ABS: PrimRow = PrimRow {
    sig: same(&ABS, "abs", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "The magnitude of `a0`; the least integer wraps to itself.",
    kernels: kernels!(Num::abs, (T) on numeric),
    meaning: Meaning::Term(t!(SELECT, t!(GE, A0, ZERO), A0, t!(NEG, A0))),
    lowering: Lowering::Native(Instruction::Abs),
    partials: &[Partial::term(t!(SIGN, A0))],
    kinks: Kinks::At("at 0 the derivative is 0"),
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    identities: &[Identity { on: ElemSet::NUMERIC, law: Law::Projection }],
    awkward: &[
        Awkward { at: &[0.0], value: 0.0, partials: &[0.0], why: "the mean of both slopes" },
        Awkward { at: &[f64::NAN], value: f64::NAN, partials: &[f64::NAN], why: "a NaN is passed on" },
    ],
    proof: Proof::Proved,
};

/// Sign.
pub static SIGN: PrimRow = PrimRow {
    sig: same(&SIGN, "sign", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "-1, 0 or 1 as `a0` is negative, zero or positive; NaN of NaN.",
    kernels: kernels!(Num::sign, (T) on numeric),
    meaning: Meaning::Expansion,
    lowering: Lowering::Expand(t!(SELECT, t!(GT, A0, ZERO), ONE, t!(SELECT, t!(LT, A0, ZERO), MINUS_ONE, A0))),
    partials: &[Partial::zero("the sign is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    identities: &[Identity { on: ElemSet::NUMERIC, law: Law::Projection }],
    awkward: &[Awkward { at: &[0.0], value: 0.0, partials: &[0.0], why: "flat on both sides" }],
    proof: Proof::Proved,
};

/// Rounding down.
pub static FLOOR: PrimRow = PrimRow {
    sig: same(&FLOOR, "floor", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The greatest whole number that is at most `a0`.",
    kernels: kernels!(Float::floor, (T) on float),
    meaning: Meaning::Known(Known::Floor),
    lowering: Lowering::Native(Instruction::Floor),
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotWhole(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    awkward: &[],
    proof: Proof::Proved,
};

/// Rounding up.
pub static CEIL: PrimRow = PrimRow {
    sig: same(&CEIL, "ceil", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The least whole number that is at least `a0`.",
    kernels: kernels!(Float::ceil, (T) on float),
    meaning: Meaning::Term(t!(NEG, t!(FLOOR, t!(NEG, A0)))),
    lowering: Lowering::Native(Instruction::Ceil),
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotWhole(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    awkward: &[],
    proof: Proof::Proved,
};

/// Rounding towards 0.
pub static TRUNC: PrimRow = PrimRow {
    sig: same(&TRUNC, "trunc", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The whole part of `a0`: rounded towards 0.",
    kernels: kernels!(Float::trunc, (T) on float),
    meaning: Meaning::Term(t!(SELECT, t!(GE, A0, ZERO), t!(FLOOR, A0), t!(NEG, t!(FLOOR, t!(NEG, A0))))),
    lowering: Lowering::Native(Instruction::Trunc),
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotWhole(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    awkward: &[],
    proof: Proof::Proved,
};

/// Rounding to nearest.
pub static ROUND: PrimRow = PrimRow {
    sig: same(&ROUND, "round", UNARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The whole number nearest to `a0`; halves away from 0.",
    kernels: kernels!(elementary::round, (T) on float),
    meaning: Meaning::Term(t!(
        SELECT,
        t!(GE, A0, ZERO),
        t!(FLOOR, t!(ADD, A0, HALF)),
        t!(NEG, t!(FLOOR, t!(ADD, t!(NEG, A0), HALF)))
    )),
    lowering: formula!(|x| elementary::round(x)),
    partials: &[Partial::zero("rounding is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::NotHalf(0)],
    samples: &[Sample::Span(0.6, 0.9)],
    identities: &[Identity { on: ElemSet::FLOAT, law: Law::Projection }],
    awkward: &[],
    proof: Proof::Proved,
};

/// Magnitude with the sign of another number.
pub static COPYSIGN: PrimRow = PrimRow {
    sig: same(&COPYSIGN, "copysign", BINARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The magnitude of `a0` with the sign of `a1`.",
    kernels: kernels!(Float::copysign, (T, T) on float),
    meaning: Meaning::Term(t!(SELECT, t!(GE, A1, ZERO), t!(ABS, A0), t!(NEG, t!(ABS, A0)))),
    lowering: Lowering::Native(Instruction::Copysign),
    partials: &[
        Partial::term(t!(MUL, t!(SIGN, A0), t!(COPYSIGN, ONE, A1))),
        Partial::zero("only the sign of the second operand counts, which is piecewise constant"),
    ],
    kinks: Kinks::At("at `a0 = 0` the derivative is 0"),
    domain: &[Condition::IsNot(0, 0.0), Condition::IsNot(1, 0.0)],
    samples: &[Sample::Span(0.5, 3.0), Sample::Span(0.5, 3.0)],
    identities: &[],
    awkward: &[Awkward { at: &[0.0, -1.0], value: -0.0, partials: &[0.0, 0.0], why: "the mean of both slopes" }],
    proof: Proof::Proved,
};

/// Identity without a derivative.
pub static STOP_GRADIENT: PrimRow = PrimRow {
    sig: same(&STOP_GRADIENT, "stop_gradient", UNARY, ElemSet::ANY),
    group: Group::Arithmetic,
    doc: "`a0`; no derivative flows.",
    kernels: kernels!(std::convert::identity, (T) on any),
    meaning: Meaning::Term(A0),
    lowering: Lowering::Native(Instruction::Identity),
    partials: &[Partial::zero("the program asked for it")],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    identities: &[Identity { on: ElemSet::ANY, law: Law::Projection }],
    awkward: &[],
    proof: Proof::Nothing,
};

/// The first operand, once the second one is computed. Keeps a computation alive whose checks must come first.
pub static AFTER: PrimRow = PrimRow {
    sig: same(&AFTER, "after", BINARY, ElemSet::ANY),
    group: Group::Arithmetic,
    doc: "`a0`, once `a1` is computed and all checks that it needs have passed.",
    kernels: kernels!(after, (T, T) on any),
    meaning: Meaning::Term(A0),
    lowering: Lowering::Native(Instruction::Identity),
    partials: &[Partial::finite(ONE), Partial::zero("it decides when, not what")],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0), Sample::Span(-3.0, 3.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Proved,
};

/// A value computed in one way, with the derivative of the same value computed in another. Lets a reduction keep its
/// documented order while its derivative comes from a form that is simple to differentiate.
pub static WITH_DERIVATIVE_OF: PrimRow = PrimRow {
    sig: same(&WITH_DERIVATIVE_OF, "with_derivative_of", BINARY, ElemSet::ANY),
    group: Group::Arithmetic,
    doc: "`a0`, with the derivative of `a1`, which is the same number computed in another way.",
    kernels: kernels!(after, (T, T) on any),
    meaning: Meaning::Term(A0),
    lowering: Lowering::Native(Instruction::Identity),
    partials: &[Partial::zero("the second operand carries the derivative"), Partial::finite(ONE)],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0), Sample::Span(-3.0, 3.0)],
    identities: &[Identity { on: ElemSet::ANY, law: Law::Idempotent }],
    awkward: &[],
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
    kernels: kernels!(Num::rem, (T, T) on numeric),
    meaning: Meaning::Term(t!(SUB, A0, t!(MUL, A1, t!(TRUNC, t!(DIV, A0, A1))))),
    lowering: Lowering::NativeOrHost(Instruction::Rem),
    partials: &[
        Partial::term(t!(SELECT, t!(EQ, R, R), ONE, NAN)),
        Partial::term(t!(NEG, t!(ROUND, t!(DIV, t!(SUB, A0, R), A1)))),
    ],
    kinks: Kinks::At("where the quotient is whole, it counts itself: `4 % 2` has the derivative -2 in the divisor"),
    domain: &[Condition::IsNot(1, 0.0), Condition::NotWholeRatio(0, 1)],
    samples: &[Sample::Span(5.2, 5.9), Sample::Span(1.05, 1.2)],
    identities: &[],
    awkward: &[
        Awkward { at: &[5.0, 2.0], value: 1.0, partials: &[1.0, -2.0], why: "1 and -trunc(5/2)" },
        Awkward { at: &[-5.0, 2.0], value: -1.0, partials: &[1.0, 2.0], why: "1 and -trunc(-5/2)" },
        Awkward { at: &[1.0, 0.0], value: f64::NAN, partials: &[f64::NAN, f64::NAN], why: "outside the domain" },
    ],
    proof: Proof::Proved,
};

/// Length of a vector of two.
pub static HYPOT: PrimRow = PrimRow {
    sig: same(&HYPOT, "hypot", BINARY, ElemSet::FLOAT),
    group: Group::Arithmetic,
    doc: "The length of `(a0, a1)`, without overflow.",
    kernels: kernels!(elementary::hypot, (T, T) on float),
    meaning: Meaning::Term(t!(SQRT, t!(ADD, t!(MUL, A0, A0), t!(MUL, A1, A1)))),
    lowering: formula!(|x, y| elementary::hypot(x, y)),
    partials: &[
        Partial::term(t!(SELECT, t!(EQ, R, ZERO), ZERO, t!(DIV, A0, R))),
        Partial::term(t!(SELECT, t!(EQ, R, ZERO), ZERO, t!(DIV, A1, R))),
    ],
    kinks: Kinks::At("at (0, 0) both derivatives are 0"),
    domain: &[Condition::NotBothZero(0, 1)],
    samples: &[Sample::Span(0.5, 3.0), Sample::Span(0.5, 3.0)],
    identities: &[],
    awkward: &[Awkward { at: &[0.0, 0.0], value: 0.0, partials: &[0.0, 0.0], why: "the mean over all directions" }],
    proof: Proof::Proved,
};
