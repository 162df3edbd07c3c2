//! Random well-typed programs, as source text and as core IR.

pub mod construct;
pub mod ir;
pub mod source;
pub mod variants;

pub use construct::{Construct, Coverage};
