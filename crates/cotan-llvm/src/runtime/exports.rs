//! The functions that compiled code calls, under the names that [`crate::abi`] gives them.
//!
//! None of them panics or unwinds. Each is called with pointers that the host put into the context,
//! or that compiled code has in its own frame; that is the contract behind every `unsafe` here.

use std::ffi::c_void;
use std::ptr;

use super::parallel::{chunk_size, parallel_for};
use crate::abi::{ChunkBody, Ctx, ErrorSlot, FAILED, Mark, OK, Stack, Status, code};
use crate::jit::HostSymbols;

/// Adds the functions of this file to `symbols`.
pub(super) fn define(symbols: &mut HostSymbols) {
    let functions: [(&str, *const ()); 8] = [
        ("cotan_allocate", allocate as *const ()),
        ("cotan_mark", mark as *const ()),
        ("cotan_release", release as *const ()),
        ("cotan_stack_open", stack_open as *const ()),
        ("cotan_stack_reserve", stack_reserve as *const ()),
        ("cotan_parallel_for", parallel as *const ()),
        ("cotan_chunk_size", length_of_chunks as *const ()),
        ("cotan_poll", poll as *const ()),
    ];
    for (name, address) in functions {
        // SAFETY: the signatures are those of the table in `crate::abi`.
        unsafe { symbols.define(name, address) };
    }
}

/// Fills the error slot for a request of `bytes` bytes that could not be met.
fn out_of_memory(ctx: &mut Ctx, bytes: i64) {
    ctx.error = ErrorSlot { code: code::OUT_OF_MEMORY, args: [bytes, 0, 0, 0], ..ErrorSlot::default() };
}

unsafe extern "C" fn allocate(ctx: *mut Ctx, bytes: i64) -> *mut c_void {
    // SAFETY: see the module.
    let ctx = unsafe { &mut *ctx };
    let memory = usize::try_from(bytes)
        .ok()
        // SAFETY: see the module.
        .and_then(|bytes| unsafe { (*ctx.arena).allocate(bytes) });
    memory.unwrap_or_else(|| {
        out_of_memory(ctx, bytes);
        ptr::null_mut()
    })
}

unsafe extern "C" fn mark(ctx: *mut Ctx, mark: *mut Mark) {
    // SAFETY: see the module.
    unsafe { mark.write((*(*ctx).arena).mark()) }
}

unsafe extern "C" fn release(ctx: *mut Ctx, mark: *const Mark) {
    // SAFETY: see the module.
    unsafe { (*(*ctx).arena).release(*mark) }
}

unsafe extern "C" fn stack_open(ctx: *mut Ctx, stack: *mut Stack) {
    // SAFETY: see the module.
    unsafe { stack.write((*(*ctx).arena).open_stack()) }
}

unsafe extern "C" fn stack_reserve(ctx: *mut Ctx, stack: *mut Stack, bytes: i64) -> Status {
    // SAFETY: see the module.
    let (ctx, stack) = unsafe { (&mut *ctx, &mut *stack) };
    let room = usize::try_from(bytes)
        .ok()
        // SAFETY: see the module.
        .and_then(|bytes| unsafe { (*ctx.arena).reserve(stack, bytes) });
    match room {
        Some(()) => OK,
        None => {
            out_of_memory(ctx, bytes);
            FAILED
        }
    }
}

unsafe extern "C" fn parallel(ctx: *mut Ctx, body: ChunkBody, env: *mut c_void, n: i64, grain: i64) -> Status {
    // SAFETY: see the module.
    unsafe { parallel_for(&mut *ctx, body, env, n, grain) }
}

extern "C" fn length_of_chunks(n: i64, grain: i64) -> i64 {
    chunk_size(n, grain)
}

unsafe extern "C" fn poll(ctx: *mut Ctx, steps: i64) -> Status {
    // SAFETY: see the module.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: see the module; a null watch watches nothing.
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
