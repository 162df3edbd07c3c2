//! Instructions of the op table on every element type. Each gives the bits of the table's kernels: integers wrap, shifts and
//! divisions are guarded so that none is undefined, floats are IEEE.

use super::emitter::{Emitter, Value};
use super::opcode;
use super::register::{Class, Format, Register};
use crate::numbers;
use cotan_ir::Elem;
use cotan_ops::Instruction;
use rspirv::spirv::Op;
use std::fmt;

/// An instruction that has no code on a type, as it has no meaning there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotEmitted {
    /// The instruction.
    pub instruction: Instruction,
    /// The type of its operands.
    pub elem: Elem,
}

impl fmt::Display for NotEmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no SPIR-V for {:?} on {}", self.instruction, self.elem)
    }
}

impl std::error::Error for NotEmitted {}

/// How many operands the code of an instruction reads.
pub(super) fn arity(instruction: Instruction) -> usize {
    instruction.signature(Elem::I64).1
}

/// What the result of an instruction is in.
pub(super) fn result(instruction: Instruction, elem: Elem) -> Register {
    Register::of(instruction.signature(elem).2)
}

impl Emitter<'_> {
    /// The value of an instruction. The type is that of the operands (of a select: of the last two).
    ///
    /// `args` holds at least as many values as the instruction reads.
    pub fn instruction(&mut self, instruction: Instruction, elem: Elem, args: &[Value]) -> Result<Value, NotEmitted> {
        let Some(args) = args.get(..arity(instruction)) else { return Err(NotEmitted { instruction, elem }) };
        let value = self.written(instruction, elem, args)?;
        if !args.contains(&value) {
            self.known.result(instruction, elem, args, value);
        }
        Ok(value)
    }

    fn written(&mut self, instruction: Instruction, elem: Elem, args: &[Value]) -> Result<Value, NotEmitted> {
        let not_emitted = NotEmitted { instruction, elem };
        let (_, _, gives) = instruction.signature(elem);
        let result = result(instruction, elem);
        if self.numbers.is_replaced(instruction, elem) {
            return Ok(match numbers::is_in_place(instruction) {
                true => self.replacement(instruction, elem, args),
                false => self.call_replacement(instruction, elem, result, args),
            });
        }
        let class = Class::of(elem);
        if let Some(function) = opcode::function(instruction, class) {
            return Ok(self.function(function, result, args));
        }
        if let Some(op) = opcode::opcode(instruction, class) {
            let value = self.op(op, result, args);
            return Ok(if gives == elem { self.normalised(elem, value) } else { value });
        }
        let value = match class {
            Class::Bool | Class::Stored(_) => self.on_any(instruction, elem, args),
            Class::Signed | Class::Unsigned => self.on_integers(instruction, elem, args),
            Class::Float => self.on_floats(instruction, elem, args),
        };
        value.ok_or(not_emitted)
    }

    /// What every type has: choices and conversions; of truth values also comparisons.
    fn on_any(&mut self, instruction: Instruction, elem: Elem, args: &[Value]) -> Option<Value> {
        let value = match (instruction, args) {
            (Instruction::Identity, [a]) => *a,
            (Instruction::Select, [condition, a, b]) => self.choose(Register::of(elem), *condition, *a, *b),
            (Instruction::Cast(target), [a]) => self.cast(elem, target, *a),
            (Instruction::Bitcast(target), [a]) if elem.bytes() == target.bytes() => self.bitcast(elem, target, *a),
            (Instruction::Lt | Instruction::Le | Instruction::Gt | Instruction::Ge, [a, b]) if elem == Elem::Bool => {
                let [a, b] = [*a, *b].map(|x| self.cast(Elem::Bool, Elem::U32, x));
                return self.instruction(instruction, Elem::U32, &[a, b]).ok();
            }
            (_, _) => return None,
        };
        Some(value)
    }

    /// What is not one opcode on integers.
    fn on_integers(&mut self, instruction: Instruction, elem: Elem, args: &[Value]) -> Option<Value> {
        let register = Register::of(elem);
        let value = match (instruction, args) {
            (Instruction::CastFits(target), [a]) => self.cast_fits(elem, target, *a)?,
            (Instruction::Abs, [a]) => self.integer_magnitude(elem, *a),
            (Instruction::Fma, [a, b, c]) => {
                let product = self.mul(register, *a, *b);
                let sum = self.add(register, product, *c);
                self.normalised(elem, sum)
            }
            (Instruction::Div | Instruction::Rem, [a, b]) => self.integer_division(instruction, elem, *a, *b),
            (Instruction::Min | Instruction::Max, [a, b]) => self.extreme(instruction, elem, *a, *b),
            (Instruction::Shl | Instruction::Shr, [a, b]) => self.integer_shift(instruction, elem, *a, *b),
            (Instruction::ShiftFits, [_, distance]) => {
                let width = self.int(Register::Int64, 8 * elem.bytes() as i64);
                self.compare(Op::ULessThan, *distance, width)
            }
            (Instruction::AddFits, [a, b]) => self.integer_fits(Op::IAdd, elem, *a, *b),
            (Instruction::SubFits, [a, b]) => self.integer_fits(Op::ISub, elem, *a, *b),
            (Instruction::MulFits, [a, b]) => self.integer_fits(Op::IMul, elem, *a, *b),
            (_, args) => return self.on_any(instruction, elem, args),
        };
        Some(value)
    }

    /// What is neither one opcode nor one function on floats.
    fn on_floats(&mut self, instruction: Instruction, elem: Elem, args: &[Value]) -> Option<Value> {
        let format = Format::of(elem)?;
        let value = match (instruction, args) {
            (Instruction::CastFits(target), [a]) => self.cast_fits(elem, target, *a)?,
            (Instruction::Mulz | Instruction::Mulg, [a, b]) => self.guarded_product(instruction, format, *a, *b),
            (Instruction::Copysign, [a, b]) => self.copy_sign(format, *a, *b),
            (Instruction::Min | Instruction::Max, [a, b]) => self.float_extreme(instruction, format, *a, *b),
            (_, args) => return self.on_any(instruction, elem, args),
        };
        Some(value)
    }

    /// A product in which a zero of the guards wins: both factors of a `mulz`, the first of a `mulg`. By masks of integers: a
    /// comparison of f64 is as slow as all else on f64, and lavapipe takes several times as long for it and a choice.
    fn guarded_product(&mut self, instruction: Instruction, format: Format, a: Value, b: Value) -> Value {
        let Format { float, bits, .. } = format;
        let mut mask = self.mask_unless_zero(format, a);
        if instruction == Instruction::Mulz {
            let other = self.mask_unless_zero(format, b);
            mask = self.and(bits, mask, other);
        }
        let product = self.mul(float, a, b);
        let product = self.bits(bits, product);
        let product = self.and(bits, product, mask);
        self.bits(float, product)
    }

    /// All bits, or none where a float is zero.
    fn mask_unless_zero(&mut self, format: Format, a: Value) -> Value {
        let Format { bits, .. } = format;
        let magnitude = self.bits(bits, a);
        let magnitude = self.masked(bits, magnitude, format.magnitude());
        let zero = self.int(bits, 0);
        let negated = self.sub(bits, zero, magnitude);
        self.shift(Op::ShiftRightArithmetic, bits, negated, bits.bits() - 1)
    }

    /// The magnitude of `a` with the sign of `b`, by their bits.
    pub(crate) fn copy_sign(&mut self, format: Format, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| self.bits(format.bits, x));
        let magnitude = self.masked(format.bits, a, format.magnitude());
        let sign = self.masked(format.bits, b, format.sign());
        let both = self.or(format.bits, magnitude, sign);
        self.bits(format.float, both)
    }

    /// Minimum or maximum. Equal numbers differ in their sign at most, which their bits decide; the sum of what cannot be
    /// compared is a NaN.
    fn float_extreme(&mut self, instruction: Instruction, format: Format, a: Value, b: Value) -> Value {
        let Format { float, bits, .. } = format;
        let (wins, loses, sign) = if instruction == Instruction::Max {
            (Op::FOrdGreaterThan, Op::FOrdLessThan, Op::BitwiseAnd)
        } else {
            (Op::FOrdLessThan, Op::FOrdGreaterThan, Op::BitwiseOr)
        };
        let sum = self.add(float, a, b);
        let pair = [a, b].map(|x| self.bits(bits, x));
        let same = self.op(sign, bits, &pair);
        let same = self.bits(float, same);
        let equal = self.compare(Op::FOrdEqual, a, b);
        let rest = self.choose(float, equal, same, sum);
        let second = self.compare(loses, a, b);
        let rest = self.choose(float, second, b, rest);
        let first = self.compare(wins, a, b);
        self.choose(float, first, a, rest)
    }
}
