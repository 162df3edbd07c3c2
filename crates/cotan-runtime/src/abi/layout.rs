//! Offsets and sizes in bytes, for the emitter's address arithmetic.

use super::{Buf, Ctx, ErrorSlot, Mark, Matrix, MatrixProduct, Products, Stack, StepBudget};
use std::mem::offset_of;

/// `ctx.watch`
pub const CTX_WATCH: usize = offset_of!(Ctx, watch);
/// `watch.left`
pub const WATCH_STEPS_LEFT: usize = offset_of!(StepBudget, left);
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
