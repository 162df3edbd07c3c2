//! Frames: what the variables of a running function hold.
//!
//! A frame has one slot per variable of the function. Variables are bound once in the text, so a slot is written again
//! only when the block that binds it runs again, and no environment is ever copied.

use crate::budget::Charge;
use crate::error::{Outcome, bug};
use crate::value::{Array, Val};
use cotan_ir::{Atom, Dim, Function, Monoid, Span, Var};

/// One activation of a function.
pub(crate) struct Frame<'f> {
    pub(crate) f: &'f Function,
    pub(crate) slots: Vec<Slot>,
}

/// What a variable holds.
pub(crate) enum Slot {
    /// Nothing: not bound yet, or taken away by the last reader.
    Empty,
    /// A value.
    Val(Val),
    /// An accumulator.
    Acc(Box<Accumulator>),
}

/// What has been written so far to an accumulator.
#[derive(Debug)]
pub(crate) enum Accumulator {
    /// The running combination of every element.
    Running { monoid: Monoid, array: Array },
    /// Everything that was written to every element, in order. Ties can only be told when all of it is known.
    Contest { monoid: Monoid, init: Array, written: Vec<Vec<u64>>, charge: Charge },
    /// Rows by position, for a result of the statement at that place.
    Log { row_dims: Vec<i64>, rows: Vec<u64>, is_written: Vec<bool>, charge: Charge, result: (Var, Span) },
}

impl Frame<'_> {
    /// The value of a variable.
    pub(crate) fn value(&self, v: Var) -> Outcome<&Val> {
        match &self.slots[v.index()] {
            Slot::Val(val) => Ok(val),
            Slot::Empty | Slot::Acc(_) => bug(format!("`{}` has no value here", self.f.name_of(v))),
        }
    }

    /// The value of an i64 operand. Integers are the same in every domain.
    pub(crate) fn int(&self, a: Atom) -> Outcome<i64> {
        let int = match a {
            Atom::Const(c) => c.as_i64(),
            Atom::Var(v) => self.value(v)?.scalar().map(|cell| cell as i64),
        };
        int.map_or_else(|| bug("expected an i64 scalar"), Ok)
    }

    /// Several i64 operands.
    pub(crate) fn ints(&self, atoms: &[Atom]) -> Outcome<Vec<i64>> {
        atoms.iter().map(|a| self.int(*a)).collect()
    }

    /// The value of a bool operand.
    pub(crate) fn truth(&self, a: Atom) -> Outcome<bool> {
        let truth = match a {
            Atom::Const(c) => c.as_bool(),
            Atom::Var(v) => self.value(v)?.scalar().map(|cell| cell & 1 != 0),
        };
        truth.map_or_else(|| bug("expected a bool scalar"), Ok)
    }

    /// The extents that dims of a type stand for.
    pub(crate) fn extents(&self, dims: &[Dim]) -> Outcome<Vec<i64>> {
        let extents: Vec<i64> = dims.iter().map(|d| self.int(d.atom())).collect::<Outcome<_>>()?;
        if extents.iter().any(|n| *n < 0) { bug(format!("negative extents {extents:?}")) } else { Ok(extents) }
    }

    pub(crate) fn has_extents(&self, dims: &[Dim], extents: &[i64]) -> Outcome<bool> {
        if dims.len() != extents.len() {
            return Ok(false);
        }
        for (dim, extent) in dims.iter().zip(extents) {
            if self.int(dim.atom())? != *extent {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
