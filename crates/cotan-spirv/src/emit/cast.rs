//! Conversions between element types: to floats rounded once, from floats cut and saturated, between integers wrapped.

use super::emitter::{Emitter, Value};
use super::register::{Class, Register};
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;
use rspirv::spirv::Op;

impl Emitter<'_> {
    /// The value as another type.
    pub(super) fn cast(&mut self, from: Elem, to: Elem, a: Value) -> Value {
        let (source, target) = (Register::of(from), Register::of(to));
        match (Class::of(from), Class::of(to)) {
            (Class::Stored(storage), _) => {
                let wide = self.widen(storage, a);
                self.cast(Elem::F32, to, wide)
            }
            (_, Class::Stored(storage)) => self.narrow(storage, from, a),
            (Class::Float, Class::Float) if source == target => a,
            (Class::Float, Class::Float) => self.op(Op::FConvert, target, &[a]),
            (Class::Bool, Class::Bool) => a,
            (Class::Bool, Class::Signed | Class::Unsigned) => {
                let [zero, one] = [0, 1].map(|n| self.int(target, n));
                self.choose(target, a, one, zero)
            }
            (Class::Bool, Class::Float) => {
                let [zero, one] = [0.0, 1.0].map(|x| self.constant(Const::float(to, x)));
                self.choose(target, a, one, zero)
            }
            (Class::Signed, Class::Float) => self.op(Op::ConvertSToF, target, &[a]),
            (Class::Unsigned, Class::Float) => self.op(Op::ConvertUToF, target, &[a]),
            (Class::Float, Class::Bool) => {
                let zero = self.constant(Const::zero(from));
                self.compare(Op::FUnordNotEqual, a, zero)
            }
            (Class::Float, Class::Signed | Class::Unsigned) => self.saturated(from, to, a),
            (Class::Signed | Class::Unsigned, Class::Bool) => {
                let zero = self.int(source, 0);
                self.compare(Op::INotEqual, a, zero)
            }
            (Class::Signed | Class::Unsigned, Class::Signed | Class::Unsigned) => {
                let value = match (source.bits(), target.bits()) {
                    (32, 64) => self.extended(from, a),
                    (64, 32) => self.op(Op::UConvert, target, &[a]),
                    _ => a,
                };
                self.normalised(to, value)
            }
        }
    }

    /// A float as an integer: its fraction cut, moved into the range, 0 for NaN. What is out of range is not converted.
    fn saturated(&mut self, from: Elem, to: Elem, a: Value) -> Value {
        let target = Register::of(to);
        let (least, greatest) = to.integer_range().unwrap_or((0, 1));
        // Both are powers of two or zero, hence exact.
        let low = self.constant(Const::float(from, least as f64));
        let high = self.constant(Const::float(from, (greatest + 1) as f64));
        let zero = self.constant(Const::zero(from));
        let at_least = self.compare(Op::FOrdGreaterThanEqual, a, low);
        let below = self.compare(Op::FOrdLessThan, a, high);
        let inside = self.and(Register::Bool, at_least, below);
        let safe = self.choose(Register::of(from), inside, a, zero);
        let op = if to.is_signed() { Op::ConvertFToS } else { Op::ConvertFToU };
        let converted = self.op(op, target, &[safe]);
        let above = self.compare(Op::FOrdGreaterThanEqual, a, high);
        let under = self.compare(Op::FOrdLessThan, a, low);
        let [none, least, greatest] = [0, least, greatest].map(|n| self.int(target, n as i64));
        let outside = self.choose(target, under, least, none);
        let outside = self.choose(target, above, greatest, outside);
        self.choose(target, inside, converted, outside)
    }

    /// Whether a value keeps its meaning as an integer of a type; a fraction may be cut.
    pub(super) fn cast_fits(&mut self, from: Elem, to: Elem, a: Value) -> Option<Value> {
        let Some((least, greatest)) = to.integer_range() else { return Some(self.truth(true)) };
        if from.is_float() {
            let whole = self.instruction(Instruction::Trunc, from, &[a]).ok()?;
            let low = self.constant(Const::float(from, least as f64));
            let high = self.constant(Const::float(from, (greatest + 1) as f64));
            let above = self.compare(Op::FOrdGreaterThanEqual, whole, low);
            let below = self.compare(Op::FOrdLessThan, whole, high);
            return Some(self.and(Register::Bool, above, below));
        }
        let register = Register::of(from);
        let (own_least, own_greatest) = from.integer_range()?;
        let [at_least, at_most] = match from.is_signed() {
            true => [Op::SGreaterThanEqual, Op::SLessThanEqual],
            false => [Op::UGreaterThanEqual, Op::ULessThanEqual],
        };
        let mut fits = self.truth(true);
        for (op, bound, matters) in [(at_least, least, least > own_least), (at_most, greatest, greatest < own_greatest)]
        {
            if matters {
                let bound = self.int(register, bound as i64);
                let one = self.compare(op, a, bound);
                fits = self.and(Register::Bool, fits, one);
            }
        }
        Some(fits)
    }

    /// The bits of a value as a number of another type that has as many.
    pub(super) fn bitcast(&mut self, from: Elem, to: Elem, a: Value) -> Value {
        let (source, target) = (Register::of(from), Register::of(to));
        if Register::Bool == source || Register::Bool == target {
            return self.cast(from, to, a);
        }
        let value = if source == target { a } else { self.bits(target, a) };
        match Class::of(to) {
            // A float of 16 bits lies in a register as an unsigned integer does.
            Class::Stored(_) => self.normalised(Elem::U16, value),
            Class::Bool | Class::Signed | Class::Unsigned | Class::Float => self.normalised(to, value),
        }
    }
}
