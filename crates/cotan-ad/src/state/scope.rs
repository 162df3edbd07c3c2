//! Cotangents of source variables in one scope of a reverse sweep.
//!
//! A zero is a symbol: the absence of an entry. No tensor of zeros is made unless a region boundary needs one.

use super::Share;
use cotan_ir::{Atom, Env, Var};
use rustc_hash::FxHashMap;

/// The cotangent of a variable so far, if it is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cot {
    /// A value, which grows by addition.
    Value(Atom),
    /// An accumulator of an enclosing reverse region, which takes the contributions.
    Acc(Var),
}

/// Where a write to a source accumulator under reversal reads its cotangent: the transpose of writing is reading. The
/// operands are constant during the whole reverse region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccCot {
    /// A sum or a log: the cotangent of the final array.
    Linear(Atom),
    /// A maximum or minimum.
    Extreme(Share),
}

/// The environment of a reverse sweep in one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Source variables to target operands. Never holds accumulators, so that re-executed writes are erased.
    pub(crate) env: Env,
    /// Source variables to cotangents.
    pub(crate) cots: FxHashMap<Var, Cot>,
    /// Source accumulators under reversal.
    pub(crate) acc_cots: FxHashMap<Var, AccCot>,
}
