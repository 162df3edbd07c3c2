//! Circular functions.

use crate::PrimRow;
use crate::float::Float;
use crate::kernel::kernels;
use crate::row::{Group, Kinks, Lowering, Partial, Proof, Sample};
use crate::signature::{UNARY, same};
use crate::term::{A0, t};
use crate::NEG;
use cotan_ir::ElemSet;

/// Sine.
pub static SIN: PrimRow = PrimRow {
    sig: same(&SIN, "sin", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The sine of `a0` radians.",
    kernels: kernels!(Float::sin, (T) on float),
    lowering: Lowering::Host,
    partials: &[Partial::term(t!(COS, A0))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-6.0, 6.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Pending,
};

/// Cosine.
pub static COS: PrimRow = PrimRow {
    sig: same(&COS, "cos", UNARY, ElemSet::FLOAT),
    group: Group::Elementary,
    doc: "The cosine of `a0` radians.",
    kernels: kernels!(Float::cos, (T) on float),
    lowering: Lowering::Host,
    partials: &[Partial::term(t!(NEG, t!(SIN, A0)))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Span(-6.0, 6.0)],
    identities: &[],
    awkward: &[],
    proof: Proof::Pending,
};
