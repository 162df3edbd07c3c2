//! The CPU backend: textual LLVM IR, compiled in process by an LLVM found at run time.
//!
//! - [`Backend`] compiles functions of the core IR, to be called as [`cotan_runtime::CompiledFunction`]s;
//! - [`emit`] prints loop nests as LLVM IR;
//! - [`load`] finds a libLLVM and binds its C API;
//! - [`jit`] makes code in memory out of text;
//! - [`cache`] keeps objects on disk between processes.
//!
//! Nothing here reads the environment or prints: shells pass paths in and print what comes back. No
//! page of memory is ever writable and executable.
//!
//! ```
//! use cotan_llvm::jit::{Engine, ModuleText, OptLevel};
//! use cotan_llvm::load::SearchConfig;
//! use cotan_runtime::host_symbols;
//!
//! let engine = Engine::new(&SearchConfig::default(), None)?;
//! let text = ModuleText {
//!     parts: vec!["define double @half(double %x) { %h = fmul double %x, 0.5  ret double %h }".into()],
//!     exports: vec!["half".into()],
//!     level: OptLevel::O2,
//! };
//! let module = engine.compile(&text, &host_symbols())?.module;
//! let address = module.address("half").ok_or("not exported")?;
//! // SAFETY: this is the signature in the text, and the module outlives the call.
//! let half: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(address) };
//! assert_eq!(half(3.0), 1.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(unsafe_code, reason = "loading LLVM, and making the memory of what it compiled executable")]

mod backend;
pub mod cache;
mod doctor;
pub mod emit;
pub mod jit;
pub mod load;
mod trust;

pub use backend::{Backend, CompileError, CompileOptions};
pub use cache::Cache;
pub use cotan_loops::{Probe, ProbeEvent, TaskSizes, Width};
pub use doctor::{CacheReport, Report};
