//! Passes on loop nests as records, and what runs a pipeline of them.
//!
//! A pipeline is a list of passes. [`lower`](crate::lower) runs [`AFTER_LOWERING`] on what it writes; what else a nest goes
//! through is for those who plan it for a machine. A pass that the context asks nothing of leaves the nest as it is.

use crate::context::NestContext;
use crate::node::LoopFunction;
use crate::{buffer_reuse, flush};

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

/// What every nest goes through when it is written.
pub static AFTER_LOWERING: NestPipeline = &[&flush::PASS, &buffer_reuse::PASS];

/// Runs passes one after the other.
pub fn run(passes: &[&NestPass], f: &mut LoopFunction, context: &NestContext) {
    for pass in passes {
        (pass.run)(f, context);
    }
}
