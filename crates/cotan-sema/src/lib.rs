//! Names, types and shapes of Cotan programs; lowering to the core IR.
//!
//! [`typed`] is the tree that the checker makes, [`types`] and [`dims`] what its expressions have.
//! This crate must not know the rules of derivatives, nor backends.

pub mod dims;
pub mod typed;
pub mod types;
