//! The state of one forward transform.

use super::{Session, TieCount};
use crate::analysis::activity::VarSet;
use cotan_ir::{Atom, Builder, Env, Function, Symbol, Var};
use rustc_hash::FxHashMap;

/// One forward transform of one function.
pub(crate) struct Forward<'s, 'm> {
    pub(crate) session: &'s mut Session<'m>,
    /// The name of the derivative, for messages.
    pub(crate) name: &'s Symbol,
    pub(crate) src: &'s Function,
    /// For each direction, the variables that have a tangent in it.
    pub(crate) directions: &'s [VarSet],
    /// Writes the target.
    pub(crate) b: Builder,
}

/// The environment of a forward transform in one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct TangentScope {
    /// Source variables to target operands, accumulators included. A write to a missing accumulator is erased.
    pub(crate) env: Env,
    /// Source variables and accumulators, with a direction, to their tangents.
    pub(crate) tans: FxHashMap<(Var, usize), Atom>,
    /// In the second pass over the body of a `par`: accumulators whose ties are counted.
    pub(crate) ties: FxHashMap<Var, TieCount>,
}

/// The tangent, in one direction, of the element at some position of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) at: usize,
    pub(crate) direction: usize,
}
