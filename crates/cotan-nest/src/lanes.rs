//! Lanes in memory: consecutive elements, or one element for the offset of each lane.

use crate::error::Outcome;
use crate::machine::{Frame, Machine};
use crate::memory::Address;
use cotan_loops::{Local, Operand, Place};

impl Machine<'_> {
    /// Reads the lanes of a mask; the others are zero.
    pub(crate) fn load_lanes(&self, frame: &mut Frame, to: Local, from: Place, mask: Option<Operand>) -> Outcome<()> {
        let base = frame.base(from.buffer)?;
        frame.each_lane(to, |frame, lane| {
            if frame.runs(mask, lane) { self.memory.read(frame.lane_address(base, from, lane)) } else { Ok(0) }
        })
    }

    /// Writes the lanes of a mask.
    pub(crate) fn store_lanes(
        &mut self,
        frame: &Frame,
        to: Place,
        value: Operand,
        mask: Option<Operand>,
    ) -> Outcome<()> {
        let base = frame.base(to.buffer)?;
        // The same value at consecutive places has the lanes of the loop.
        let operands = [Some(to.offset), Some(value), mask];
        let most = operands.into_iter().flatten().map(|operand| frame.f.lanes(operand)).max();
        let lanes = most.filter(|lanes| *lanes > 1).unwrap_or(frame.loop_lanes);
        for lane in 0..lanes as usize {
            if frame.runs(mask, lane) {
                self.memory.write(frame.lane_address(base, to, lane), frame.lane(value, lane))?;
            }
        }
        Ok(())
    }
}

impl Frame<'_> {
    fn runs(&self, mask: Option<Operand>, lane: usize) -> bool {
        mask.is_none_or(|mask| self.lane(mask, lane) != 0)
    }

    fn lane_address(&self, base: Address, place: Place, lane: usize) -> Address {
        let offset = self.lane(place.offset, lane) as i64;
        base.plus(if self.f.lanes(place.offset) == 1 { offset.wrapping_add(lane as i64) } else { offset })
    }
}
