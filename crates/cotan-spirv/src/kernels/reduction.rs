//! Reductions of one thread, in the order of [`cotan_ops::reduce`]: sixteen partial results for each level of blocks.

use super::body::Body;
use super::{LONG, Unsupported};
use crate::emit::{Register, ThreadArray, Value, Variable};
use cotan_ir::{Const, Elem};
use cotan_loops::{Local, Node, Operand, Reduce, Sum, Target, combining};
use cotan_ops::Instruction;
use cotan_ops::reduce::{BLOCK, LANES, LEVELS, neutral};
use rspirv::spirv::Op;

/// A sum that is being reduced.
#[derive(Clone, Copy)]
pub(super) struct Reducing {
    target: Target,
    instruction: Instruction,
    elem: Elem,
    neutral: Const,
    /// The partial results of all levels, the lowest first.
    partials: ThreadArray,
    /// How many values came so far.
    number: Variable,
}

impl Body<'_> {
    pub(super) fn reduction(&mut self, reduction: &Reduce) -> Result<(), Unsupported> {
        let n_around = self.reducing.len();
        let number = self.out.variable(LONG);
        let zero = self.out.int(LONG, 0);
        self.out.set(number, zero);
        for sum in &reduction.sums {
            let reducing = self.begin_sum(sum, number)?;
            self.reducing.push(reducing);
        }
        self.index_tuples(&reduction.indices, &reduction.body, n_around)?;
        let reduced = self.reducing.split_off(n_around);
        let n = self.out.get(number);
        let has_values = self.out.compare(Op::SGreaterThan, n, zero);
        let branches = self.out.begin_branches(has_values);
        for sum in reduced {
            self.end_sum(sum)?;
        }
        self.out.otherwise(branches);
        self.out.end_branches(branches);
        Ok(())
    }

    /// Whether a reduction around takes up what a value is combined with.
    pub(super) fn take_up(&mut self, target: Target, value: Value) -> Result<bool, Unsupported> {
        let Some(sum) = self.reducing.iter().rev().find(|sum| sum.target.has_memory_of(target)).copied() else {
            return Ok(false);
        };
        let number = self.out.get(sum.number);
        let lane = self.out.masked(LONG, number, LANES as u64 - 1);
        self.combine_partial(sum, lane, value)?;
        Ok(true)
    }

    fn begin_sum(&mut self, sum: &Sum, number: Variable) -> Result<Reducing, Unsupported> {
        let Target::Local(local) = sum.target else {
            return Err(Unsupported::Node("a reduction of arrays".to_owned()));
        };
        let elem = self.f().elem(local);
        let partials = self.out.thread_array(Register::of(elem), (LANES * LEVELS) as u32);
        let neutral = neutral(sum.monoid, elem);
        let instruction = combining(sum.monoid);
        let reducing = Reducing { target: sum.target, instruction, elem, neutral, partials, number };
        let count = self.out.int(LONG, (LANES * LEVELS) as i64);
        self.clear(reducing, None, count)?;
        Ok(reducing)
    }

    /// Runs the body for each index tuple, row-major, and closes the blocks that end.
    fn index_tuples(&mut self, indices: &[(Local, Operand)], nodes: &[Node], first: usize) -> Result<(), Unsupported> {
        let Some(((index, count), inner)) = indices.split_first() else {
            self.nodes(nodes)?;
            return self.end_value(first);
        };
        let count = self.operand(*count);
        self.up_to(count, |body, k| {
            body.define(*index, k);
            body.index_tuples(inner, nodes, first)
        })
    }

    /// A value of each sum was taken up.
    fn end_value(&mut self, first: usize) -> Result<(), Unsupported> {
        let sums = self.reducing[first..].to_vec();
        let Some(number) = sums.first().map(|sum| sum.number) else { return Ok(()) };
        let n = self.out.get(number);
        let is_last = self.is_last_of_block(n);
        let branches = self.out.begin_branches(is_last);
        for sum in sums {
            self.close(sum)?;
        }
        self.out.otherwise(branches);
        self.out.end_branches(branches);
        let one = self.out.int(LONG, 1);
        let next = self.out.add(LONG, n, one);
        self.out.set(number, next);
        Ok(())
    }

    fn is_last_of_block(&mut self, number: Value) -> Value {
        let in_block = self.out.masked(LONG, number, BLOCK as u64 - 1);
        let last = self.out.int(LONG, BLOCK as i64 - 1);
        self.out.compare(Op::IEqual, in_block, last)
    }

    // ---- blocks

    /// Hands the totals of full blocks up, as far as they are full.
    fn close(&mut self, sum: Reducing) -> Result<(), Unsupported> {
        let number = self.out.get(sum.number);
        self.hand_up(
            sum,
            number,
            |body, number| body.is_last_of_block(number),
            |body, level| {
                let lanes = body.out.int(LONG, LANES as i64);
                body.clear(sum, Some(level), lanes)
            },
        )?;
        Ok(())
    }

    /// Combines all levels, and what the sum held before.
    fn end_sum(&mut self, sum: Reducing) -> Result<(), Unsupported> {
        let (n, one) = (self.out.get(sum.number), self.out.int(LONG, 1));
        let last = self.out.op(Op::ISub, LONG, &[n, one]);
        let level = self.hand_up(
            sum,
            last,
            |body, number| {
                let block = body.out.int(LONG, BLOCK as i64);
                body.out.compare(Op::SGreaterThanEqual, number, block)
            },
            |_, _| Ok(()),
        )?;
        let level = self.out.get(level);
        self.total(sum, level)?;
        let first = self.first_of(level);
        let total = self.out.get_element(sum.partials, first);
        let Target::Local(local) = sum.target else { return Ok(()) };
        let start = self.operand(local.into());
        let total = self.combined(sum.instruction, sum.elem, [start, total])?;
        self.define(local, total);
        Ok(())
    }

    /// Hands totals from level to level, as long as the number of a value asks for it, and gives the level that is reached.
    fn hand_up(
        &mut self,
        sum: Reducing,
        number: Value,
        goes_on: impl FnOnce(&mut Self, Value) -> Value,
        after: impl FnOnce(&mut Self, Value) -> Result<(), Unsupported>,
    ) -> Result<Variable, Unsupported> {
        let [at, level] = [(); 2].map(|()| self.out.variable(LONG));
        let [zero, one] = [0, 1].map(|n| self.out.int(LONG, n));
        self.out.set(at, number);
        self.out.set(level, zero);
        let turn = self.out.begin_loop();
        let number = self.out.get(at);
        let asked = goes_on(self, number);
        let (reached, highest) = (self.out.get(level), self.out.int(LONG, LEVELS as i64 - 1));
        let is_below = self.out.compare(Op::SLessThan, reached, highest);
        let both = self.out.and(Register::Bool, asked, is_below);
        self.out.begin_turn(turn, both);
        let block = self.out.int(LONG, BLOCK as i64);
        let number = self.out.op(Op::UDiv, LONG, &[number, block]);
        self.out.set(at, number);
        self.total(sum, reached)?;
        let first = self.first_of(reached);
        let total = self.out.get_element(sum.partials, first);
        let lane = self.out.masked(LONG, number, LANES as u64 - 1);
        let lanes = self.out.int(LONG, LANES as i64);
        let above = self.out.add(LONG, first, lanes);
        let to = self.out.add(LONG, above, lane);
        self.combine_partial(sum, to, total)?;
        after(self, reached)?;
        let next = self.out.add(LONG, reached, one);
        self.out.set(level, next);
        self.out.end_loop(turn);
        Ok(level)
    }

    /// Combines the partial results of a level in the order of the tree: the first one is then the total.
    fn total(&mut self, sum: Reducing, level: Value) -> Result<(), Unsupported> {
        let first = self.first_of(level);
        let mut half = LANES as i64 / 2;
        while half > 0 {
            let count = self.out.int(LONG, half);
            self.up_to(count, |body, k| {
                let to = body.out.add(LONG, first, k);
                let from = body.out.add(LONG, to, count);
                let value = body.out.get_element(sum.partials, from);
                body.combine_partial(sum, to, value)
            })?;
            half /= 2;
        }
        Ok(())
    }

    fn combine_partial(&mut self, sum: Reducing, at: Value, value: Value) -> Result<(), Unsupported> {
        let before = self.out.get_element(sum.partials, at);
        let total = self.combined(sum.instruction, sum.elem, [before, value])?;
        self.out.set_element(sum.partials, at, total);
        Ok(())
    }

    /// Makes partial results empty, from the first one of a level on.
    fn clear(&mut self, sum: Reducing, level: Option<Value>, count: Value) -> Result<(), Unsupported> {
        let first = match level {
            Some(level) => self.first_of(level),
            None => self.out.int(LONG, 0),
        };
        self.up_to(count, |body, k| {
            let at = body.out.add(LONG, first, k);
            let neutral = body.out.constant(sum.neutral);
            body.out.set_element(sum.partials, at, neutral);
            Ok(())
        })
    }

    fn first_of(&mut self, level: Value) -> Value {
        let lanes = self.out.int(LONG, LANES as i64);
        self.out.mul(LONG, level, lanes)
    }
}
