//! The functions that compiled code calls, under the names that [`crate::abi`] gives them.
//!
//! Each is called with pointers that the host put into the context, or that compiled code has in its own frame; what each of
//! them relies on stands where it is used.
//!
//! None of them unwinds. Those that allocate, index by data or call what others wrote do so [under a
//! guard](super::guard), and a panic there is an error of the call; the others copy words.

use std::ffi::c_void;
use std::{ptr, slice};

use super::arena::Arena;
use super::context;
use super::guard::{guarded, reporting};
use super::memory::Refusal;
use super::parallel::parallel_for;
use super::partial_sums::{BlockWork, Partials};
use super::routine;
use super::wavefront::wavefront;
use crate::abi::{ChunkBody, Ctx, FAILED, HostSymbols, Mark, OK, Stack, Status};
use cotan_ir::{Const, Elem, Monoid};
use cotan_ops::{ElementCount, written};

/// Adds the functions of this file to `symbols`.
pub(super) fn define(symbols: &mut HostSymbols) {
    let functions: [(&str, *const ()); 12] = [
        ("cotan_allocate", allocate as *const ()),
        ("cotan_mark", mark as *const ()),
        ("cotan_release", release as *const ()),
        ("cotan_stack_open", stack_open as *const ()),
        ("cotan_stack_reserve", stack_reserve as *const ()),
        ("cotan_parallel_for", parallel as *const ()),
        ("cotan_wavefront", wave as *const ()),
        ("cotan_poll", poll as *const ()),
        ("cotan_close_blocks", close_blocks as *const ()),
        ("cotan_combine_levels", combine_levels as *const ()),
        ("cotan_routine", routine as *const ()),
        ("cotan_print", print as *const ()),
    ];
    for (name, address) in functions {
        // SAFETY: the signatures are those of the table in `crate::abi`.
        unsafe { symbols.define(name, address) };
    }
}

/// Asks for memory, a second time when everything that nobody uses is given back. Fills the error slot if there is
/// none: `wanted` is the whole size of what it is for.
///
/// # Safety
/// The pointers in `ctx` are live.
unsafe fn ask<T>(
    ctx: &mut Ctx,
    wanted: i64,
    mut request: impl FnMut(&mut Arena) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    // SAFETY: by this function's contract; only this thread uses its arena.
    let (arena, arenas) = unsafe { (&mut *context::arena(ctx), &*context::arenas(ctx)) };
    let answer = request(arena).or_else(|_| {
        arena.trim();
        arenas.trim();
        request(arena)
    });
    answer.inspect_err(|refusal| {
        ctx.error = arenas.limit().out_of_memory(usize::try_from(wanted).unwrap_or(usize::MAX), *refusal);
    })
}

/// A number of bytes of compiled code.
fn size(bytes: i64) -> Result<usize, Refusal> {
    usize::try_from(bytes).map_err(|_| Refusal::Machine)
}

unsafe extern "C" fn allocate(ctx: *mut Ctx, bytes: i64) -> *mut c_void {
    // SAFETY: the context is that of the caller.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the arena of a context is live, and only this thread uses it.
    let arena = unsafe { &mut *context::arena(ctx) };
    // The rest uses registers of vectors, and would wait for what the caller still computes in them.
    if let Some(memory) = usize::try_from(bytes).ok().and_then(|bytes| arena.allocate_held(bytes)) {
        return memory;
    }
    let mut memory = ptr::null_mut();
    let status = reporting(ctx, |ctx| {
        // SAFETY: the pointers in the context are live.
        match unsafe { ask(ctx, bytes, |arena| arena.allocate(size(bytes)?)) } {
            Ok(allocated) => memory = allocated,
            Err(_) => return FAILED,
        }
        OK
    });
    if status == OK { memory } else { ptr::null_mut() }
}

unsafe extern "C" fn mark(ctx: *mut Ctx, mark: *mut Mark) {
    // SAFETY: the arena is that of the context, and the mark lies in the caller's frame.
    unsafe { mark.write((*context::arena(&*ctx)).mark()) }
}

unsafe extern "C" fn release(ctx: *mut Ctx, mark: *const Mark) {
    // SAFETY: the arena is that of the context; the mark was made in it.
    unsafe { (*context::arena(&*ctx)).release(*mark) }
}

unsafe extern "C" fn stack_open(ctx: *mut Ctx, stack: *mut Stack) {
    // SAFETY: the arena is that of the context; the stack lies in the caller's frame, and stays there until it is released.
    unsafe { (*context::arena(&*ctx)).open_stack(stack) }
}

unsafe extern "C" fn stack_reserve(ctx: *mut Ctx, stack: *mut Stack, bytes: i64) -> Status {
    // SAFETY: the context is that of the caller.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the stack lies in the caller's frame.
    let wanted = unsafe { (*stack).length }.saturating_add(bytes);
    reporting(ctx, |ctx| {
        // SAFETY: the pointers in the context are live, and the stack was opened in its arena.
        let room = unsafe { ask(ctx, wanted, |arena| arena.reserve(stack, size(bytes)?)) };
        if room.is_ok() { OK } else { FAILED }
    })
}

unsafe extern "C" fn parallel(ctx: *mut Ctx, body: ChunkBody, env: *mut c_void, n: i64) -> Status {
    // SAFETY: the context is that of the caller.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the emitter generates a body for any thread, with an environment that outlives the loop.
    reporting(ctx, |ctx| unsafe { parallel_for(ctx, body, env, n) })
}

unsafe extern "C" fn wave(ctx: *mut Ctx, body: ChunkBody, env: *mut c_void, n: i64, stages: i64, slots: i64) -> Status {
    // SAFETY: the context is that of the caller.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the emitter generates a body for any thread, with an environment that outlives the loop.
    reporting(ctx, |ctx| unsafe { wavefront(ctx, body, env, [n, stages, slots]) })
}

unsafe extern "C" fn poll(ctx: *mut Ctx, steps: i64) -> Status {
    // SAFETY: the context is that of the caller.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the watch of the context is live; a null one watches nothing.
    let Some(watch) = (unsafe { context::watch(ctx).as_ref() }) else {
        return OK;
    };
    match watch.poll(steps) {
        Ok(()) => OK,
        Err(error) => {
            ctx.error = error;
            FAILED
        }
    }
}

unsafe extern "C" fn routine(ctx: *mut Ctx, name: *const u8, length: i64, words: *const i64) -> Status {
    // SAFETY: the context is that of the caller.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the name is a constant of that many bytes in the code.
    let name = unsafe { slice::from_raw_parts(name, usize::try_from(length).unwrap_or(0)) };
    // SAFETY: compiled code describes arrays that are alive, and a result that overlaps none of them.
    reporting(ctx, |ctx| unsafe { routine::call(ctx, name, words) })
}

unsafe extern "C" fn close_blocks(monoid: i32, elem: i32, lanes: *mut c_void, size: i64, stride: i64, number: i64) {
    // SAFETY: compiled code passes the partial results of a reduction.
    unsafe { work_on_blocks(BlockWork::Close, (monoid, elem), (lanes, size, stride), number) }
}

unsafe extern "C" fn combine_levels(monoid: i32, elem: i32, lanes: *mut c_void, size: i64, stride: i64, number: i64) {
    // SAFETY: compiled code passes the partial results of a reduction.
    unsafe { work_on_blocks(BlockWork::Combine, (monoid, elem), (lanes, size, stride), number) }
}

/// # Safety
/// `lanes` are partial results of all levels, of so many elements of type `elem`, that lie `stride` elements apart.
unsafe fn work_on_blocks(
    work: BlockWork,
    (monoid, elem): (i32, i32),
    (lanes, size, stride): (*mut c_void, i64, i64),
    number: i64,
) {
    let monoid = usize::try_from(monoid).ok().and_then(|at| Monoid::ALL.get(at));
    let elem = usize::try_from(elem).ok().and_then(|at| Elem::ALL.get(at));
    // A negative number is a bug of whoever made the code: nothing is touched for it.
    let [size, stride, number] = [size, stride, number].map(usize::try_from);
    debug_assert!(size.is_ok() && stride.is_ok() && number.is_ok(), "compiled code counts below zero");
    if let (Some(monoid), Some(elem), Ok(size), Ok(stride), Ok(number)) = (monoid, elem, size, stride, number) {
        // SAFETY: by this function's contract.
        let lanes = unsafe { Partials::new(*elem, lanes, size, stride) };
        lanes.work(work, *monoid, number);
    }
}

unsafe extern "C" fn print(
    ctx: *mut Ctx,
    text: *const u8,
    length: i64,
    elem: i32,
    data: *const c_void,
    rank: i64,
    extents: *const i64,
) {
    // SAFETY: the context is that of the caller.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the host's output outlives the call; null stands for none.
    let Some(output) = (unsafe { context::output(ctx).as_mut() }) else {
        return;
    };
    // SAFETY: the text is a constant in the code, and the tensor is one that compiled code has.
    let written = guarded(|| (output.write)(&unsafe { line((text, length), elem, data, (rank, extents)) }));
    if let Err(error) = written {
        // The call ends with this; nobody is asked to write again.
        ctx.error = error;
        ctx.output = ptr::null_mut();
    }
}

/// A text of so many bytes, then a tensor, unless its rank is negative.
///
/// # Safety
/// The text and the extents are there, and the tensor has as many elements as its extents say.
unsafe fn line(
    (text, length): (*const u8, i64),
    elem: i32,
    data: *const c_void,
    (rank, extents): (i64, *const i64),
) -> String {
    // SAFETY: by this function's contract.
    let text = if length > 0 { unsafe { slice::from_raw_parts(text, length as usize) } } else { &[] };
    let text = String::from_utf8_lossy(text);
    let elem = usize::try_from(elem).ok().and_then(|at| Elem::ALL.get(at));
    let (Ok(rank), Some(elem)) = (usize::try_from(rank), elem) else { return written(&text, None) };
    // SAFETY: by this function's contract.
    let dims = if rank == 0 { &[] } else { unsafe { slice::from_raw_parts(extents, rank) } };
    // Extents of no tensor are a bug of whoever made the code: nothing is read for them.
    let n = ElementCount::of(dims);
    debug_assert!(n.is_some(), "compiled code prints a tensor of extents {dims:?}");
    // SAFETY: by this function's contract; the extents are those of a tensor.
    let bits = (0..n.map_or(0, ElementCount::get)).map(|at| unsafe { element(*elem, data, at) });
    written(&text, Some((*elem, dims, &bits.collect::<Vec<u64>>())))
}

/// The bits of an element of a tensor, as constants have them.
///
/// # Safety
/// `data` holds more than `at` elements of that type.
unsafe fn element(elem: Elem, data: *const c_void, at: usize) -> u64 {
    // SAFETY: by this function's contract; elements are aligned to their size.
    unsafe {
        match elem {
            Elem::Bool | Elem::U8 => u64::from(*data.cast::<u8>().add(at)),
            Elem::I8 => Const::integer(elem, i128::from(*data.cast::<i8>().add(at))).bits(),
            Elem::I16 => Const::integer(elem, i128::from(*data.cast::<i16>().add(at))).bits(),
            Elem::I32 => Const::integer(elem, i128::from(*data.cast::<i32>().add(at))).bits(),
            Elem::U16 | Elem::F16 | Elem::BF16 => u64::from(*data.cast::<u16>().add(at)),
            Elem::U32 => u64::from(*data.cast::<u32>().add(at)),
            Elem::I64 | Elem::U64 | Elem::F64 => *data.cast::<u64>().add(at),
            Elem::F32 => u64::from(*data.cast::<u32>().add(at)),
        }
    }
}
