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

mod blocks;
mod contract;
mod flush;
mod fork;
mod liveness;
mod lower;
mod narrow;
mod nest;
mod print;
mod probe;
mod product;
mod reuse;
mod segment;
mod vector;
mod verify;
mod watch;
mod wavefront;

pub use blocks::{BlockWork, Blocks};
pub use contract::contract;
pub use fork::fork;
pub use lower::{lower, lowers};
pub use narrow::{Width, narrow};
pub use nest::{
    Buffer, BufferInfo, BufferKind, CallResult, Expr, For, Home, Independence, Local, LocalInfo, LoopFunction, Node,
    Operand, Param, Piece, Place, Product, Routine, Sharing, Sum, Target, Tensor, Threads, View, Wave, combining,
};
pub use print::heading;
pub use probe::{Probe, ProbeEvent, insert_probes};
pub use product::without_products;
pub use segment::cut_long_blocks;
pub use vector::vectorise;
pub use verify::{NestError, verify, verify_nests};
pub use watch::{unwatched_results, watch_results};
pub use wavefront::{TaskSizes, wavefronts};
