//! Cotan as a library: compile programs, call functions, take derivatives.
//!
//! ```
//! use cotan::host::{Arguments, HostValue};
//! use cotan::{Compiler, Config, DerivativeForm, Engine, Request};
//!
//! let compiler = Compiler::new(Config::default());
//! let program = compiler.check("square.cot", "fn square(x: f64) -> f64 = x * x");
//! let request = Request::derivative("square", DerivativeForm::Grad, &["x"]);
//! let gradient = compiler.function(&program, &request, Engine::Cpu)?;
//! let args = Arguments::from([("x".to_owned(), HostValue::f64(3.0))]);
//! assert_eq!(gradient.call(&args)?, HostValue::f64(6.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The library does no IO and reads no environment: shells do, and hand over a [`Config`].

mod compiler;
mod error;
mod function;
pub mod host;
mod pipeline;
mod program;
mod request;

pub use compiler::{Compiler, Config, Engine, Lowered};
pub use cotan_ir as ir;
pub use cotan_llvm::load;
pub use cotan_ops as ops;
pub use cotan_sema as sema;
pub use cotan_syntax as syntax;
pub use error::{CallError, CheckFailure, CompileError};
pub use function::{Function, Usage};
pub use program::Program;
pub use request::{DerivativeForm, DerivativeMode, DerivativeRequest, Request};
