//! Whole parts by sums: a number plus the least power of two that has no fraction, minus it again, is rounded to nearest.

use crate::emit::{Emitter, Format, Register, Value};
use cotan_ir::Elem;
use cotan_ops::Instruction;
use rspirv::spirv::Op;

impl Emitter<'_> {
    /// The greatest whole number that is at most `a`.
    pub(super) fn exact_floor(&mut self, format: Format, a: Value) -> Value {
        let float = format.float;
        let [limit, one] = [format.fraction as i32, 0].map(|exponent| self.power(format, exponent));
        let size = self.magnitude(format, a);
        let sum = self.add(float, size, limit);
        let nearest = self.sub(float, sum, limit);
        // What is whole, infinite or NaN has no fraction.
        let has_fraction = self.compare(Op::FOrdLessThan, size, limit);
        let signed = self.copy_sign(format, nearest, a);
        let whole = self.choose(float, has_fraction, signed, a);
        let is_above = self.compare(Op::FOrdGreaterThan, whole, a);
        let below = self.sub(float, whole, one);
        self.choose(float, is_above, below, whole)
    }

    /// The least whole number that is at least `a`.
    pub(super) fn exact_ceil(&mut self, elem: Elem, a: Value) -> Value {
        let register = Register::of(elem);
        let negated = self.op(Op::FNegate, register, &[a]);
        let floor = self.instruction(Instruction::Floor, elem, &[negated]).unwrap_or(a);
        self.op(Op::FNegate, register, &[floor])
    }

    /// The whole part: the floor of the magnitude, with the sign.
    pub(super) fn exact_trunc(&mut self, format: Format, elem: Elem, a: Value) -> Value {
        let size = self.magnitude(format, a);
        let floor = self.instruction(Instruction::Floor, elem, &[size]).unwrap_or(a);
        self.copy_sign(format, floor, a)
    }
}
