//! The pipelines of a nest on its way to code for a CPU.
//!
//! [`lower`](cotan_loops::lower) for the [`CPU`](cotan_loops::CPU) writes the nest and runs the passes of that target, then
//! comes [`PLAIN`], [`OPTIMIZED`] or [`OF_VERSIONS`], and [`WATCHED`] where a caller wants to hear of NaN.

use crate::{
    delinearize, distribute, fork, hoist_loads, if_conversion, index_sets, legalize_width, ordered,
    promote_accumulators, split_blocks, vector, wavefront,
};
use cotan_loops::{
    CONTRACT, CONTRACT_ACCUMULATED, EXPAND_PRODUCTS, INSERT_PROBES, MARK_FLUSHING, NestPipeline, REUSE_BUFFERS,
    ROTATE_BUFFERS, WATCH_RESULTS,
};

/// Every pass on nests.
pub static NEST_PASSES: NestPipeline = &[
    &MARK_FLUSHING,
    &REUSE_BUFFERS,
    &INSERT_PROBES,
    &EXPAND_PRODUCTS,
    &ordered::PASS,
    &wavefront::lanes::PASS,
    &wavefront::PASS,
    &promote_accumulators::PASS,
    &hoist_loads::PASS,
    &index_sets::PASS,
    &if_conversion::PASS,
    &distribute::PASS,
    &delinearize::PASS,
    &vector::PASS,
    &ROTATE_BUFFERS,
    &fork::PASS,
    &CONTRACT,
    &CONTRACT_ACCUMULATED,
    &split_blocks::PASS,
    &legalize_width::PASS,
    &WATCH_RESULTS,
];

/// The way to code that does what the nest says, whatever the machine makes of it.
pub static PLAIN: NestPipeline = &[&INSERT_PROBES, &EXPAND_PRODUCTS, &split_blocks::PASS, &legalize_width::PASS];

/// The way to fast code.
pub static OPTIMIZED: NestPipeline = &[
    &INSERT_PROBES,
    &ordered::PASS,
    &wavefront::lanes::PASS,
    &wavefront::PASS,
    &promote_accumulators::PASS,
    &hoist_loads::PASS,
    &index_sets::PASS,
    &if_conversion::PASS,
    &distribute::PASS,
    &delinearize::PASS,
    &vector::PASS,
    &ROTATE_BUFFERS,
    &fork::PASS,
    &CONTRACT,
    &split_blocks::PASS,
    &legalize_width::PASS,
];

/// The way to fast code of a version for known sizes, whose products are contracted but for those that are accumulated.
pub static OF_VERSIONS: NestPipeline = &[
    &INSERT_PROBES,
    &ordered::PASS,
    &wavefront::lanes::PASS,
    &wavefront::PASS,
    &promote_accumulators::PASS,
    &hoist_loads::PASS,
    &index_sets::PASS,
    &if_conversion::PASS,
    &distribute::PASS,
    &delinearize::PASS,
    &vector::PASS,
    &ROTATE_BUFFERS,
    &fork::PASS,
    &CONTRACT_ACCUMULATED,
    &split_blocks::PASS,
    &legalize_width::PASS,
];

/// What lets a caller hear of NaN in results.
pub static WATCHED: NestPipeline = &[&WATCH_RESULTS];
