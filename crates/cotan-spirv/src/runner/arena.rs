//! Memory of calls (arena): pieces of device memory, filled from their beginning, and reached by addresses.

use crate::vulkan::{Device, DeviceError, Memory};

/// The least size of a piece.
const PIECE: u64 = 1 << 20;

/// The most that a piece has beyond what is asked for at once.
const MOST_SPARE: u64 = 64 << 20;

/// Where arrays begin: at multiples of this many bytes.
const ALIGNMENT: u64 = 16;

/// Pieces of memory that are filled one after the other. What is released is used again.
#[derive(Debug, Default)]
pub(super) struct Arena {
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
        self.pieces.push(device.allocate(bytes.max(last.saturating_mul(2).clamp(PIECE, MOST_SPARE)))?);
        self.level = Level { piece: self.pieces.len() - 1, used: 0 };
        self.allocate(device, bytes)
    }

    /// How full it is.
    pub(super) fn level(&self) -> Level {
        self.level
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
        self.pieces.iter().find_map(|piece| {
            let offset = address.checked_sub(piece.address())?;
            (offset.checked_add(bytes)? <= piece.bytes()).then_some((piece, offset))
        })
    }
}
