//! The error function and the gamma function.
//!
//! `erf' = 2/sqrt(pi) exp(-a0^2)`, `erfc' = -erf'`, with what the square is rounded by; `lgamma' = digamma`, `digamma' = polygamma(a0, 1)`, and
//! `polygamma(a0, n)' = polygamma(a0, n + 1)`, which closes the family at every order.

use crate::condition::Condition;
use crate::elementary::{self, expansion};
use crate::formula::term;
use crate::gamma::Gamma;
use crate::kernel::kernels;
use crate::row::{Codegen, Group, Kinks, Partial, Proof, Sample};
use crate::signature::{UNARY, WITH_I64, same};
use crate::{ATAN, Constant, EXP, FMA, Known, MULZ, PrimRow, RealDenotation, SQRT, Term, Word, WordElems};
use cotan_ir::ElemSet;

/// The square root of pi, which is four times the angle of slope 1.
const SQRT_PI: Term = term!(SQRT(4 * ATAN(1)));
const SLOPE: Term =
    Term::Named(&Constant { name: "2/sqrt(pi)", value: std::f64::consts::FRAC_2_SQRT_PI, exact: term!(2 / SQRT_PI) });
const MINUS_SLOPE: Term = Term::Named(&Constant {
    name: "-2/sqrt(pi)",
    value: -std::f64::consts::FRAC_2_SQRT_PI,
    exact: term!(-(2 / SQRT_PI)),
});

const SQUARED: Term = term!(a0 * a0);
/// `exp(-a0^2)`: the rounding error of the square, which the exponential would make up to 700 times as large, is taken
/// back. It is infinite where the exponential is 0.
const BELL: Term = term!(MULZ(EXP(-SQUARED), 1 - FMA(a0, a0, -SQUARED)));

/// Error function.
pub static ERF: PrimRow = PrimRow {
    sig: same(&ERF, "erf", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The error function of `a0`.",
    words: &[Word::new("erf", WordElems::Float)],
    kernels: kernels!(elementary::erf, (T) on float),
    denotation: RealDenotation::Known(Known::Erf),
    codegen: Codegen::Expansion(expansion!(|x| elementary::erf(x))),
    fits: None,
    partials: &[Partial::term(term!(SLOPE * BELL))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-2.0, 2.0)],
    expressions: &["erf(_)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Complement of the error function.
pub static ERFC: PrimRow = PrimRow {
    sig: same(&ERFC, "erfc", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`1 - erf(a0)`, exact for large `a0`.",
    words: &[Word::new("erfc", WordElems::Float)],
    kernels: kernels!(elementary::erfc, (T) on float),
    denotation: RealDenotation::Term(term!(1 - ERF(a0))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::erfc(x))),
    fits: None,
    partials: &[Partial::term(term!(MINUS_SLOPE * BELL))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-2.0, 2.0)],
    expressions: &["erfc(tanh(_))"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Logarithm of the gamma function.
pub static LGAMMA: PrimRow = PrimRow {
    sig: same(&LGAMMA, "lgamma", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The logarithm of the magnitude of the gamma function of `a0`.",
    words: &[Word::new("lgamma", WordElems::Float)],
    kernels: kernels!(elementary::lgamma, (T) on float),
    denotation: RealDenotation::Known(Known::LogGamma),
    codegen: Codegen::Expansion(expansion!(|x| elementary::positive_lgamma(x); elementary::is_not_positive(x))),
    fits: None,
    partials: &[Partial::term(term!(DIGAMMA(a0)))],
    kinks: Kinks::At("at the poles 0, -1, -2, .. the derivative is NaN"),
    domain: &[Condition::NotGammaPole(0)],
    samples: &[Sample::Span(0.3, 5.0)],
    expressions: &["lgamma(2.5 + sin(_))"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Unproved { reason: "the proofs have no theory of the gamma function" },
};

/// Logarithmic derivative of the gamma function.
pub static DIGAMMA: PrimRow = PrimRow {
    sig: same(&DIGAMMA, "digamma", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The derivative of `lgamma` at `a0`.",
    words: &[Word::new("digamma", WordElems::Float)],
    kernels: kernels!(Gamma::digamma, (T) on float),
    denotation: RealDenotation::Known(Known::Digamma),
    codegen: Codegen::Host,
    fits: None,
    partials: &[Partial::term(term!(POLYGAMMA(a0, int(1))))],
    kinks: Kinks::At("at the poles 0, -1, -2, .. the value and the derivative are NaN"),
    domain: &[Condition::NotGammaPole(0)],
    samples: &[Sample::Span(0.3, 5.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Unproved { reason: "the proofs have no theory of the gamma function" },
};

/// Higher derivatives of the digamma function.
pub static POLYGAMMA: PrimRow = PrimRow {
    sig: same(&POLYGAMMA, "polygamma", WITH_I64, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The derivative of order `a1` of `digamma` at `a0`; NaN for orders below 0 or above 100.",
    words: &[],
    kernels: kernels!(Gamma::polygamma, (T, i64) on float),
    denotation: RealDenotation::Known(Known::Polygamma),
    codegen: Codegen::Host,
    fits: None,
    partials: &[Partial::term(term!(POLYGAMMA(a0, a1 + int(1)))), Partial::zero("a whole order cannot move")],
    kinks: Kinks::At("at the poles 0, -1, -2, .. the value and the derivative are NaN"),
    domain: &[Condition::NotGammaPole(0)],
    samples: &[Sample::Span(0.5, 5.0), Sample::Whole(0, 4)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Unproved { reason: "the proofs have no theory of the gamma function" },
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&ERF, &ERFC, &LGAMMA, &DIGAMMA, &POLYGAMMA];
