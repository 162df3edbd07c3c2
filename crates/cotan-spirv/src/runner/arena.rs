//! Memory of calls (arena): pieces of device memory, filled from their beginning, and reached by addresses.

use crate::vulkan::{Device, DeviceError, Memory, Purpose};

/// The least size of a piece.
const PIECE: u64 = 1 << 20;

/// The most that a piece has beyond what is asked for at once.
const MOST_SPARE: u64 = 64 << 20;

/// Where arrays begin: at multiples of this many bytes.
const ALIGNMENT: u64 = 16;

/// Pieces of memory that are filled one after the other. What is released is used again.
#[derive(Debug)]
pub(super) struct Arena {
    purpose: Purpose,
    pieces: Vec<Memory>,
    level: Level,
}

/// How full an arena is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    piece: usize,
    used: u64,
}

impl Arena {
    pub(super) fn new(purpose: Purpose) -> Arena {
        Arena { purpose, pieces: Vec::new(), level: Level::default() }
    }

    /// The address of so many bytes.
    pub(super) fn allocate(&mut self, device: &Device, bytes: u64) -> Result<u64, DeviceError> {
        // More than there is stays more than there is.
        let bytes = bytes.max(1).checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        while let Some(piece) = self.pieces.get(self.level.piece) {
            if bytes <= piece.bytes() - self.level.used {
                let address = piece.address() + self.level.used;
                self.level.used += bytes;
                return Ok(address);
            }
            self.level = Level { piece: self.level.piece + 1, used: 0 };
        }
        let last = self.pieces.last().map_or(0, Memory::bytes);
        self.pieces.push(self.piece(device, bytes.max(last.saturating_mul(2).clamp(PIECE, MOST_SPARE)))?);
        self.level = Level { piece: self.pieces.len() - 1, used: 0 };
        self.allocate(device, bytes)
    }

    /// Another piece. Where the device has no more, memory of arrays that nobody has is given back first.
    fn piece(&self, device: &Device, bytes: u64) -> Result<Memory, DeviceError> {
        let allocate = || device.allocate_for(self.purpose, bytes);
        match allocate() {
            Err(DeviceError::Refused { .. }) if device.release_free_blocks() => allocate(),
            other => other,
        }
    }

    /// How full it is.
    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// How many pieces it has.
    pub(super) fn n_pieces(&self) -> usize {
        self.pieces.len()
    }

    /// How many bytes are in use, with the ends of pieces that were too small for what came next.
    pub(super) fn held(&self) -> u64 {
        self.pieces.iter().take(self.level.piece).map(Memory::bytes).sum::<u64>() + self.level.used
    }

    /// Releases what came after this.
    pub(super) fn release(&mut self, level: Level) {
        self.level = level;
    }

    /// The memory in which a range of addresses lies, and where in it the range begins.
    pub(super) fn find(&self, address: u64, bytes: u64) -> Option<(&Memory, u64)> {
        self.pieces.iter().find_map(|piece| Some((piece, offset(piece, address, bytes)?)))
    }

    /// The same, to be written to.
    pub(super) fn find_mut(&mut self, address: u64, bytes: u64) -> Option<(&mut Memory, u64)> {
        self.pieces.iter_mut().find_map(|piece| {
            let offset = offset(piece, address, bytes)?;
            Some((piece, offset))
        })
    }
}

/// Where in a piece a range of addresses begins that lies in it.
fn offset(piece: &Memory, address: u64, bytes: u64) -> Option<u64> {
    let offset = address.checked_sub(piece.address())?;
    (offset.checked_add(bytes)? <= piece.bytes()).then_some(offset)
}
