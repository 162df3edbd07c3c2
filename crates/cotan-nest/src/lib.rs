//! The reference interpreter of loop nests: what a nest means, node by node.
//!
//! [`run`] executes a nest as its text says, on memory that it checks: an access beyond the end of an array, or to memory
//! that was released, is a [bug](RuntimeError::Bug) with the node that does it. Results have the bits of the interpreter of
//! the core IR, and errors the same codes and places, so whoever runs a nest before and after a pass of the nests, and
//! beside machine code, knows on which side of a backend a fault is. It takes nests before any pass and after each.
//!
//! Threads are not its business: what may run at the same time runs in order. It must not know of any machine, nor how
//! nests are made. What nobody has written is a pattern that no program expects.
//!
//! ```
//! use cotan_ir::{Builder, Elem, Ty};
//! use cotan_loops::VerifiedNests;
//! use cotan_nest::{Options, run};
//! use cotan_ops::{MUL, Value};
//!
//! let mut b = Builder::new();
//! let x = b.param("x", Ty::scalar(Elem::F64));
//! let square = b.prim(MUL.prim(), &[x.into(), x.into()]);
//! let nest = cotan_loops::lower(&b.finish("square", vec![square.into()]), &cotan_loops::CPU);
//! let nests = VerifiedNests::new(vec![nest]).expect("a nest that keeps every rule");
//!
//! let results = run(&nests, "square", &[Value::f64s(&[], &[3.0])], &Options::default());
//! assert_eq!(results, Ok(vec![Value::f64s(&[], &[9.0])]));
//! ```

mod call;
mod device;
mod error;
mod expression;
mod growth;
mod idle;
mod instruction;
mod lanes;
mod machine;
mod memory;
mod operation;
mod partial_sums;
mod reduction;
mod run;
mod sum;

pub use device::{run_plan, run_plan_with_output};
pub use error::{CheckFailure, RuntimeError};
pub use machine::Options;
pub use run::{run, run_with_output};
