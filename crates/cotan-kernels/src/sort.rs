//! Positions in ascending order along rows: stable, NaN last, the two zeros equal.
//!
//! Positions are sorted as one number with their key, an unsigned number that has the order of the element, so comparing looks
//! nothing up and no two are equal. Short rows are left to the standard library. Long ones are sorted digit by digit (D. E.
//! Knuth, The Art of Computer Programming, volume 3, 2nd edition, 1998, section 5.2.5), but only by the leading bits of those in
//! which keys differ: most keys are in order then, and runs of those that agree so far are sorted in turn.

use crate::batch::{each, is_empty};
use crate::memory::with_elements;

/// Rows up to this length are sorted in memory on the stack.
const SHORT: usize = 32;

/// Rows of at least this length are sorted by digits: below, counting takes longer than comparing.
const LONG: usize = 1 << 8;

/// Bits of a digit: what is written to one place per value stays in the first cache.
const DIGIT_BITS: u32 = 8;

/// Values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;

/// Digits that are sorted by before runs are looked at.
const PASSES: usize = 4;

/// An element type that can be sorted: `f32`, `f64` or an integer.
pub trait Sortable: sealed::Keyed {}

mod sealed {
    /// What sorting needs of an element.
    pub trait Keyed: Copy {
        /// Bits of the key.
        const BITS: u32;
        /// A number with the same order: NaN is largest, and the two zeros have the same.
        fn key(self) -> u64;
    }
}

/// Makes float types sortable, as numbers of so many bits.
macro_rules! floats {
    ($($float:ident $bits:ident),*) => {$(
        impl Sortable for $float {}

        impl sealed::Keyed for $float {
            const BITS: u32 = $bits::BITS;

            #[inline(always)]
            fn key(self) -> u64 {
                // Adding a zero makes the negative zero positive, and keeps all else.
                let bits = (self + 0.0).to_bits();
                let sign = 1 << ($bits::BITS - 1);
                let ordered = if bits & sign != 0 { !bits } else { bits | sign };
                u64::from(if self.is_nan() { $bits::MAX } else { ordered })
            }
        }
    )*};
}
floats!(f32 u32, f64 u64);

/// Makes integer types sortable: their distances from the least.
macro_rules! integers {
    ($($int:ident)*) => {$(
        impl Sortable for $int {}

        impl sealed::Keyed for $int {
            const BITS: u32 = $int::BITS;

            #[inline(always)]
            fn key(self) -> u64 {
                (i128::from(self) - i128::from($int::MIN)) as u64
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// A key with its position behind it.
trait Entry: Copy + Default + Ord {
    /// The entry of a key.
    fn of(key: u64, position: usize) -> Self;
    /// The key.
    fn key(self) -> u64;
    /// The position.
    fn position(self) -> i64;
}

/// Keys and positions of 32 bits each.
impl Entry for u64 {
    #[inline(always)]
    fn of(key: u64, position: usize) -> u64 {
        key << 32 | position as u64
    }

    #[inline(always)]
    fn key(self) -> u64 {
        self >> 32
    }

    #[inline(always)]
    fn position(self) -> i64 {
        i64::from(self as u32)
    }
}

/// Keys and positions of 64 bits each.
impl Entry for u128 {
    #[inline(always)]
    fn of(key: u64, position: usize) -> u128 {
        u128::from(key) << 64 | position as u128
    }

    #[inline(always)]
    fn key(self) -> u64 {
        (self >> 64) as u64
    }

    #[inline(always)]
    fn position(self) -> i64 {
        (self as u64).cast_signed()
    }
}

/// The positions of the elements of each row of length `n` in ascending order; those of equal elements stay in order.
pub fn argsort<T: Sortable>(n: usize, x: &[T], to: &mut [i64]) {
    if is_empty(x, n, to, n) {
        return;
    }
    if T::BITS <= 32 && u32::try_from(n).is_ok() { rows::<T, u64>(n, x, to) } else { rows::<T, u128>(n, x, to) }
}

fn rows<T: Sortable, E: Entry>(n: usize, x: &[T], to: &mut [i64]) {
    if n <= SHORT {
        each_row(n, x, &mut [E::default(); SHORT][..n], to, |entries| entries.sort_unstable());
    } else if n < LONG || u32::try_from(n).is_err() {
        with_elements(n, E::default(), |entries| each_row(n, x, entries, to, |entries| entries.sort_unstable()));
    } else {
        with_elements(2 * n, E::default(), |entries| {
            let (entries, others) = entries.split_at_mut(n);
            let mut counts = [[0; DIGITS]; PASSES];
            each_row(n, x, entries, to, |entries| by_digits(entries, others, &mut counts));
        });
    }
}

/// Sorts the entries of each row.
fn each_row<T: Sortable, E: Entry>(
    n: usize,
    x: &[T],
    entries: &mut [E],
    to: &mut [i64],
    mut sort: impl FnMut(&mut [E]),
) {
    each(x, n, to, n, |x, to| {
        for (i, (entry, x)) in entries.iter_mut().zip(x).enumerate() {
            *entry = E::of(x.key(), i);
        }
        sort(entries);
        for (to, entry) in to.iter_mut().zip(&*entries) {
            *to = entry.position();
        }
    });
}

/// Sorts entries whose positions ascend, fewer than `u32` can count, with as much memory beside.
fn by_digits<E: Entry>(entries: &mut [E], others: &mut [E], counts: &mut [[u32; DIGITS]]) {
    let first = entries[0].key();
    let different = entries.iter().fold(0, |so_far, entry| so_far | (entry.key() ^ first));
    let n_bits = u64::BITS - different.leading_zeros();
    let low = n_bits.saturating_sub(DIGIT_BITS * PASSES as u32);
    let n_passes = (n_bits - low).div_ceil(DIGIT_BITS) as usize;
    counts.iter_mut().for_each(|counts| counts.fill(0));
    for entry in &*entries {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(*entry, low, pass)] += 1;
        }
    }
    let (mut from, mut to) = (&mut *entries, &mut *others);
    for (pass, counts) in counts.iter_mut().enumerate().take(n_passes) {
        let mut next = 0;
        for count in counts.iter_mut() {
            (*count, next) = (next, next + *count);
        }
        for entry in &*from {
            let place = &mut counts[digit(*entry, low, pass)];
            to[*place as usize] = *entry;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    if n_passes % 2 == 1 {
        to.copy_from_slice(from);
    }
    if low == 0 {
        return;
    }
    let mut start = 0;
    while start < entries.len() {
        let leading = entries[start].key() >> low;
        let run = entries[start..].iter().take_while(|entry| entry.key() >> low == leading).count();
        let end = start + run;
        if run >= LONG {
            by_digits(&mut entries[start..end], &mut others[start..end], counts);
        } else if run > 1 {
            entries[start..end].sort_unstable();
        }
        start = end;
    }
}

/// The digit of a key that a pass is about, from bit `low` on.
#[inline(always)]
fn digit<E: Entry>(entry: E, low: u32, pass: usize) -> usize {
    (entry.key() >> (low + pass as u32 * DIGIT_BITS)) as usize % DIGITS
}
