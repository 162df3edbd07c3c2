//! Matrix products: what a library for them is told.

use std::ffi::c_void;

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
