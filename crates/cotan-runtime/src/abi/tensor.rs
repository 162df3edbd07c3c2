//! Tensor descriptors: how arguments and results are passed.

use std::ffi::c_void;

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
