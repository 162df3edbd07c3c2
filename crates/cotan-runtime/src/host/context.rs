//! The host's side of a [`Ctx`]: what its opaque pointers point to. Here alone they get their types back.

use super::arena::{Arena, ArenaStore};
use super::pool::Pool;
use super::watch::Watch;
use crate::abi::Ctx;

/// What a host does with output.
pub(super) struct Output<'o> {
    /// Takes each piece as it is written.
    pub(super) write: &'o mut dyn FnMut(&str),
}

/// The memory of this thread.
pub(super) fn arena(ctx: &Ctx) -> *mut Arena {
    ctx.arena.cast()
}

/// The memory for chunks of parallel loops.
pub(super) fn arenas(ctx: &Ctx) -> *const ArenaStore {
    ctx.arenas.cast()
}

/// The threads of parallel loops, or null.
pub(super) fn pool(ctx: &Ctx) -> *const Pool {
    ctx.pool.cast()
}

/// What may stop the call, or null.
pub(super) fn watch(ctx: &Ctx) -> *const Watch {
    ctx.watch.cast()
}

/// Where output goes, or null.
pub(super) fn output<'o>(ctx: &Ctx) -> *mut Output<'o> {
    ctx.output.cast()
}
