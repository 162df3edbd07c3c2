//! Names, types and shapes of Cotan programs; lowering to the core IR.
//!
//! [`check()`] makes a typed tree ([`typed`]) of a syntax tree and says what is wrong with it;
//! [`types`] and [`dims`] are what expressions have. [`lower()`] makes core IR of it, and an [`entry`]
//! for each function that a host asks for. This crate must not know the rules of
//! derivatives, nor backends.

mod check;
pub mod codes;
pub mod dims;
pub mod entry;
mod instances;
mod leaf_counts;
mod limits;
pub mod lower;
pub mod modules;
mod order;
mod prelude;
mod show;
mod suggest;
pub mod typed;
pub mod types;
mod unify;

pub use check::{Checked, Conventions, DerivativeFacts, Flow, check, derivative_facts, derivative_warnings};
pub use limits::Limits;
pub use lower::{lower, signature};
pub use prelude::{PreludeFunction, prelude_functions};
pub use suggest::closest;
