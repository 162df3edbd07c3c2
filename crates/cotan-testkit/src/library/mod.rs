//! The operations of the standard library under what the battery asks of the op table.
//!
//! A wrapper function of `spec/operations/NAME.cot` fixes the ranks and the element type of an operation, and the cases of
//! `NAME.json` are its points, with what other libraries give there. Of each wrapper other programs are made: in another
//! float type, under `vmap`, of arguments that are views; and each is asked at points where a number is none.

mod cases;
mod nans;
mod narrow;
mod point;
mod reference;
mod storage;
mod storage_moves;
mod views;
mod vmaps;
mod wrapper_types;
mod zeros;

pub use cases::{Library, Wrapper};
pub use nans::{infinities, nans};
pub use narrow::in_single_precision;
pub use reference::against_reference;
pub use storage::in_storage;
pub use storage_moves::moved_in_storage;
pub use views::of_views;
pub use vmaps::under_vmap;
pub use zeros::zeros;

/// What became of the cases of wrappers.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// How many were asked.
    pub asked: usize,
    /// What is wrong.
    pub failures: Vec<String>,
}
