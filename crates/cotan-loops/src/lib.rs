//! Loop nests: the core IR lowered to loops, scalar statements and buffers.
//!
//! [`lower`] makes a [`LoopFunction`] of a function of the core IR: control stays structured, tensors become runs of
//! elements in buffers, memory is explicit. This crate must not know of any machine: backends print what it makes.
//!
//! ```
//! use cotan_ir::{Builder, Elem, Ty};
//!
//! let mut b = Builder::new();
//! let x = b.param("x", Ty::scalar(Elem::F64));
//! let twice = b.prim(cotan_ops::ADD.prim(), &[x.into(), x.into()]);
//! let f = b.finish("twice", vec![twice.into()]);
//! let nest = cotan_loops::lower(&f);
//! assert_eq!(nest.to_string(), "fn twice(x: f64) {\n  add = add.f64 x, x\n  return add\n}\n");
//! ```

mod buffer_reuse;
mod contract;
mod flush;
mod fork;
mod legalize_width;
mod liveness;
mod lower;
mod nan_watch;
mod node;
mod partial_sums;
mod pipeline;
mod print;
mod probe;
mod product;
mod split_blocks;
mod vector;
mod verify;
mod wavefront;

pub use contract::contract;
pub use fork::fork;
pub use legalize_width::{Width, legalize_width};
pub use lower::{lower, lowers};
pub use nan_watch::{unwatched_results, watch_results};
pub use node::{
    Argument, Buffer, BufferInfo, BufferKind, BufferUse, CallResult, Effect, Expr, For, Home, Independence, Local,
    LocalInfo, LocalUse, LoopFunction, Node, Operand, OperandUse, Param, Part, PartMut, Place, Product, Routine,
    Sharing, Sum, Target, Tensor, Threads, View, Wave, any, combining, count, each_definition, walk,
};
pub use partial_sums::{BlockWork, PartialSums};
pub use pipeline::{
    AFTER_LOWERING, NEST_PASSES, NestContext, NestPass, NestPipeline, OPTIMIZED, PLAIN, WATCH_RESULTS, run,
};
pub use print::heading;
pub use probe::{Probe, ProbeEvent, insert_probes};
pub use product::expand_products;
pub use split_blocks::split_blocks;
pub use vector::vectorise;
pub use verify::{NestError, verify, verify_nests};
pub use wavefront::{TaskSizes, wavefronts};
