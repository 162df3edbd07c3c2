//! Discrete Fourier transforms of any length, by `rustfft` (mixed radices, and the methods of Rader, 1968, and Bluestein, 1970,
//! for primes), and by `realfft` for real sequences.
//!
//! Complex numbers are pairs of floats that lie together. What a length needs (twiddle factors, the choice of method) is
//! planned once per thread and kept for the next call; a program that goes through many lengths does not keep them all. An
//! infinity or NaN goes where arithmetic takes it.

use num_complex::Complex;

use crate::Real;
use crate::batch::{each, is_empty};
use crate::memory::with_elements;

/// Up to this many complex numbers scratch memory lies on the stack.
const STACK_LEN: usize = 128;

/// See `fft` of the crate.
pub(crate) fn fft<T: Real>(n: usize, x: &[T], to: &mut [T], inverse: bool) {
    let size = n.saturating_mul(2);
    if n == 0 || is_empty(x, size, to, size) {
        return;
    }
    let plan = T::with_plans(|plans| {
        let plans = plans.with_room(n);
        if inverse { plans.complex.plan_fft_inverse(n) } else { plans.complex.plan_fft_forward(n) }
    });
    with_scratch(plan.get_immutable_scratch_len(), |scratch| {
        each(x, size, to, size, |x, to| {
            // Pairs always have the layout and alignment of complex numbers, so nothing is left out here.
            if let (Ok(x), Ok(to)) = (bytemuck::try_cast_slice(x), bytemuck::try_cast_slice_mut(to)) {
                plan.process_immutable_with_scratch(x, to, scratch);
            }
        });
    });
}

/// See `rfft` of the crate.
pub(crate) fn rfft<T: Real>(n: usize, x: &[T], to: &mut [T]) {
    if n == 0 {
        // The one entry is a sum of nothing.
        to.fill(T::ZERO);
        return;
    }
    if is_empty(x, n, to, n) {
        return;
    }
    let plan = T::with_plans(|plans| plans.with_room(n).real.plan_fft_forward(n));
    // The library changes its input, so it gets a copy of it.
    let copy_len = n.div_ceil(2);
    with_scratch(copy_len + plan.get_scratch_len(), |scratch| {
        let (copy, scratch) = scratch.split_at_mut(copy_len);
        let Ok(copy) = bytemuck::try_cast_slice_mut::<_, T>(copy) else { return };
        let copy = &mut copy[..n];
        each(x, n, to, 2 * (n / 2 + 1), |x, to| {
            copy.copy_from_slice(x);
            if let Ok(to) = bytemuck::try_cast_slice_mut(to) {
                // Its one error is a length that does not fit.
                let done = plan.process_with_scratch(copy, to, scratch);
                debug_assert!(done.is_ok());
            }
        });
    });
}

/// See `irfft` of the crate.
pub(crate) fn irfft<T: Real>(n: usize, x: &[T], to: &mut [T]) {
    let len = n / 2 + 1;
    if n == 0 || is_empty(x, len, to, n) {
        return;
    }
    let plan = T::with_plans(|plans| plans.with_room(n).real.plan_fft_inverse(n));
    with_scratch(len + plan.get_scratch_len(), |scratch| {
        let (copy, scratch) = scratch.split_at_mut(len);
        each(x, 2 * len, to, n, |x, to| {
            for (complex, pair) in copy.iter_mut().zip(x.chunks_exact(2)) {
                *complex = Complex::new(pair[0], pair[1]);
            }
            copy[0].im = T::ZERO;
            if n.is_multiple_of(2) {
                copy[n / 2].im = T::ZERO;
            }
            let done = plan.process_with_scratch(copy, to, scratch);
            debug_assert!(done.is_ok());
        });
    });
}

/// Calls `body` with complex numbers to work with, which are allocated if they are many.
fn with_scratch<T: Real>(len: usize, body: impl FnOnce(&mut [Complex<T>])) {
    let zero = Complex::new(T::ZERO, T::ZERO);
    if len <= STACK_LEN {
        body(&mut [zero; STACK_LEN][..len]);
    } else {
        with_elements(len, zero, body);
    }
}
