//! Passes on loop nests, and the pipelines that they stand in.
//!
//! The way of a nest: [`lower`](crate::lower) writes it and runs [`AFTER_LOWERING`]; a backend runs [`PLAIN`] or
//! [`OPTIMIZED`], and [`WATCH_RESULTS`] where a caller wants to hear of NaN. A pass that the context asks nothing of
//! leaves the nest as it is.

use crate::legalize_width::Width;
use crate::node::LoopFunction;
use crate::probe::Probe;
use crate::wavefront::TaskSizes;
use crate::{
    buffer_reuse, contract, flush, fork, legalize_width, nan_watch, probe, product, split_blocks, vector, wavefront,
};

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

/// What passes on nests are told.
#[derive(Clone, Debug, Default)]
pub struct NestContext {
    /// The probes around the nests of the function.
    pub probe: Option<Probe>,
    /// How large the pieces of wavefronts are.
    pub tasks: TaskSizes,
    /// How many lanes an operation works on at most; `None` for all of them.
    pub width: Option<Width>,
}

/// A list of passes, in the order in which they run.
pub type NestPipeline = &'static [&'static NestPass];

/// Every pass on nests.
pub static NEST_PASSES: NestPipeline = &[
    &flush::PASS,
    &buffer_reuse::PASS,
    &probe::PASS,
    &product::PASS,
    &wavefront::PASS,
    &vector::PASS,
    &fork::PASS,
    &contract::PASS,
    &split_blocks::PASS,
    &legalize_width::PASS,
    &nan_watch::PASS,
];

/// What every nest goes through when it is written.
pub static AFTER_LOWERING: NestPipeline = &[&flush::PASS, &buffer_reuse::PASS];

/// The way to code that does what the nest says, whatever the machine makes of it.
pub static PLAIN: NestPipeline = &[&probe::PASS, &product::PASS, &split_blocks::PASS, &legalize_width::PASS];

/// The way to fast code.
pub static OPTIMIZED: NestPipeline = &[
    &probe::PASS,
    &wavefront::PASS,
    &vector::PASS,
    &fork::PASS,
    &contract::PASS,
    &split_blocks::PASS,
    &legalize_width::PASS,
];

/// What lets a caller hear of NaN in results.
pub static WATCH_RESULTS: NestPipeline = &[&nan_watch::PASS];

/// Runs passes one after the other.
pub fn run(passes: &[&NestPass], f: &mut LoopFunction, context: &NestContext) {
    for pass in passes {
        (pass.run)(f, context);
    }
}
