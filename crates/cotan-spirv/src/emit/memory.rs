//! Memory of the device, by its address.
//!
//! Elements lie there as they do on the host: a `bool` is a byte, a float of 16 bits its bits.

use super::emitter::{Emitter, OPEN, Value};
use super::register::Register;
use cotan_ir::Elem;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, MemoryAccess, Op, StorageClass, Word};

impl Emitter<'_> {
    /// A word of the block of arguments.
    pub fn argument(&mut self, number: u32) -> Value {
        let offset = self.int(Register::Int64, 8 * i64::from(number));
        let address = self.add(Register::Int64, self.arguments, offset);
        self.load(Elem::U64, address)
    }

    /// The address of an element of an array.
    pub fn address(&mut self, elem: Elem, array: Value, index: Value) -> Value {
        let bytes = self.int(Register::Int64, elem.bytes() as i64);
        let offset = self.mul(Register::Int64, index, bytes);
        self.add(Register::Int64, array, offset)
    }

    /// Reads the element at an address.
    pub fn load(&mut self, elem: Elem, address: Value) -> Value {
        let (ty, pointer) = self.pointer(elem, address);
        let access = Some(MemoryAccess::ALIGNED);
        let align = [Operand::LiteralBit32(elem.bytes() as u32)];
        let stored = Value(self.builder.load(ty, None, pointer.0, access, align).expect(OPEN));
        match elem {
            Elem::Bool => {
                let wide = self.op(Op::UConvert, Register::Int32, &[stored]);
                let zero = self.int(Register::Int32, 0);
                self.compare(Op::INotEqual, wide, zero)
            }
            Elem::I8 | Elem::I16 => self.op(Op::SConvert, Register::Int32, &[stored]),
            Elem::U8 | Elem::U16 | Elem::F16 | Elem::BF16 => self.op(Op::UConvert, Register::Int32, &[stored]),
            Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64 | Elem::F32 | Elem::F64 => stored,
        }
    }

    /// Writes the element at an address.
    pub fn store(&mut self, elem: Elem, address: Value, value: Value) {
        let (ty, pointer) = self.pointer(elem, address);
        let value = if elem == Elem::Bool {
            let [zero, one] = [0, 1].map(|n| self.int(Register::Int32, n));
            self.choose(Register::Int32, value, one, zero)
        } else {
            self.hidden_zero(Register::of(elem), value)
        };
        let value = if elem.bytes() < 4 { self.builder.u_convert(ty, None, value.0).expect(OPEN) } else { value.0 };
        let access = Some(MemoryAccess::ALIGNED);
        let align = [Operand::LiteralBit32(elem.bytes() as u32)];
        self.builder.store(pointer.0, value, access, align).expect(OPEN);
    }

    /// An address as a pointer, with the type of what lies there.
    pub(super) fn pointer(&mut self, elem: Elem, address: Value) -> (Word, Value) {
        let ty = match elem.bytes() {
            1 => {
                self.declare(Capability::StorageBuffer8BitAccess);
                self.needs.storage8 = true;
                self.builder.type_int(8, 0)
            }
            2 => {
                self.declare(Capability::StorageBuffer16BitAccess);
                self.needs.storage16 = true;
                self.builder.type_int(16, 0)
            }
            _ => self.ty(Register::of(elem)),
        };
        let pointer = self.builder.type_pointer(None, StorageClass::PhysicalStorageBuffer, ty);
        (ty, Value(self.builder.convert_u_to_ptr(pointer, None, address.0).expect(OPEN)))
    }
}
