//! What compiled code needs while it runs: memory, threads, a way to be stopped, and the functions
//! through which it reaches them.

mod arena;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod context;
mod crew;
mod evaluators;
mod exports;
mod float_mode;
mod guard;
mod math;
mod memory;
mod parallel;
mod partial_sums;
mod parts;
mod pool;
mod product;
mod product_run;
mod range;
mod routine;
mod session;
mod watch;
mod wavefront;

use crate::abi::HostSymbols;

pub use arena::{Arena, ArenaStore};
pub use evaluators::evaluator_symbol;
pub use math::elementary_symbol;
pub use memory::{MemoryLimit, Refusal};
pub use pool::{MOST_THREADS_PER_CORE, Pool, check_threads, most_threads};
pub use product::whole_product;
pub use session::Session;
pub use watch::Watch;

/// Every function that compiled code may call: those of [`crate::abi`], functions of floats that
/// the op table leaves to the host (`cotan_lgamma`, `cotan_lgammaf`, ...), evaluators of primitives without an
/// instruction, and what LLVM calls of its own accord.
#[must_use]
pub fn host_symbols() -> HostSymbols {
    let mut symbols = HostSymbols::new();
    exports::define(&mut symbols);
    math::define(&mut symbols);
    evaluators::define(&mut symbols);
    symbols
}
