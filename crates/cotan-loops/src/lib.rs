//! Loop nests: the core IR lowered to loops, scalar statements and buffers.
//!
//! [`lower`] makes a [`LoopFunction`] of a function of the core IR: control stays structured, tensors become runs of
//! elements in buffers, memory is explicit. A [target](TargetKind) says in what form. This crate must not know of any
//! machine: what one wants of a nest is planned by crates above, with passes that stand in the same pipelines.
//!
//! ```
//! use cotan_ir::{Builder, Elem, Ty};
//! use cotan_loops::{CPU, lower};
//!
//! let mut b = Builder::new();
//! let x = b.param("x", Ty::scalar(Elem::F64));
//! let twice = b.prim(cotan_ops::ADD.prim(), &[x.into(), x.into()]);
//! let f = b.finish("twice", vec![twice.into()]);
//! let nest = lower(&f, &CPU);
//! assert_eq!(nest.to_string(), "fn twice(x: f64) {\n  add = add.f64 x, x\n  return add\n}\n");
//! ```

mod arguments;
mod buffer_reuse;
mod buffer_rotation;
mod context;
mod contract;
mod contract_accumulated;
mod flush;
mod liveness;
mod lower;
mod nan_watch;
pub mod node;
mod parse;
mod partial_sums;
mod pass;
pub mod pipeline;
mod print;
mod probe;
mod product;
mod target;
mod verify;

pub use arguments::{ArgumentShape, check_arguments, check_shapes};
pub use buffer_reuse::PASS as REUSE_BUFFERS;
pub use buffer_rotation::PASS as ROTATE_BUFFERS;
pub use context::{NestContext, Probe, TaskSizes, Width};
pub use contract::{PASS as CONTRACT, contract};
pub use contract_accumulated::PASS as CONTRACT_ACCUMULATED;
pub use flush::PASS as MARK_FLUSHING;
pub use lower::{lower, lower_only, lowers};
pub use nan_watch::{PASS as WATCH_RESULTS, unwatched_results, watch_results};
pub use node::{
    Argument, Buffer, BufferInfo, BufferKind, CallResult, Expr, For, Home, Independence, Local, LocalInfo,
    LoopFunction, Node, Operand, Param, Place, Product, Reduce, Routine, Sharing, Sum, Target, Tensor, Threads, View,
    Wave, combining, shared_beside_sums, shared_targets,
};
pub use parse::{NestParseError, parse_nest};
pub use partial_sums::{BlockWork, PartialSums};
pub use pass::{NestPass, NestPipeline};
pub use print::{NestText, heading, print_for_device, print_nest};
pub use probe::{PASS as INSERT_PROBES, ProbeEvent, insert_probes};
pub use product::{PASS as EXPAND_PRODUCTS, expand_products, is_small, small_version};
pub use target::{CPU, DEVICE, TargetKind};
pub use verify::{NestError, VerifiedNests, verify, verify_nests};
