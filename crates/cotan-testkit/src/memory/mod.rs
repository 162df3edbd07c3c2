//! What calls take from the allocator of a process: how many bytes, how often, and what happens when it refuses.
//!
//! A test or a tool that measures has an allocator that asks [`may_allocate`] and tells [`freed`]; everything else here
//! reads what they count. Each thread counts for itself.

pub mod measures;
pub mod programs;

use std::cell::Cell;

/// Allocations of so many bytes follow from data; smaller ones may end a process when they are refused.
pub const LARGE: usize = 4 << 10;

/// What a thread took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Bytes that it took and did not free.
    pub held: i64,
    /// The most of them at once.
    pub peak: i64,
    /// How often it asked for memory.
    pub all: u64,
    /// How often for at least [`LARGE`] bytes.
    pub large: u64,
    /// Which of these is refused, counted from 1; zero for none.
    refused: u64,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { held: 0, peak: 0, all: 0, large: 0, refused: 0 }) };
}

/// Counts memory that is asked for; whether there is any.
pub fn may_allocate(bytes: usize) -> bool {
    let counted = COUNTS.try_with(|cell| {
        let mut counts = cell.get();
        counts.all += 1;
        counts.large += u64::from(bytes >= LARGE);
        let is_refused = bytes >= LARGE && counts.large == counts.refused;
        if !is_refused {
            counts.held += bytes as i64;
            counts.peak = counts.peak.max(counts.held);
        }
        cell.set(counts);
        !is_refused
    });
    // A thread that ends counts no more.
    counted.unwrap_or(true)
}

/// Counts memory that is given back.
pub fn freed(bytes: usize) {
    let _ = COUNTS.try_with(|cell| {
        let counts = cell.get();
        cell.set(Counts { held: counts.held - bytes as i64, ..counts });
    });
}

/// Whether the allocator of this process counts.
pub fn is_counted() -> bool {
    let (probe, counts) = counted(None, || std::hint::black_box(vec![0u8; LARGE]));
    drop(probe);
    counts.large == 1
}

/// Does work, of which allocation number `refused` of the large ones fails, and says what it took.
pub fn counted<T>(refused: Option<u64>, work: impl FnOnce() -> T) -> (T, Counts) {
    let before = COUNTS.get();
    COUNTS.set(Counts { refused: refused.unwrap_or(0), ..Counts::default() });
    let result = work();
    let counts = COUNTS.get();
    COUNTS.set(Counts { held: before.held + counts.held, ..before });
    (result, counts)
}
