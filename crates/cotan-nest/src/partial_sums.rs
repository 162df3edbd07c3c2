//! The ends of blocks of reductions, in the order of [`cotan_ops::reduce`].

use crate::error::{Outcome, bug};
use crate::instruction::kernel;
use crate::machine::{Frame, Machine};
use crate::memory::{Address, Memory};
use cotan_loops::{BlockWork, PartialSums, combining};
use cotan_ops::Kernel;
use cotan_ops::reduce::{BLOCK, LANES, LEVELS, neutral};

impl Machine<'_> {
    /// Closes the blocks of which a value is the last one, or combines all levels.
    pub(crate) fn partial_sums(&mut self, frame: &Frame, blocks: &PartialSums) -> Outcome<()> {
        let PartialSums { work, monoid, lanes, size, stride, number } = blocks;
        let elem = frame.info(lanes.buffer).elem;
        let (Ok(size), Ok(number)) = (usize::try_from(frame.int(*size)), usize::try_from(frame.int(*number))) else {
            return bug("blocks count below zero");
        };
        self.spend((size * LANES) as u64)?;
        let mut levels = Levels {
            memory: &mut self.memory,
            first: frame.address(*lanes)?,
            size,
            stride: *stride as usize,
            kernel: kernel(combining(*monoid), elem)?,
            neutral: neutral(*monoid, elem).bits(),
        };
        match work {
            BlockWork::Close => levels.close(number),
            BlockWork::Combine => levels.combine_all(number),
        }
    }
}

/// The partial results of all levels, the lowest level first.
struct Levels<'m> {
    memory: &'m mut Memory,
    first: Address,
    /// The elements of a partial result.
    size: usize,
    /// From one element to the next.
    stride: usize,
    kernel: Kernel,
    neutral: u64,
}

impl Levels<'_> {
    fn close(&mut self, mut number: usize) -> Outcome<()> {
        let mut level = 0;
        while number % BLOCK == BLOCK - 1 && level + 1 < LEVELS {
            number /= BLOCK;
            self.hand_up(level, number)?;
            for partial in level * LANES..(level + 1) * LANES {
                for element in 0..self.size {
                    self.memory.write(self.at(partial, element), self.neutral)?;
                }
            }
            level += 1;
        }
        Ok(())
    }

    fn combine_all(&mut self, mut number: usize) -> Outcome<()> {
        let mut level = 0;
        while number >= BLOCK && level + 1 < LEVELS {
            number /= BLOCK;
            self.hand_up(level, number)?;
            level += 1;
        }
        self.total(level)?;
        for element in 0..self.size {
            let total = self.memory.read(self.at(level * LANES, element))?;
            self.memory.write(self.at(0, element), total)?;
        }
        Ok(())
    }

    /// Combines the total of a level, which is value `number` of the one above, with its partial result there.
    fn hand_up(&mut self, level: usize, number: usize) -> Outcome<()> {
        self.total(level)?;
        self.combine((level + 1) * LANES + number % LANES, level * LANES)
    }

    /// Combines the partial results of a level in the order of the tree: the first one is then the total.
    fn total(&mut self, level: usize) -> Outcome<()> {
        let mut half = LANES / 2;
        while half > 0 {
            for k in level * LANES..level * LANES + half {
                self.combine(k, k + half)?;
            }
            half /= 2;
        }
        Ok(())
    }

    fn combine(&mut self, to: usize, from: usize) -> Outcome<()> {
        for element in 0..self.size {
            let (to, from) = (self.at(to, element), self.at(from, element));
            let total = (self.kernel)(&[self.memory.read(to)?, self.memory.read(from)?]);
            self.memory.write(to, total)?;
        }
        Ok(())
    }

    fn at(&self, partial: usize, element: usize) -> Address {
        self.first.plus(((partial * self.size + element) * self.stride) as i64)
    }
}
