//! Numerical routines: functions on dense row-major arrays of the machine's numbers.
//!
//! A routine is total: where there is no result it gives NaN, and the operation that it belongs to says what is wrong
//! then. It knows nothing of the IR, and gives the same bits for the same operands.

use super::Inputs;
use crate::Value;
use crate::elements::{Elements, ElementsMut, Owned};
use crate::memory::{Memory, Refused, within};
use crate::stop::{Stop, aside};
use std::sync::Arc;

/// A function on arrays.
pub type Routine = fn(&mut RoutineCall);

/// One call of a routine. The shapes have passed the check of its operation.
#[derive(Debug)]
pub struct RoutineCall<'a> {
    /// The operands; a scalar has no extents and one element.
    pub args: Vec<Array<'a>>,
    /// Static attributes.
    pub attrs: &'a [i64],
    /// Extents of the result.
    pub dims: &'a [i64],
    /// The elements of the result, to be written.
    pub result: ElementsMut<'a>,
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Extents, outermost first.
    pub dims: &'a [i64],
    /// The elements, row-major.
    pub elements: Elements<'a>,
}

impl RoutineCall<'_> {
    /// The number of elements of the operand that has most, or of the result.
    pub fn n_elements(&self) -> usize {
        self.args.iter().map(|array| crate::count(array.dims)).chain([crate::count(self.dims)]).max().unwrap_or(0)
    }

    /// Does the call on copies, on a thread of its own, and waits for it; `None` where it is given up because the call
    /// around it is to stop. See [`aside`]. The copies, and what the routine works in, count as held in `memory`: where
    /// there is none for copies, the call is done here.
    pub fn run_aside(&mut self, routine: Routine, stop: &Stop, memory: Arc<dyn Memory>) -> Option<Result<(), Refused>> {
        let elements = self.args.iter().map(|array| crate::count(array.dims)).chain([crate::count(self.dims)]);
        let copies = elements.fold(0_usize, usize::saturating_add).saturating_mul(size_of::<u64>());
        if !memory.take(copies) {
            return (!stop.is_requested()).then(|| within(memory, || routine(self)));
        }
        let operands: Vec<(Vec<i64>, Owned)> =
            self.args.iter().map(|array| (array.dims.to_vec(), Owned::copy_of(array.elements))).collect();
        let (attrs, dims) = (self.attrs.to_vec(), self.dims.to_vec());
        let mut result = Owned::like(&self.result);
        let counted = Arc::clone(&memory);
        let work = move || {
            let args = operands.iter().map(|(dims, owned)| Array { dims, elements: owned.elements() }).collect();
            let mut call = RoutineCall { args, attrs: &attrs, dims: &dims, result: result.elements_mut() };
            let done = within(counted, || routine(&mut call));
            done.map(|()| result)
        };
        let done = aside(stop, work);
        // What runs on is no longer part of the call.
        memory.give_back(copies);
        Some(done?.map(|result| {
            let fits = result.copy_to(&mut self.result);
            debug_assert!(fits, "a result has as many elements as its copy");
        }))
    }
}

/// The result of a routine for operands that are values.
pub(super) fn value(routine: Routine, inputs: &Inputs) -> Value {
    let (elem, dims) = inputs.result;
    let operands: Vec<Owned> = inputs.args.iter().map(|a| Owned::of(a.elem, &a.bits)).collect();
    let arrays = inputs.args.iter().zip(&operands).map(|(a, o)| Array { dims: &a.dims, elements: o.elements() });
    let mut result = Owned::of(elem, &vec![0; crate::count(dims)]);
    routine(&mut RoutineCall { args: arrays.collect(), attrs: inputs.attrs, dims, result: result.elements_mut() });
    Value { elem, dims: dims.to_vec(), bits: result.bits() }
}
