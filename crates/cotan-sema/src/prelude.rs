//! The prelude: names and signatures of the functions that need no import, as data.

mod manual;

use crate::typed::{Builtin, FloatConstant};

pub(crate) use manual::convention;
pub use manual::{PreludeFunction, prelude_functions};

/// The types that the operands of a scalar function share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// `f32` and `f64`.
    Float,
    /// All numbers.
    Numeric,
    /// All integer types.
    Integer,
    /// Everything.
    Any,
}

/// An operand of a scalar function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The type that all operands marked so share.
    Same,
    /// Any integer type.
    Integer,
    /// `bool`.
    Bool,
}

/// A function on scalars, which lifts to tensors.
#[derive(Debug, PartialEq, Eq)]
pub struct ScalarFunction {
    /// The name in the language.
    pub name: &'static str,
    /// The name of the primitive in the op table.
    pub row: &'static str,
    /// Whether an integer result that does not fit wraps; otherwise it is a run-time error.
    pub wraps: bool,
    /// What the shared type may be.
    pub domain: Domain,
    /// The operands.
    pub operands: &'static [Operand],
    /// Whether the result is `bool`; otherwise it has the shared type.
    pub is_predicate: bool,
}

const ONE: &[Operand] = &[Operand::Same];
const TWO: &[Operand] = &[Operand::Same, Operand::Same];
const WITH_EXPONENT: &[Operand] = &[Operand::Same, Operand::Integer];
const THREE: &[Operand] = &[Operand::Same, Operand::Same, Operand::Same];

const fn function(name: &'static str, domain: Domain, operands: &'static [Operand]) -> ScalarFunction {
    ScalarFunction { name, row: name, wraps: false, domain, operands, is_predicate: false }
}

const fn wrapping(name: &'static str, row: &'static str, operands: &'static [Operand]) -> ScalarFunction {
    ScalarFunction { row, wraps: true, ..function(name, Domain::Integer, operands) }
}

const fn bits(name: &'static str, row: &'static str) -> ScalarFunction {
    ScalarFunction { row, ..function(name, Domain::Integer, TWO) }
}

const fn float(name: &'static str) -> ScalarFunction {
    function(name, Domain::Float, ONE)
}

const fn predicate(name: &'static str) -> ScalarFunction {
    ScalarFunction { is_predicate: true, ..float(name) }
}

/// The functions on scalars.
pub(crate) static SCALAR_FUNCTIONS: &[ScalarFunction] = &[
    float("exp"),
    float("log"),
    float("log2"),
    float("log10"),
    float("log1p"),
    float("expm1"),
    float("sqrt"),
    float("rsqrt"),
    float("cbrt"),
    float("sin"),
    float("cos"),
    float("tan"),
    float("asin"),
    float("acos"),
    float("atan"),
    function("atan2", Domain::Float, TWO),
    float("sinh"),
    float("cosh"),
    float("tanh"),
    float("asinh"),
    float("acosh"),
    float("atanh"),
    float("erf"),
    float("erfc"),
    float("lgamma"),
    function("abs", Domain::Numeric, ONE),
    function("sign", Domain::Numeric, ONE),
    float("floor"),
    float("ceil"),
    float("round"),
    float("trunc"),
    function("min", Domain::Numeric, TWO),
    function("max", Domain::Numeric, TWO),
    function("clamp", Domain::Numeric, THREE),
    float("relu"),
    float("sigmoid"),
    function("pow", Domain::Float, TWO),
    function("powi", Domain::Float, WITH_EXPONENT),
    function("hypot", Domain::Float, TWO),
    function("copysign", Domain::Float, TWO),
    function("fma", Domain::Float, THREE),
    function("select", Domain::Any, &[Operand::Bool, Operand::Same, Operand::Same]),
    predicate("isnan"),
    predicate("isfinite"),
    bits("bit_and", "and"),
    bits("bit_or", "or"),
    bits("bit_xor", "xor"),
    wrapping("wrapping_add", "add", TWO),
    wrapping("wrapping_sub", "sub", TWO),
    wrapping("wrapping_mul", "mul", TWO),
    wrapping("wrapping_neg", "neg", ONE),
    wrapping("wrapping_abs", "abs", ONE),
    wrapping("wrapping_pow", "powi", WITH_EXPONENT),
];

/// The functions that are no scalar primitives.
pub(crate) static BUILTINS: &[(&str, Builtin)] = &[
    ("tabulate", Builtin::Tabulate),
    ("map", Builtin::Map),
    ("zip", Builtin::Zip),
    ("scan", Builtin::Scan),
    ("fold", Builtin::Fold),
    ("iterate", Builtin::Iterate),
    ("iterate_until", Builtin::IterateUntil),
    ("concat", Builtin::Concat),
    ("reverse", Builtin::Reverse),
    ("transpose", Builtin::Transpose),
    ("reshape", Builtin::Reshape),
    ("broadcast", Builtin::Broadcast),
    ("zeros", Builtin::Zeros),
    ("ones", Builtin::Ones),
    ("full", Builtin::Full),
    ("zeros_like", Builtin::ZerosLike),
    ("iota", Builtin::Iota),
    ("diag", Builtin::Diag),
    ("trace", Builtin::Trace),
    ("sum", Builtin::Sum),
    ("prod", Builtin::Prod),
    ("mean", Builtin::Mean),
    ("dot", Builtin::Dot),
    ("norm", Builtin::Norm),
    ("stop_gradient", Builtin::StopGradient),
    ("each", Builtin::Each),
    ("sort", Builtin::Sort),
    ("argsort", Builtin::Argsort),
    ("argmax", Builtin::Argmax),
    ("argmin", Builtin::Argmin),
    ("cumsum", Builtin::Cumsum),
    ("cumprod", Builtin::Cumprod),
    ("gather", Builtin::Gather),
    ("wrapping_as", Builtin::WrappingAs),
];

/// The constants, of any float type.
pub(crate) static CONSTANTS: &[(&str, FloatConstant)] =
    &[("inf", FloatConstant::Inf), ("nan", FloatConstant::Nan), ("pi", FloatConstant::Pi), ("e", FloatConstant::E)];

/// The scalar function of that name.
pub fn scalar_function(name: &str) -> Option<&'static ScalarFunction> {
    SCALAR_FUNCTIONS.iter().find(|function| function.name == name)
}

/// The builtin of that name.
pub(crate) fn builtin(name: &str) -> Option<Builtin> {
    find(BUILTINS, name)
}

/// The name of a builtin.
pub fn builtin_name(builtin: Builtin) -> &'static str {
    BUILTINS.iter().find(|(_, other)| *other == builtin).map_or("", |(name, _)| name)
}

/// The constant of that name.
pub(crate) fn constant(name: &str) -> Option<FloatConstant> {
    find(CONSTANTS, name)
}

/// All names of the prelude that are there.
pub(crate) fn names<'n>() -> impl Iterator<Item = &'n str> {
    let functions = SCALAR_FUNCTIONS.iter().map(|function| function.name);
    functions.chain(BUILTINS.iter().map(|(name, _)| *name)).chain(CONSTANTS.iter().map(|(name, _)| *name))
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(other, _)| *other == name).map(|(_, found)| *found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_means_two_things() {
        let mut seen = BTreeSet::new();
        for name in names() {
            assert!(seen.insert(name), "`{name}` stands twice");
        }
        assert!(seen.contains("iterate_until") && seen.contains("lgamma"));
    }
}
