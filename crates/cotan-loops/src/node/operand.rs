//! Operands: locals, which are scalar variables or vectors of lanes, and constants.

use cotan_ir::{Const, Elem, Symbol, Unknown};

/// A scalar variable: an index into the function's table of locals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(pub u32);

impl Unknown for Local {
    const NONE: Local = Local(u32::MAX);
}

impl Local {
    /// The index into the table of locals.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A scalar operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A local in scope.
    Local(Local),
    /// A constant.
    Const(Const),
}

impl Operand {
    /// An i64 constant.
    pub fn i64(value: i64) -> Operand {
        Operand::Const(Const::i64(value))
    }

    /// The value of an i64 constant.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Operand::Const(c) => c.as_i64(),
            Operand::Local(_) => None,
        }
    }
}

impl From<Local> for Operand {
    fn from(local: Local) -> Operand {
        Operand::Local(local)
    }
}

/// What is known of a local.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalInfo {
    /// Base name, for the dump.
    pub name: Symbol,
    /// Its type.
    pub elem: Elem,
    /// Whether it is assigned more than once.
    pub is_mutable: bool,
    /// How many lanes it has; 1 for a plain scalar.
    pub lanes: u32,
}
