//! The memory of a call, and what the host writes to it and reads of it.

use super::arena::{Arena, Level};
use super::batch::{Queued, find};
use super::{Running, failed};
use crate::vulkan::{Memory, Purpose};
use cotan_device::RunError;
use std::sync::Arc;

/// The memory of a call. The next one begins anew in it.
#[derive(Debug)]
pub(crate) struct CallMemory {
    pub(super) scopes: Arena,
    pub(super) kept: Arena,
    /// The arguments of the launches of a batch.
    pub(super) arguments: Arena,
    /// Where launches of a batch leave the numbers of a check that fails: not among the arrays, as copies behind it are made all the same.
    pub(super) numbers: Arena,
    /// What the device copies from the host, and what it copies back, where the host does not reach the memory of arrays.
    pub(super) upload: Arena,
    pub(super) back: Arena,
}

impl Default for CallMemory {
    fn default() -> CallMemory {
        CallMemory {
            scopes: Arena::new(Purpose::Arrays),
            kept: Arena::new(Purpose::Arrays),
            arguments: Arena::new(Purpose::Arguments),
            numbers: Arena::new(Purpose::Arrays),
            upload: Arena::new(Purpose::Upload),
            back: Arena::new(Purpose::ReadBack),
        }
    }
}

impl CallMemory {
    fn all(&self) -> [&Arena; 6] {
        let CallMemory { scopes, kept, arguments, numbers, upload, back } = self;
        [kept, scopes, arguments, numbers, upload, back]
    }

    /// How often the driver was asked for memory.
    pub(super) fn n_pieces(&self) -> usize {
        self.all().map(Arena::n_pieces).iter().sum()
    }

    pub(super) fn find(&self, at: u64, bytes: u64) -> Option<(&Memory, u64)> {
        self.all().into_iter().find_map(|arena| arena.find(at, bytes))
    }

    fn find_mut(&mut self, at: u64, bytes: u64) -> Option<(&mut Memory, u64)> {
        let CallMemory { scopes, kept, arguments, numbers, upload, back } = self;
        [kept, scopes, arguments, numbers, upload, back].into_iter().find_map(|arena| arena.find_mut(at, bytes))
    }

    /// Releases what a batch needed.
    pub(super) fn end_batch(&mut self) {
        self.arguments.release(Level::default());
        self.numbers.release(Level::default());
        self.upload.release(Level::default());
    }

    /// Writes to memory that the host reaches.
    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), RunError> {
        let missing = || RunError::Bug(format!("{} bytes at {at:#x} are not the call's", bytes.len()));
        let (memory, offset) = self.find_mut(at, bytes.len() as u64).ok_or_else(missing)?;
        memory.write(offset, bytes).map_err(failed)
    }

    /// Releases what a call has left.
    pub(super) fn end_call(&mut self, scopes: Level) {
        self.scopes.release(scopes);
        self.end_batch();
        self.kept.release(Level::default());
        self.back.release(Level::default());
    }
}

impl Running<'_> {
    /// Writes bytes: at once where the host reaches the place, else in the order of what the device is to do.
    pub(super) fn put(&mut self, to: u64, bytes: &[u8]) -> Result<(), RunError> {
        if self.loaded.device.is_staged() {
            let from = self.memory.upload.allocate(&self.loaded.device, bytes.len() as u64).map_err(failed)?;
            self.memory.write(from, bytes)?;
            return self.enqueue(Queued::Copy { from, to, bytes: bytes.len() as u64 });
        }
        self.flush()?;
        for (block, _) in &mut self.blocks {
            if let Some(offset) = block.offset_of(to, bytes.len() as u64) {
                let kept = || RunError::Bug("a result is written that is kept already".to_owned());
                let block = Arc::get_mut(block).ok_or_else(kept)?;
                return self.loaded.device.write_block(block, offset, bytes).map_err(failed);
            }
        }
        self.memory.write(to, bytes)
    }

    /// Waits for all that the device is to do, and reads ranges of bytes, each from an address on.
    pub(super) fn fetch(&mut self, ranges: &[(u64, usize)]) -> Result<Vec<Vec<u8>>, RunError> {
        if !self.loaded.device.is_staged() {
            self.flush()?;
            return ranges.iter().map(|(at, count)| self.read_bytes(*at, *count)).collect();
        }
        let level = self.memory.back.level();
        let mut places = Vec::new();
        for (from, count) in ranges {
            let to = self.memory.back.allocate(&self.loaded.device, *count as u64).map_err(failed)?;
            self.queued.push(Queued::Copy { from: *from, to, bytes: *count as u64 });
            places.push((to, *count));
        }
        self.flush()?;
        let found = places.into_iter().map(|(at, count)| self.read_bytes(at, count)).collect();
        self.memory.back.release(level);
        found
    }

    /// Words that the host reaches.
    pub(super) fn read_words(&self, at: u64, count: usize) -> Result<Vec<u64>, RunError> {
        Ok(words_of(&self.read_bytes(at, 8 * count)?))
    }

    /// Words of memory that the host need not reach.
    pub(super) fn read_any(&self, at: u64, count: usize) -> Result<Vec<u64>, RunError> {
        let mut bytes = vec![0; 8 * count];
        let (memory, offset) = self.find(at, bytes.len())?;
        self.loaded.device.read(memory, offset, &mut bytes).map_err(failed)?;
        Ok(words_of(&bytes))
    }

    fn read_bytes(&self, at: u64, count: usize) -> Result<Vec<u8>, RunError> {
        let mut bytes = vec![0; count];
        let (memory, offset) = self.find(at, count)?;
        memory.read(offset, &mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn find(&self, at: u64, bytes: usize) -> Result<(&Memory, u64), RunError> {
        find(self.memory, &self.blocks, self.given, at, bytes as u64)
    }
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
