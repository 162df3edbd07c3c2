//! Integers in registers of 32 and 64 bits. Whatever leaves a narrow type is normalised; what Vulkan leaves undefined, and
//! remainders of negative numbers are that, is guarded or not used.

use super::emitter::{Emitter, Value};
use super::register::Register;
use cotan_ir::Elem;
use cotan_ops::Instruction;
use rspirv::spirv::{GlslStd450Op, Op};

impl Emitter<'_> {
    /// A number of a narrow type, extended as its register wants it: the bits above its width are its sign, or zeros.
    pub(crate) fn normalised(&mut self, elem: Elem, value: Value) -> Value {
        let width = 8 * elem.bytes() as u32;
        if !elem.is_integer() || width >= 32 {
            return value;
        }
        if elem.is_unsigned() {
            return self.masked(Register::Int32, value, (1 << width) - 1);
        }
        let up = self.shift(Op::ShiftLeftLogical, Register::Int32, value, 32 - width);
        self.shift(Op::ShiftRightArithmetic, Register::Int32, up, 32 - width)
    }

    /// A signed integer of a narrower type in 64 bits. Where the driver gets that wrong, or comparisons of what it gives,
    /// half of the range is added before and taken off after.
    pub(crate) fn sign_extended(&mut self, elem: Elem, a: Value) -> Value {
        if !self.numbers.is_replaced(Instruction::Cast(Elem::I64), elem) {
            return self.op(Op::SConvert, Register::Int64, &[a]);
        }
        let wide = self.op(Op::UConvert, Register::Int64, &[a]);
        let half = self.int(Register::Int64, 1 << 31);
        let offset = self.xor(Register::Int64, wide, half);
        self.sub(Register::Int64, offset, half)
    }

    /// An integer of a narrower type in 64 bits.
    pub(crate) fn extended(&mut self, elem: Elem, a: Value) -> Value {
        if elem.is_signed() { self.sign_extended(elem, a) } else { self.op(Op::UConvert, Register::Int64, &[a]) }
    }

    /// The magnitude; that of the least number is itself.
    pub(super) fn integer_magnitude(&mut self, elem: Elem, a: Value) -> Value {
        if elem.is_unsigned() {
            return a;
        }
        let register = Register::of(elem);
        let magnitude = self.magnitude_in(register, a);
        self.normalised(elem, magnitude)
    }

    /// The magnitude of a signed integer as an unsigned one.
    pub(super) fn magnitude_in(&mut self, register: Register, a: Value) -> Value {
        let zero = self.int(register, 0);
        let negative = self.compare(Op::SLessThan, a, zero);
        let negated = self.op(Op::SNegate, register, &[a]);
        self.choose(register, negative, negated, a)
    }

    /// Quotient or remainder: 0 for a zero divisor; a divisor of -1 negates, so that the least number wraps. The
    /// remainder is what the product of quotient and divisor leaves.
    pub(super) fn integer_division(&mut self, instruction: Instruction, elem: Elem, a: Value, b: Value) -> Value {
        let register = Register::of(elem);
        let [zero, one] = [0, 1].map(|n| self.int(register, n));
        let by_zero = self.compare(Op::IEqual, b, zero);
        let quotient = if elem.is_signed() {
            let minus = self.int(register, -1);
            let by_minus = self.compare(Op::IEqual, b, minus);
            let special = self.or(Register::Bool, by_zero, by_minus);
            let divisor = self.choose(register, special, one, b);
            let quotient = self.op(Op::SDiv, register, &[a, divisor]);
            let negated = self.op(Op::SNegate, register, &[a]);
            self.choose(register, by_minus, negated, quotient)
        } else {
            let divisor = self.choose(register, by_zero, one, b);
            self.op(Op::UDiv, register, &[a, divisor])
        };
        let value = if instruction == Instruction::Div {
            quotient
        } else {
            let product = self.mul(register, quotient, b);
            self.sub(register, a, product)
        };
        let value = self.normalised(elem, value);
        self.choose(register, by_zero, zero, value)
    }

    /// Minimum or maximum.
    pub(crate) fn extreme(&mut self, instruction: Instruction, elem: Elem, a: Value, b: Value) -> Value {
        let function = match (instruction, elem.is_signed()) {
            (Instruction::Min, true) => GlslStd450Op::SMin,
            (Instruction::Min, false) => GlslStd450Op::UMin,
            (_, true) => GlslStd450Op::SMax,
            (_, false) => GlslStd450Op::UMax,
        };
        self.function(function, Register::of(elem), &[a, b])
    }

    /// A shift by an i64 distance, modulo the width.
    pub(super) fn integer_shift(&mut self, instruction: Instruction, elem: Elem, a: Value, distance: Value) -> Value {
        let register = Register::of(elem);
        let distance = self.masked(Register::Int64, distance, 8 * elem.bytes() as u64 - 1);
        let distance = self.op(Op::UConvert, Register::Int32, &[distance]);
        let op = match (instruction, elem.is_signed()) {
            (Instruction::Shl, _) => Op::ShiftLeftLogical,
            (_, true) => Op::ShiftRightArithmetic,
            (_, false) => Op::ShiftRightLogical,
        };
        let shifted = self.op(op, register, &[a, distance]);
        self.normalised(elem, shifted)
    }

    /// Whether a sum, difference or product does not wrap. Of less than 64 bits it is computed in a wider register.
    pub(super) fn integer_fits(&mut self, op: Op, elem: Elem, a: Value, b: Value) -> Value {
        if elem.bytes() < 4 {
            let value = self.op(op, Register::Int32, &[a, b]);
            let narrow = self.normalised(elem, value);
            return self.compare(Op::IEqual, value, narrow);
        }
        if elem.bytes() == 4 {
            let [a, b] = [a, b].map(|x| self.extended(elem, x));
            let value = self.op(op, Register::Int64, &[a, b]);
            let narrow = self.op(Op::UConvert, Register::Int32, &[value]);
            let narrow = self.extended(elem, narrow);
            return self.compare(Op::IEqual, value, narrow);
        }
        match (op, elem.is_signed()) {
            (Op::IAdd, true) => self.sign_kept(op, a, b, [a, b]),
            (Op::ISub, true) => {
                let reverse = self.op(Op::Not, Register::Int64, &[b]);
                self.sign_kept(op, a, b, [a, reverse])
            }
            (Op::IAdd, false) => {
                let sum = self.add(Register::Int64, a, b);
                self.compare(Op::UGreaterThanEqual, sum, a)
            }
            (Op::ISub, false) => self.compare(Op::UGreaterThanEqual, a, b),
            (_, true) => self.signed_product_fits(a, b),
            (_, false) => self.unsigned_product(a, b).1,
        }
    }

    /// Whether a result has the sign of one of two numbers. A sum without overflow has: if both are of one sign, theirs.
    fn sign_kept(&mut self, op: Op, a: Value, b: Value, signs: [Value; 2]) -> Value {
        let long = Register::Int64;
        let value = self.op(op, long, &[a, b]);
        let [first, second] = signs.map(|sign| self.xor(long, sign, value));
        let both = self.and(long, first, second);
        let zero = self.int(long, 0);
        self.compare(Op::SGreaterThanEqual, both, zero)
    }

    /// The product of two unsigned integers of 64 bits, and whether it fits: products of halves.
    fn unsigned_product(&mut self, a: Value, b: Value) -> (Value, Value) {
        let long = Register::Int64;
        let zero = self.int(long, 0);
        let [high_a, high_b] = [a, b].map(|x| self.shift(Op::ShiftRightLogical, long, x, 32));
        let [low_a, low_b] = [a, b].map(|x| self.masked(long, x, u64::from(u32::MAX)));
        let [no_high_a, no_high_b] = [high_a, high_b].map(|x| self.compare(Op::IEqual, x, zero));
        let one_is_narrow = self.or(Register::Bool, no_high_a, no_high_b);
        // One of the two is 0 where the product can fit.
        let first = self.mul(long, high_a, low_b);
        let second = self.mul(long, low_a, high_b);
        let cross = self.add(long, first, second);
        let beyond = self.shift(Op::ShiftRightLogical, long, cross, 32);
        let cross_fits = self.compare(Op::IEqual, beyond, zero);
        let cross = self.shift(Op::ShiftLeftLogical, long, cross, 32);
        let low = self.mul(long, low_a, low_b);
        let product = self.add(long, cross, low);
        let no_carry = self.compare(Op::UGreaterThanEqual, product, low);
        let fits = self.and(Register::Bool, one_is_narrow, cross_fits);
        (product, self.and(Register::Bool, fits, no_carry))
    }

    /// Whether the product of two signed integers of 64 bits fits: that of the magnitudes may reach one further if it is
    /// then negated.
    fn signed_product_fits(&mut self, a: Value, b: Value) -> Value {
        let long = Register::Int64;
        let magnitudes = [a, b].map(|x| self.magnitude_in(long, x));
        let (product, fits) = self.unsigned_product(magnitudes[0], magnitudes[1]);
        let signs = self.xor(long, a, b);
        let negative = self.shift(Op::ShiftRightLogical, long, signs, 63);
        let greatest = self.int(long, i64::MAX);
        let greatest = self.add(long, greatest, negative);
        let in_range = self.compare(Op::ULessThanEqual, product, greatest);
        self.and(Register::Bool, fits, in_range)
    }
}
