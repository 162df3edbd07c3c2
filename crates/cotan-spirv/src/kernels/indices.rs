//! Indices of iterations (strength reduction): digits in the radices of the counts, to which the digits of a step are added with
//! carries, so that divisions stand outside of loops.

use super::body::Body;
use super::layout::Word;
use super::{Ends, LONG, Unsupported};
use crate::emit::{Value, Variable};
use cotan_loops::{Local, Operand};
use rspirv::spirv::Op;

impl Body<'_> {
    /// Runs what is written for each iteration from the first on, with its indices defined, the last of which counts fastest.
    pub(super) fn each_iteration(
        &mut self,
        indices: &[(Local, Operand)],
        ends: Ends,
        inside: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        if indices.len() <= 1 {
            return self.counted(ends, |body, k| {
                indices.iter().for_each(|(index, _)| body.define(*index, k));
                body.set_iteration(k);
                inside(body)
            });
        }
        let [first, _, step] = ends;
        let digits: Vec<Variable> =
            self.digits(first, indices.len()).into_iter().map(|digit| self.variable_of(digit)).collect();
        let steps = self.digits(step, indices.len());
        self.counted(ends, |body, k| {
            for ((index, _), digit) in indices.iter().zip(&digits) {
                let digit = body.out.get(*digit);
                body.define(*index, digit);
            }
            body.set_iteration(k);
            inside(body)?;
            body.advance(&digits, &steps);
            Ok(())
        })
    }

    fn variable_of(&mut self, value: Value) -> Variable {
        let variable = self.out.variable(LONG);
        self.out.set(variable, value);
        variable
    }

    /// The digits of a number, the first of which is not bounded.
    fn digits(&mut self, number: Value, count: usize) -> Vec<Value> {
        let mut digits = Vec::new();
        let mut rest = number;
        for position in (1..count).rev() {
            let count = self.word(Word::Count(position));
            // Counts are positive here, and so is what is divided.
            let quotient = self.out.op(Op::UDiv, LONG, &[rest, count]);
            let whole = self.out.mul(LONG, quotient, count);
            digits.push(self.out.sub(LONG, rest, whole));
            rest = quotient;
        }
        digits.push(rest);
        digits.reverse();
        digits
    }

    /// Adds the digits of a step.
    fn advance(&mut self, digits: &[Variable], steps: &[Value]) {
        let [zero, one] = [0, 1].map(|n| self.out.int(LONG, n));
        let mut carry = None;
        for (position, (digit, step)) in digits.iter().zip(steps).enumerate().rev() {
            let before = self.out.get(*digit);
            let mut sum = self.out.add(LONG, before, *step);
            if let Some(carry) = carry {
                sum = self.out.add(LONG, sum, carry);
            }
            if position > 0 {
                let count = self.word(Word::Count(position));
                let is_over = self.out.compare(Op::SGreaterThanEqual, sum, count);
                let less = self.out.sub(LONG, sum, count);
                sum = self.out.choose(LONG, is_over, less, sum);
                carry = Some(self.out.choose(LONG, is_over, one, zero));
            }
            self.out.set(*digit, sum);
        }
    }
}
