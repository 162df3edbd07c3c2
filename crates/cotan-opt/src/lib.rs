//! Passes over the core IR. A pass is a plain function from code to code; pipelines are lists of passes.
//!
//! This crate must not know derivatives or backends. What a primitive is worth algebraically it asks the op table.

pub mod passes;
mod pipeline;

pub use pipeline::{prepare, simplify};
