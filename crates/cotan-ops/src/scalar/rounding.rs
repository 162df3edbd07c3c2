//! Sign and rounding.

use crate::PrimRow;
use crate::kernel::kernels;
use crate::num::Num;
use crate::row::{Awkward, Condition, Group, Identity, Instruction, Kinks, Law, Lowering, Partial, Proof, Sample};
use crate::signature::{UNARY, same};
use crate::term::{A0, t};
use cotan_ir::ElemSet;

/// Magnitude.
pub static ABS: PrimRow = PrimRow {
    sig: same(&ABS, "abs", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "The magnitude of `a0`; the least integer wraps to itself.",
    kernels: kernels!(Num::abs, (T) on numeric),
    lowering: Lowering::Native(Instruction::Abs),
    partials: &[Partial::term(t!(SIGN, A0))],
    kinks: Kinks::At("at 0 the derivative is 0"),
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    identities: &[Identity { on: ElemSet::NUMERIC, law: Law::Projection }],
    awkward: &[Awkward { at: &[0.0], value: 0.0, partials: &[0.0], why: "the mean of both slopes" }],
    proof: Proof::Pending,
};

/// Sign.
pub static SIGN: PrimRow = PrimRow {
    sig: same(&SIGN, "sign", UNARY, ElemSet::NUMERIC),
    group: Group::Arithmetic,
    doc: "-1, 0 or 1 as `a0` is negative, zero or positive; NaN of NaN.",
    kernels: kernels!(Num::sign, (T) on numeric),
    lowering: Lowering::Expand(t!(
        crate::SELECT,
        t!(crate::GT, A0, crate::term::ZERO),
        crate::term::ONE,
        t!(crate::SELECT, t!(crate::LT, A0, crate::term::ZERO), crate::term::MINUS_ONE, A0)
    )),
    partials: &[Partial::zero("the sign is piecewise constant")],
    kinks: Kinks::Flat,
    domain: &[Condition::IsNot(0, 0.0)],
    samples: &[Sample::Span(0.5, 3.0)],
    identities: &[Identity { on: ElemSet::NUMERIC, law: Law::Projection }],
    awkward: &[],
    proof: Proof::Nothing,
};
