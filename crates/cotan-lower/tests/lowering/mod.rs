//! Source text, checked, lowered, verified and run by the interpreter: values, run-time errors and their places.

mod calls;
mod derivatives;
mod enums;
mod errors;
mod examples;
mod folds;
mod harness;
mod indexing;
mod loops;
mod mixtures;
mod scalars;
mod text;
