//! Finding and binding a libLLVM at run time, through its C API only.
//!
//! Nothing here compiles code: [`crate::jit`] does, with the table of functions bound here.

pub(crate) mod api;
mod candidates;
pub(crate) mod fatal;
mod library;
mod search;

pub use candidates::{Origin, SearchConfig};
pub(crate) use library::Llvm;
pub use library::{NEWEST_TESTED_MAJOR, OLDEST_MAJOR, Version};
pub(crate) use search::search;
pub use search::{Attempt, NoLlvm, explicit_failure};
