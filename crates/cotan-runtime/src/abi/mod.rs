//! What compiled code and its host agree on: the calling convention, the layout of the data that
//! both touch, and the functions of the host that compiled code calls.
//!
//! A compiled function is `i32 f(ptr ctx, ptr args, ptr results)`: see [`Entry`]. It has no globals
//! and keeps nothing between calls, so that it may run on any number of threads, each with a
//! [`Ctx`] of its own. It reports errors by returning [`FAILED`] after filling `ctx.error`; it does
//! not trap and does not unwind.
//!
//! | symbol | signature in LLVM | what it does |
//! |---|---|---|
//! | `cotan_allocate` | `ptr (ptr ctx, i64 bytes)` | memory aligned to [`ALIGNMENT`], null on failure |
//! | `cotan_mark` | `void (ptr ctx, ptr mark)` | remembers what is allocated, in a [`Mark`] |
//! | `cotan_release` | `void (ptr ctx, ptr mark)` | frees what was allocated since |
//! | `cotan_stack_open` | `void (ptr ctx, ptr stack)` | makes an empty [`Stack`], freed with its mark, that stays where it is |
//! | `cotan_stack_reserve` | `i32 (ptr ctx, ptr stack, i64 bytes)` | room for so many more bytes |
//! | `cotan_parallel_for` | `i32 (ptr ctx, ptr body, ptr env, i64 n)` | runs a [`ChunkBody`] for each of `0..n` |
//! | `cotan_wavefront` | `i32 (ptr ctx, ptr body, ptr env, i64 n, i64 stages, i64 slots)` | the same, in the order that a wavefront needs |
//! | `cotan_poll` | `i32 (ptr ctx, i64 steps)` | stops a call that was cancelled or took too long |
//! | `cotan_close_blocks` | `void (i32 monoid, i32 elem, ptr lanes, i64 size, i64 stride, i64 number)` | closes blocks of a reduction whose last value has that number |
//! | `cotan_combine_levels` | `void (i32 monoid, i32 elem, ptr lanes, i64 size, i64 stride, i64 number)` | combines the levels of a reduction of so many values |
//! | `cotan_routine` | `i32 (ptr ctx, ptr name, i64 length, ptr words)` | calls the routine of the operation of that name, see below |
//! | `cotan_print` | `void (ptr ctx, ptr text, i64 length, i32 elem, ptr data, i64 rank, ptr extents)` | writes a text, then a tensor unless the rank is -1 |
//!
//! The words that describe a call of a routine are i64: the number of attributes, the attributes, the number of arrays,
//! and for each array (the result, then the operands) its first element, the number of its element type among all of
//! them, its rank, and its extents.
//!
//! Whatever returns `i32` gives [`OK`] or [`FAILED`]; what gives null has filled `ctx.error` too.
//! Functions of floats (`cotan_lgamma`, `cotan_lgammaf`, ...) come with [`host_symbols`](crate::host_symbols).

mod context;
mod error;
pub mod layout;
mod matrix;
mod memory;
mod steps;
mod symbols;
mod tensor;

pub use context::{ChunkBody, Ctx, Entry, FAILED, OK, ProductFn, Products, Status};
pub use error::{ErrorSlot, MAX_CHECK_ARGS, code};
pub use matrix::{Matrix, MatrixProduct};
pub use memory::{ALIGNMENT, Mark, Stack};
pub use steps::StepBudget;
pub use symbols::HostSymbols;
pub use tensor::Buf;

/// Part of every cache key: to be raised with any change in this folder.
pub const VERSION: u32 = 12;
