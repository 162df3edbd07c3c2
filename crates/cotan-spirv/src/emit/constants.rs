//! Constants, each of which is declared once.

use super::emitter::{Emitter, Value};
use super::register::Register;
use cotan_ir::Const;

impl Emitter<'_> {
    /// A constant of an element type.
    pub fn constant(&mut self, value: Const) -> Value {
        let register = Register::of(value.elem());
        let bits = value.bits();
        match register {
            Register::Bool => self.truth(bits != 0),
            Register::Int32 | Register::Float32 => self.bits_constant(register, bits & u64::from(u32::MAX)),
            Register::Int64 | Register::Float64 => self.bits_constant(register, bits),
        }
    }

    /// A truth value.
    pub(crate) fn truth(&mut self, value: bool) -> Value {
        let key = (Register::Bool, u64::from(value));
        if let Some(known) = self.constants.get(&key) {
            return *known;
        }
        let ty = self.ty(Register::Bool);
        let id = if value { self.builder.constant_true(ty) } else { self.builder.constant_false(ty) };
        self.constants.insert(key, Value(id));
        Value(id)
    }

    /// An integer, cut to its register.
    pub(crate) fn int(&mut self, register: Register, value: i64) -> Value {
        let bits = if register.bits() == 32 { u64::from(value as u32) } else { value as u64 };
        self.bits_constant(register, bits)
    }

    /// A number by its bits.
    pub(crate) fn bits_constant(&mut self, register: Register, bits: u64) -> Value {
        if let Some(known) = self.constants.get(&(register, bits)) {
            return *known;
        }
        let ty = self.ty(register);
        let id = if register.bits() == 32 {
            self.builder.constant_bit32(ty, bits as u32)
        } else {
            self.builder.constant_bit64(ty, bits)
        };
        self.constants.insert((register, bits), Value(id));
        self.known.constant(register, bits, Value(id));
        Value(id)
    }
}
