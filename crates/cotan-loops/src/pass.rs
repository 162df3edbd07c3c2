//! Passes on loop nests as records. A pipeline is a list of them.

use crate::context::NestContext;
use crate::node::LoopFunction;

/// A pass on loop nests.
#[derive(Debug)]
pub struct NestPass {
    /// What people, tests and pages call it.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// The pass.
    pub run: fn(&mut LoopFunction, &NestContext),
}

/// A list of passes, in the order in which they run.
pub type NestPipeline = &'static [&'static NestPass];
