//! Reductions of one thread, in the order of [`cotan_ops::reduce`]: sixteen partial results for each level of blocks that the
//! number of values may reach.

use super::body::Body;
use super::{LONG, Unsupported};
use crate::emit::{Register, ThreadArray, Value, Variable};
use cotan_ir::{Const, Elem};
use cotan_loops::{Local, Operand, Reduce, Sum, Target, combining};
use cotan_ops::Instruction;
use cotan_ops::reduce::{BLOCK, LANES, LEVELS, neutral};
use rspirv::spirv::Op;

/// A scalar into which values are reduced.
#[derive(Clone, Copy)]
pub(super) struct Scalar {
    pub(super) local: Local,
    pub(super) elem: Elem,
    instruction: Instruction,
    neutral: Const,
}

/// A sum that is being reduced.
#[derive(Clone, Copy)]
pub(super) struct Reducing {
    scalar: Scalar,
    partials: Partials,
}

/// The partial results that a thread has of a sum.
#[derive(Clone, Copy)]
enum Partials {
    /// One of them; others have the rest.
    One(Variable),
    /// The values themselves, as they are no more than partial results would be.
    Values(ThreadArray, Variable),
    /// All of them, of each level, the lowest first, with how many values came so far.
    All(ThreadArray, Variable),
}

/// How many values a reduction has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// So many, no more than partial results.
    Few(usize),
    /// At most a block.
    OneBlock,
    /// Any number.
    Any,
}

impl Extent {
    fn of(indices: &[(Local, Operand)]) -> Extent {
        let count = |(_, count): &(Local, Operand)| count.as_i64().and_then(|n| usize::try_from(n.max(0)).ok());
        let n = indices.iter().try_fold(1_usize, |n, index| n.checked_mul(count(index)?));
        match n {
            Some(n) if n <= LANES => Extent::Few(n),
            Some(n) if n <= BLOCK => Extent::OneBlock,
            Some(_) | None => Extent::Any,
        }
    }
}

impl Body<'_> {
    pub(super) fn reduction(&mut self, reduction: &Reduce) -> Result<(), Unsupported> {
        let extent = Extent::of(&reduction.indices);
        if extent == Extent::Few(0) {
            return Ok(());
        }
        let n_around = self.reducing.len();
        let number = self.out.variable(LONG);
        let zero = self.out.int(LONG, 0);
        self.out.set(number, zero);
        for sum in &reduction.sums {
            let scalar = self.scalar(sum)?;
            let partials = self.begin_sum(scalar, extent, number);
            self.reducing.push(Reducing { scalar, partials });
        }
        self.index_tuples(&reduction.indices, &mut |body| {
            body.begin_value(number, extent, n_around)?;
            body.nodes(&reduction.body)?;
            body.end_value(number);
            Ok(())
        })?;
        let reduced = self.reducing.split_off(n_around);
        let n = self.out.get(number);
        let has_values = self.out.compare(Op::SGreaterThan, n, zero);
        let branches = self.out.begin_branches(has_values);
        for Reducing { scalar, partials } in reduced {
            match partials {
                Partials::One(_) => {}
                Partials::Values(array, _) => self.end_values(scalar, extent, array)?,
                Partials::All(array, _) => self.end_sum(scalar, extent, array, number)?,
            }
        }
        self.out.otherwise(branches);
        self.out.end_branches(branches);
        Ok(())
    }

    /// Whether a reduction around takes up what a value is combined with.
    pub(super) fn take_up(&mut self, target: Target, value: Value) -> Result<bool, Unsupported> {
        let is_it = |sum: &&Reducing| Target::Local(sum.scalar.local).has_memory_of(target);
        let Some(Reducing { scalar, partials }) = self.reducing.iter().rev().find(is_it).copied() else {
            return Ok(false);
        };
        match partials {
            Partials::One(total) => {
                let before = self.out.get(total);
                let after = self.combined(scalar.instruction, scalar.elem, [before, value])?;
                self.out.set(total, after);
            }
            Partials::Values(array, number) => {
                let number = self.out.get(number);
                self.out.set_element(array, number, value);
            }
            Partials::All(array, number) => {
                let number = self.out.get(number);
                let lane = self.out.masked(LONG, number, LANES as u64 - 1);
                self.combine_partial(scalar, array, lane, value)?;
            }
        }
        Ok(true)
    }

    // ---- sums

    /// What a sum reduces into.
    pub(super) fn scalar(&self, sum: &Sum) -> Result<Scalar, Unsupported> {
        let Target::Local(local) = sum.target else {
            return Err(Unsupported::Node("a reduction of arrays".to_owned()));
        };
        let elem = self.f().elem(local);
        Ok(Scalar { local, elem, instruction: combining(sum.monoid), neutral: neutral(sum.monoid, elem) })
    }

    /// Lets a variable take up the values of a sum.
    pub(super) fn begin_partial(&mut self, scalar: Scalar) -> Variable {
        let total = self.out.variable(Register::of(scalar.elem));
        self.reducing.push(Reducing { scalar, partials: Partials::One(total) });
        total
    }

    /// Lets a variable begin anew.
    pub(super) fn empty(&mut self, scalar: Scalar, total: Variable) {
        let neutral = self.out.constant(scalar.neutral);
        self.out.set(total, neutral);
    }

    /// Combines partial results, or as many values, in the order of the tree.
    pub(super) fn tree(&mut self, scalar: Scalar, mut partials: Vec<Value>) -> Result<Option<Value>, Unsupported> {
        let mut half = LANES / 2;
        while half > 0 {
            for k in half..partials.len().min(2 * half) {
                let pair = [partials[k - half], partials[k]];
                partials[k - half] = self.combined(scalar.instruction, scalar.elem, pair)?;
            }
            partials.truncate(half);
            half /= 2;
        }
        Ok(partials.first().copied())
    }

    /// Combines a total with what the sum held before.
    pub(super) fn combine_with_start(&mut self, scalar: Scalar, total: Value) -> Result<(), Unsupported> {
        let start = self.operand(scalar.local.into());
        let total = self.combined(scalar.instruction, scalar.elem, [start, total])?;
        self.define(scalar.local, total);
        Ok(())
    }

    // ---- the sums of one thread

    fn begin_sum(&mut self, scalar: Scalar, extent: Extent, number: Variable) -> Partials {
        let n_levels = match extent {
            Extent::Few(n) => {
                let array = self.out.thread_array(Register::of(scalar.elem), n as u32);
                return Partials::Values(array, number);
            }
            Extent::OneBlock => 1,
            Extent::Any => LEVELS,
        };
        let array = self.out.thread_array(Register::of(scalar.elem), (LANES * n_levels) as u32);
        let first = self.out.int(LONG, 0);
        self.clear(scalar, array, first);
        Partials::All(array, number)
    }

    /// Runs the body for each index tuple, row-major.
    fn index_tuples(
        &mut self,
        indices: &[(Local, Operand)],
        inside: &mut dyn FnMut(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let Some(((index, count), inner)) = indices.split_first() else { return inside(self) };
        let count = self.operand(*count);
        self.up_to(count, |body, k| {
            body.define(*index, k);
            body.index_tuples(inner, inside)
        })
    }

    /// A value of each sum comes next. The block before is closed only now, so that the last one of a level is never empty.
    fn begin_value(&mut self, number: Variable, extent: Extent, first: usize) -> Result<(), Unsupported> {
        if extent != Extent::Any {
            return Ok(());
        }
        let (n, zero, one) = (self.out.get(number), self.out.int(LONG, 0), self.out.int(LONG, 1));
        let in_block = self.out.masked(LONG, n, BLOCK as u64 - 1);
        let begins = self.out.compare(Op::IEqual, in_block, zero);
        let is_behind = self.out.compare(Op::SGreaterThan, n, zero);
        let closes = self.out.and(Register::Bool, begins, is_behind);
        let branches = self.out.begin_branches(closes);
        let last = self.out.sub(LONG, n, one);
        let reducing = self.reducing[first..].to_vec();
        for Reducing { scalar, partials } in reducing {
            if let Partials::All(array, _) = partials {
                self.close(scalar, array, last)?;
            }
        }
        self.out.otherwise(branches);
        self.out.end_branches(branches);
        Ok(())
    }

    /// A value of each sum was taken up.
    fn end_value(&mut self, number: Variable) {
        let (n, one) = (self.out.get(number), self.out.int(LONG, 1));
        let next = self.out.add(LONG, n, one);
        self.out.set(number, next);
    }

    fn end_values(&mut self, scalar: Scalar, extent: Extent, array: ThreadArray) -> Result<(), Unsupported> {
        let Extent::Few(n) = extent else { return Ok(()) };
        let mut values = Vec::new();
        for k in 0..n {
            let k = self.out.int(LONG, k as i64);
            values.push(self.out.get_element(array, k));
        }
        match self.tree(scalar, values)? {
            Some(total) => self.combine_with_start(scalar, total),
            None => Ok(()),
        }
    }

    // ---- blocks

    /// Hands the total of a full block up, and those of the blocks above that are full with it.
    fn close(&mut self, scalar: Scalar, array: ThreadArray, number: Value) -> Result<(), Unsupported> {
        self.hand_up(scalar, array, number, |body, number| {
            let in_block = body.out.masked(LONG, number, BLOCK as u64 - 1);
            let last = body.out.int(LONG, BLOCK as i64 - 1);
            body.out.compare(Op::IEqual, in_block, last)
        })?;
        let first = self.out.int(LONG, 0);
        self.clear(scalar, array, first);
        Ok(())
    }

    /// Combines all levels, and what the sum held before.
    fn end_sum(
        &mut self,
        scalar: Scalar,
        extent: Extent,
        array: ThreadArray,
        number: Variable,
    ) -> Result<(), Unsupported> {
        let first = match extent {
            Extent::Few(_) | Extent::OneBlock => self.out.int(LONG, 0),
            Extent::Any => {
                let (n, one) = (self.out.get(number), self.out.int(LONG, 1));
                let last = self.out.sub(LONG, n, one);
                self.hand_up(scalar, array, last, |body, number| {
                    let block = body.out.int(LONG, BLOCK as i64);
                    body.out.compare(Op::SGreaterThanEqual, number, block)
                })?
            }
        };
        match self.total(scalar, array, first)? {
            Some(total) => self.combine_with_start(scalar, total),
            None => Ok(()),
        }
    }

    /// Hands totals from level to level, as long as the number of a value asks for it, and gives the first partial result of
    /// the level that is reached. The first value of a block finds what an earlier block has left, or nothing at all, so it
    /// clears the partial results.
    fn hand_up(
        &mut self,
        scalar: Scalar,
        array: ThreadArray,
        number: Value,
        goes_on: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Result<Value, Unsupported> {
        let [at, level] = [(); 2].map(|()| self.out.variable(LONG));
        let (zero, lanes) = (self.out.int(LONG, 0), self.out.int(LONG, LANES as i64));
        self.out.set(at, number);
        self.out.set(level, zero);
        let turn = self.out.begin_loop();
        let number = self.out.get(at);
        let asked = goes_on(self, number);
        let (first, highest) = (self.out.get(level), self.out.int(LONG, (LANES * (LEVELS - 1)) as i64));
        let is_below = self.out.compare(Op::SLessThan, first, highest);
        let both = self.out.and(Register::Bool, asked, is_below);
        self.out.begin_turn(turn, both);
        let block = self.out.int(LONG, BLOCK as i64);
        let number = self.out.op(Op::UDiv, LONG, &[number, block]);
        self.out.set(at, number);
        let total = self.total(scalar, array, first)?;
        let above = self.out.add(LONG, first, lanes);
        let in_block = self.out.masked(LONG, number, BLOCK as u64 - 1);
        let is_first = self.out.compare(Op::IEqual, in_block, zero);
        let branches = self.out.begin_branches(is_first);
        self.clear(scalar, array, above);
        self.out.otherwise(branches);
        self.out.end_branches(branches);
        let lane = self.out.masked(LONG, number, LANES as u64 - 1);
        let to = self.out.add(LONG, above, lane);
        if let Some(total) = total {
            self.combine_partial(scalar, array, to, total)?;
        }
        self.out.set(level, above);
        self.out.end_loop(turn);
        Ok(self.out.get(level))
    }

    /// The total of the partial results of a level.
    fn total(&mut self, scalar: Scalar, array: ThreadArray, first: Value) -> Result<Option<Value>, Unsupported> {
        let mut partials = Vec::new();
        for lane in 0..LANES {
            let lane = self.out.int(LONG, lane as i64);
            let at = self.out.add(LONG, first, lane);
            partials.push(self.out.get_element(array, at));
        }
        self.tree(scalar, partials)
    }

    fn combine_partial(
        &mut self,
        scalar: Scalar,
        array: ThreadArray,
        at: Value,
        value: Value,
    ) -> Result<(), Unsupported> {
        let before = self.out.get_element(array, at);
        let total = self.combined(scalar.instruction, scalar.elem, [before, value])?;
        self.out.set_element(array, at, total);
        Ok(())
    }

    /// Makes the partial results of a level empty.
    fn clear(&mut self, scalar: Scalar, array: ThreadArray, first: Value) {
        let neutral = self.out.constant(scalar.neutral);
        for lane in 0..LANES {
            let lane = self.out.int(LONG, lane as i64);
            let at = self.out.add(LONG, first, lane);
            self.out.set_element(array, at, neutral);
        }
    }
}
