//! Kernels that compute element by element: words in, words out.
//!
//! Each thread reads a word of every input and writes one of every output. What is computed between touches no memory, so
//! that such a kernel can be run without a proof.

use super::emitter::{Emitter, Kernel, Value};
use super::instruction::NotEmitted;
use super::register::{Class, Register};
use crate::features::Features;
use crate::numbers::Numbers;
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;
use rspirv::spirv::Op;

/// Threads of a workgroup.
const WORKGROUP: u32 = 64;

/// A kernel that computes element by element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    kernel: Kernel,
    n_inputs: usize,
    n_outputs: usize,
}

/// What the code of a mapping is written with: values in, values out, no memory.
pub struct Computation<'e, 'a>(&'e mut Emitter<'a>);

impl Mapping {
    /// The kernel of which `code` writes what is computed, from the words of an element to values with their types.
    pub fn new(
        features: Features,
        numbers: &Numbers,
        n_inputs: usize,
        code: impl FnOnce(&mut Computation<'_, '_>, &[Value]) -> Result<Vec<(Elem, Value)>, NotEmitted>,
    ) -> Result<Mapping, NotEmitted> {
        let mut out = Emitter::new(features, numbers, WORKGROUP);
        let [n_elements, memory] = [0, 1].map(|k| out.argument(k));
        let thread = out.thread();
        let is_element = out.compare(Op::ULessThan, thread, n_elements);
        let mut outcome = Ok(0);
        out.when(is_element, |out| {
            let mut array = memory;
            let bytes = out.int(Register::Int64, 8);
            let bytes = out.mul(Register::Int64, n_elements, bytes);
            let mut words = Vec::new();
            for _ in 0..n_inputs {
                let place = out.address(Elem::U64, array, thread);
                words.push(out.load(Elem::U64, place));
                array = out.add(Register::Int64, array, bytes);
            }
            outcome = code(&mut Computation(out), &words).map(|results| {
                for (elem, value) in &results {
                    let word = out.as_word(*elem, *value);
                    let place = out.address(Elem::U64, array, thread);
                    out.store(Elem::U64, place, word);
                    array = out.add(Register::Int64, array, bytes);
                }
                results.len()
            });
        });
        let n_outputs = outcome?;
        Ok(Mapping { kernel: out.finish(), n_inputs, n_outputs })
    }

    /// The kernel. Its arguments are the number of elements, and the address of inputs and outputs, one after the other.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }
}

impl Computation<'_, '_> {
    /// The value of an instruction: see [`Emitter::instruction`].
    pub fn instruction(&mut self, instruction: Instruction, elem: Elem, args: &[Value]) -> Result<Value, NotEmitted> {
        self.0.instruction(instruction, elem, args)
    }

    /// A constant.
    pub fn constant(&mut self, value: Const) -> Value {
        self.0.constant(value)
    }

    /// The value of a type that the last bits of a word are.
    pub fn of_word(&mut self, elem: Elem, word: Value) -> Value {
        self.0.of_word(elem, word)
    }
}

impl Emitter<'_> {
    /// The value of a type that the last bits of a word are.
    pub(crate) fn of_word(&mut self, elem: Elem, word: Value) -> Value {
        if Register::of(elem).bits() == 64 {
            return self.bitcast_word(elem, word);
        }
        let low = self.op(Op::UConvert, Register::Int32, &[word]);
        match Class::of(elem) {
            Class::Bool => {
                let last = self.masked(Register::Int32, low, 1);
                let zero = self.int(Register::Int32, 0);
                self.compare(Op::INotEqual, last, zero)
            }
            Class::Signed | Class::Unsigned => self.normalised(elem, low),
            Class::Stored(_) => self.normalised(Elem::U16, low),
            Class::Float => self.bits(Register::Float32, low),
        }
    }

    fn bitcast_word(&mut self, elem: Elem, word: Value) -> Value {
        if elem == Elem::F64 { self.bits(Register::Float64, word) } else { word }
    }

    /// The word that a constant of the value would have.
    pub(crate) fn as_word(&mut self, elem: Elem, value: Value) -> Value {
        let long = Register::Int64;
        match Class::of(elem) {
            Class::Bool => {
                let [zero, one] = [0, 1].map(|n| self.int(long, n));
                self.choose(long, value, one, zero)
            }
            Class::Signed | Class::Unsigned if elem.bytes() == 8 => value,
            Class::Signed | Class::Unsigned => self.extended(elem, value),
            Class::Stored(_) => self.op(Op::UConvert, long, &[value]),
            Class::Float if elem == Elem::F64 => self.bits(long, value),
            Class::Float => {
                let bits = self.bits(Register::Int32, value);
                self.op(Op::UConvert, long, &[bits])
            }
        }
    }
}
