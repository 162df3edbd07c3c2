//! Values of the host: what goes into a call and what comes out, in the types of the source.

mod fit;
mod json;
mod value;

pub use fit::{ArgumentMisfit, Arguments, fit_arguments};
pub use json::{Misfit, from_json, write_json};
pub use value::{HostValue, rebuild};
