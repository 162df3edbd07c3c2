//! Numerical routines: functions on dense row-major arrays of the machine's numbers.
//!
//! A routine is total: where there is no result it gives NaN, and the operation that it belongs to says what is wrong
//! then. It knows nothing of the IR, and gives the same bits for the same operands.

use super::Inputs;
use crate::Value;
use crate::memory::{Memory, Refused, within};
use crate::stop::{Stop, aside};
use cotan_ir::Elem;
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

/// Defines the kinds of elements: those that are read, those that are written, and those of a value.
macro_rules! elements {
    ($($kind:ident $number:ident: $($elem:ident)|+,)*) => {
        /// Elements that are read, as they lie in memory: `bool` as bytes, floats of 16 bits as their bits.
        #[derive(Clone, Copy, Debug)]
        #[expect(missing_docs, reason = "the names are those of the element types")]
        pub enum Elements<'a> {
            $($kind(&'a [$number]),)*
        }

        /// Elements that are written.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "the names are those of the element types")]
        pub enum ElementsMut<'a> {
            $($kind(&'a mut [$number]),)*
        }

        /// Elements of a value.
        enum Owned {
            $($kind(Vec<$number>),)*
        }

        impl Owned {
            fn of(elem: Elem, bits: &[u64]) -> Owned {
                match elem {
                    $($(Elem::$elem)|+ => Owned::$kind(bits.iter().map(|b| $number::of_bits(*b)).collect()),)*
                }
            }

            fn copy_of(elements: Elements<'_>) -> Owned {
                match elements {
                    $(Elements::$kind(x) => Owned::$kind(x.to_vec()),)*
                }
            }

            /// Room for as many elements.
            fn like(elements: &ElementsMut<'_>) -> Owned {
                match elements {
                    $(ElementsMut::$kind(x) => Owned::$kind(vec![$number::default(); x.len()]),)*
                }
            }

            /// Writes the elements to others of the same kind and number.
            fn copy_to(&self, to: &mut ElementsMut<'_>) -> bool {
                match (self, to) {
                    $((Owned::$kind(x), ElementsMut::$kind(to)) if x.len() == to.len() => {
                        to.copy_from_slice(x);
                        true
                    })*
                    (_, _) => false,
                }
            }

            fn elements(&self) -> Elements<'_> {
                match self {
                    $(Owned::$kind(x) => Elements::$kind(x),)*
                }
            }

            fn elements_mut(&mut self) -> ElementsMut<'_> {
                match self {
                    $(Owned::$kind(x) => ElementsMut::$kind(x),)*
                }
            }

            fn bits(&self) -> Vec<u64> {
                match self {
                    $(Owned::$kind(x) => x.iter().map(|x| x.bits()).collect(),)*
                }
            }
        }
    };
}

elements! {
    F32 f32: F32,
    F64 f64: F64,
    I8 i8: I8,
    I16 i16: I16,
    I32 i32: I32,
    I64 i64: I64,
    U8 u8: U8 | Bool,
    U16 u16: U16 | F16 | BF16,
    U32 u32: U32,
    U64 u64: U64,
}

impl<'a> Elements<'a> {
    /// The elements, if they are `f32`.
    pub fn f32s(self) -> Option<&'a [f32]> {
        if let Elements::F32(x) = self { Some(x) } else { None }
    }

    /// The elements, if they are `f64`.
    pub fn f64s(self) -> Option<&'a [f64]> {
        if let Elements::F64(x) = self { Some(x) } else { None }
    }
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

/// A number of the machine, of which values hold the bits.
trait Number: Copy {
    fn of_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Number for f32 {
    fn of_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Number for f64 {
    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// Integers: values hold them with their sign in all bits.
macro_rules! integers {
    ($($int:ident)*) => {$(
        impl Number for $int {
            fn of_bits(bits: u64) -> $int {
                bits as $int
            }

            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// The result of a routine for operands that are values.
pub(super) fn value(routine: Routine, inputs: &Inputs) -> Value {
    let (elem, dims) = inputs.result;
    let operands: Vec<Owned> = inputs.args.iter().map(|a| Owned::of(a.elem, &a.bits)).collect();
    let arrays = inputs.args.iter().zip(&operands).map(|(a, o)| Array { dims: &a.dims, elements: o.elements() });
    let mut result = Owned::of(elem, &vec![0; crate::count(dims)]);
    routine(&mut RoutineCall { args: arrays.collect(), attrs: inputs.attrs, dims, result: result.elements_mut() });
    Value { elem, dims: dims.to_vec(), bits: result.bits() }
}
