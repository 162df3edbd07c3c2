//! The ends of blocks of reductions, in the order of [`cotan_ops::reduce`]: closing a block, and combining the
//! levels at the end.

use cotan_ir::{Elem, Monoid};
use cotan_ops::reduce::{BLOCK, LANES, LEVELS, neutral};
use cotan_ops::{Scalar, WithOperation, with_operation};
use std::ffi::c_void;
use std::slice;

/// The first partial result of the highest level, which takes up what no higher one can. A loop counts to more values only
/// where its iterations do nothing and are not run.
const HIGHEST: usize = (LEVELS - 1) * LANES;

/// What is done where blocks end.
#[derive(Clone, Copy, Debug)]
pub(super) enum BlockWork {
    /// The blocks of which a value is the last one are closed.
    Close,
    /// The levels are combined into the result.
    Combine,
}

/// The partial results of a reduction, of all levels, in memory of compiled code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partials {
    elem: Elem,
    lanes: *mut c_void,
    size: usize,
    stride: usize,
}

impl Partials {
    /// Partial results of `size` elements, `stride` elements from each other.
    ///
    /// # Safety
    /// `lanes` is the first element, and nobody else uses the memory of all of them while this does. Those of type `bool`
    /// are bytes, 0 or 1.
    pub(super) unsafe fn new(elem: Elem, lanes: *mut c_void, size: usize, stride: usize) -> Partials {
        Partials { elem, lanes, size, stride }
    }

    /// Closes the blocks of which value number `number` is the last one, or combines the levels of `number` values.
    pub(super) fn work(self, work: BlockWork, monoid: Monoid, number: usize) {
        if self.size == 0 {
            return;
        }
        // A byte of an iteration that does not run may be anything, which a `bool` may not.
        let elem = if self.elem == Elem::Bool { Elem::U8 } else { self.elem };
        let neutral = neutral(monoid, self.elem).bits();
        // A type without the operation has no reductions.
        let _ = with_operation(monoid, elem, Work { partials: self, work, neutral, number });
    }
}

struct Work {
    partials: Partials,
    work: BlockWork,
    neutral: u64,
    number: usize,
}

impl WithOperation for Work {
    type Output = ();

    fn run<T: Scalar>(self, op: impl Fn(T, T) -> T + Copy) {
        let Partials { elem: _, lanes, size, stride } = self.partials;
        let length = (LEVELS * LANES * size - 1) * stride + 1;
        // SAFETY: by the contract of `Partials::new`; `T` is the type of the elements, of which all bits are a number.
        let memory = unsafe { slice::from_raw_parts_mut(lanes.cast::<T>(), length) };
        let mut levels = Levels { memory, size, stride, op };
        match self.work {
            BlockWork::Close => levels.close(self.number, T::from_bits(self.neutral)),
            BlockWork::Combine => levels.combine_all(self.number),
        }
    }
}

/// Partial results of all levels, the lowest first, and the operation.
struct Levels<'a, T, F> {
    memory: &'a mut [T],
    size: usize,
    stride: usize,
    op: F,
}

impl<T: Copy, F: Fn(T, T) -> T + Copy> Levels<'_, T, F> {
    fn close(&mut self, mut number: usize, neutral: T) {
        let mut first = 0;
        while number % BLOCK == BLOCK - 1 && first < HIGHEST {
            self.combine_lanes(first);
            number /= BLOCK;
            self.combine(first + LANES + number % LANES, first, 1);
            self.clear(first, neutral);
            first += LANES;
        }
    }

    fn combine_all(&mut self, mut number: usize) {
        let mut first = 0;
        self.combine_lanes(first);
        while number >= BLOCK && first < HIGHEST {
            number /= BLOCK;
            self.combine(first + LANES + number % LANES, first, 1);
            first += LANES;
            self.combine_lanes(first);
        }
        let last = first * self.size * self.stride;
        for at in (0..self.size * self.stride).step_by(self.stride) {
            self.memory[at] = self.memory[last + at];
        }
    }

    /// Combines the lanes of a level in the order of the tree; its first one is then the total.
    fn combine_lanes(&mut self, first: usize) {
        let mut half = LANES / 2;
        while half > 0 {
            self.combine(first, first + half, half);
            half /= 2;
        }
    }

    /// Combines `n` partial results with as many others.
    fn combine(&mut self, to: usize, from: usize, n: usize) {
        let (size, op) = (self.size * self.stride, self.op);
        let (low, high) = self.memory.split_at_mut(to.max(from) * size);
        let (to, from) = if to < from { (&mut low[to * size..], &*high) } else { (high, &low[from * size..]) };
        let n = n * self.size;
        if self.stride == 1 {
            to[..n].iter_mut().zip(&from[..n]).for_each(|(a, b)| *a = op(*a, *b));
        } else {
            let pairs = to.iter_mut().zip(from).step_by(self.stride);
            pairs.take(n).for_each(|(a, b)| *a = op(*a, *b));
        }
    }

    fn clear(&mut self, first: usize, neutral: T) {
        let level = self.memory[first * self.size * self.stride..].iter_mut();
        level.step_by(self.stride).take(LANES * self.size).for_each(|a| *a = neutral);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::host_symbols;
    use cotan_ir::Const;
    use cotan_ops::reduce::{monoid_row, reduce};

    type Export = unsafe extern "C" fn(i32, i32, *mut c_void, i64, i64, i64);

    fn export(wanted: &str) -> Export {
        let symbols = host_symbols();
        let (_, address) = symbols.iter().find(|(name, _)| *name == wanted).expect("the runtime exports it");
        // SAFETY: the signature is that of the table in `crate::abi`.
        unsafe { std::mem::transmute::<usize, Export>(address) }
    }

    /// A reduction of `n` values in memory, done as compiled code does it.
    struct Run {
        monoid: Monoid,
        elem: Elem,
        n: usize,
        size: usize,
        stride: usize,
        /// The bits of an element of a value.
        value: fn(&Run, usize, usize) -> u64,
    }

    /// Values for which the order of floats shows, and every value of others may.
    fn mixed(run: &Run, number: usize, at: usize) -> u64 {
        let k = (number * 7919 + at * 31 + 13) % 1009;
        match (run.elem, run.monoid) {
            (Elem::Bool, monoid) => u64::from((number + 1 == run.n) == (monoid == Monoid::Or)),
            (elem, _) if elem.is_float() => Const::float(elem, 0.99 + k as f64 / 50_450.0).bits(),
            (elem, _) => Const::integer(elem, (k % 128) as i128).bits(),
        }
    }

    impl WithOperation for &Run {
        type Output = ();

        fn run<T: Scalar>(self, op: impl Fn(T, T) -> T + Copy) {
            let Run { monoid, elem, n, size, stride, value } = *self;
            let number_of = |place: Option<usize>| place.expect("it is one of all") as i32;
            let codes = (
                number_of(Monoid::ALL.iter().position(|m| *m == monoid)),
                number_of(Elem::ALL.iter().position(|e| *e == elem)),
            );
            let (close, combine) = (export("cotan_close_blocks"), export("cotan_combine_levels"));
            let nothing = T::from_bits(neutral(monoid, elem).bits());
            let other = T::from_bits(value(self, 0, 0));
            for first in [0, stride - 1] {
                let is_other = |at: usize| at % stride != first;
                let length = LEVELS * LANES * size * stride;
                let mut memory: Vec<T> = (0..length).map(|at| if is_other(at) { other } else { nothing }).collect();
                let call = |export: Export, memory: &mut [T], number: usize| {
                    let lanes = memory[first..].as_mut_ptr().cast::<c_void>();
                    // SAFETY: the memory is that of all partial results.
                    unsafe { export(codes.0, codes.1, lanes, size as i64, stride as i64, number as i64) }
                };
                for number in 0..n {
                    for at in 0..size {
                        let lane = &mut memory[((number % LANES) * size + at) * stride + first];
                        *lane = op(*lane, T::from_bits(value(self, number, at)));
                    }
                    if number % BLOCK == BLOCK - 1 {
                        call(close, &mut memory, number);
                    }
                }
                call(combine, &mut memory, n);
                for at in 0..size {
                    let values: Vec<T> = (0..n).map(|number| T::from_bits(value(self, number, at))).collect();
                    let (found, expected) = (memory[at * stride + first], reduce(&values, nothing, op));
                    // Which NaN an operation gives is left to the machine.
                    let is_nan = |x: T| Const::from_bits(elem, x.to_bits()).as_float().is_some_and(f64::is_nan);
                    let same = found.to_bits() == expected.to_bits() || is_nan(found) && is_nan(expected);
                    assert!(same, "{monoid:?} on {elem}, {n} values, element {at} of {size}, stride {stride}");
                }
                let untouched = memory.iter().enumerate().filter(|(at, _)| is_other(*at)).all(|(_, x)| *x == other);
                assert!(untouched, "{monoid:?} on {elem}, {n} values of {size}, stride {stride}: others are touched");
            }
        }
    }

    fn check(run: &Run) {
        let done = with_operation(run.monoid, run.elem, run);
        assert!(done.is_some(), "{:?} on {}", run.monoid, run.elem);
    }

    #[test]
    fn the_tree_is_that_of_the_op_table_for_every_operation() {
        for monoid in Monoid::ALL {
            for elem in Elem::ALL.into_iter().filter(|elem| monoid_row(monoid).sig.domain.has(*elem)) {
                for n in [BLOCK, BLOCK + 1, 2 * BLOCK - 1, LANES * BLOCK, LANES * BLOCK + BLOCK + 3] {
                    check(&Run { monoid, elem, n, size: 1, stride: 1, value: mixed });
                }
            }
        }
    }

    #[test]
    fn values_may_have_several_elements_and_lie_apart() {
        for (monoid, elem) in [(Monoid::Add, Elem::F64), (Monoid::Mul, Elem::F32), (Monoid::Or, Elem::Bool)] {
            for (size, stride) in [(3, 1), (1, 4), (3, 4), (16, 32)] {
                for n in [BLOCK, 2 * BLOCK + 17] {
                    check(&Run { monoid, elem, n, size, stride, value: mixed });
                }
            }
        }
    }

    #[test]
    fn a_block_of_blocks_is_closed_as_well() {
        for n in [BLOCK * BLOCK - 1, BLOCK * BLOCK, BLOCK * BLOCK + BLOCK + 1] {
            check(&Run { monoid: Monoid::Add, elem: Elem::F32, n, size: 1, stride: 1, value: mixed });
        }
    }

    #[test]
    fn zeros_keep_their_sign_and_a_nan_wins() {
        let minus_zeros = |_: &Run, _: usize, _: usize| (-0.0_f64).to_bits();
        let zeros =
            |_: &Run, number: usize, _: usize| (if number.is_multiple_of(3) { -0.0_f64 } else { 0.0 }).to_bits();
        let one_nan =
            |_: &Run, number: usize, _: usize| (if number == BLOCK + 5 { f64::NAN } else { number as f64 }).to_bits();
        for monoid in [Monoid::Add, Monoid::Mul, Monoid::Max, Monoid::Min] {
            for value in [minus_zeros, zeros, one_nan] {
                check(&Run { monoid, elem: Elem::F64, n: 2 * BLOCK + 1, size: 1, stride: 1, value });
            }
        }
    }

    #[test]
    fn numbers_beyond_the_highest_level_touch_nothing_else() {
        let count = LEVELS * LANES;
        for name in ["cotan_close_blocks", "cotan_combine_levels"] {
            let (mut memory, number) = (vec![0_i64; count + 1], i64::MAX);
            memory[count] = 7;
            let add = Monoid::ALL.iter().position(|m| *m == Monoid::Add).expect("it is one of all") as i32;
            let elem = Elem::ALL.iter().position(|e| *e == Elem::I64).expect("it is one of all") as i32;
            // SAFETY: the memory has partial results of all levels.
            unsafe { export(name)(add, elem, memory.as_mut_ptr().cast(), 1, 1, number) };
            assert!(memory[..count].iter().all(|total| *total == 0) && memory[count] == 7, "{name}: {memory:?}");
        }
    }

    #[test]
    fn values_without_elements_are_left_alone() {
        let export = export("cotan_close_blocks");
        // SAFETY: there is no element to be touched.
        unsafe { export(0, 0, std::ptr::null_mut(), 0, 1, BLOCK as i64 - 1) }
    }
}
