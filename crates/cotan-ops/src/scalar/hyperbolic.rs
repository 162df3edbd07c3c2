//! Hyperbolic functions, their inverses, and the logistic function.
//!
//! `sinh' = cosh a0`, `cosh' = sinh a0`, `tanh' = sech2 a0`, `sech2' = -2 r tanh a0`, `asinh' = 1/hypot(1, a0)`,
//! `acosh' = 1/(sqrt(a0 - 1) sqrt(a0 + 1))`, `atanh' = 1/((1 - a0)(1 + a0))`, `sigmoid' = sech2(a0/2)/4`.
//!
//! Note [Slopes of saturated functions]: far out `tanh` and `sigmoid` are 1 to the last digit, so that `1 - r^2` and
//! `r (1 - r)` are 0 long before the derivatives are. Their slope is a function of the operand, [`SECH2`], which closes
//! the family: no derivative of any order cancels, beside 0 or far out.

use crate::condition::Condition;
use crate::elementary::{self, expansion};
use crate::formula::{NAN, term};
use crate::kernel::kernels;
use crate::row::{Codegen, EdgePoint, Group, Kinks, Partial, Proof, Sample};
use crate::signature::{UNARY, same};
use crate::{ABS, EXP, HYPOT, Known, LOG, PrimRow, RealDenotation, SQRT, Term, Word, WordElems};
use cotan_ir::ElemSet;

/// Hyperbolic sine.
pub static SINH: PrimRow = PrimRow {
    sig: same(&SINH, "sinh", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The hyperbolic sine of `a0`.",
    words: &[Word::new("sinh", WordElems::Float)],
    kernels: kernels!(elementary::sinh, (T) on float),
    denotation: RealDenotation::Known(Known::Sinh),
    codegen: Codegen::Expansion(expansion!(|x| elementary::sinh(x))),
    fits: None,
    partials: &[Partial::term(term!(COSH(a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["sinh(sin(_))"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Hyperbolic cosine.
pub static COSH: PrimRow = PrimRow {
    sig: same(&COSH, "cosh", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The hyperbolic cosine of `a0`.",
    words: &[Word::new("cosh", WordElems::Float)],
    kernels: kernels!(elementary::cosh, (T) on float),
    denotation: RealDenotation::Known(Known::Cosh),
    codegen: Codegen::Expansion(expansion!(|x| elementary::cosh(x))),
    fits: None,
    partials: &[Partial::term(term!(SINH(a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["cosh(sin(_))"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Hyperbolic tangent.
pub static TANH: PrimRow = PrimRow {
    sig: same(&TANH, "tanh", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The hyperbolic tangent of `a0`.",
    words: &[Word::new("tanh", WordElems::Float)],
    kernels: kernels!(elementary::tanh, (T) on float),
    denotation: RealDenotation::Known(Known::Tanh),
    codegen: Codegen::Expansion(expansion!(|x| elementary::tanh(x))),
    fits: None,
    partials: &[Partial::beside(term!(SECH2(a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["tanh(_)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// What [`SECH2`] is made of.
const DECAY: Term = term!(EXP(-(a0 + a0)));
/// See [`DECAY`].
const BESIDE_DECAY: Term = term!(1 + DECAY);

/// Square of the hyperbolic secant: the slope of the hyperbolic tangent.
pub static SECH2: PrimRow = PrimRow {
    sig: same(&SECH2, "sech2", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`1 - tanh(a0)^2`, without cancellation.",
    words: &[],
    kernels: kernels!(elementary::sech2, (T) on float),
    denotation: RealDenotation::Term(term!(4 * DECAY / (BESIDE_DECAY * BESIDE_DECAY))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::sech2(x))),
    fits: None,
    partials: &[Partial::term(term!(-2 * (r * TANH(a0))))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Inverse hyperbolic sine.
pub static ASINH: PrimRow = PrimRow {
    sig: same(&ASINH, "asinh", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The inverse hyperbolic sine of `a0`.",
    words: &[Word::new("asinh", WordElems::Float)],
    kernels: kernels!(elementary::asinh, (T) on float),
    denotation: RealDenotation::Term(term!(LOG(a0 + SQRT(a0 * a0 + 1)))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::asinh(x))),
    fits: None,
    partials: &[Partial::term(term!(1 / HYPOT(1, a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["asinh(_)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Inverse hyperbolic cosine.
pub static ACOSH: PrimRow = PrimRow {
    sig: same(&ACOSH, "acosh", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The inverse hyperbolic cosine of `a0`; NaN below 1.",
    words: &[Word::new("acosh", WordElems::Float)],
    kernels: kernels!(elementary::acosh, (T) on float),
    denotation: RealDenotation::Term(term!(LOG(a0 + SQRT(a0 - 1) * SQRT(a0 + 1)))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::acosh(x))),
    fits: None,
    partials: &[Partial::term(term!(1 / (SQRT(a0 - 1) * SQRT(a0 + 1))))],
    kinks: Kinks::At("at 1 the derivative is +inf"),
    domain: &[Condition::Above(0, 1.0)],
    samples: &[Sample::Span(1.3, 4.0)],
    expressions: &["acosh(2.5 + sin(_))"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[1.0], value: 0.0, partials: &[f64::INFINITY], why: "a vertical slope" },
        EdgePoint { at: &[0.0], value: f64::NAN, partials: &[f64::NAN], why: "outside the domain" },
    ],
    proof: Proof::Proved,
};

/// Inverse hyperbolic tangent.
pub static ATANH: PrimRow = PrimRow {
    sig: same(&ATANH, "atanh", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The inverse hyperbolic tangent of `a0`; NaN outside -1 to 1.",
    words: &[Word::new("atanh", WordElems::Float)],
    kernels: kernels!(elementary::atanh, (T) on float),
    denotation: RealDenotation::Term(term!(0.5 * LOG((1 + a0) / (1 - a0)))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::atanh(x))),
    fits: None,
    partials: &[Partial::term(term!(if ABS(a0) <= 1 { 1 / ((1 - a0) * (1 + a0)) } else { NAN }))],
    kinks: Kinks::At("at -1 and 1 the derivative is +inf"),
    domain: &[Condition::Above(0, -1.0), Condition::Below(0, 1.0)],
    samples: &[Sample::Span(-0.8, 0.8)],
    expressions: &["atanh(0.9 * tanh(_))"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[1.0], value: f64::INFINITY, partials: &[f64::INFINITY], why: "the pole" },
        EdgePoint {
            at: &[2.0],
            value: f64::NAN,
            partials: &[f64::NAN],
            why: "1/(1 - x^2) is finite where the function is not defined: guarded",
        },
    ],
    proof: Proof::Proved,
};

/// Logistic function.
pub static SIGMOID: PrimRow = PrimRow {
    sig: same(&SIGMOID, "sigmoid", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`1 / (1 + exp(-a0))`, without overflow.",
    words: &[Word::new("sigmoid", WordElems::Float)],
    kernels: kernels!(elementary::sigmoid, (T) on float),
    denotation: RealDenotation::Term(term!(1 / (1 + EXP(-a0)))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::sigmoid(x))),
    fits: None,
    partials: &[Partial::beside(term!(0.25 * SECH2(0.5 * a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["sigmoid(_)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&SINH, &COSH, &TANH, &SECH2, &ASINH, &ACOSH, &ATANH, &SIGMOID];
