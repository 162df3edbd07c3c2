//! Compiling textual LLVM IR in this process.
//!
//! [`Engine`] is the entry: text goes through [`compile`](Engine::compile) to an object file, which
//! comes from the cache where it can, and the object is linked into a [`CompiledModule`]. LLVM is
//! opened when it is first needed.

mod compile;
mod engine;
mod error;
mod library;
mod link;
mod options;
mod owned;
mod self_test;
mod target;
mod thread;

pub use engine::{Compiled, Engine, ModuleText};
pub use error::JitError;
pub use link::CompiledModule;
pub use options::OptLevel;
pub use target::Target;
