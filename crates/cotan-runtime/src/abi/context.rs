//! The calling convention: compiled functions, and the context that they are called with.

use super::{Buf, ErrorSlot, MatrixProduct, StepBudget};
use cotan_ops::Registry;
use std::ffi::c_void;

/// What a compiled function returns.
pub type Status = i32;
/// The call succeeded.
pub const OK: Status = 0;
/// The call failed, and `ctx.error` says why.
pub const FAILED: Status = 1;

/// A compiled function. `args` and `results` have one element per parameter and result.
pub type Entry = unsafe extern "C" fn(ctx: *mut Ctx, args: *const Buf, results: *mut Buf) -> Status;

/// A chunk of a parallel loop, by its number. Its context is private to the chunk, and what it allocates is freed when
/// the chunk ends.
pub type ChunkBody = unsafe extern "C" fn(ctx: *mut Ctx, env: *mut c_void, chunk: i64) -> Status;

/// What one thread of one call works with. Behind the pointers to [`c_void`] are objects of the host, of which compiled
/// code knows nothing.
#[repr(C)]
pub struct Ctx {
    /// Memory of this thread.
    pub arena: *mut c_void,
    /// Memory for the chunks of parallel loops.
    pub arenas: *const c_void,
    /// The threads of parallel loops; null runs them on this one.
    pub pool: *const c_void,
    /// What may stop the call early; null if nothing may. Compiled code that finds it set takes steps
    /// off its budget at the back-edges of its loops, and calls `cotan_poll` when there are too few.
    pub watch: *const StepBudget,
    /// Bytes of the records that loops keep for their reverse sweeps, as far as this thread knows of them: those that
    /// are alive now. Compiled code counts them.
    pub record_bytes: i64,
    /// The most that [`Ctx::record_bytes`] ever was.
    pub most_record_bytes: i64,
    /// The library for matrix products.
    pub products: *const Products,
    /// The operations whose routines compiled code calls.
    pub registry: *const Registry,
    /// Where output goes; null drops it. Only the thread that made the call writes.
    pub output: *mut c_void,
    /// A byte that compiled code sets, on any thread, where it stores a NaN to a result that it watches.
    pub saw_nan: *mut u8,
    /// Why the call failed.
    pub error: ErrorSlot,
}

/// The functions of a library for matrix products. A host may have another library; its sums have to be those that
/// [`MatrixProduct`] says, so that results do not depend on it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Products {
    /// Of matrices of f32.
    pub of_f32: ProductFn,
    /// Of matrices of f64.
    pub of_f64: ProductFn,
}

/// Computes a product. It fails as `cotan_poll` does, and for no other reason.
pub type ProductFn = unsafe extern "C" fn(ctx: *mut Ctx, product: *const MatrixProduct) -> Status;
