//! The row of a scalar primitive: everything that is known of it, as data.
//!
//! Rows are made of [`Term`]s, and terms apply rows. Partial derivatives, denotations and what backends compute are terms, so
//! that both derivative modes, the tests, the reference text and the proof obligations read the same thing.

use crate::{Carrier, Condition, Expansion, Instruction, Kernel, Known, Needs, Word};
use cotan_ir::{Const, Elem, ElemSet, OperandElem, Prim, PrimSig};
use std::fmt;

/// A scalar primitive. Rows are statics; two rows are the same exactly when their addresses are.
pub struct PrimRow {
    /// Name and types. Its record is this row.
    pub sig: PrimSig,
    /// The part of the reference that it belongs to.
    pub group: Group,
    /// One sentence on what it computes of its operands `a0`, `a1`, ...
    pub doc: &'static str,
    /// The functions of the language that it is.
    pub words: &'static [Word],
    /// The evaluators: one for every type that `T` may stand for.
    pub kernels: fn(Carrier) -> Option<Kernel>,
    /// What it is on real numbers.
    pub denotation: RealDenotation,
    /// How a backend computes it.
    pub codegen: Codegen,
    /// The condition that an integer result does not wrap, over the same operands; nothing where it never does, or where
    /// wrapping is what the primitive is for.
    pub fits: Option<&'static PrimRow>,
    /// One per operand.
    pub partials: &'static [Partial],
    /// What happens where a partial is no derivative.
    pub kinks: Kinks,
    /// Where the partials are true derivatives: all of these hold.
    pub domain: &'static [Condition],
    /// One per operand: where tests sample it.
    pub samples: &'static [Sample],
    /// How random programs use it: expressions of the language, in which `_` and `$` stand for floats of moderate size. They
    /// keep operands inside of the domain and results of moderate size.
    pub expressions: &'static [&'static str],
    /// Algebraic identities that hold bit for bit.
    pub identities: &'static [Identity],
    /// Points at which the value or a derivative is a matter of convention, and what it is there.
    pub edge_points: &'static [EdgePoint],
    /// Whether the partials are proved.
    pub proof: Proof,
}

/// The parts of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Arithmetic and rounding.
    Arithmetic,
    /// Elementary and special functions.
    Elementary,
    /// Comparisons.
    Comparison,
    /// Logic and bits.
    Logic,
    /// Conditions for run-time checks.
    Check,
    /// Conversions between element types.
    Cast,
    /// Shapes of tensors.
    Shape,
    /// Sorting.
    Sorting,
    /// Products of tensors.
    Product,
    /// Factorisations and solutions of linear equations.
    LinearAlgebra,
    /// Fourier transforms.
    Spectral,
    /// Output.
    Output,
}

impl Group {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Group::Arithmetic => "arithmetic",
            Group::Elementary => "elementary",
            Group::Comparison => "comparison",
            Group::Logic => "logic",
            Group::Check => "check",
            Group::Cast => "cast",
            Group::Shape => "shape",
            Group::Sorting => "sorting",
            Group::Product => "product",
            Group::LinearAlgebra => "linear algebra",
            Group::Spectral => "spectral",
            Group::Output => "output",
        }
    }
}

/// An expression over the operands and the result of one use of a primitive. `T` is the element type of that use.
#[derive(Clone, Copy)]
pub enum Term {
    /// An operand, by position.
    Arg(usize),
    /// The result.
    Result,
    /// A constant of type `T`.
    Number(f64),
    /// A constant of type `T` that has a name.
    Named(&'static Constant),
    /// A constant of type i64.
    Int(i64),
    /// A value converted to `T`.
    ToT(&'static Term),
    /// Another primitive of the table.
    Apply(&'static PrimRow, &'static [Term]),
}

/// A real number that is rounded where it is used.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// What formulas call it.
    pub name: &'static str,
    /// The number rounded to nearest.
    pub value: f64,
    /// What it is exactly: a term without operands.
    pub exact: Term,
}

/// What a primitive is on real numbers. Whole and truth-valued operands stay what they are.
#[derive(Clone, Copy, Debug)]
pub enum RealDenotation {
    /// A function that terms are made of.
    Known(Known),
    /// This term over its operands.
    Term(Term),
    /// The term by which backends compute it.
    Codegen,
    /// This truth value, as every real number is finite.
    Always(bool),
    /// Nothing: it is for integers or truth values alone, or leads from real numbers to integers.
    Other,
}

/// How a backend computes a primitive. Whatever it does gives the bits of the kernel.
#[derive(Clone, Copy, Debug)]
pub enum Codegen {
    /// By an instruction that every machine has.
    Native(Instruction),
    /// By a call of the host function `cotan_<name>_<elem>`.
    Host,
    /// By the products of [`power_products`](crate::power_products) where the exponent is a number that it writes out, by the
    /// host function elsewhere.
    Power,
    /// By an instruction on integers, by the host function on floats.
    NativeOrHost(Instruction),
    /// By this term over its operands.
    Term(Term),
    /// On floats, by straight-line code of instructions. Where the code leaves operands to it, by the host function.
    Expansion(Expansion),
}

/// The derivative with respect to one operand.
#[derive(Clone, Copy, Debug)]
pub enum Partial {
    /// The contribution is the cotangent (or tangent) times this term, by `mulz`.
    Term {
        /// The partial derivative.
        term: Term,
        /// Whether the term is finite for all operands, NaN and infinities included, so that a plain product does.
        always_finite: bool,
        /// Whether the formula of the term shares its dear part, such as an exponential, with that of the primitive, so that
        /// it costs little where both are computed at one place. Its size is at most 1: it is multiplied with other partials
        /// before the cotangent is, and must not overflow there.
        beside: bool,
    },
    /// The primitive is a linear conversion of the element type: the tangent of the result is the same conversion of
    /// the tangent, the cotangent of the operand is the conversion of the cotangent to the type of the operand.
    Convert,
    /// Zero by nature.
    Zero {
        /// Why.
        reason: &'static str,
    },
}

impl Partial {
    /// A partial that may be infinite or NaN.
    pub(crate) const fn term(term: Term) -> Partial {
        Partial::Term { term, always_finite: false, beside: false }
    }

    /// A partial that is finite whatever the operands are.
    pub(crate) const fn finite(term: Term) -> Partial {
        Partial::Term { term, always_finite: true, beside: false }
    }

    /// A partial that may be NaN, and whose formula shares its dear part with that of the primitive.
    pub(crate) const fn beside(term: Term) -> Partial {
        Partial::Term { term, always_finite: false, beside: true }
    }

    /// Zero by nature.
    pub(crate) const fn zero(reason: &'static str) -> Partial {
        Partial::Zero { reason }
    }
}

/// What happens where a partial is no derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinks {
    /// There is no such point inside the domain of the function.
    Smooth,
    /// The convention there.
    At(&'static str),
    /// The derivative is zero everywhere, so there is nothing to choose.
    Flat,
}

/// Where tests take the values of an operand from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// An interval, for floats.
    Span(f64, f64),
    /// Small whole numbers from the first to the second.
    Whole(i64, i64),
    /// Both truth values.
    Truth,
}

/// An identity that holds bit for bit for operands of the given types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity {
    /// The types.
    pub on: ElemSet,
    /// The identity.
    pub law: Law,
}

/// What an identity says. Numbers are read in the type of the operands; 1 and 0 of `bool` are true and false.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// `f(a, b) = f(b, a)`.
    Commutative,
    /// `f(f(a, b), c) = f(a, f(b, c))`.
    Associative,
    /// With `value` as operand number `operand`, the result is operand number `gives`.
    Neutral {
        /// Position of the constant.
        operand: usize,
        /// The constant.
        value: f64,
        /// Position of the result.
        gives: usize,
    },
    /// With `value` as operand number `operand`, the result is the number `result`.
    Absorbing {
        /// Position of the constant.
        operand: usize,
        /// The constant.
        value: f64,
        /// The result.
        result: f64,
    },
    /// `f(a, a) = a`; of a select, the last two operands.
    Idempotent,
    /// `f(a, a)` is this number.
    Same(f64),
    /// `f(f(a)) = a`.
    Involution,
    /// `f(f(a)) = f(a)`.
    Projection,
}

/// A point at which something is a matter of convention.
#[derive(Clone, Copy, Debug)]
pub struct EdgePoint {
    /// The operands.
    pub at: &'static [f64],
    /// The value; NaN stands for any NaN.
    pub value: f64,
    /// The partials: what one unit of tangent of each operand contributes.
    pub partials: &'static [f64],
    /// Why.
    pub why: &'static str,
}

/// State of the machine-checked proof that the partials are true derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// There is nothing to prove: all partials are zero by nature, or conventions.
    Nothing,
    /// Proved: by the lemma that is written from the row, `proofs/generated/Rules_gen.v`.
    Proved,
    /// An instance of this theorem of `proofs/theories/Tensor.v`. That it is one is tested.
    Theorem(&'static str),
    /// Not to be proved, for a reason.
    Unproved {
        /// Why.
        reason: &'static str,
    },
}

impl RealDenotation {
    /// What stands for the primitive on residues; `None` for one that is a term, or for which nothing stands.
    pub fn in_field(self) -> Option<Kernel> {
        match self {
            RealDenotation::Known(known) => Some(known.in_field()),
            RealDenotation::Always(true) => Some(|_| 1),
            RealDenotation::Always(false) => Some(|_| 0),
            RealDenotation::Term(_) | RealDenotation::Codegen | RealDenotation::Other => None,
        }
    }
}

impl PrimRow {
    /// The reference by which the IR names this row.
    pub fn prim(&'static self) -> Prim {
        Prim(&self.sig)
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.sig.name
    }

    /// The term that says what the primitive is, unless it is known or no function of real numbers.
    pub fn term(&self) -> Option<&Term> {
        match (&self.denotation, &self.codegen) {
            (RealDenotation::Term(term), _) | (RealDenotation::Codegen, Codegen::Term(term)) => Some(term),
            (
                RealDenotation::Known(_) | RealDenotation::Codegen | RealDenotation::Always(_) | RealDenotation::Other,
                _,
            ) => None,
        }
    }

    /// What must hold of the operands where a program calls it.
    pub fn needs(&self) -> Needs {
        self.words.first().map_or(Needs::Nothing, |word| word.needs)
    }

    /// Whether the row gives its first operand back and lets no derivative through it. Its values say otherwise, so
    /// finite differences can't judge it.
    pub fn redirects_derivative(&self) -> bool {
        matches!(self.codegen, Codegen::Native(Instruction::Identity))
            && matches!(self.partials.first(), Some(Partial::Zero { .. }))
    }

    /// Whether a partial is infinite at a point where the operands and the value are finite, as that of a root at 0.
    pub fn has_vertical_slope(&self) -> bool {
        let is_vertical = |a: &EdgePoint| {
            a.value.is_finite() && a.at.iter().all(|x| x.is_finite()) && a.partials.iter().any(|p| p.is_infinite())
        };
        self.edge_points.iter().any(is_vertical)
    }

    /// The element type that `T` stands for; `None` if no operand is marked `T`.
    pub fn t_of(&self, operands: &[Elem]) -> Option<Elem> {
        let mut pairs = self.sig.operands.iter().zip(operands);
        pairs.find(|(want, _)| **want == OperandElem::T).map(|(_, found)| *found)
    }

    /// The evaluator for operands of these types.
    pub fn kernel(&self, operands: &[Elem]) -> Option<Kernel> {
        (self.kernels)(Carrier::Elem(self.t_of(operands).unwrap_or(Elem::I64)))
    }

    /// The value for these operands, or what is wrong with their types.
    pub fn eval(&'static self, operands: &[Const]) -> Result<Const, String> {
        let elems: Vec<Elem> = operands.iter().map(|c| c.elem()).collect();
        let elem = self.prim().result_elem(&elems)?;
        let bits: Vec<u64> = operands.iter().map(|c| c.bits()).collect();
        let kernel = self.kernel(&elems).ok_or_else(|| format!("`{}` is not defined on {elems:?}", self.name()))?;
        Ok(Const::from_bits(elem, kernel(&bits)))
    }
}

impl PartialEq for PrimRow {
    fn eq(&self, other: &PrimRow) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for PrimRow {}

impl fmt::Debug for PrimRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sig.name)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn functions_with_a_root_in_them_have_vertical_slopes() {
        let rows = crate::table::table().iter().filter(|row| row.has_vertical_slope());
        let names: Vec<&str> = rows.map(|row| row.name()).collect();
        assert_eq!(names, ["sqrt", "cbrt", "pow", "asin", "acos", "acosh"]);
    }
}
