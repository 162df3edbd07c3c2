//! Values of the host: what goes into a call and what comes out, in the types of the source.

mod arrays;
mod call_into;
pub mod files;
mod fit;
mod inputs;
mod json;
mod leaves;
mod result_extents;
mod value;

pub use arrays::leaf_arrays;
pub use cotan_ir::{Const, Elem};
pub use cotan_lower::entry::{Entry, EntryParam, HostType, Leaf};
pub use cotan_ops::{ElementCount, Elements, ElementsMut, TensorMut, TensorRef, Value};
pub use files::{Budget, read_npy, read_npz, write_csv, write_npy, write_npz, write_safetensors};
pub use fit::{ArgumentMisfit, Arguments, fit_arguments, with_defaults};
pub(crate) use fit::{
    add_default, check_flat_extents, check_kind, expect_all, expect_known, fit_leaves_elsewhere, missing,
};
pub use inputs::{Bound, Inputs, Malformed, Unbound};
pub use json::{Misfit, from_json, write_json};
pub(crate) use leaves::Leaves;
pub use value::{HostValue, rebuild};
pub(crate) use value::{NoMemory, Unbuilt, rebuilt};
