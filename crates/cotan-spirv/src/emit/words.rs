//! Short names for the opcodes that several instructions are made of. The register decides between integers and floats.

use super::emitter::{Emitter, Value};
use super::register::Register;
use cotan_ir::Elem;
use rspirv::spirv::Op;

impl Emitter<'_> {
    pub(crate) fn add(&mut self, register: Register, a: Value, b: Value) -> Value {
        self.op(if register.is_float() { Op::FAdd } else { Op::IAdd }, register, &[a, b])
    }

    pub(crate) fn sub(&mut self, register: Register, a: Value, b: Value) -> Value {
        self.op(if register.is_float() { Op::FSub } else { Op::ISub }, register, &[a, b])
    }

    pub(crate) fn mul(&mut self, register: Register, a: Value, b: Value) -> Value {
        self.op(if register.is_float() { Op::FMul } else { Op::IMul }, register, &[a, b])
    }

    /// Bits that both have.
    pub(crate) fn and(&mut self, register: Register, a: Value, b: Value) -> Value {
        self.op(if register == Register::Bool { Op::LogicalAnd } else { Op::BitwiseAnd }, register, &[a, b])
    }

    /// Bits that one of both has.
    pub(crate) fn or(&mut self, register: Register, a: Value, b: Value) -> Value {
        self.op(if register == Register::Bool { Op::LogicalOr } else { Op::BitwiseOr }, register, &[a, b])
    }

    /// Bits that are not the same.
    pub(crate) fn xor(&mut self, register: Register, a: Value, b: Value) -> Value {
        self.op(Op::BitwiseXor, register, &[a, b])
    }

    /// The bits of a number below a mask.
    pub(crate) fn masked(&mut self, register: Register, a: Value, mask: u64) -> Value {
        let mask = self.bits_constant(register, mask);
        self.and(register, a, mask)
    }

    /// A shift by a distance that is known and less than the width.
    pub(crate) fn shift(&mut self, op: Op, register: Register, a: Value, distance: u32) -> Value {
        let distance = self.int(Register::Int32, distance.into());
        self.op(op, register, &[a, distance])
    }

    /// A comparison.
    pub(crate) fn compare(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.op(op, Register::Bool, &[a, b])
    }

    /// Whether a float is NaN.
    pub(crate) fn is_nan(&mut self, elem: Elem, a: Value) -> Value {
        let number = if elem.storage().is_some() { self.cast(elem, Elem::F32, a) } else { a };
        self.op(Op::IsNan, Register::Bool, &[number])
    }

    /// The first value where the condition holds, else the second.
    pub(crate) fn choose(&mut self, register: Register, condition: Value, a: Value, b: Value) -> Value {
        self.op(Op::Select, register, &[condition, a, b])
    }

    /// The same bits in another register of the same width.
    pub(crate) fn bits(&mut self, register: Register, a: Value) -> Value {
        self.op(Op::Bitcast, register, &[a])
    }
}
