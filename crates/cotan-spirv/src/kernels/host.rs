//! Functions that a host computes on CPUs. Whole powers and remainders are loops; where another one is reached the thread
//! says that the call is one for the host, and ends: a call is pure, so it runs there from its beginning.

use super::body::Body;
use super::layout::{Report, Word};
use super::{LONG, Unsupported};
use crate::emit::{Register, Value, Variable};
use cotan_ir::{Const, Elem, Prim};
use cotan_ops::{COS, DIGAMMA, Instruction, LGAMMA, POLYGAMMA, POWI, POWI_FITS, REM, SIN, TAN};
use rspirv::spirv::Op;

impl Body<'_> {
    /// The value of a function of the host.
    pub(super) fn host_function(&mut self, prim: Prim, elem: Elem, args: &[Value]) -> Result<Value, Unsupported> {
        if prim == POWI.prim() {
            return self.power(elem, args[0], args[1]);
        }
        if prim == POWI_FITS.prim() {
            return Ok(self.power_fits(elem, args[0], args[1]));
        }
        if prim == REM.prim() && !elem.is_integer() {
            return self.remainder(elem, [args[0], args[1]]);
        }
        // They are computed in f64, whatever their type.
        if prim == DIGAMMA.prim() && self.out.has_double() {
            return self.digamma(elem, args[0]);
        }
        if prim == POLYGAMMA.prim() && self.out.has_double() {
            return self.polygamma(elem, args[0], args[1]);
        }
        // Formulas hold for all but the largest angles, and for positive numbers, so few calls get here.
        if [&SIN, &COS, &TAN, &LGAMMA, &DIGAMMA, &POLYGAMMA].into_iter().any(|row| prim == row.prim()) {
            let always = self.out.constant(Const::bool(true));
            self.leave_to_host(always);
            return Ok(self.out.constant(Const::zero(elem)));
        }
        Err(Unsupported::Host(prim.name().to_owned()))
    }

    /// Ends the thread where a condition holds, and with it the call on the device: a host does it from its beginning.
    pub(super) fn leave_to_host(&mut self, condition: Value) {
        let (places, launch) = self.places_of_host();
        self.out.leave_if(condition, |out| {
            places.into_iter().for_each(|at| out.atomic_extreme(Op::AtomicUMin, at, launch))
        });
    }

    /// The same, for a thread that goes on to its end.
    pub(super) fn hand_to_host(&mut self, condition: Value) {
        let (places, launch) = self.places_of_host();
        self.out
            .when(condition, |out| places.into_iter().for_each(|at| out.atomic_extreme(Op::AtomicUMin, at, launch)));
    }

    /// Where a launch that is for a host is told, and its number.
    fn places_of_host(&mut self) -> ([Value; 2], Value) {
        let (report, launch) = (self.word(Word::Report), self.word(Word::Launch));
        ([Report::HOST, Report::LAUNCH].map(|number| self.word_at(report, number)), launch)
    }

    /// A whole power by repeated squaring, as the evaluator of the op table does it: the products in its order.
    fn power(&mut self, elem: Elem, base: Value, exponent: Value) -> Result<Value, Unsupported> {
        let register = Register::of(elem);
        let (zero, one) = (self.out.int(LONG, 0), self.out.int(LONG, 1));
        let unit = self.out.constant(if elem.is_float() { Const::float(elem, 1.0) } else { Const::integer(elem, 1) });
        let is_negative = self.out.compare(Op::SLessThan, exponent, zero);
        let negated = self.out.op(Op::ISub, LONG, &[zero, exponent]);
        let magnitude = self.out.choose(LONG, is_negative, negated, exponent);
        let [square, result] = [register; 2].map(|register| self.out.variable(register));
        let left = self.out.variable(LONG);
        self.out.set(square, base);
        self.out.set(result, unit);
        self.out.set(left, magnitude);

        let turn = self.out.begin_loop();
        let bits = self.out.get(left);
        let goes_on = self.out.compare(Op::INotEqual, bits, zero);
        self.out.begin_turn(turn, goes_on);
        let [factor, before] = [square, result].map(|variable| self.out.get(variable));
        let product = self.combined(Instruction::Mul, elem, [before, factor])?;
        let last = self.out.masked(LONG, bits, 1);
        let is_odd = self.out.compare(Op::IEqual, last, one);
        let after = self.out.choose(register, is_odd, product, before);
        self.out.set(result, after);
        let squared = self.combined(Instruction::Mul, elem, [factor, factor])?;
        self.out.set(square, squared);
        let rest = self.out.op(Op::ShiftRightLogical, LONG, &[bits, one]);
        self.out.set(left, rest);
        self.out.end_loop(turn);
        let bits = self.out.get(left);
        let goes_on = self.out.compare(Op::INotEqual, bits, zero);
        self.leave_cut_loop(goes_on);

        let power = self.out.get(result);
        if elem.is_float() {
            let reciprocal = self.combined(Instruction::Div, elem, [unit, power])?;
            return Ok(self.out.choose(register, is_negative, reciprocal, power));
        }
        // Of the reciprocals of integers only those of 1 and -1 are not cut to 0.
        let nothing = self.out.constant(Const::integer(elem, 0));
        let mut is_unit = self.out.compare(Op::IEqual, base, unit);
        if !elem.is_unsigned() {
            let minus = self.out.constant(Const::integer(elem, -1));
            let is_minus = self.out.compare(Op::IEqual, base, minus);
            is_unit = self.out.or(Register::Bool, is_unit, is_minus);
        }
        let cut = self.out.choose(register, is_unit, power, nothing);
        Ok(self.out.choose(register, is_negative, cut, power))
    }
    /// Whether a whole power of an integer is one of its type: products, until one is too large.
    fn power_fits(&mut self, elem: Elem, base: Value, exponent: Value) -> Value {
        let (zero, one) = (self.out.int(LONG, 0), self.out.int(LONG, 1));
        let base = self.out.as_word(elem, base);
        let width = 8 * elem.bytes() as u32;
        let (magnitude, limit) = if elem.is_unsigned() {
            (base, self.out.bits_constant(LONG, u64::MAX >> (64 - width)))
        } else {
            let is_negative = self.out.compare(Op::SLessThan, base, zero);
            let negated = self.out.sub(LONG, zero, base);
            let last = self.out.masked(LONG, exponent, 1);
            let is_odd = self.out.compare(Op::IEqual, last, one);
            let below = self.out.and(Register::Bool, is_negative, is_odd);
            let least = self.out.bits_constant(LONG, 1 << (width - 1));
            let greatest = self.out.bits_constant(LONG, (1 << (width - 1)) - 1);
            let limit = self.out.choose(LONG, below, least, greatest);
            (self.out.choose(LONG, is_negative, negated, base), limit)
        };
        let is_short = self.out.compare(Op::ULessThanEqual, magnitude, one);
        let quotient = self.out.choose(LONG, is_short, one, magnitude);
        let most = self.out.op(Op::UDiv, LONG, &[limit, quotient]);
        let (product, left) = (self.out.variable(LONG), self.out.variable(LONG));
        let fits = self.out.variable(Register::Bool);
        let is_whole = self.out.compare(Op::SGreaterThanEqual, exponent, zero);
        let turns = self.out.choose(LONG, is_short, zero, exponent);
        self.out.set(product, one);
        self.out.set(left, turns);
        self.out.set(fits, is_whole);

        let turn = self.out.begin_loop();
        let goes_on = self.power_goes_on(left, fits);
        self.out.begin_turn(turn, goes_on);
        let before = self.out.get(product);
        let is_inside = self.out.compare(Op::ULessThanEqual, before, most);
        self.out.set(fits, is_inside);
        let after = self.out.mul(LONG, before, magnitude);
        self.out.set(product, after);
        let n_left = self.out.get(left);
        let n_left = self.out.sub(LONG, n_left, one);
        self.out.set(left, n_left);
        self.out.end_loop(turn);
        let goes_on = self.power_goes_on(left, fits);
        self.leave_cut_loop(goes_on);
        self.out.get(fits)
    }

    fn power_goes_on(&mut self, left: Variable, fits: Variable) -> Value {
        let zero = self.out.int(LONG, 0);
        let n_left = self.out.get(left);
        let is_left = self.out.compare(Op::SGreaterThan, n_left, zero);
        let fits = self.out.get(fits);
        self.out.and(Register::Bool, is_left, fits)
    }
}
