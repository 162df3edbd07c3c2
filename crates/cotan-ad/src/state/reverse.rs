//! The state of one reverse transform.

use super::{ForwardRegions, Segmented, Session, Slopes};
use crate::analysis::activity::VarSet;
use cotan_ir::{Atom, Builder, Env, Function, Symbol, Var};

/// One reverse transform of one function.
pub(crate) struct Reverse<'s, 'm> {
    pub(crate) session: &'s mut Session<'m>,
    /// The name of the derivative, for messages.
    pub(crate) name: &'s Symbol,
    pub(crate) src: &'s Function,
    pub(crate) active: VarSet,
    pub(crate) segmented: Segmented,
    /// The loops that do not run backwards.
    pub(crate) regions: ForwardRegions,
    /// The partial derivatives that are statements of the source.
    pub(crate) slopes: Slopes,
    /// How often the code under reversal runs in all, if that is known and records may be made for it.
    pub(crate) runs: Option<u64>,
    /// Whether an enclosing loop asks for all results of the loops inside to be recorded.
    pub(crate) records_all: bool,
    /// Writes the target.
    pub(crate) b: Builder,
}

/// The place of the forward copy of a loop, so that its reverse can add records to it.
#[derive(Debug)]
pub(crate) struct ForwardCopy {
    /// Position among the statements of the innermost open block. Only appending happens there meanwhile.
    pub(crate) at: usize,
    /// Source variables to those of the copy, the loop's body included.
    pub(crate) env: Env,
}

/// The copy of a loop in front of its reverse.
#[derive(Debug)]
pub(crate) enum LoopCopy {
    /// The loop alone.
    Plain(ForwardCopy),
    /// The loop with its derivatives.
    WithTangents(Jacobian),
}

/// The partial derivatives of the results of a loop, beside the loop.
#[derive(Debug)]
pub(crate) struct Jacobian {
    /// For each scalar that the loop depends on, the results that depend on it.
    pub(crate) columns: Vec<(Var, Vec<(Var, Atom)>)>,
}
