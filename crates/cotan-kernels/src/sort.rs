//! Sorting along rows: stable, NaN last, the two zeros equal.
//!
//! Positions are sorted as one number with their key, an unsigned number that has the order of the element, so comparing looks
//! nothing up: short rows by the standard library, long ones digit by digit from the last (D. E. Knuth, The Art of Computer
//! Programming, volume 3, 2nd edition, 1998, section 5.2.5). Digits that all keys share are passed over.

use std::cmp::Ordering;

use crate::batch::{each, is_empty};

/// Rows up to this length are sorted in memory on the stack.
const SHORT: usize = 32;

/// Rows of at least this length are sorted by digits: below, counting takes longer than comparing.
const LONG: usize = 1 << 9;

/// Bits of a digit: its counts stay in the first cache.
const DIGIT_BITS: usize = 11;

/// Values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;

/// Digits of a key.
const PASSES: usize = 64usize.div_ceil(DIGIT_BITS);

/// An element type that can be sorted: `f32`, `f64` or `i64`.
pub trait Sortable: sealed::Keyed {}

impl Sortable for f32 {}
impl Sortable for f64 {}
impl Sortable for i64 {}

mod sealed {
    use std::cmp::Ordering;

    /// What sorting needs of an element.
    pub trait Keyed: Copy {
        /// A number with the same order: NaN is largest, and the two zeros have the same.
        fn key(self) -> u64;
        /// Whether it is not a number.
        fn is_nan(self) -> bool;
        /// Whether it is one of two zeros.
        fn is_float_zero(self) -> bool;
        /// The order of what is not NaN, the negative zero before the positive one.
        fn order(&self, other: &Self) -> Ordering;
    }
}

impl sealed::Keyed for f64 {
    #[inline(always)]
    fn key(self) -> u64 {
        // Adding a zero makes the negative zero positive, and keeps all else.
        let bits = (self + 0.0).to_bits();
        let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        if f64::is_nan(self) { u64::MAX } else { ordered }
    }

    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }

    fn is_float_zero(self) -> bool {
        self == 0.0
    }

    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}

impl sealed::Keyed for f32 {
    #[inline(always)]
    fn key(self) -> u64 {
        let bits = (self + 0.0).to_bits();
        let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        u64::from(if f32::is_nan(self) { u32::MAX } else { ordered })
    }

    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }

    fn is_float_zero(self) -> bool {
        self == 0.0
    }

    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}

impl sealed::Keyed for i64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self.cast_unsigned() ^ (1 << 63)
    }

    fn is_nan(self) -> bool {
        false
    }

    fn is_float_zero(self) -> bool {
        false
    }

    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
}

/// The positions of the elements of each row of length `n` in ascending order; those of equal elements stay in order.
pub fn argsort<T: Sortable>(n: usize, x: &[T], to: &mut [i64]) {
    if is_empty(x, n, to, n) {
        return;
    }
    if n <= SHORT {
        let mut entries = [0; SHORT];
        each(x, n, to, n, |x, to| by_comparing(x, &mut entries[..n], to));
    } else if n < LONG {
        let mut entries = vec![0; n];
        each(x, n, to, n, |x, to| by_comparing(x, &mut entries, to));
    } else {
        let (mut entries, mut others) = (vec![0; n], vec![0; n]);
        let mut counts = vec![[0; DIGITS]; PASSES];
        each(x, n, to, n, |x, to| by_digits(x, &mut entries, &mut others, &mut counts, to));
    }
}

/// The elements of each row of length `n` in ascending order: what stands at the positions of `argsort`.
pub fn sort<T: Sortable>(n: usize, x: &[T], to: &mut [T]) {
    each(x, n, to, n, |x, to| {
        let mut n_numbers = 0;
        let numbers = x.iter().filter(|x| !x.is_nan());
        for (to, x) in to.iter_mut().zip(numbers.chain(x.iter().filter(|x| x.is_nan()))) {
            *to = *x;
            n_numbers += usize::from(!x.is_nan());
        }
        let numbers = &mut to[..n_numbers];
        numbers.sort_unstable_by(sealed::Keyed::order);
        // All equal elements are the same, but for zeros: they lie together, and are put back in their order.
        let zeros = numbers.iter_mut().skip_while(|x| !x.is_float_zero());
        for (to, x) in zeros.zip(x.iter().filter(|x| x.is_float_zero())) {
            *to = *x;
        }
    });
}

/// A key with its position behind it, so that no two are equal.
#[inline(always)]
fn entry<T: Sortable>(position: usize, x: T) -> u128 {
    u128::from(x.key()) << 64 | position as u128
}

/// The position of an entry.
#[inline(always)]
fn position(entry: u128) -> i64 {
    (entry as u64).cast_signed()
}

fn by_comparing<T: Sortable>(x: &[T], entries: &mut [u128], to: &mut [i64]) {
    for (i, (entry_of, x)) in entries.iter_mut().zip(x).enumerate() {
        *entry_of = entry(i, *x);
    }
    entries.sort_unstable();
    for (to, entry) in to.iter_mut().zip(entries) {
        *to = position(*entry);
    }
}

fn by_digits<'a, T: Sortable>(
    x: &[T],
    mut entries: &'a mut [u128],
    mut others: &'a mut [u128],
    counts: &mut [[usize; DIGITS]],
    to: &mut [i64],
) {
    counts.iter_mut().for_each(|counts| counts.fill(0));
    for (i, (entry_of, x)) in entries.iter_mut().zip(x).enumerate() {
        let key = x.key();
        *entry_of = entry(i, *x);
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(key, pass)] += 1;
        }
    }
    for (pass, counts) in counts.iter_mut().enumerate() {
        let first = digit((entries[0] >> 64) as u64, pass);
        if counts[first] == entries.len() {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            (*count, next) = (next, next + *count);
        }
        for entry in entries.iter() {
            let place = &mut counts[digit((*entry >> 64) as u64, pass)];
            others[*place] = *entry;
            *place += 1;
        }
        std::mem::swap(&mut entries, &mut others);
    }
    for (to, entry) in to.iter_mut().zip(entries) {
        *to = position(*entry);
    }
}

/// The digit of a key that a pass is about.
#[inline(always)]
fn digit(key: u64, pass: usize) -> usize {
    (key >> (pass * DIGIT_BITS)) as usize % DIGITS
}
