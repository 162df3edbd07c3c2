//! The error function and the gamma function.
//!
//! `erf' = 2/sqrt(pi) exp(-a0^2)`, `erfc' = -erf'`, with what the square is rounded by; `lgamma' = digamma`, `digamma' = polygamma(a0, 1)`, and
//! `polygamma(a0, n)' = polygamma(a0, n + 1)`, which closes the family at every order.

use crate::elementary::{self, formula};
use crate::gamma::Gamma;
use crate::kernel::kernels;
use crate::row::{Condition, Group, Kinks, Lowering, Partial, Proof, Sample};
use crate::signature::{UNARY, WITH_I64, same};
use crate::term::{A0, A1, FOUR, ONE, TWO, t};
use crate::{ADD, ATAN, Constant, DIV, EXP, FMA, Known, MUL, MULZ, Meaning, NEG, PrimRow, SQRT, SUB, Term};
use cotan_ir::ElemSet;

/// The square root of pi, which is four times the angle of slope 1.
const SQRT_PI: Term = t!(SQRT, t!(MUL, FOUR, t!(ATAN, ONE)));
const SLOPE: Term = Term::Named(&Constant {
    name: "2/sqrt(pi)",
    value: std::f64::consts::FRAC_2_SQRT_PI,
    exact: t!(DIV, TWO, SQRT_PI),
});
const MINUS_SLOPE: Term = Term::Named(&Constant {
    name: "-2/sqrt(pi)",
    value: -std::f64::consts::FRAC_2_SQRT_PI,
    exact: t!(NEG, t!(DIV, TWO, SQRT_PI)),
});

const SQUARED: Term = t!(MUL, A0, A0);
/// `exp(-a0^2)`: the rounding error of the square, which the exponential would make up to 700 times as large, is taken
/// back. It is infinite where the exponential is 0.
const BELL: Term = t!(MULZ, t!(EXP, t!(NEG, SQUARED)), t!(SUB, ONE, t!(FMA, A0, A0, t!(NEG, SQUARED))));

/// Error function.
pub static ERF: PrimRow = PrimRow {
    sig: same(&ERF, "erf", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The error function of `a0`.",
    kernels: kernels!(elementary::erf, (T) on float),
    meaning: Meaning::Known(Known::Erf),
    lowering: formula!(|x| elementary::erf(x)),
    partials: &[Partial::term(t!(MUL, SLOPE, BELL))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-2.0, 2.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Proved,
};

/// Complement of the error function.
pub static ERFC: PrimRow = PrimRow {
    sig: same(&ERFC, "erfc", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`1 - erf(a0)`, exact for large `a0`.",
    kernels: kernels!(elementary::erfc, (T) on float),
    meaning: Meaning::Term(t!(SUB, ONE, t!(ERF, A0))),
    lowering: formula!(|x| elementary::erfc(x)),
    partials: &[Partial::term(t!(MUL, MINUS_SLOPE, BELL))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-2.0, 2.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Proved,
};

/// Logarithm of the gamma function.
pub static LGAMMA: PrimRow = PrimRow {
    sig: same(&LGAMMA, "lgamma", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The logarithm of the magnitude of the gamma function of `a0`.",
    kernels: kernels!(elementary::lgamma, (T) on float),
    meaning: Meaning::Known(Known::LogGamma),
    lowering: formula!(|x| elementary::positive_lgamma(x); elementary::is_not_positive(x)),
    partials: &[Partial::term(t!(DIGAMMA, A0))],
    kinks: Kinks::At("at the poles 0, -1, -2, .. the derivative is NaN"),
    domain: &[Condition::NotGammaPole(0)],
    samples: &[Sample::Span(0.3, 5.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Unproved { reason: "the proofs have no theory of the gamma function" },
};

/// Logarithmic derivative of the gamma function.
pub static DIGAMMA: PrimRow = PrimRow {
    sig: same(&DIGAMMA, "digamma", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The derivative of `lgamma` at `a0`.",
    kernels: kernels!(Gamma::digamma, (T) on float),
    meaning: Meaning::Known(Known::Digamma),
    lowering: Lowering::Host,
    partials: &[Partial::term(t!(POLYGAMMA, A0, Term::Int(1)))],
    kinks: Kinks::At("at the poles 0, -1, -2, .. the value and the derivative are NaN"),
    domain: &[Condition::NotGammaPole(0)],
    samples: &[Sample::Span(0.3, 5.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Unproved { reason: "the proofs have no theory of the gamma function" },
};

/// Higher derivatives of the digamma function.
pub static POLYGAMMA: PrimRow = PrimRow {
    sig: same(&POLYGAMMA, "polygamma", WITH_I64, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The derivative of order `a1` of `digamma` at `a0`; NaN for orders below 0 or above 100.",
    kernels: kernels!(Gamma::polygamma, (T, i64) on float),
    meaning: Meaning::Known(Known::Polygamma),
    lowering: Lowering::Host,
    partials: &[
        Partial::term(t!(POLYGAMMA, A0, t!(ADD, A1, Term::Int(1)))),
        Partial::zero("a whole order cannot move"),
    ],
    kinks: Kinks::At("at the poles 0, -1, -2, .. the value and the derivative are NaN"),
    domain: &[Condition::NotGammaPole(0)],
    samples: &[Sample::Span(0.5, 5.0), Sample::Whole(0, 4)],
    identities: &[],
    awkward: &[],
    proof: Proof::Unproved { reason: "the proofs have no theory of the gamma function" },
};
