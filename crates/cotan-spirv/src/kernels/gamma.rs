//! The digamma function and its derivatives, step by step as the evaluator of the op table does it: the recurrence up to
//! where the asymptotic series holds. What is reflected there, negative arguments, is left to the host.

use super::body::Body;
use super::{LONG, Unsupported};
use crate::emit::{Register, Value, Variable};
use cotan_ir::{Const, Elem};
use cotan_ops::{BERNOULLI, Codegen, Input, Instruction, LOG, MAX_ORDER, PrimRow};
use rspirv::spirv::Op;

const REAL: Register = Register::Float64;

impl Body<'_> {
    /// The digamma function.
    pub(super) fn digamma(&mut self, elem: Elem, x: Value) -> Result<Value, Unsupported> {
        let x = self.widened(elem, x)?;
        let value = self.digamma_of_double(x)?;
        self.narrowed(elem, value)
    }

    /// A derivative of the digamma function. Those of negative arguments are left to the host.
    pub(super) fn polygamma(&mut self, elem: Elem, x: Value, order: Value) -> Result<Value, Unsupported> {
        let x = self.widened(elem, x)?;
        let zero = self.out.int(LONG, 0);
        let result = self.out.variable(REAL);
        let is_itself = self.out.compare(Op::IEqual, order, zero);
        let branches = self.out.begin_branches(is_itself);
        let value = self.digamma_of_double(x)?;
        self.out.set(result, value);
        self.out.otherwise(branches);
        let value = self.derivative(x, order)?;
        self.out.set(result, value);
        self.out.end_branches(branches);
        let value = self.out.get(result);
        self.narrowed(elem, value)
    }

    fn digamma_of_double(&mut self, x: Value) -> Result<Value, Unsupported> {
        let (zero, one) = (self.real(0.0), self.real(1.0));
        let is_pole = self.is_pole(x)?;
        self.leave_if_negative(x, is_pole);
        // What has no value needs no steps.
        let x = self.out.choose(REAL, is_pole, one, x);
        let twelve = self.real(12.0);
        let [y, steps] = self.stepped_up(x, twelve, |body, y| body.two(Instruction::Div, one, y))?;

        let square = self.two(Instruction::Mul, y, y)?;
        let (mut power, mut series) = (one, zero);
        for (k, bernoulli) in BERNOULLI.iter().enumerate() {
            power = self.two(Instruction::Div, power, square)?;
            let coefficient = self.real(bernoulli / (2.0 * (k as f64 + 1.0)));
            let term = self.two(Instruction::Mul, coefficient, power)?;
            series = self.two(Instruction::Add, series, term)?;
        }
        let log = self.formula(&LOG, y)?;
        let half = self.real(0.5);
        let half = self.two(Instruction::Div, half, y)?;
        let value = self.two(Instruction::Sub, log, half)?;
        let value = self.two(Instruction::Sub, value, series)?;
        let value = self.two(Instruction::Sub, value, steps)?;
        let nan = self.real(f64::NAN);
        Ok(self.out.choose(REAL, is_pole, nan, value))
    }

    /// The derivative of an order that is not zero.
    fn derivative(&mut self, x: Value, order: Value) -> Result<Value, Unsupported> {
        let (zero, one, infinity) = (self.real(0.0), self.real(1.0), self.real(f64::INFINITY));
        let is_pole = self.is_pole(x)?;
        let no_order = self.is_no_order(order);
        let is_nan = self.out.or(Register::Bool, is_pole, no_order);
        self.leave_if_negative(x, is_nan);
        // What has no value needs no steps.
        let long_one = self.out.int(LONG, 1);
        let order = self.out.choose(LONG, no_order, long_one, order);
        let x = self.out.choose(REAL, is_nan, one, x);
        let n = self.out.instruction(Instruction::Cast(Elem::F64), Elem::I64, &[order])?;
        let fifteen = self.real(15.0);
        let bound = self.two(Instruction::Add, fifteen, n)?;
        let [y, steps] = self.stepped_up(x, bound, |body, y| {
            let factorial = body.scaled_factorial(order, y)?;
            body.two(Instruction::Div, factorial, y)
        })?;
        let before = self.out.sub(LONG, order, long_one);
        let factorial = self.scaled_factorial(before, y)?;
        let factor = self.two(Instruction::Div, factorial, y)?;
        let series = self.series_of_derivative(factor, n, y)?;
        let sum = self.two(Instruction::Add, series, steps)?;

        let last = self.out.masked(LONG, order, 1);
        let is_odd = self.out.compare(Op::IEqual, last, long_one);
        let minus = self.real(-1.0);
        // The parity, negated.
        let sign = self.out.choose(REAL, is_odd, one, minus);
        let value = self.two(Instruction::Mul, sign, sum)?;
        let is_infinite = self.out.compare(Op::FOrdEqual, x, infinity);
        let value = self.out.choose(REAL, is_infinite, zero, value);
        let nan = self.real(f64::NAN);
        Ok(self.out.choose(REAL, is_nan, nan, value))
    }

    fn leave_if_negative(&mut self, x: Value, has_no_value: Value) {
        let zero = self.real(0.0);
        let is_negative = self.out.compare(Op::FOrdLessThan, x, zero);
        let has_value = self.out.op(Op::LogicalNot, Register::Bool, &[has_no_value]);
        let is_for_host = self.out.and(Register::Bool, is_negative, has_value);
        self.leave_to_host(is_for_host);
    }

    fn is_no_order(&mut self, order: Value) -> Value {
        let [least, most] = [1, MAX_ORDER].map(|n| self.out.int(LONG, n));
        let is_low = self.out.compare(Op::SLessThan, order, least);
        let is_high = self.out.compare(Op::SGreaterThan, order, most);
        self.out.or(Register::Bool, is_low, is_high)
    }

    /// The series, whose first factor is `(n - 1)! / x^n`.
    fn series_of_derivative(&mut self, factor: Value, n: Value, x: Value) -> Result<Value, Unsupported> {
        let (one, two) = (self.real(1.0), self.real(2.0));
        let product = self.two(Instruction::Mul, factor, n)?;
        let double = self.two(Instruction::Mul, two, x)?;
        let half = self.two(Instruction::Div, product, double)?;
        let mut series = self.two(Instruction::Add, factor, half)?;
        let mut factor = factor;
        for (k, bernoulli) in BERNOULLI.iter().enumerate() {
            let even = 2.0 * (k as f64 + 1.0);
            let constant = self.real(even);
            let top = self.two(Instruction::Add, constant, n)?;
            let [a, b] = [self.two(Instruction::Sub, top, two)?, self.two(Instruction::Sub, top, one)?];
            let dividend = self.two(Instruction::Mul, a, b)?;
            let divisor = self.real((even - 1.0) * even);
            let divisor = self.two(Instruction::Mul, divisor, x)?;
            let divisor = self.two(Instruction::Mul, divisor, x)?;
            let ratio = self.two(Instruction::Div, dividend, divisor)?;
            factor = self.two(Instruction::Mul, factor, ratio)?;
            let coefficient = self.real(*bernoulli);
            let term = self.two(Instruction::Mul, coefficient, factor)?;
            series = self.two(Instruction::Add, series, term)?;
        }
        Ok(series)
    }

    /// `n! / x^n`: the product of `j / x`.
    fn scaled_factorial(&mut self, n: Value, x: Value) -> Result<Value, Unsupported> {
        let one = self.out.int(LONG, 1);
        let product = self.out.variable(REAL);
        let unit = self.real(1.0);
        self.out.set(product, unit);
        let end = self.out.add(LONG, n, one);
        self.counted([one, end, one], |body, j| {
            let j = body.out.instruction(Instruction::Cast(Elem::F64), Elem::I64, &[j])?;
            let factor = body.two(Instruction::Div, j, x)?;
            body.scale(product, factor)
        })?;
        Ok(self.out.get(product))
    }

    fn scale(&mut self, variable: Variable, factor: Value) -> Result<(), Unsupported> {
        let before = self.out.get(variable);
        let after = self.two(Instruction::Mul, before, factor)?;
        self.out.set(variable, after);
        Ok(())
    }

    /// Steps of one from a number up to a bound: where they end, and the sum of what each gives.
    fn stepped_up(
        &mut self,
        start: Value,
        bound: Value,
        term: impl FnOnce(&mut Self, Value) -> Result<Value, Unsupported>,
    ) -> Result<[Value; 2], Unsupported> {
        let [at, sum] = [(); 2].map(|()| self.out.variable(REAL));
        let (zero, one) = (self.real(0.0), self.real(1.0));
        self.out.set(at, start);
        self.out.set(sum, zero);
        let turn = self.out.begin_loop();
        let x = self.out.get(at);
        let goes_on = self.out.compare(Op::FOrdLessThan, x, bound);
        self.out.begin_turn(turn, goes_on);
        let term = term(self, x)?;
        let before = self.out.get(sum);
        let after = self.two(Instruction::Add, before, term)?;
        self.out.set(sum, after);
        let next = self.two(Instruction::Add, x, one)?;
        self.out.set(at, next);
        self.out.end_loop(turn);
        let x = self.out.get(at);
        let goes_on = self.out.compare(Op::FOrdLessThan, x, bound);
        self.leave_cut_loop(goes_on);
        Ok([x, self.out.get(sum)])
    }

    // ---- numbers

    fn is_pole(&mut self, x: Value) -> Result<Value, Unsupported> {
        let (zero, floor) = (self.real(0.0), self.out.instruction(Instruction::Floor, Elem::F64, &[x])?);
        let is_low = self.out.compare(Op::FOrdLessThanEqual, x, zero);
        let is_whole = self.out.compare(Op::FOrdEqual, x, floor);
        let is_pole = self.out.and(Register::Bool, is_low, is_whole);
        let is_nan = self.out.compare(Op::FUnordNotEqual, x, x);
        Ok(self.out.or(Register::Bool, is_pole, is_nan))
    }

    /// The formula of a row, of an operand that it does not leave to the host.
    fn formula(&mut self, row: &'static PrimRow, x: Value) -> Result<Value, Unsupported> {
        let Codegen::Expansion(expansion) = &row.codegen else {
            return Err(Unsupported::Host(row.name().to_owned()));
        };
        let code = expansion.code(Elem::F64);
        let mut values: Vec<Value> = Vec::new();
        let operand = |body: &mut Self, values: &[Value], input: Input| match input {
            Input::Arg(_) => x,
            Input::Step(k) => values[k],
            Input::Const(c) => body.out.constant(c),
        };
        for step in &code.steps {
            let args: Vec<Value> = step.args.iter().map(|input| operand(self, &values, *input)).collect();
            values.push(self.out.instruction(step.instruction, step.elem, &args)?);
        }
        Ok(operand(self, &values, code.value))
    }

    fn real(&mut self, value: f64) -> Value {
        self.out.constant(Const::float(Elem::F64, value))
    }

    fn two(&mut self, instruction: Instruction, a: Value, b: Value) -> Result<Value, Unsupported> {
        Ok(self.out.instruction(instruction, Elem::F64, &[a, b])?)
    }

    fn widened(&mut self, elem: Elem, x: Value) -> Result<Value, Unsupported> {
        if elem == Elem::F64 {
            return Ok(x);
        }
        Ok(self.out.instruction(Instruction::Cast(Elem::F64), elem, &[x])?)
    }

    fn narrowed(&mut self, elem: Elem, x: Value) -> Result<Value, Unsupported> {
        if elem == Elem::F64 {
            return Ok(x);
        }
        Ok(self.out.instruction(Instruction::Cast(elem), Elem::F64, &[x])?)
    }
}
