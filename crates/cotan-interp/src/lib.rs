//! The reference interpreter of the core IR, and the tape engine: what is right, by definition.
//!
//! [`run()`] executes a function as its text says, statement by statement, with every contract of the IR checked.
//! Backends and passes are right when they give the same bits. [`tape`] is a second way to every gradient: it executes
//! the primal function, writes down every scalar operation, and goes back over that list.
//!
//! Neither may know how programs are transformed or compiled. Nothing here panics on a module that the verifier
//! accepts: what does not fit is an error, and a run that asks for too much ends at its [`Limits`].
//!
//! ```
//! use cotan_interp::{Options, run};
//! use cotan_ir::{Builder, Elem, Module, Ty};
//! use cotan_ops::{MUL, Value};
//!
//! let mut b = Builder::new();
//! let x = b.param("x", Ty::scalar(Elem::F64));
//! let square = b.prim(MUL.prim(), &[x.into(), x.into()]);
//! let mut module = Module::default();
//! module.insert(b.finish("square", vec![square.into()]));
//!
//! let results = run(&module, "square", &[Value::f64s(&[], &[3.0])], &Options::default());
//! assert_eq!(results, Ok(vec![Value::f64s(&[], &[9.0])]));
//! ```

mod acc;
mod budget;
mod compute;
mod decisions;
mod domain;
mod error;
mod frame;
mod machine;
mod nodes;
mod numbers;
mod par;
pub mod path;
mod plan;
mod product;
mod rows;
mod run;
mod sequential;
pub mod tape;
mod value;

pub use budget::{Limits, Stats};
pub use decisions::{Decisions, Place, decisions};
pub use error::{ArgumentError, Bug, CheckFailure, Limit, RuntimeError};
pub use numbers::Numbers;
pub use run::{Options, run, run_counted, run_watched, run_with_output};
