//! Values of the host: what goes into a call and what comes out, in the types of the source.

mod fit;
mod json;
mod npy;
mod npy_header;
mod npz;
mod value;

pub(crate) use fit::check_flat_extents;
pub use fit::{ArgumentMisfit, Arguments, fit_arguments, with_defaults};
pub use json::{Misfit, from_json, write_json};
pub use npy::{MAX_HEADER, NpyError, read_npy, write_npy};
pub use npz::{read_npz, write_npz};
pub use value::{HostValue, rebuild};
