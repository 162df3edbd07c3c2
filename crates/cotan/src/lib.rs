//! Cotan as a library: compile programs, call functions, take derivatives.
//!
//! ```
//! use cotan::host::{Arguments, HostValue};
//! use cotan::{Compiler, Config, DerivativeForm, Engine, derivative};
//!
//! let compiler = Compiler::new(Config::default())?;
//! let program = compiler.check("square.cot", "fn square(x: f64) -> f64 = x * x");
//! let request = derivative("square", DerivativeForm::Grad, &["x"]);
//! let gradient = compiler.function(&program, &request, Engine::CPU)?;
//! let args = Arguments::from([("x".to_owned(), HostValue::f64(3.0))]);
//! assert_eq!(gradient.call(&args)?, HostValue::f64(6.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The library does no IO and reads no environment: shells do, and hand over a [`Config`].

pub mod backend;
pub mod certificate;
mod check_failure;
pub mod codes;
mod compiler;
pub mod cpu;
mod device_plan;
pub mod diagnostics;
pub mod emit;
mod error;
pub mod explain;
mod function;
mod gradient_check;
pub mod host;
mod language_words;
pub mod library;
pub mod manifest;
mod nan_origin;
mod pipeline;
mod program;
mod ready_module;
mod request;
pub mod resident;
pub mod sparse;
mod stopping;
mod tape_gradient;
pub mod testing;
pub mod vulkan;

pub use backend::{Engine, MadeVersion, VersionPolicy};
pub use check_failure::CheckFailure;
pub use compiler::{Compiler, Config};
pub use cotan_ad::Limits as DerivativeLimits;
pub use cotan_interp::Place;
pub use cotan_runtime::Statistics;
pub use cotan_sema::Limits as ProgramLimits;
pub use cotan_sema::foreign;
pub use cotan_sema::modules::{Library, Loader};
pub use cotan_syntax::format::format;
pub use cotan_syntax::on_deep_stack;
pub use error::{CallError, CompileError, DeviceFailure, UnfitRequest};
pub use function::{Function, Written};
pub use gradient_check::{
    DIRECTIONS, Difference, EVERY_ENTRY, GradientCheck, ParameterCheck, Subject, Verdict, check_gradient,
};
pub use language_words::{LANGUAGE_WORDS, LanguageWord, language_word};
pub use nan_origin::{NanArgument, NanOrigin};
pub use program::Program;
pub use ready_module::ReadyModule;
pub use request::{DerivativeForm, DerivativeMode, DerivativeRequest, Request, ResolvedRequest, Signature, derivative};
pub use stopping::{CallLimits, CancelToken, Deadline};
pub use tape_gradient::tape_gradient;
