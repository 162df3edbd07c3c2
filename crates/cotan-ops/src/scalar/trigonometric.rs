//! Circular functions and their inverses.
//!
//! `sin' = cos a0`, `cos' = -sin a0`, `tan' = 1 + r^2`; `asin' = 1/sqrt((1 - a0)(1 + a0))`, `acos' = -asin'`,
//! `atan' = 1/(1 + a0^2)`, the square scaled so that it overflows only where the slope is 0. `atan2`: with
//! `h = hypot(a0, a1)`, `a1/h^2` and `-a0/h^2`, divided twice by half of `h` so that nothing overflows.

use crate::condition::Condition;
use crate::elementary::{self, expansion};
use crate::formula::term;
use crate::kernel::kernels;
use crate::row::{Codegen, EdgePoint, Group, Kinks, Partial, Proof, Sample};
use crate::signature::{BINARY, UNARY, same};
use crate::{Constant, HYPOT, Known, PrimRow, RealDenotation, SQRT, Term, Word, WordElems};
use cotan_ir::ElemSet;

/// Sine.
pub static SIN: PrimRow = PrimRow {
    sig: same(&SIN, "sin", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The sine of `a0` radians.",
    words: &[Word::new("sin", WordElems::Float)],
    kernels: kernels!(elementary::sin, (T) on float),
    denotation: RealDenotation::Known(Known::Sin),
    codegen: Codegen::Expansion(expansion!(|x| elementary::near_sin(x); elementary::is_far(x))),
    fits: None,
    partials: &[Partial::term(term!(COS(a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-6.0, 6.0)],
    expressions: &["sin(_)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Cosine.
pub static COS: PrimRow = PrimRow {
    sig: same(&COS, "cos", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The cosine of `a0` radians.",
    words: &[Word::new("cos", WordElems::Float)],
    kernels: kernels!(elementary::cos, (T) on float),
    denotation: RealDenotation::Known(Known::Cos),
    codegen: Codegen::Expansion(expansion!(|x| elementary::near_cos(x); elementary::is_far(x))),
    fits: None,
    partials: &[Partial::term(term!(-SIN(a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-6.0, 6.0)],
    expressions: &["cos(_)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Tangent.
pub static TAN: PrimRow = PrimRow {
    sig: same(&TAN, "tan", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The tangent of `a0` radians.",
    words: &[Word::new("tan", WordElems::Float)],
    kernels: kernels!(elementary::tan, (T) on float),
    denotation: RealDenotation::Known(Known::Tan),
    codegen: Codegen::Expansion(expansion!(|x| elementary::near_tan(x); elementary::is_far(x))),
    fits: None,
    partials: &[Partial::term(term!(1 + r * r))],
    kinks: Kinks::Smooth,
    domain: &[Condition::NotPole(0)],
    samples: &[Sample::Span(-1.2, 1.2)],
    expressions: &["tan(sin(_))"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Inverse sine.
pub static ASIN: PrimRow = PrimRow {
    sig: same(&ASIN, "asin", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The angle whose sine is `a0`; NaN outside -1 to 1.",
    words: &[Word::new("asin", WordElems::Float)],
    kernels: kernels!(elementary::asin, (T) on float),
    denotation: RealDenotation::Known(Known::Asin),
    codegen: Codegen::Expansion(expansion!(|x| elementary::asin(x))),
    fits: None,
    partials: &[Partial::term(term!(1 / SQRT((1 - a0) * (1 + a0))))],
    kinks: Kinks::At("at -1 and 1 the derivative is +inf"),
    domain: &[Condition::Above(0, -1.0), Condition::Below(0, 1.0)],
    samples: &[Sample::Span(-0.8, 0.8)],
    expressions: &["asin(0.9 * tanh(_))"],
    identities: &[],
    edge_points: &[
        EdgePoint {
            at: &[1.0],
            value: std::f64::consts::FRAC_PI_2,
            partials: &[f64::INFINITY],
            why: "a vertical slope",
        },
        EdgePoint { at: &[2.0], value: f64::NAN, partials: &[f64::NAN], why: "outside the domain" },
    ],
    proof: Proof::Proved,
};

/// Inverse cosine.
pub static ACOS: PrimRow = PrimRow {
    sig: same(&ACOS, "acos", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The angle whose cosine is `a0`; NaN outside -1 to 1.",
    words: &[Word::new("acos", WordElems::Float)],
    kernels: kernels!(elementary::acos, (T) on float),
    denotation: RealDenotation::Known(Known::Acos),
    codegen: Codegen::Expansion(expansion!(|x| elementary::acos(x))),
    fits: None,
    partials: &[Partial::term(term!(-1 / SQRT((1 - a0) * (1 + a0))))],
    kinks: Kinks::At("at -1 and 1 the derivative is -inf"),
    domain: &[Condition::Above(0, -1.0), Condition::Below(0, 1.0)],
    samples: &[Sample::Span(-0.8, 0.8)],
    expressions: &["acos(0.9 * tanh(_))"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[1.0], value: 0.0, partials: &[f64::NEG_INFINITY], why: "a vertical slope" },
        EdgePoint { at: &[2.0], value: f64::NAN, partials: &[f64::NAN], why: "outside the domain" },
    ],
    proof: Proof::Proved,
};

/// What stands for 1 where a number is scaled by the root of it before it is squared.
const UNIT: Term = Term::Named(&Constant {
    name: "2^-60",
    value: 1.0 / (1_u64 << 60) as f64,
    exact: Term::Number(1.0 / (1_u64 << 60) as f64),
});
/// Its root.
const ROOT_OF_UNIT: Term = Term::Number(1.0 / (1_u64 << 30) as f64);
/// The operand of the inverse tangent, scaled.
const SCALED: Term = term!(ROOT_OF_UNIT * a0);

/// Inverse tangent.
pub static ATAN: PrimRow = PrimRow {
    sig: same(&ATAN, "atan", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The angle whose tangent is `a0`.",
    words: &[Word::new("atan", WordElems::Float)],
    kernels: kernels!(elementary::atan, (T) on float),
    denotation: RealDenotation::Known(Known::Atan),
    codegen: Codegen::Expansion(expansion!(|x| elementary::atan(x))),
    fits: None,
    partials: &[Partial::term(term!(UNIT / (UNIT + SCALED * SCALED)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["atan(_)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Half the distance of a point from the origin.
const HALF_LENGTH: Term = term!(HYPOT(0.5 * a0, 0.5 * a1));

/// Angle of a point.
pub static ATAN2: PrimRow = PrimRow {
    sig: same(&ATAN2, "atan2", BINARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The angle of the point with ordinate `a0` and abscissa `a1`.",
    words: &[Word::new("atan2", WordElems::Float)],
    kernels: kernels!(elementary::atan2, (T, T) on float),
    denotation: RealDenotation::Term(term!(2 * ATAN(a0 / (HYPOT(a0, a1) + a1)))),
    codegen: Codegen::Expansion(expansion!(|y, x| elementary::atan2(y, x))),
    fits: None,
    partials: &[
        Partial::term(term!(if HALF_LENGTH == 0 { 0 } else { 0.5 * (0.5 * a1 / HALF_LENGTH / HALF_LENGTH) })),
        Partial::term(term!(if HALF_LENGTH == 0 { 0 } else { -0.5 * (0.5 * a0 / HALF_LENGTH / HALF_LENGTH) })),
    ],
    kinks: Kinks::At("at (0, 0) both derivatives are 0"),
    domain: &[Condition::OffCut(1, 0)],
    samples: &[Sample::Span(0.5, 3.0), Sample::Span(-3.0, 3.0)],
    expressions: &["atan2(_, 1.5 + sin($))"],
    identities: &[],
    edge_points: &[EdgePoint { at: &[0.0, 0.0], value: 0.0, partials: &[0.0, 0.0], why: "no direction is preferred" }],
    proof: Proof::Proved,
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&SIN, &COS, &TAN, &ASIN, &ACOS, &ATAN, &ATAN2];
