//! Operations on integers alone.
//!
//! `floor_div` and `floor_mod` round the quotient down where `div` and `rem` cut it. Shift distances are taken modulo
//! the width. All are total; what a program reports beforehand is what their words need.

use crate::formula::term;
use crate::kernel::kernels;
use crate::num::Int;
use crate::row::{Codegen, Group, Identity, Kinks, Law, Partial, Proof, Sample};
use crate::signature::{BINARY, WITH_I64, same};
use crate::{DIV_FITS, Instruction, Needs, PrimRow, REM, RealDenotation, Term, Word, XOR};
use cotan_ir::ElemSet;

/// Whether the remainder is not 0 and has another sign than the divisor.
const SIGNS_DIFFER: Term = term!(REM(a0, a1) != 0 && XOR(REM(a0, a1) < 0, a1 < 0));

/// Quotient rounded down.
pub static FLOOR_DIV: PrimRow = PrimRow {
    sig: same(&FLOOR_DIV, "floor_div", BINARY, ElemSet::INTEGER),
    group: Group::Arithmetic,
    doc: "The greatest whole number that is at most `a0 / a1`; 0 for a zero divisor.",
    words: &[Word::on_integers("floor_div", Needs::Divisor)],
    kernels: kernels!(floor_div, (T, T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Term(term!(a0 / a1 - (if SIGNS_DIFFER { 1 } else { 0 }))),
    fits: Some(&DIV_FITS),
    partials: &[Partial::zero("integers carry no derivative"), Partial::zero("integers carry no derivative")],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::INTEGER, law: Law::Neutral { operand: 1, value: 1.0, gives: 0 } }],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Remainder with the sign of the divisor.
pub static FLOOR_MOD: PrimRow = PrimRow {
    sig: same(&FLOOR_MOD, "floor_mod", BINARY, ElemSet::INTEGER),
    group: Group::Arithmetic,
    doc: "The remainder that goes with `floor_div`, with the sign of `a1`; 0 for a zero divisor.",
    words: &[Word::on_integers("floor_mod", Needs::Divisor)],
    kernels: kernels!(floor_mod, (T, T) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Term(term!(if SIGNS_DIFFER { REM(a0, a1) + a1 } else { REM(a0, a1) })),
    fits: None,
    partials: &[Partial::zero("integers carry no derivative"), Partial::zero("integers carry no derivative")],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(-3, 3)],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether the remainder is not 0 and has another sign than the divisor.
fn signs_differ<I: Int>(x: I, y: I) -> bool {
    let r = x.rem(y);
    r != I::ZERO && (r < I::ZERO) != (y < I::ZERO)
}

fn floor_div<I: Int>(x: I, y: I) -> I {
    let q = x.div(y);
    if signs_differ(x, y) { q.sub(I::ONE) } else { q }
}

fn floor_mod<I: Int>(x: I, y: I) -> I {
    let r = x.rem(y);
    if signs_differ(x, y) { r.add(y) } else { r }
}

/// Shift left.
pub static SHL: PrimRow = PrimRow {
    sig: same(&SHL, "shl", WITH_I64, ElemSet::INTEGER),
    group: Group::Logic,
    doc: "The bits of `a0` moved up by `a1` places, taken modulo the width.",
    words: &[Word::on_integers("shl", Needs::Distance)],
    kernels: kernels!(shl, (T, i64) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Native(Instruction::Shl),
    fits: None,
    partials: &[Partial::zero("integers carry no derivative"), Partial::zero("integers carry no derivative")],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(0, 7)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::INTEGER, law: Law::Neutral { operand: 1, value: 0.0, gives: 0 } }],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Shift right.
pub static SHR: PrimRow = PrimRow {
    sig: same(&SHR, "shr", WITH_I64, ElemSet::INTEGER),
    group: Group::Logic,
    doc: "The bits of `a0` moved down by `a1` places, taken modulo the width; the sign is kept.",
    words: &[Word::on_integers("shr", Needs::Distance)],
    kernels: kernels!(shr, (T, i64) on integer),
    denotation: RealDenotation::Other,
    codegen: Codegen::Native(Instruction::Shr),
    fits: None,
    partials: &[Partial::zero("integers carry no derivative"), Partial::zero("integers carry no derivative")],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[Sample::Whole(-3, 3), Sample::Whole(0, 7)],
    expressions: &[],
    identities: &[Identity { on: ElemSet::INTEGER, law: Law::Neutral { operand: 1, value: 0.0, gives: 0 } }],
    edge_points: &[],
    proof: Proof::Nothing,
};

fn shl<I: Int>(x: I, distance: i64) -> I {
    I::wrap(x.to_i128() << (distance as u32 & (I::BITS - 1)))
}

fn shr<I: Int>(x: I, distance: i64) -> I {
    I::wrap(x.to_i128() >> (distance as u32 & (I::BITS - 1)))
}

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] = &[&FLOOR_DIV, &FLOOR_MOD, &SHL, &SHR];
