//! Exponentials and logarithms.
//!
//! `exp' = r`, `exp2' = ln 2 r`, `expm1' = exp a0`; `log' = 1/a0`, `log2' = 1/(ln 2 a0)`, `log10' = 1/(ln 10 a0)`,
//! `log1p' = 1/(1 + a0)`. The last four are finite where the logarithm is NaN, so that a guard makes them NaN there.

use crate::condition::Condition;
use crate::elementary::{self, expansion};
use crate::formula::{NAN, term};
use crate::kernel::kernels;
use crate::row::{Codegen, EdgePoint, Group, Kinks, Partial, Proof, Sample};
use crate::signature::{UNARY, same};
use crate::{Constant, Known, PrimRow, RealDenotation, Term, Word, WordElems};
use cotan_ir::ElemSet;

const LN_2: Term = Term::Named(&Constant { name: "ln 2", value: std::f64::consts::LN_2, exact: term!(LOG(2)) });
const LN_10: Term = Term::Named(&Constant { name: "ln 10", value: std::f64::consts::LN_10, exact: term!(LOG(10)) });
const LOG2_E: Term =
    Term::Named(&Constant { name: "1/ln 2", value: std::f64::consts::LOG2_E, exact: term!(1 / LOG(2)) });
const LOG10_E: Term =
    Term::Named(&Constant { name: "1/ln 10", value: std::f64::consts::LOG10_E, exact: term!(1 / LOG(10)) });

/// Exponential function.
pub static EXP: PrimRow = PrimRow {
    sig: same(&EXP, "exp", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "e to the power `a0`.",
    words: &[Word::new("exp", WordElems::Float)],
    kernels: kernels!(elementary::exp, (T) on float),
    denotation: RealDenotation::Known(Known::Exp),
    codegen: Codegen::Expansion(expansion!(|x| elementary::exp(x))),
    fits: None,
    partials: &[Partial::term(term!(r))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["exp(tanh(_))"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Exponential function of base 2.
pub static EXP2: PrimRow = PrimRow {
    sig: same(&EXP2, "exp2", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "2 to the power `a0`.",
    words: &[Word::new("exp2", WordElems::Float)],
    kernels: kernels!(elementary::exp2, (T) on float),
    denotation: RealDenotation::Term(term!(EXP(a0 * LN_2))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::exp2(x))),
    fits: None,
    partials: &[Partial::term(term!(LN_2 * r))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Exponential function less 1.
pub static EXPM1: PrimRow = PrimRow {
    sig: same(&EXPM1, "expm1", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "`exp(a0) - 1`, exact near 0.",
    words: &[Word::new("expm1", WordElems::Float)],
    kernels: kernels!(elementary::expm1, (T) on float),
    denotation: RealDenotation::Term(term!(EXP(a0) - 1)),
    codegen: Codegen::Expansion(expansion!(|x| elementary::expm1(x))),
    fits: None,
    partials: &[Partial::term(term!(EXP(a0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    expressions: &["expm1(tanh(_))"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Natural logarithm.
pub static LOG: PrimRow = PrimRow {
    sig: same(&LOG, "log", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The natural logarithm of `a0`; NaN below 0.",
    words: &[Word::new("log", WordElems::Float)],
    kernels: kernels!(elementary::log, (T) on float),
    denotation: RealDenotation::Known(Known::Log),
    codegen: Codegen::Expansion(expansion!(|x| elementary::log(x))),
    fits: None,
    partials: &[Partial::term(term!(if a0 >= 0 { 1 / a0 } else { NAN }))],
    kinks: Kinks::At("at 0 the derivative is +inf, as the limit from inside the domain"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    expressions: &["log(1.5 + _ * _)"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[0.0], value: f64::NEG_INFINITY, partials: &[f64::INFINITY], why: "the pole of 1/x" },
        EdgePoint {
            at: &[-1.0],
            value: f64::NAN,
            partials: &[f64::NAN],
            why: "1/x is finite where the logarithm is not defined: guarded",
        },
    ],
    proof: Proof::Proved,
};

/// Binary logarithm.
pub static LOG2: PrimRow = PrimRow {
    sig: same(&LOG2, "log2", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The logarithm of `a0` to base 2; NaN below 0.",
    words: &[Word::new("log2", WordElems::Float)],
    kernels: kernels!(elementary::log2, (T) on float),
    denotation: RealDenotation::Term(term!(LOG(a0) / LN_2)),
    codegen: Codegen::Expansion(expansion!(|x| elementary::log2(x))),
    fits: None,
    partials: &[Partial::term(term!(if a0 >= 0 { LOG2_E / a0 } else { NAN }))],
    kinks: Kinks::At("at 0 the derivative is +inf, as the limit from inside the domain"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    expressions: &["log2(1.5 + _ * _)"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[0.0], value: f64::NEG_INFINITY, partials: &[f64::INFINITY], why: "the pole of 1/x" },
        EdgePoint { at: &[-1.0], value: f64::NAN, partials: &[f64::NAN], why: "guarded like the natural logarithm" },
    ],
    proof: Proof::Proved,
};

/// Decimal logarithm.
pub static LOG10: PrimRow = PrimRow {
    sig: same(&LOG10, "log10", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The logarithm of `a0` to base 10; NaN below 0.",
    words: &[Word::new("log10", WordElems::Float)],
    kernels: kernels!(elementary::log10, (T) on float),
    denotation: RealDenotation::Term(term!(LOG(a0) / LN_10)),
    codegen: Codegen::Expansion(expansion!(|x| elementary::log10(x))),
    fits: None,
    partials: &[Partial::term(term!(if a0 >= 0 { LOG10_E / a0 } else { NAN }))],
    kinks: Kinks::At("at 0 the derivative is +inf, as the limit from inside the domain"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    expressions: &["log10(1.5 + _ * _)"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[0.0], value: f64::NEG_INFINITY, partials: &[f64::INFINITY], why: "the pole of 1/x" },
        EdgePoint { at: &[-1.0], value: f64::NAN, partials: &[f64::NAN], why: "guarded like the natural logarithm" },
    ],
    proof: Proof::Proved,
};

/// Logarithm of 1 more.
pub static LOG1P: PrimRow = PrimRow {
    sig: same(&LOG1P, "log1p", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The natural logarithm of `1 + a0`, exact near 0; NaN below -1.",
    words: &[Word::new("log1p", WordElems::Float)],
    kernels: kernels!(elementary::log1p, (T) on float),
    denotation: RealDenotation::Term(term!(LOG(1 + a0))),
    codegen: Codegen::Expansion(expansion!(|x| elementary::log1p(x))),
    fits: None,
    partials: &[Partial::term(term!(if a0 >= -1 { 1 / (1 + a0) } else { NAN }))],
    kinks: Kinks::At("at -1 the derivative is +inf, as the limit from inside the domain"),
    domain: &[Condition::Above(0, -1.0)],
    samples: &[Sample::Span(-0.8, 4.0)],
    expressions: &["log1p(_ * _)"],
    identities: &[],
    edge_points: &[
        EdgePoint { at: &[-1.0], value: f64::NEG_INFINITY, partials: &[f64::INFINITY], why: "the pole" },
        EdgePoint { at: &[-2.0], value: f64::NAN, partials: &[f64::NAN], why: "guarded like the natural logarithm" },
    ],
    proof: Proof::Proved,
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&EXP, &EXP2, &EXPM1, &LOG, &LOG2, &LOG10, &LOG1P];
