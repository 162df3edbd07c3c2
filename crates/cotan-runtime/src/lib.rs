//! The CPU's runtime: what compiled code and its host agree on, what serves compiled code while it runs, and calls of it
//! from Rust.
//!
//! - [`abi`] is the calling convention: contexts, tensors, stacks, error reports, and the functions of the host;
//! - [`host_symbols`] are these functions: memory, threads, a way to be stopped, routines, output;
//! - [`Session`] calls an entry; [`CompiledFunction`] is a function of the core IR in machine code, called on values or on
//!   tensors that are lent.
//!
//! Who makes the code is not known here: no compiler, no loop nest, no file. Nothing reads the environment or prints.
//!
//! ```
//! use cotan_runtime::{Session, abi};
//!
//! unsafe extern "C" fn answer(_: *mut abi::Ctx, _: *const abi::Buf, results: *mut abi::Buf) -> abi::Status {
//!     // SAFETY: the result below is a scalar i64.
//!     unsafe { (*results).data.cast::<i64>().write(42) };
//!     abi::OK
//! }
//! let mut number = 0_i64;
//! let data = std::ptr::from_mut(&mut number).cast();
//! let mut results = [abi::Buf { data, extents: &mut 0, strides: &mut 0, capacity: 8 }];
//! // SAFETY: the function takes nothing and gives one i64.
//! let outcome = unsafe { Session::new(usize::MAX).call(answer, &[], &mut results, None) };
//! assert_eq!((outcome, number), (Ok(()), 42));
//! ```
#![allow(unsafe_code, reason = "memory that is shared with compiled code, and running it")]

pub mod abi;
mod by_thread;
mod call;
mod host;
mod instruction_set;

pub use by_thread::ByThread;
pub use call::{
    CallOptions, CallResult, CodeMemory, CodeOrigin, CompiledFunction, EmittedCheck, MachineCode, Reports,
    RuntimeError, Statistics,
};
pub use host::{
    Arena, ArenaStore, MOST_THREADS_PER_CORE, MemoryLimit, Pool, Refusal, Session, Watch, check_threads,
    elementary_symbol, evaluator_symbol, host_symbols, most_threads, whole_product,
};
pub use instruction_set::InstructionSet;
