//! The functions that compiled code calls, under the names that [`crate::abi`] gives them.
//!
//! Each is called with pointers that the host put into the context, or that compiled code has in its own frame; what each of
//! them relies on stands where it is used.

use std::ffi::c_void;
use std::{ptr, slice};

use super::arena::Arena;
use super::blocks::Partials;
use super::memory::Refusal;
use super::parallel::parallel_for;
use super::routine;
use super::wavefront::wavefront;
use crate::abi::{ChunkBody, Ctx, ErrorSlot, FAILED, Mark, OK, Output, Stack, Status, code};
use crate::jit::HostSymbols;
use cotan_ir::{Const, Elem, Monoid};
use cotan_loops::BlockWork;
use cotan_ops::{ElementCount, write_value};

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
    let (arena, arenas) = unsafe { (&mut *ctx.arena, &*ctx.arenas) };
    let answer = request(arena).or_else(|_| {
        arena.trim();
        arenas.trim();
        request(arena)
    });
    answer.inspect_err(|refusal| {
        let shown = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let limit = arenas.limit();
        let max_bytes = match refusal {
            Refusal::Limit => shown(limit.max_bytes()),
            Refusal::Machine => code::NO_LIMIT,
        };
        ctx.error = ErrorSlot { code: code::OUT_OF_MEMORY, ..ErrorSlot::default() };
        ctx.error.args[..3].copy_from_slice(&[wanted, shown(limit.in_use()), max_bytes]);
    })
}

/// A number of bytes of compiled code.
fn size(bytes: i64) -> Result<usize, Refusal> {
    usize::try_from(bytes).map_err(|_| Refusal::Machine)
}

unsafe extern "C" fn allocate(ctx: *mut Ctx, bytes: i64) -> *mut c_void {
    // SAFETY: compiled code passes on the context that its call or task was given: it lives until that returns, and no other
    // thread uses it.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the pointers of such a context are live, and `arena` is this thread's.
    let memory = unsafe { ask(ctx, bytes, |arena| arena.allocate(size(bytes)?)) };
    memory.unwrap_or(ptr::null_mut())
}

unsafe extern "C" fn mark(ctx: *mut Ctx, mark: *mut Mark) {
    // SAFETY: `ctx` is the context of this call or task, whose arena is this thread's; `mark` is a place in the caller's frame
    // that is large enough and aligned, as the table in `crate::abi` says.
    unsafe { mark.write((*(*ctx).arena).mark()) }
}

unsafe extern "C" fn release(ctx: *mut Ctx, mark: *const Mark) {
    // SAFETY: `ctx` is the context of this call or task; `mark` is in the caller's frame, was filled by `mark` above with the
    // same arena, and nothing that was allocated since is used any more.
    unsafe { (*(*ctx).arena).release(*mark) }
}

unsafe extern "C" fn stack_open(ctx: *mut Ctx, stack: *mut Stack) {
    // SAFETY: `ctx` is the context of this call or task; `stack` is a place for a `Stack` in the caller's frame, which does not
    // move while the stack is open.
    unsafe { (*(*ctx).arena).open_stack(stack) }
}

unsafe extern "C" fn stack_reserve(ctx: *mut Ctx, stack: *mut Stack, bytes: i64) -> Status {
    // SAFETY: compiled code passes on the context that its call or task was given: it lives until that returns, and no other
    // thread uses it.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: `stack` is in the caller's frame, and `stack_open` has filled it.
    let wanted = unsafe { (*stack).length }.saturating_add(bytes);
    // SAFETY: the pointers of such a context are live; the stack was opened in this arena.
    let room = unsafe { ask(ctx, wanted, |arena| arena.reserve(stack, size(bytes)?)) };
    if room.is_ok() { OK } else { FAILED }
}

unsafe extern "C" fn parallel(ctx: *mut Ctx, body: ChunkBody, env: *mut c_void, n: i64) -> Status {
    // SAFETY: `ctx` is the context of this call; `body` is a function of the same compiled module with the signature of a chunk,
    // and `env` a record in the caller's frame, which waits until all chunks are done.
    unsafe { parallel_for(&mut *ctx, body, env, n) }
}

unsafe extern "C" fn wave(ctx: *mut Ctx, body: ChunkBody, env: *mut c_void, n: i64, stages: i64, slots: i64) -> Status {
    // SAFETY: as for a parallel loop: the context of this call, a function of the same module, and a record in the frame of the
    // caller, which waits.
    unsafe { wavefront(&mut *ctx, body, env, [n, stages, slots]) }
}

unsafe extern "C" fn poll(ctx: *mut Ctx, steps: i64) -> Status {
    // SAFETY: compiled code passes on the context that its call or task was given: it lives until that returns, and no other
    // thread uses it.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: the watch of a context is null, which watches nothing, or one that the host keeps alive during the call.
    let Some(watch) = (unsafe { ctx.watch.as_ref() }) else {
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
    // SAFETY: `name` points to that many bytes of a constant in the code, which is mapped while it runs.
    let name = unsafe { slice::from_raw_parts(name, usize::try_from(length).unwrap_or(0)) };
    // SAFETY: `ctx` is the context of this call or task; `words` describes arrays, which compiled code keeps alive and does
    // not use meanwhile, in the form that the routine of this name has in the emitter.
    unsafe { routine::call(&mut *ctx, name, words) }
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
    // SAFETY: the output of a context is null, which drops everything, or one that the host keeps alive and that no other
    // thread uses during the call.
    let Some(output) = (unsafe { (*ctx).output.cast::<Output>().as_mut() }) else {
        return;
    };
    let mut line = String::new();
    if length > 0 {
        // SAFETY: the text is a constant of that many bytes in the code.
        let bytes = unsafe { slice::from_raw_parts(text, length as usize) };
        line.push_str(&String::from_utf8_lossy(bytes));
    }
    let elem = usize::try_from(elem).ok().and_then(|at| Elem::ALL.get(at));
    if let (Ok(rank), Some(elem)) = (usize::try_from(rank), elem) {
        // SAFETY: compiled code stores the extents before it calls.
        let dims = if rank == 0 { &[] } else { unsafe { slice::from_raw_parts(extents, rank) } };
        // Extents of no tensor are a bug of whoever made the code: nothing is read for them.
        let n = ElementCount::of(dims);
        debug_assert!(n.is_some(), "compiled code prints a tensor of extents {dims:?}");
        // SAFETY: the tensor has as many elements as its extents say, which are those of a tensor.
        let bits = (0..n.map_or(0, ElementCount::get)).map(|at| unsafe { element(*elem, data, at) });
        write_value(*elem, dims, &bits.collect::<Vec<u64>>(), &mut line);
    }
    (output.write)(&line);
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
