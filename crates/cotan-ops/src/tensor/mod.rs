//! The structural operations on tensors, one file each, and what is known of them.

use crate::{Group, Operand, Proof, Value};
use cotan_ir::{Atom, Builder, CheckKind, Elem, ElemSet, TensorOp, TensorSig, Ty};
use std::fmt;

mod algebra;
pub(crate) mod argsort;
pub(crate) mod cholesky;
pub(crate) mod concat;
pub(crate) mod eigh;
pub(crate) mod fft;
pub(crate) mod fill;
pub(crate) mod from_elements;
pub(crate) mod iota;
pub(crate) mod lu;
pub(crate) mod matmul;
mod matrices;
pub(crate) mod orthonormal;
pub(crate) mod print;
pub(crate) mod reshape;
pub(crate) mod reverse;
pub(crate) mod routine;
pub(crate) mod sample;
mod shape;
pub(crate) mod slice;
pub(crate) mod slogdet;
pub(crate) mod solve;
pub(crate) mod svd;
pub(crate) mod transpose;
pub(crate) mod triangular_solve;

pub use routine::{Array, Routine, RoutineCall};
pub use sample::{Like, Sampled, TensorSample};
pub use shape::ShapeRule;

/// An operation on tensors: everything that is known of it. A record has no field that may be left out.
pub struct TensorRow {
    /// Its name. Its record is this one.
    pub sig: TensorSig,
    /// The part of the reference that it belongs to.
    pub group: Group,
    /// The operands, and whether a derivative flows into each.
    pub operands: &'static [Operand],
    /// The type of the result.
    pub result: &'static str,
    /// The element types that `T` may stand for.
    pub elems: ElemSet,
    /// Operands, attributes, result, in one sentence.
    pub doc: &'static str,
    /// How the dims of the result follow from those of the operands.
    pub shape: ShapeRule,
    /// Whether operands, attributes and the result fit together.
    pub check: fn(&Shapes) -> Result<(), String>,
    /// How the result is computed.
    pub evaluation: Evaluation,
    /// The derivative.
    pub derivative: Derivative,
    /// What it does to a batch of operands.
    pub batching: Batching,
    /// What it is where programs are exported to StableHLO.
    pub stablehlo: StableHlo,
    /// What is wrong where the result has a NaN although no operand has one; nothing if that is no error.
    pub failure: Option<CheckKind>,
    /// Where tests call it; of an operation with attributes, with each of their values that takes another way.
    pub samples: &'static [TensorSample],
    /// Whether the derivative is proved.
    pub proof: Proof,
}

/// How the result of an operation is computed, for shapes that passed the check.
#[derive(Clone, Copy)]
pub enum Evaluation {
    /// By moving elements, and at most by sums of products of them. Backends do the same by loops.
    Direct(fn(&Inputs) -> Value),
    /// By a numerical routine, on floats as machines have them. Backends call it.
    Routine(Routine),
}

/// What an operation does to a batch: to operands that have one more axis at the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// Leading axes are a batch already, if all operands have them, and the attributes stay.
    Leading,
    /// The attributes are axes, of which each counts one more.
    Axes,
    /// One use for each position of the batch.
    Each {
        /// Why.
        reason: &'static str,
    },
}

/// What an operation is in StableHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StableHlo {
    /// The operation of that name.
    Operation(&'static str),
    /// A call of a library of the target, by that name.
    CustomCall(&'static str),
    /// Nothing.
    None {
        /// Why.
        reason: &'static str,
    },
}

/// Concrete shapes of one use.
#[derive(Clone, Copy, Debug)]
pub struct Shapes<'a> {
    /// Element type and dims of every operand.
    pub args: &'a [(Elem, &'a [i64])],
    /// Static attributes.
    pub attrs: &'a [i64],
    /// Element type and dims of the result.
    pub result: (Elem, &'a [i64]),
}

/// Concrete operands of one use.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The operands.
    pub args: &'a [&'a Value],
    /// Static attributes.
    pub attrs: &'a [i64],
    /// Element type and dims of the result.
    pub result: (Elem, &'a [i64]),
    /// Whether floats stand for residues modulo 2^61 - 1.
    pub in_field: bool,
}

/// One use in a function that is being differentiated.
#[derive(Clone, Copy, Debug)]
pub struct TensorUse<'a> {
    /// The operands.
    pub args: &'a [Atom],
    /// Static attributes.
    pub attrs: &'a [i64],
    /// The type of the derivative of the result.
    pub result: &'a Ty,
}

/// Appends the statements that map a derivative through one operand of a use: `(builder, use, derivative, operand)`.
pub type Map = fn(&mut Builder, &TensorUse, Atom, usize) -> Atom;

/// How an operation is differentiated. There is no default.
#[derive(Clone, Copy)]
pub enum Derivative {
    /// Linear in all float operands together; the others (positions) are parameters of the linear map. The tangent of
    /// the result is the operation on the tangents, zeros for operands without one.
    Linear {
        /// The cotangent of one float operand, given that of the result.
        transpose: Map,
    },
    /// Linear in every float operand on its own. The tangent of the result is the sum of one contribution per operand.
    Multilinear {
        /// The contribution of one operand's tangent to that of the result.
        push: Map,
        /// The cotangent of one operand, given that of the result.
        transpose: Map,
    },
    /// By formulas of its own, one for each mode.
    Rule {
        /// The tangent of the result.
        push: Push,
        /// The cotangent of one operand.
        pull: Pull,
    },
    /// Zero by nature.
    None {
        /// Why.
        reason: &'static str,
    },
}

/// Appends the statements that give the tangent of a result: `(builder, use, result, tangents)`, one tangent per operand,
/// none where it is zero; at least one is there.
pub type Push = fn(&mut Builder, &TensorUse, Atom, &[Option<Atom>]) -> Atom;

/// Appends the statements that give the cotangent of one operand: `(builder, use, result, cotangent, operand)`.
pub type Pull = fn(&mut Builder, &TensorUse, Atom, Atom, usize) -> Atom;

impl TensorRow {
    /// The reference by which the IR names this operation.
    pub fn op(&'static self) -> TensorOp {
        TensorOp(&self.sig)
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.sig.name
    }

    /// The types of operands and result: `(T[..], i64) -> T[..]`.
    pub fn signature(&self) -> String {
        let operand = |of: &Operand| if of.repeated { format!("{}, ..", of.ty) } else { of.ty.to_owned() };
        let operands: Vec<String> = self.operands.iter().map(operand).collect();
        format!("({}) -> {}", operands.join(", "), self.result)
    }

    /// The result; nothing for a routine where floats stand for residues, which it does not know.
    pub fn value(&self, inputs: &Inputs) -> Option<Value> {
        match self.evaluation {
            Evaluation::Direct(eval) => Some(eval(inputs)),
            Evaluation::Routine(_) if inputs.in_field && inputs.has_floats() => None,
            Evaluation::Routine(routine) => Some(routine::value(routine, inputs)),
        }
    }
}

impl fmt::Debug for TensorRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sig.name)
    }
}

impl Inputs<'_> {
    /// Whether operands or the result are floats.
    fn has_floats(&self) -> bool {
        self.result.0.is_float() || self.args.iter().any(|arg| arg.elem.is_float())
    }

    /// The i64 scalar that an operand is.
    pub(crate) fn position(&self, operand: usize) -> i64 {
        self.args[operand].bits[0] as i64
    }
}

impl<'a> Shapes<'a> {
    pub(crate) fn n_args(&self, n: usize) -> Result<(), String> {
        if self.args.len() == n { Ok(()) } else { Err(format!("expected {n} operands, found {}", self.args.len())) }
    }

    pub(crate) fn n_attrs(&self, n: usize) -> Result<(), String> {
        if self.attrs.len() == n { Ok(()) } else { Err(format!("expected {n} attributes, found {}", self.attrs.len())) }
    }

    /// Attribute number `at`, which is an axis of a tensor of this rank.
    pub(crate) fn axis(&self, at: usize, rank: usize) -> Result<usize, String> {
        let axis = self.attrs.get(at).copied().unwrap_or(-1);
        match usize::try_from(axis) {
            Ok(axis) if axis < rank => Ok(axis),
            Ok(_) | Err(_) => Err(format!("expected an axis of a tensor of rank {rank}, found {axis}")),
        }
    }

    /// The element types of the first operand and of the result are the same.
    pub(crate) fn same_elem(&self) -> Result<(), String> {
        let (found, expected) = (self.result.0, self.args[0].0);
        if found == expected { Ok(()) } else { Err(format!("expected a result of {expected}, found {found}")) }
    }

    /// The result has these dims.
    pub(crate) fn result_dims(&self, expected: &[i64]) -> Result<(), String> {
        let found = self.result.1;
        if found == expected { Ok(()) } else { Err(format!("expected a result of dims {expected:?}, found {found:?}")) }
    }

    /// The dims of the result are those that the rule makes of the one operand.
    pub(crate) fn follows(&self, rule: ShapeRule) -> Result<(), String> {
        rule.of_operand(self.args[0].1, self.attrs).map_or(Ok(()), |expected| self.result_dims(&expected))
    }

    /// Operand `at` is an i64 scalar.
    pub(crate) fn position(&self, at: usize) -> Result<(), String> {
        match self.args[at] {
            (Elem::I64, []) => Ok(()),
            (elem, dims) => Err(format!("expected an i64 as operand {at}, found {elem} of dims {dims:?}")),
        }
    }
}
