//! The prelude: names and signatures of the functions that need no import, as data. Those on scalars are the words of the
//! op table.

mod manual;

use crate::typed::{Builtin, FloatConstant};
use cotan_ir::{Elem, OperandElem, ResultElem};
use cotan_ops::{PrimRow, Word};

pub(crate) use manual::convention;
pub use manual::{PreludeFunction, prelude_functions};

/// A function on scalars, which lifts to tensors: a word of a row of the op table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarFunction {
    /// The primitive.
    pub(crate) row: &'static PrimRow,
    /// The word.
    pub(crate) word: &'static Word,
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

impl ScalarFunction {
    /// The name in the language.
    pub(crate) fn name(self) -> &'static str {
        self.word.name
    }

    /// The operands.
    pub(crate) fn operands(self) -> impl ExactSizeIterator<Item = Operand> {
        self.row.sig.operands.iter().map(|operand| match operand {
            OperandElem::T => Operand::Same,
            OperandElem::Is(elem) if *elem == Elem::Bool => Operand::Bool,
            OperandElem::Is(_) => Operand::Integer,
        })
    }

    /// Whether the result is `bool`; otherwise it has the shared type.
    pub(crate) fn is_predicate(self) -> bool {
        self.row.sig.result == ResultElem::Is(Elem::Bool)
    }
}

/// The functions on scalars, in the order of the op table.
pub(crate) fn scalar_functions() -> impl Iterator<Item = ScalarFunction> {
    let words = |row: &&'static PrimRow| {
        let row = *row;
        row.words.iter().map(move |word| ScalarFunction { row, word })
    };
    cotan_ops::table().iter().flat_map(words)
}

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
    ("map_leaves", Builtin::MapLeaves),
    ("sum_leaves", Builtin::SumLeaves),
    ("inner", Builtin::Inner),
    ("count_leaves", Builtin::CountLeaves),
    ("close", Builtin::Close),
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
pub(crate) fn scalar_function(name: &str) -> Option<ScalarFunction> {
    scalar_functions().find(|function| function.name() == name)
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
    let functions = scalar_functions().map(|function| -> &'n str { function.name() });
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
