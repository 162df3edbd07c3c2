//! Semantic analysis: name resolution, type checking and shape checking of Cotan programs.
//!
//! [`check()`] makes a typed tree ([`typed`]) of a syntax tree and says what is wrong with it; [`types`] and [`dims`] are
//! what expressions have. [`specialise`](instances::specialise) makes a copy of each generic function for each choice of its
//! types (monomorphisation). This crate must not know statements of the core IR, the rules of derivatives, nor backends.

mod check;
pub mod codes;
pub mod dims;
pub mod foreign;
pub mod instances;
mod leaf_counts;
mod library_names;
mod limits;
pub mod modules;
mod order;
pub mod prelude;
mod show;
mod suggest;
pub mod typed;
pub mod types;
mod unify;

pub use check::{Checked, Conventions, DerivativeFacts, Flow, check, derivative_facts, derivative_warnings};
pub use limits::Limits;
pub use prelude::{PreludeFunction, prelude_functions};
pub use suggest::closest;
