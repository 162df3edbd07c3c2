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
//! | `cotan_wavefront` | `i32 (ptr ctx, ptr body, ptr env, i64 n, i64 stages, i64 slots)` | the same, in the order that a [`Wave`](cotan_loops::Wave) needs |
//! | `cotan_poll` | `i32 (ptr ctx, i64 steps)` | stops a call that was cancelled or took too long |
//! | `cotan_close_blocks` | `void (i32 monoid, i32 elem, ptr lanes, i64 size, i64 stride, i64 number)` | [`BlockWork::Close`](cotan_loops::BlockWork::Close) |
//! | `cotan_combine_levels` | the same | [`BlockWork::Combine`](cotan_loops::BlockWork::Combine) |
//! | `cotan_routine` | `i32 (ptr ctx, ptr name, i64 length, ptr words)` | calls the routine of the operation of that name, see below |
//! | `cotan_print` | `void (ptr ctx, ptr text, i64 length, i32 elem, ptr data, i64 rank, ptr extents)` | writes a text, then a tensor unless the rank is -1 |
//!
//! The words that describe a call of a routine are i64: the number of attributes, the attributes, the number of arrays,
//! and for each array (the result, then the operands) its first element, the number of its element type among all of
//! them, its rank, and its extents.
//!
//! Whatever returns `i32` gives [`OK`] or [`FAILED`]; what gives null has filled `ctx.error` too.
//! Functions of floats (`cotan_lgamma`, `cotan_lgammaf`, ...) come with [`crate::runtime::host_symbols`].

use std::ffi::c_void;
use std::mem::offset_of;

use cotan_ops::Registry;

use crate::runtime::{Arena, ArenaStore, Pool, Watch};

/// Part of every cache key: to be raised with any change in this file.
pub const VERSION: u32 = 12;

/// Alignment in bytes of all memory that the host hands out: a cache line, the widest vector.
pub const ALIGNMENT: usize = 64;

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

/// What one thread of one call works with.
#[repr(C)]
pub struct Ctx {
    /// Memory of this thread.
    pub arena: *mut Arena,
    /// Memory for the chunks of parallel loops.
    pub arenas: *const ArenaStore,
    /// The threads of parallel loops; null runs them on this one.
    pub pool: *const Pool,
    /// What may stop the call early; null if nothing may. Compiled code that finds it set takes steps
    /// off its budget at the back-edges of its loops, and calls `cotan_poll` when there are too few.
    pub watch: *const Watch,
    /// Bytes of the records that loops keep for their reverse sweeps, as far as this thread knows of them: those that
    /// are alive now. Compiled code counts them.
    pub record_bytes: i64,
    /// The most that [`Ctx::record_bytes`] ever was.
    pub most_record_bytes: i64,
    /// The library for matrix products.
    pub products: *const Products,
    /// The operations whose routines compiled code calls.
    pub registry: *const Registry,
    /// Where output goes, an [`Output`]; null drops it. Only the thread that made the call writes.
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

/// A product of two matrices, `to = left right`. Each sum takes its terms in order, in [`runs`](cotan_ops::runs): a run
/// starts from 0 and adds a term by `fma`, and what the runs give is added in order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MatrixProduct {
    /// What is written, `[rows, columns]`; it overlaps no factor.
    pub to: Matrix,
    /// The first factor, `[rows, summed]`.
    pub left: Matrix,
    /// The second factor, `[summed, columns]`.
    pub right: Matrix,
    /// Rows and columns of the product, and the number of terms of a sum.
    pub extents: [i64; 3],
}

/// A matrix in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// The element at index zero.
    pub data: *mut c_void,
    /// How many elements the next row, and the next column, are away.
    pub strides: [i64; 2],
}

/// What a host does with output.
pub struct Output<'o> {
    /// Takes each piece as it is written.
    pub write: &'o mut dyn FnMut(&str),
}

/// How many numbers a failed check may report.
pub const MAX_CHECK_ARGS: usize = 13;

/// Why a call failed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorSlot {
    /// Codes of failed checks are positive and chosen by the emitter; those of the host are the
    /// negative ones of [`code`].
    pub code: i32,
    /// The id of the source position, chosen by the emitter.
    pub span: i64,
    /// What the message shows, such as an index and an extent.
    pub args: [i64; MAX_CHECK_ARGS],
}

impl ErrorSlot {
    /// A bug, with as much of its text as there is room for.
    #[must_use]
    pub(crate) fn bug(text: impl AsRef<str>) -> ErrorSlot {
        let text = text.as_ref();
        let mut slot = ErrorSlot { code: code::BUG, ..ErrorSlot::default() };
        let kept = text.floor_char_boundary(size_of_val(&slot.args));
        for (word, bytes) in slot.args.iter_mut().zip(text.as_bytes()[..kept].chunks(size_of::<i64>())) {
            let mut word_bytes = [0; size_of::<i64>()];
            word_bytes[..bytes.len()].copy_from_slice(bytes);
            *word = i64::from_le_bytes(word_bytes);
        }
        slot
    }

    /// The text of [`code::BUG`].
    #[must_use]
    pub(crate) fn bug_text(&self) -> String {
        let bytes: Vec<u8> = self.args.iter().flat_map(|word| word.to_le_bytes()).collect();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
    }
}

/// The error codes of the host's functions.
pub mod code {
    /// The memory limit of the call, or the machine's memory, is exhausted. The arguments: the bytes of the tensor or
    /// stack that does not fit, the bytes that the call holds, and the limit, or [`NO_LIMIT`]. The span is the number
    /// of the place that asked, chosen by the emitter, from 1 on.
    pub const OUT_OF_MEMORY: i32 = -1;
    /// Stands for the limit where the machine refuses what the limit allows.
    pub const NO_LIMIT: i64 = -1;
    /// The call was cancelled.
    pub const CANCELLED: i32 = -2;
    /// The step budget is used up.
    pub const OUT_OF_STEPS: i32 = -3;
    /// The time of the call is over.
    pub const TIMED_OUT: i32 = -4;
    /// Compiled code has described an array with extents that no array has: a bug of whoever made it. The span is the rank,
    /// the arguments are the extents.
    pub const BAD_EXTENTS: i32 = -5;
    /// The host panicked, or found what cannot be. The arguments are the first bytes of a text, and zeros.
    pub const BUG: i32 = -6;
}

/// A tensor, or a scalar (rank 0, one element).
///
/// For a result the host gives `data` with `capacity` bytes, and room for `rank` extents and
/// strides; the callee writes extents and strides. If the elements do not fit, because their number
/// is known only at run time, it points `data` to memory of its own, valid until the next call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Buf {
    /// The element at index zero.
    pub data: *mut c_void,
    /// `rank` extents.
    pub extents: *mut i64,
    /// `rank` strides, in elements.
    pub strides: *mut i64,
    /// Bytes at `data` that a callee may write; zero for arguments.
    pub capacity: i64,
}

/// A moment in the life of an arena.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The block in use.
    pub block: i64,
    /// Bytes in use of that block.
    pub offset: i64,
    /// How many stacks are open.
    pub stacks: i64,
}

/// A growable buffer, contiguous so that records can be read by index. Compiled code keeps it in its
/// frame, writes at `data + length`, and calls `cotan_stack_reserve` where that passes `capacity`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// The first byte; moves when the stack grows.
    pub data: *mut c_void,
    /// Bytes in use.
    pub length: i64,
    /// Bytes there are.
    pub capacity: i64,
    /// The arena's own number for this stack.
    pub slot: i64,
}

/// Offsets and sizes in bytes, for the emitter's address arithmetic.
pub mod layout {
    use super::{Buf, Ctx, ErrorSlot, Mark, Matrix, MatrixProduct, Products, Stack, Watch, offset_of};

    /// `ctx.watch`
    pub const CTX_WATCH: usize = offset_of!(Ctx, watch);
    /// `watch.steps_left`
    pub const WATCH_STEPS_LEFT: usize = offset_of!(Watch, steps_left);
    /// `ctx.record_bytes`
    pub const CTX_RECORD_BYTES: usize = offset_of!(Ctx, record_bytes);
    /// `ctx.most_record_bytes`
    pub const CTX_MOST_RECORD_BYTES: usize = offset_of!(Ctx, most_record_bytes);
    /// `ctx.products`
    pub const CTX_PRODUCTS: usize = offset_of!(Ctx, products);
    /// `products.of_f32`
    pub const PRODUCTS_F32: usize = offset_of!(Products, of_f32);
    /// `products.of_f64`
    pub const PRODUCTS_F64: usize = offset_of!(Products, of_f64);
    /// `product.to`, `product.left` and `product.right`
    pub const PRODUCT_MATRICES: [usize; 3] =
        [offset_of!(MatrixProduct, to), offset_of!(MatrixProduct, left), offset_of!(MatrixProduct, right)];
    /// `product.extents`
    pub const PRODUCT_EXTENTS: usize = offset_of!(MatrixProduct, extents);
    /// Room for a [`MatrixProduct`] in a frame.
    pub const PRODUCT_SIZE: usize = size_of::<MatrixProduct>();
    /// `matrix.data`
    pub const MATRIX_DATA: usize = offset_of!(Matrix, data);
    /// `matrix.strides`
    pub const MATRIX_STRIDES: usize = offset_of!(Matrix, strides);
    /// Words of each array in the description of a call of a routine, beside its extents.
    pub const ROUTINE_ARRAY_WORDS: usize = 3;
    /// `ctx.saw_nan`
    pub const CTX_SAW_NAN: usize = offset_of!(Ctx, saw_nan);
    /// `ctx.error.code`
    pub const CTX_ERROR_CODE: usize = offset_of!(Ctx, error) + offset_of!(ErrorSlot, code);
    /// `ctx.error.span`
    pub const CTX_ERROR_SPAN: usize = offset_of!(Ctx, error) + offset_of!(ErrorSlot, span);
    /// `ctx.error.args`
    pub const CTX_ERROR_ARGS: usize = offset_of!(Ctx, error) + offset_of!(ErrorSlot, args);
    /// `buf.data`
    pub const BUF_DATA: usize = offset_of!(Buf, data);
    /// `buf.extents`
    pub const BUF_EXTENTS: usize = offset_of!(Buf, extents);
    /// `buf.strides`
    pub const BUF_STRIDES: usize = offset_of!(Buf, strides);
    /// `buf.capacity`
    pub const BUF_CAPACITY: usize = offset_of!(Buf, capacity);
    /// Distance between two elements of an array of [`Buf`].
    pub const BUF_SIZE: usize = size_of::<Buf>();
    /// `stack.data`
    pub const STACK_DATA: usize = offset_of!(Stack, data);
    /// `stack.length`
    pub const STACK_LENGTH: usize = offset_of!(Stack, length);
    /// `stack.capacity`
    pub const STACK_CAPACITY: usize = offset_of!(Stack, capacity);
    /// Room for a [`Stack`] in a frame.
    pub const STACK_SIZE: usize = size_of::<Stack>();
    /// Room for a [`Mark`] in a frame.
    pub const MARK_SIZE: usize = size_of::<Mark>();
}
