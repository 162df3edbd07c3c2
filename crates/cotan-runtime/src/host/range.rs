//! Address space with memory at its beginning.
//!
//! A range reserves more addresses than it is likely to need. A page of them takes no memory before it is touched, so
//! only the part that was asked for counts as held. It grows where it lies: nothing moves, nothing is copied, and what
//! is held exceeds what is used by less than a hundredth, and by a chunk at most. Machines that do not give addresses away so freely (limits on
//! address space, strict accounting) give a smaller range, which has to be moved when it is full.

use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};

use super::memory::{MemoryLimit, Refusal};

/// The most that is held ahead of need, and what is given back in multiples of; a multiple of all page sizes.
pub(super) const CHUNK_BYTES: usize = 64 << 10;
/// The part of what is needed that is held ahead of need, so that many small steps are few requests.
const AHEAD: usize = 128;
/// The addresses that a range reserves, unless its call may not hold as much: a two-thousandth of all there are.
const RESERVED_BYTES: usize = 64 << 30;

/// A range of addresses; what is held counts against a limit while the range lives.
#[derive(Debug)]
pub(super) struct Range {
    map: MmapRaw,
    held: usize,
    limit: Arc<MemoryLimit>,
}

impl Range {
    /// A range with addresses for `bytes` bytes at least, of which none is held yet.
    pub(super) fn new(bytes: usize, limit: &Arc<MemoryLimit>) -> Result<Self, Refusal> {
        if bytes > limit.max_bytes() {
            return Err(Refusal::Limit);
        }
        // Where addresses and memory are reserved together, more than what is needed would be taken from others.
        let generous = if cfg!(unix) { limit.max_bytes().min(RESERVED_BYTES) } else { bytes };
        let map = sizes(bytes, generous).find_map(anonymous).ok_or(Refusal::Machine)?;
        Ok(Self { map, held: 0, limit: Arc::clone(limit) })
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.map.as_mut_ptr()
    }

    /// Bytes at the start that may be used.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Makes the first `bytes` bytes usable, where they lie.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), Refusal> {
        if bytes <= self.held {
            return Ok(());
        }
        if bytes > self.map.len() {
            return Err(Refusal::Machine);
        }
        let ahead = (bytes / AHEAD).min(CHUNK_BYTES);
        let fits = |new: &usize| self.limit.take(new - self.held).is_ok();
        let sizes = [(bytes + ahead).min(self.map.len()), bytes];
        self.held = sizes.into_iter().find(fits).ok_or(Refusal::Limit)?;
        Ok(())
    }

    /// The same, but the range may move, with all that is in it, to where there is room.
    pub(super) fn hold_anywhere(&mut self, bytes: usize) -> Result<(), Refusal> {
        if bytes > self.limit.max_bytes() {
            return Err(Refusal::Limit);
        }
        if bytes > self.map.len() {
            let moved = sizes(bytes, self.map.len().saturating_mul(4)).find_map(|size| self.resize(size));
            moved.ok_or(Refusal::Machine)?;
        }
        self.hold(bytes)
    }

    /// Moves pages, not their content.
    #[cfg(target_os = "linux")]
    fn resize(&mut self, bytes: usize) -> Option<()> {
        let options = memmap2::RemapOptions::new().may_move(true);
        // SAFETY: there is no file that could end too early; whoever holds pointers into the range reads them anew.
        unsafe { self.map.remap(bytes, options) }.ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn resize(&mut self, bytes: usize) -> Option<()> {
        // For a moment both are there.
        self.limit.take(self.held).ok()?;
        let moved = anonymous(bytes).map(|map| {
            // SAFETY: both have that many bytes, and the new one was not there before.
            unsafe { std::ptr::copy_nonoverlapping(self.map.as_ptr(), map.as_mut_ptr(), self.held) };
            self.map = map;
        });
        self.limit.give_back(self.held);
        moved
    }

    /// Gives the memory behind the first `used` bytes back to the machine, in whole chunks.
    pub(super) fn trim(&mut self, used: usize) {
        let kept = used.next_multiple_of(CHUNK_BYTES);
        if kept < self.held && self.discard(kept) {
            self.limit.give_back(self.held - kept);
            self.held = kept;
        }
    }

    #[cfg(unix)]
    fn discard(&self, from: usize) -> bool {
        // SAFETY: nobody uses what lies behind `from`, which is the start of a page.
        let done =
            unsafe { self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, self.held - from) };
        done.is_ok()
    }

    #[cfg(not(unix))]
    fn discard(&self, _from: usize) -> bool {
        false
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        self.limit.give_back(self.held);
    }
}

/// Sizes to try for a range that needs `bytes` bytes, best first.
fn sizes(bytes: usize, generous: usize) -> impl Iterator<Item = usize> {
    let sizes = [generous, bytes.saturating_add(bytes / 4), bytes];
    sizes.into_iter().filter(move |size| *size >= bytes).filter_map(|size| size.checked_next_multiple_of(CHUNK_BYTES))
}

/// Addresses that nothing lies at yet.
fn anonymous(bytes: usize) -> Option<MmapRaw> {
    MmapOptions::new().len(bytes).no_reserve_swap().map_anon().ok().map(MmapRaw::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(range: &mut Range) -> &mut [u8] {
        // SAFETY: so many bytes are held, and they were zero before anybody wrote them.
        unsafe { std::slice::from_raw_parts_mut(range.start(), range.held()) }
    }

    #[test]
    fn a_range_grows_in_place_and_holds_little_ahead_of_need() {
        let limit = MemoryLimit::new(1 << 30);
        let mut range = Range::new(1, &limit).unwrap();
        let start = range.start();
        for (wanted, ahead) in [(64, 0), (18_752, 146), (CHUNK_BYTES, 512), (200 * CHUNK_BYTES, CHUNK_BYTES)] {
            range.hold(wanted).unwrap();
            assert_eq!(range.held(), wanted + ahead);
            assert_eq!((range.start(), limit.in_use()), (start, range.held()));
        }
        drop(range);
        assert_eq!(limit.in_use(), 0);
    }

    #[test]
    fn less_than_a_chunk_is_held_where_the_limit_asks_for_it() {
        let limit = MemoryLimit::new(100_000);
        let mut range = Range::new(70_000, &limit).unwrap();
        range.hold(99_999).unwrap();
        assert_eq!(range.held(), 99_999);
        assert_eq!(range.hold(100_001), Err(Refusal::Limit));
        assert_eq!((range.held(), limit.in_use()), (99_999, 99_999));
        assert_eq!(Range::new(100_001, &limit).err(), Some(Refusal::Limit));
    }

    #[test]
    fn a_full_range_moves_with_its_content() {
        let limit = MemoryLimit::new(1 << 30);
        let map = anonymous(CHUNK_BYTES).unwrap();
        let mut range = Range { map, held: 0, limit: Arc::clone(&limit) };
        range.hold(CHUNK_BYTES).unwrap();
        bytes(&mut range).fill(7);
        assert_eq!(range.hold(CHUNK_BYTES + 1), Err(Refusal::Machine));
        range.hold_anywhere(40 * CHUNK_BYTES).unwrap();
        let (old, new) = bytes(&mut range).split_at(CHUNK_BYTES);
        assert!(old.iter().all(|byte| *byte == 7) && new.iter().all(|byte| *byte == 0));
        assert_eq!(limit.in_use(), range.held());
    }

    #[test]
    fn what_is_not_used_is_given_back_in_whole_chunks() {
        let limit = MemoryLimit::new(1 << 30);
        let mut range = Range::new(1, &limit).unwrap();
        range.hold(10 * CHUNK_BYTES).unwrap();
        bytes(&mut range).fill(7);
        range.trim(CHUNK_BYTES + 1);
        assert_eq!((range.held(), limit.in_use()), (2 * CHUNK_BYTES, 2 * CHUNK_BYTES));
        assert!(bytes(&mut range).iter().all(|byte| *byte == 7));
        range.hold(3 * CHUNK_BYTES - 64).unwrap();
        range.trim(3 * CHUNK_BYTES - 64);
        assert!(range.held() >= 3 * CHUNK_BYTES - 64);
    }
}
