//! Exponentials, logarithms and roots.

use crate::PrimRow;
use crate::float::Float;
use crate::kernel::kernels;
use crate::row::{Condition, Group, Instruction, Kinks, Lowering, Partial, Proof, Sample};
use crate::signature::{UNARY, same};
use crate::term::{A0, HALF, ONE, R, ZERO, t};
use crate::{DIV, GE, SELECT, Term};
use cotan_ir::ElemSet;

/// Exponential function.
pub static EXP: PrimRow = PrimRow {
    sig: same(&EXP, "exp", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "e to the power `a0`.",
    kernels: kernels!(Float::exp, (T) on float),
    lowering: Lowering::Host,
    partials: &[Partial::term(R)],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-3.0, 3.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Pending,
};

/// Natural logarithm.
pub static LOG: PrimRow = PrimRow {
    sig: same(&LOG, "log", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The natural logarithm of `a0`; NaN below 0.",
    kernels: kernels!(Float::log, (T) on float),
    lowering: Lowering::Host,
    partials: &[Partial::term(t!(SELECT, t!(GE, A0, ZERO), t!(DIV, ONE, A0), Term::Number(f64::NAN)))],
    kinks: Kinks::Smooth,
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Pending,
};

/// Square root.
pub static SQRT: PrimRow = PrimRow {
    sig: same(&SQRT, "sqrt", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The square root of `a0`; NaN below 0.",
    kernels: kernels!(Float::sqrt, (T) on float),
    lowering: Lowering::Native(Instruction::Sqrt),
    partials: &[Partial::term(t!(DIV, HALF, R))],
    kinks: Kinks::At("at 0 the derivative is +inf, unless what it is multiplied with is exactly 0"),
    domain: &[Condition::Above(0, 0.0)],
    samples: &[Sample::Span(0.2, 4.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Pending,
};
