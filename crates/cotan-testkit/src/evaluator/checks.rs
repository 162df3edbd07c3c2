//! Checks that fail at run time: a log of failures, which goes along with everything that can fail.

use super::value::{Failure, Flow, Stop, bug};
use cotan_ir::CheckKind;
use cotan_syntax::Span;

/// The checks of a run.
#[derive(Default)]
pub(super) struct Checks {
    /// Those that failed, in order.
    pub(super) failures: Vec<Failure>,
}

impl Checks {
    /// A check.
    pub(super) fn check(&mut self, holds: bool, kind: CheckKind, span: Span) -> Flow<()> {
        if holds {
            return Ok(());
        }
        let failure = Failure { kind, span, ordinal: self.failures.len() };
        self.failures.push(failure);
        Err(Stop::Failed(failure))
    }

    /// A size can only be unknown where the value that has it failed.
    pub(super) fn unknown_size<T>(&self) -> Flow<T> {
        match self.failures.last() {
            Some(failure) => Err(Stop::Failed(*failure)),
            None => bug("a size that nothing tells"),
        }
    }
}
