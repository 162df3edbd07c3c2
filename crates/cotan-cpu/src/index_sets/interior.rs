//! Which iterations of a loop are inside, and what is known there.
//!
//! An integer that is a sum of the index, the number of iterations and a number is known as such. Where two of these are
//! compared, the lesser or greater one is taken, or one is a remainder of the other, the outcome is the same for all
//! iterations but the first and last few.

use crate::invariants::Steps;
use cotan_ir::{Const, Elem};
use cotan_loops::node::{Definitions, Expr, For, Local, Node, Operand, definitions_of, each_definition};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many iterations at an end may differ.
const MOST_AT_AN_END: i64 = 8;

/// How many definitions a sum is made of, at most.
const MOST_TERMS: u32 = 8;

/// The iterations of a loop but the first and last ones.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) first: i64,
    pub(super) last: i64,
    /// What locals are there.
    pub(super) values: FxHashMap<Local, Expr>,
}

/// `index * i + count * n + constant`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Linear {
    index: i64,
    count: i64,
    constant: i64,
}

/// Looks for the insides of the loops of a function.
pub(super) struct Interior {
    definitions: Definitions,
}

/// What is known of a value, if so many first and last iterations are left out.
struct Known {
    first: i64,
    last: i64,
    value: Expr,
}

impl Interior {
    /// Of the loops among these nodes, which are a whole function.
    pub(super) fn of(nodes: &[Node]) -> Interior {
        Interior { definitions: definitions_of(nodes) }
    }

    /// The inside of a loop, if anything is known there.
    pub(super) fn inside(&self, l: &For) -> Option<Inside> {
        let mut inside = Inside { first: 0, last: 0, values: FxHashMap::default() };
        each_definition(&l.body, &mut |local, expr| {
            let known = expr.and_then(|expr| self.known(l, expr));
            if let Some(Known { first, last, value }) = known
                && first.max(last) <= MOST_AT_AN_END
            {
                inside.first = inside.first.max(first);
                inside.last = inside.last.max(last);
                inside.values.insert(local, value);
            }
        });
        (!inside.values.is_empty()).then_some(inside)
    }

    /// By how much an integer grows from one iteration to the next, if that is known; `defined` is what the body defines.
    pub(super) fn step(&self, l: &For, operand: Operand, defined: &FxHashSet<Local>) -> Option<i64> {
        Steps { index: l.index, defined, definitions: &self.definitions }.of(operand)
    }

    fn known(&self, l: &For, expr: &Expr) -> Option<Known> {
        let Expr::Native { instruction, elem: Elem::I64, args } = expr else { return None };
        let [a, b] = args[..] else { return None };
        let sides = [self.linear(l, a, MOST_TERMS)?, self.linear(l, b, MOST_TERMS)?];
        match sides.map(|side| side.index) {
            [1, 0] => known(l.index, *instruction, sides[0], sides[1]),
            [0, 1] => known(l.index, mirrored(*instruction)?, sides[1], sides[0]),
            _ => None,
        }
    }

    fn linear(&self, l: &For, operand: Operand, depth: u32) -> Option<Linear> {
        let constant = |constant| Linear { index: 0, count: 0, constant };
        if operand == l.count {
            return Some(Linear { count: 1, ..constant(0) });
        }
        if let Some(n) = operand.as_i64() {
            // What is near the end is that.
            return Some(match l.count.as_i64() {
                Some(count) if n > count / 2 => Linear { count: 1, ..constant(n.checked_sub(count)?) },
                Some(_) | None => constant(n),
            });
        }
        let Operand::Local(local) = operand else { return None };
        if local == l.index {
            return Some(Linear { index: 1, ..constant(0) });
        }
        let depth = depth.checked_sub(1)?;
        match self.definitions.get(&local)? {
            Expr::Copy(of) => self.linear(l, *of, depth),
            Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args } => {
                self.linear(l, args[0], depth)?.plus(self.linear(l, args[1], depth)?, 1)
            }
            Expr::Native { instruction: Instruction::Sub, elem: Elem::I64, args } => {
                self.linear(l, args[0], depth)?.plus(self.linear(l, args[1], depth)?, -1)
            }
            Expr::Native { .. }
            | Expr::Host { .. }
            | Expr::Iota(_)
            | Expr::Any(_)
            | Expr::First(_)
            | Expr::Fold(..)
            | Expr::Lane(_) => None,
        }
    }
}

impl Linear {
    /// The sum with a multiple of another one, where all numbers are so small that the code overflows nowhere.
    fn plus(self, other: Linear, factor: i64) -> Option<Linear> {
        const MOST: i64 = 1 << 20;
        let sum = |a: i64, b: i64| b.checked_mul(factor).and_then(|b| a.checked_add(b)).filter(|n| n.abs() <= MOST);
        Some(Linear {
            index: sum(self.index, other.index)?,
            count: sum(self.count, other.count)?,
            constant: sum(self.constant, other.constant)?,
        })
    }
}

/// The instruction that gives the same with its operands exchanged.
fn mirrored(instruction: Instruction) -> Option<Instruction> {
    const PAIRS: [(Instruction, Instruction); 8] = [
        (Instruction::Max, Instruction::Max),
        (Instruction::Min, Instruction::Min),
        (Instruction::Eq, Instruction::Eq),
        (Instruction::Ne, Instruction::Ne),
        (Instruction::Lt, Instruction::Gt),
        (Instruction::Gt, Instruction::Lt),
        (Instruction::Le, Instruction::Ge),
        (Instruction::Ge, Instruction::Le),
    ];
    PAIRS.into_iter().find_map(|(one, other)| (one == instruction).then_some(other))
}

/// What is known of an instruction on an integer that grows with the index and one that does not.
fn known(index: Local, instruction: Instruction, moving: Linear, fixed: Linear) -> Option<Known> {
    let same = Expr::Native {
        instruction: Instruction::Add,
        elem: Elem::I64,
        args: vec![index.into(), Operand::i64(moving.constant)],
    };
    let truth = |value: bool| Expr::Copy(Operand::Const(Const::bool(value)));
    if instruction == Instruction::Rem {
        let is_of_count = fixed == Linear { index: 0, count: 1, constant: 0 } && moving.count >= 0;
        let (first, last) = ((-moving.constant).max(0), moving.constant.max(0));
        return is_of_count.then_some(Known { first, last, value: same });
    }
    // The index at which both are equal, from the start or from the end.
    let equal = fixed.constant.checked_sub(moving.constant)?;
    let (is_at_start, above, below) = match (moving.count, fixed.count) {
        // Inside is above it: these iterations are up to it, or before it.
        (0, 0) => (true, equal.checked_add(1)?.max(0), equal.max(0)),
        // Inside is below it: these are behind it, or at it and behind.
        (0, 1) => (false, equal.checked_add(1)?.checked_neg()?.max(0), equal.checked_neg()?.max(0)),
        _ => return None,
    };
    let at_start = |first, value| is_at_start.then_some(Known { first, last: 0, value });
    let at_end = |last, value| (!is_at_start).then_some(Known { first: 0, last, value });
    let outcomes = [
        (Instruction::Max, at_start(below, same.clone())),
        (Instruction::Min, at_end(above, same)),
        (Instruction::Gt, at_start(above, truth(true)).or_else(|| at_end(above, truth(false)))),
        (Instruction::Ge, at_start(below, truth(true)).or_else(|| at_end(below, truth(false)))),
        (Instruction::Lt, at_start(below, truth(false)).or_else(|| at_end(below, truth(true)))),
        (Instruction::Le, at_start(above, truth(false)).or_else(|| at_end(above, truth(true)))),
        (Instruction::Eq, at_start(above, truth(false)).or_else(|| at_end(below, truth(false)))),
        (Instruction::Ne, at_start(above, truth(true)).or_else(|| at_end(below, truth(true)))),
    ];
    outcomes.into_iter().find_map(|(of, known)| known.filter(|_| of == instruction))
}
