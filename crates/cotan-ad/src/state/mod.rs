//! The state of the transforms: types and access to them, no derivative rule.
//!
//! [`Session`] is the module while derivatives are written. [`Prepared`] is the source of one transform, with the decisions
//! about its loops. [`Forward`] and [`Reverse`] are one transform each; [`TangentScope`] and [`Scope`] are their
//! environments in one scope. [`ReverseLoop`] and [`Patch`] are the two loops between which a record passes.

mod extreme;
mod forward;
mod prepared;
mod reverse;
mod reverse_loop;
mod scope;
mod session;
mod zeros;

pub(crate) use extreme::{Extreme, Share, TieCount};
pub(crate) use forward::{Forward, Slot, TangentScope};
pub(crate) use prepared::{ForwardRegions, Prepared, Segmented, Slope, Slopes};
pub(crate) use reverse::{ForwardCopy, Jacobian, LoopCopy, Reverse};
pub(crate) use reverse_loop::{Patch, ReverseLoop};
pub(crate) use scope::{AccCot, Cot, Scope};
pub use session::Observer;
pub(crate) use session::Session;
pub(crate) use zeros::{retyped, zeros};
