//! Limits of a run, and what it has used of them.

use crate::error::{Limit, RuntimeError};
use cotan_ir::OutOfMemory;
use cotan_ops::stop::Stop;
use std::cell::Cell;
use std::rc::Rc;

/// What a run may use. A run that needs more ends with [`RuntimeError::Limit`] or [`RuntimeError::OutOfMemory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Statements executed, plus elements computed by element-wise statements, plus iterations.
    pub steps: u64,
    /// Bytes that are alive at one time, at 8 per element of any type.
    pub bytes: u64,
    /// Blocks inside blocks, those of called functions included. The interpreter uses the caller's stack, about a
    /// kilobyte per block.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: u64::MAX, bytes: 8 << 30, depth: 1_500 }
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Elements of all results that are marked as records.
    pub recorded_elements: u64,
    /// The same in bytes, at the size of the element type.
    pub recorded_bytes: u64,
    /// Scalar primitives evaluated; an element-wise one counts once per element.
    pub primitives: u64,
    /// Iterations of parallel and sequential loops.
    pub iterations: u64,
}

/// Bytes of one element in the interpreter's own memory.
const CELL: u64 = 8;

/// The machine is asked for so many bytes or more before they are charged.
const PROBED: u64 = 64 << 10;

/// Whether the machine has so many bytes. What is charged is allocated in the next moment by code that is written without a
/// thought of memory, and a refusal there would end the process.
fn machine_has(bytes: u64) -> bool {
    let mut probe = Vec::<u8>::new();
    usize::try_from(bytes).is_ok_and(|bytes| probe.try_reserve_exact(bytes).is_ok())
}

/// The limits of a run and what is used of them.
pub(crate) struct Budget {
    limits: Limits,
    steps: u64,
    depth: usize,
    live: Rc<Cell<u64>>,
    /// What may ask the run to stop.
    stop: Option<Stop>,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Budget {
        // No allocation may be larger, so sizes within the budget never overflow.
        let limits = Limits { bytes: limits.bytes.min(isize::MAX as u64), ..limits };
        Budget { limits, steps: 0, depth: 0, live: Rc::default(), stop: None }
    }

    /// Lets somebody ask the run to stop.
    pub(crate) fn watch(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// What may ask the run to stop.
    pub(crate) fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// An error if somebody has asked the run to stop.
    pub(crate) fn poll(&self) -> Result<(), RuntimeError> {
        match &self.stop {
            Some(stop) if stop.is_requested() => Err(RuntimeError::Limit(Limit::Stopped)),
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), RuntimeError> {
        self.poll()?;
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps > self.limits.steps { Err(RuntimeError::Limit(Limit::Steps)) } else { Ok(()) }
    }

    pub(crate) fn enter(&mut self) -> Result<(), RuntimeError> {
        self.depth += 1;
        if self.depth > self.limits.depth { Err(RuntimeError::Limit(Limit::Depth)) } else { Ok(()) }
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Memory for `n` more elements, given back when the charge is dropped. To be asked for before it is allocated.
    pub(crate) fn charge(&self, n: usize) -> Result<Charge, RuntimeError> {
        let mut charge = Charge { live: self.live.clone(), bytes: 0 };
        self.grow(&mut charge, n)?;
        Ok(charge)
    }

    /// Memory for `n` elements that are to be filled.
    pub(crate) fn cells(&self, n: usize) -> Result<(Vec<u64>, Charge), RuntimeError> {
        let charge = self.charge(n)?;
        let mut cells = Vec::new();
        self.reserve(&mut cells, n)?;
        Ok((cells, charge))
    }

    /// Takes memory from the machine for elements that have been charged.
    pub(crate) fn reserve(&self, cells: &mut Vec<u64>, n: usize) -> Result<(), RuntimeError> {
        cells.try_reserve_exact(n).map_err(|_| {
            let wanted = (n as u64).saturating_mul(CELL);
            RuntimeError::OutOfMemory(Box::new(OutOfMemory { wanted, held: self.live.get(), limit: None, site: None }))
        })
    }

    /// Memory for `n` more elements of something that has a charge already.
    pub(crate) fn grow(&self, charge: &mut Charge, n: usize) -> Result<(), RuntimeError> {
        let bytes = (n as u64).saturating_mul(CELL);
        let live = self.live.get().saturating_add(bytes);
        let limit = if live > self.limits.bytes { Some(self.limits.bytes) } else { None };
        if limit.is_some() || bytes >= PROBED && !machine_has(bytes) {
            let wanted = charge.bytes.saturating_add(bytes);
            let error = OutOfMemory { wanted, held: self.live.get(), limit, site: None };
            return Err(RuntimeError::OutOfMemory(Box::new(error)));
        }
        self.live.set(live);
        charge.bytes += bytes;
        Ok(())
    }
}

/// Memory that counts as alive.
#[derive(Debug)]
pub(crate) struct Charge {
    live: Rc<Cell<u64>>,
    bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.live.set(self.live.get() - self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d9_what_the_machine_does_not_have_is_an_error_without_a_limit() {
        let budget = Budget::new(Limits { bytes: u64::MAX, ..Limits::default() });
        let Err(RuntimeError::OutOfMemory(error)) = budget.charge(usize::MAX / 16) else { panic!("there is memory") };
        assert_eq!((error.limit, error.held), (None, 0));
        assert!(budget.charge(1 << 20).is_ok());
    }
}
