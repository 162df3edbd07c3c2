//! Pass records: a step of the preparation, its name, and the decisions that it reads and makes.

use crate::analysis::activity::{VarSet, active};
use crate::state::{ForwardRegions, Segmented, Session, Slopes};
use cotan_ir::{Derived, Function, Mode, Var};
use std::fmt;

/// A pass in front of a derivative, source to source, as a record.
pub struct Pass {
    /// Its name in tests, messages and `cotan emit --after`.
    pub name: &'static str,
    /// Its effect, in one sentence.
    pub doc: &'static str,
    /// The modes whose preparation has it.
    pub modes: &'static [Mode],
    /// Whether a second run changes nothing.
    pub is_idempotent: bool,
    /// The pass itself.
    pub(crate) run: fn(Function, &mut Preparation<'_, '_>) -> Function,
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pass({})", self.name)
    }
}

/// The context of the passes for one derivative, and their decisions.
pub(crate) struct Preparation<'a, 'm> {
    pub(super) session: &'a mut Session<'m>,
    pub(super) d: &'a Derived,
    pub(super) regions: ForwardRegions,
    pub(super) segmented: Segmented,
    pub(super) slopes: Slopes,
}

impl<'a, 'm> Preparation<'a, 'm> {
    pub(super) fn new(session: &'a mut Session<'m>, d: &'a Derived) -> Preparation<'a, 'm> {
        let (regions, segmented, slopes) = (ForwardRegions::default(), Segmented::default(), Slopes::default());
        Preparation { session, d, regions, segmented, slopes }
    }

    /// The active variables of a function with the parameters and results of the source.
    pub(super) fn active(&self, f: &Function) -> VarSet {
        let wrt: Vec<Var> = self.d.wrt.iter().map(|k| f.params[*k]).collect();
        let outs: Vec<Var> = self.d.outs.iter().filter_map(|k| f.body.results[*k].var()).collect();
        active(f, &wrt, &outs)
    }
}
