//! Memory that compiled code asks its host for: marks of an arena, and growable stacks.

use std::ffi::c_void;

/// Alignment in bytes of all memory that the host hands out: a cache line, the widest vector.
pub const ALIGNMENT: usize = 64;

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
