//! Ring operations and division.
//!
//! `add = a0 + a1`, `sub = a0 - a1`, `mul = a0 a1`, `neg = -a0`, `fma = a0 a1 + a2` rounded once, `div = a0 / a1`.
//! On integers all of them wrap; `div` truncates and gives 0 for a zero divisor. Floats are IEEE.
//!
//! `mulz = a0 a1`, but exactly 0 if one factor is exactly 0, whatever the other is. Every contribution to a derivative
//! is a `mulz`, so that nothing which does not count can spoil a sum; it is its own derivative's tool. Code that runs may
//! have a plain product, `mulc`, in its place.

use crate::condition::Condition;
use crate::formula::term;
use crate::kernel::kernels;
use crate::num::Ring;
use crate::row::{Codegen, EdgePoint, Group, Identity, Kinks, Law, Partial, Proof, Sample};
use crate::signature::{BINARY, TERNARY, UNARY, same};
use crate::{
    ADD_FITS, DIV_FITS, Instruction, Known, MUL_FITS, NEG_FITS, PrimRow, RealDenotation, SUB_FITS, Word, WordElems,
};
use cotan_ir::ElemSet;

const FLOAT: ElemSet = ElemSet::FLOAT;
const INTEGER: ElemSet = ElemSet::INTEGER;
const NUMERIC: ElemSet = ElemSet::NUMERIC;
const WIDE: Sample = Sample::Span(-3.0, 3.0);

/// Sum.
pub static ADD: PrimRow = PrimRow {
    sig: same(&ADD, "add", BINARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The sum `a0 + a1`; integers wrap.",
    words: &[Word::wrapping("wrapping_add")],
    kernels: kernels!(Ring::add, (T, T) on ring),
    denotation: RealDenotation::Known(Known::Add),
    codegen: Codegen::Native(Instruction::Add),
    fits: Some(&ADD_FITS),
    partials: &[Partial::finite(term!(1)), Partial::finite(term!(1))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE, WIDE],
    expressions: &["(_ + $)", "(0.9 * _ + 0.1 * $)"],
    identities: &[
        Identity { on: NUMERIC, law: Law::Commutative },
        Identity { on: INTEGER, law: Law::Associative },
        Identity { on: INTEGER, law: Law::Neutral { operand: 0, value: 0.0, gives: 1 } },
        Identity { on: INTEGER, law: Law::Neutral { operand: 1, value: 0.0, gives: 0 } },
        Identity { on: FLOAT, law: Law::Neutral { operand: 0, value: -0.0, gives: 1 } },
        Identity { on: FLOAT, law: Law::Neutral { operand: 1, value: -0.0, gives: 0 } },
    ],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Difference.
pub static SUB: PrimRow = PrimRow {
    sig: same(&SUB, "sub", BINARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The difference `a0 - a1`; integers wrap.",
    words: &[Word::wrapping("wrapping_sub")],
    kernels: kernels!(Ring::sub, (T, T) on ring),
    denotation: RealDenotation::Known(Known::Sub),
    codegen: Codegen::Native(Instruction::Sub),
    fits: Some(&SUB_FITS),
    partials: &[Partial::finite(term!(1)), Partial::finite(term!(-1))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE, WIDE],
    expressions: &["(_ - $)"],
    identities: &[
        Identity { on: NUMERIC, law: Law::Neutral { operand: 1, value: 0.0, gives: 0 } },
        Identity { on: INTEGER, law: Law::Same(0.0) },
    ],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Product.
pub static MUL: PrimRow = PrimRow {
    sig: same(&MUL, "mul", BINARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The product `a0 * a1`; integers wrap.",
    words: &[Word::wrapping("wrapping_mul")],
    kernels: kernels!(Ring::mul, (T, T) on ring),
    denotation: RealDenotation::Known(Known::Mul),
    codegen: Codegen::Native(Instruction::Mul),
    fits: Some(&MUL_FITS),
    partials: &[Partial::term(term!(a1)), Partial::term(term!(a0))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE, WIDE],
    expressions: &["(_ * $)"],
    identities: &[
        Identity { on: NUMERIC, law: Law::Commutative },
        Identity { on: INTEGER, law: Law::Associative },
        Identity { on: NUMERIC, law: Law::Neutral { operand: 0, value: 1.0, gives: 1 } },
        Identity { on: NUMERIC, law: Law::Neutral { operand: 1, value: 1.0, gives: 0 } },
        Identity { on: INTEGER, law: Law::Absorbing { operand: 0, value: 0.0, result: 0.0 } },
        Identity { on: INTEGER, law: Law::Absorbing { operand: 1, value: 0.0, result: 0.0 } },
    ],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Product in which an exact zero wins.
pub static MULZ: PrimRow = PrimRow {
    sig: same(&MULZ, "mulz", BINARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The product `a0 * a1`, but 0 if a factor is exactly zero, even if the other one is infinite or NaN.",
    words: &[],
    kernels: kernels!(mulz, (T, T) on ring),
    denotation: RealDenotation::Term(term!(a0 * a1)),
    codegen: Codegen::Native(Instruction::Mulz),
    fits: None,
    partials: &[Partial::term(term!(a1)), Partial::term(term!(a0))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE, WIDE],
    expressions: &[],
    identities: &[
        Identity { on: NUMERIC, law: Law::Commutative },
        Identity { on: INTEGER, law: Law::Associative },
        Identity { on: INTEGER, law: Law::Neutral { operand: 0, value: 1.0, gives: 1 } },
        Identity { on: INTEGER, law: Law::Neutral { operand: 1, value: 1.0, gives: 0 } },
        Identity { on: NUMERIC, law: Law::Absorbing { operand: 0, value: 0.0, result: 0.0 } },
        Identity { on: NUMERIC, law: Law::Absorbing { operand: 1, value: 0.0, result: 0.0 } },
        Identity { on: FLOAT, law: Law::Absorbing { operand: 0, value: -0.0, result: 0.0 } },
        Identity { on: FLOAT, law: Law::Absorbing { operand: 1, value: -0.0, result: 0.0 } },
    ],
    edge_points: &[
        EdgePoint {
            at: &[0.0, f64::INFINITY],
            value: 0.0,
            partials: &[f64::INFINITY, 0.0],
            why: "an exact zero wins over an infinite factor",
        },
        EdgePoint {
            at: &[f64::NAN, 0.0],
            value: 0.0,
            partials: &[0.0, f64::NAN],
            why: "an exact zero wins over a NaN factor",
        },
    ],
    proof: Proof::Proved,
};

/// Product in which an exact zero of the first factor wins.
pub static MULG: PrimRow = PrimRow {
    sig: same(&MULG, "mulg", BINARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The product `a0 * a1`, but 0 if `a0` is exactly zero, even if `a1` is infinite or NaN.",
    words: &[],
    kernels: kernels!(mulg, (T, T) on ring),
    denotation: RealDenotation::Term(term!(a0 * a1)),
    codegen: Codegen::Native(Instruction::Mulg),
    fits: None,
    partials: &[Partial::term(term!(a1)), Partial::term(term!(a0))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE, WIDE],
    expressions: &[],
    identities: &[
        Identity { on: NUMERIC, law: Law::Absorbing { operand: 0, value: 0.0, result: 0.0 } },
        Identity { on: FLOAT, law: Law::Absorbing { operand: 0, value: -0.0, result: 0.0 } },
    ],
    edge_points: &[EdgePoint {
        at: &[0.0, f64::INFINITY],
        value: 0.0,
        partials: &[f64::INFINITY, 0.0],
        why: "an exact zero of the first factor wins over an infinite one",
    }],
    proof: Proof::Proved,
};

/// Product of derivative code that runs.
pub static MULC: PrimRow = PrimRow {
    sig: same(&MULC, "mulc", BINARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The product `a0 * a1`; compiled code may add it to a sum without rounding it first.",
    words: &[],
    kernels: kernels!(Ring::mul, (T, T) on ring),
    denotation: RealDenotation::Term(term!(a0 * a1)),
    codegen: Codegen::Native(Instruction::Mulc),
    fits: None,
    partials: &[Partial::term(term!(a1)), Partial::term(term!(a0))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE, WIDE],
    expressions: &[],
    identities: &[Identity { on: NUMERIC, law: Law::Commutative }],
    edge_points: &[],
    proof: Proof::Proved,
};

fn mulz<S: Ring>(x: S, y: S) -> S {
    if x == S::ZERO || y == S::ZERO { S::ZERO } else { x.mul(y) }
}

fn mulg<S: Ring>(x: S, y: S) -> S {
    if x == S::ZERO { S::ZERO } else { x.mul(y) }
}

/// Quotient.
pub static DIV: PrimRow = PrimRow {
    sig: same(&DIV, "div", BINARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The quotient `a0 / a1`; integers truncate, 0 for a zero divisor.",
    words: &[],
    kernels: kernels!(Ring::div, (T, T) on ring),
    denotation: RealDenotation::Known(Known::Div),
    codegen: Codegen::Native(Instruction::Div),
    fits: Some(&DIV_FITS),
    partials: &[Partial::term(term!(1 / a1)), Partial::term(term!(-(MULG(r, 1 / a1))))],
    kinks: Kinks::Smooth,
    domain: &[Condition::IsNot(1, 0.0)],
    samples: &[WIDE, Sample::Span(0.5, 3.0)],
    expressions: &["(_ / (2.0 + $ * $))"],
    identities: &[Identity { on: NUMERIC, law: Law::Neutral { operand: 1, value: 1.0, gives: 0 } }],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Negation.
pub static NEG: PrimRow = PrimRow {
    sig: same(&NEG, "neg", UNARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "The negative `-a0`; integers wrap.",
    words: &[Word::wrapping("wrapping_neg")],
    kernels: kernels!(Ring::neg, (T) on ring),
    denotation: RealDenotation::Known(Known::Neg),
    codegen: Codegen::Native(Instruction::Neg),
    fits: Some(&NEG_FITS),
    partials: &[Partial::finite(term!(-1))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE],
    expressions: &["(-_)"],
    identities: &[Identity { on: NUMERIC, law: Law::Involution }],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Fused multiply-add.
pub static FMA: PrimRow = PrimRow {
    sig: same(&FMA, "fma", TERNARY, NUMERIC),
    group: Group::Arithmetic,
    doc: "`a0 * a1 + a2`, rounded once; integers wrap.",
    words: &[Word::new("fma", WordElems::Float)],
    kernels: kernels!(Ring::fma, (T, T, T) on ring),
    denotation: RealDenotation::Term(term!(a0 * a1 + a2)),
    codegen: Codegen::Native(Instruction::Fma),
    fits: None,
    partials: &[Partial::term(term!(a1)), Partial::term(term!(a0)), Partial::finite(term!(1))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[WIDE, WIDE, WIDE],
    expressions: &["fma(_, $, 0.3)"],
    identities: &[],
    edge_points: &[],
    proof: Proof::Proved,
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&ADD, &SUB, &MUL, &MULZ, &MULG, &MULC, &DIV, &NEG, &FMA];
