//! What all kernels share: the walk over a batch, what becomes of a result that does not exist, scratch memory.
//!
//! It knows no method. Scratch memory is aligned the same way for every matrix, because vectorised code may add in another
//! order at another alignment, and a result may not depend on where in a batch its matrix stands.

use std::mem::MaybeUninit;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};

use crate::{Real, memory};

/// Up to this order a matrix is treated by loops on the stack, beyond by the library.
pub(crate) const DIRECT: usize = 16;

/// Room for a matrix of the largest order that is treated on the stack.
pub(crate) const DIRECT_SIZE: usize = DIRECT * DIRECT;

/// The alignment of scratch memory in bytes: a cache line.
pub(crate) const ALIGN: usize = 64;

/// Scratch memory up to this many bytes lies on the stack.
const STACK_BYTES: usize = 32 << 10;

/// Calls `step` for each matrix of a batch and its result. A batch ends where one of the slices has no whole matrix left.
pub(crate) fn each<T, U>(a: &[T], size: usize, to: &mut [U], size_to: usize, mut step: impl FnMut(&[T], &mut [U])) {
    each_pair(a, size, &[], 0, to, size_to, |a, _, to| step(a, to));
}

/// Calls `step` for each matrix of a batch, its right hand side and its result.
pub(crate) fn each_pair<T, U>(
    a: &[T],
    size_a: usize,
    b: &[T],
    size_b: usize,
    to: &mut [U],
    size_to: usize,
    mut step: impl FnMut(&[T], &[T], &mut [U]),
) {
    if size_to == 0 {
        return;
    }
    let (mut a, mut b) = (a, b);
    for to in to.chunks_exact_mut(size_to) {
        let (Some((this_a, rest_a)), Some((this_b, rest_b))) = (a.split_at_checked(size_a), b.split_at_checked(size_b))
        else {
            return;
        };
        step(this_a, this_b, to);
        (a, b) = (rest_a, rest_b);
    }
}

/// Whether a batch holds no matrix, or no result: memory is not to be allocated for the mere order of one.
pub(crate) fn is_empty<T, U>(a: &[T], size: usize, to: &[U], size_to: usize) -> bool {
    a.len() < size || to.len() < size_to
}

/// Leaves a result alone if it exists and is finite, and makes all of it NaN otherwise.
#[inline(always)]
pub(crate) fn settle<T: Real>(exists: bool, to: &mut [T]) {
    if !(exists && all_finite(to)) {
        to.fill(T::NAN);
    }
}

/// Whether there is neither an infinity nor a NaN.
#[inline(always)]
pub(crate) fn all_finite<T: Real>(x: &[T]) -> bool {
    x.iter().fold(true, |so_far, x| so_far & x.finite())
}

/// The largest modulus; only for what is finite.
pub(crate) fn largest<T: Real>(x: &[T]) -> T {
    x.iter().fold(T::ZERO, |most, x| if x.modulus() > most { x.modulus() } else { most })
}

/// The transpose of a row-major matrix, or the copy of a matrix from rows to columns or back.
pub(crate) fn transpose<T: Copy>(rows: usize, columns: usize, from: &[T], to: &mut [T]) {
    /// Rows and columns of a tile: lines of both sides stay in the first cache.
    const TILE: usize = 16;
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            for j in left..columns.min(left + TILE) {
                for i in top..rows.min(top + TILE) {
                    to[j * rows + i] = from[i * columns + j];
                }
            }
        }
    }
}

/// Calls `body` with scratch memory: on the stack where it is small, allocated otherwise.
pub(crate) fn with_scratch(need: StackReq, body: impl FnOnce(&mut MemStack)) {
    let bytes = need.unaligned_bytes_required();
    if bytes <= STACK_BYTES {
        body(MemStack::new(&mut [MaybeUninit::uninit(); STACK_BYTES]));
    } else {
        memory::with(bytes, || MemBuffer::try_new(need).ok(), |buffer| body(MemStack::new(buffer)));
    }
}

/// What `slice` needs of scratch memory.
pub(crate) fn slice_scratch<T>(len: usize) -> StackReq {
    StackReq::new_aligned::<T>(len, ALIGN)
}

/// A slice of zeros from scratch memory.
macro_rules! slice {
    ($name:ident, $stack:ident, $len:expr) => {
        let (mut $name, $stack) = $stack.make_aligned_with($len, crate::batch::ALIGN, |_| Default::default());
        let $name = &mut $name[..];
    };
}
pub(crate) use slice;
