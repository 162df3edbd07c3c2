//! Reductions in the one order in which values are combined: `+/`, `*/`, `max/`, norms and dot products, on every backend.
//!
//! Values come in blocks of 4096. In a block, value number `t` goes to the partial result number `t mod 16`, in order;
//! then partial result `k` takes up number `k + 8` for `k < 8`, then `k + 4` for `k < 4`, `k + 2`, and `k + 1`. What the
//! blocks give is reduced by the same rule until one value is left, and the start value is combined last, as
//! `init op total`. Without values the result is the start value. A partial result starts as its first value, so no
//! neutral element takes part; where there are fewer values than partial results, the missing ones are skipped.
//!
//! The order depends on the number of values alone, so the bits do not depend on threads or vector width: 16 partial
//! results fill two vectors of eight f64, and blocks can be reduced apart.
//!
//! ```
//! use cotan_ops::reduce::{Reduction, reduce};
//!
//! let values = [0.1, 0.2, 0.3];
//! assert_eq!(reduce(&values, 0.5, |a, b| a + b), 0.5 + ((0.1 + 0.3) + 0.2));
//!
//! let mut sum = Reduction::new(|a, b| a + b);
//! values.into_iter().for_each(|v| sum.push(v));
//! assert_eq!(sum.finish(0.5), reduce(&values, 0.5, |a, b| a + b));
//! ```

use crate::{ADD, AND, MAX, MIN, MUL, OR, PrimRow, typed_number};
use cotan_ir::{Const, Elem, Monoid};

/// Values per block.
pub const BLOCK: usize = 4096;
/// Partial results per block.
pub const LANES: usize = 16;
/// Levels of blocks that there are partial results for in compiled code: enough for 4096^4 values.
pub const LEVELS: usize = 4;

/// The total of `values` in the fixed order, `init` combined last.
pub fn reduce<T: Copy>(values: &[T], init: T, op: impl Fn(T, T) -> T + Copy) -> T {
    let mut reduction = Reduction::new(op);
    values.iter().for_each(|v| reduction.push(*v));
    reduction.finish(init)
}

/// The same reduction, value by value.
pub struct Reduction<T, F> {
    op: F,
    /// The open block of values, then the open block of block results, and so on upwards.
    levels: Vec<Block<T>>,
}

/// Partial results of a block, and how many values went in.
struct Block<T> {
    lanes: [Option<T>; LANES],
    n_values: usize,
}

impl<T: Copy> Block<T> {
    const EMPTY: Block<T> = Block { lanes: [None; LANES], n_values: 0 };

    fn push(&mut self, value: T, op: impl Fn(T, T) -> T) {
        let lane = &mut self.lanes[self.n_values % LANES];
        *lane = Some(lane.map_or(value, |sum| op(sum, value)));
        self.n_values += 1;
    }

    fn total(&self, op: impl Fn(T, T) -> T) -> Option<T> {
        let mut lanes = self.lanes;
        let mut stride = LANES / 2;
        while stride > 0 {
            for k in 0..stride {
                if let (Some(a), Some(b)) = (lanes[k], lanes[k + stride]) {
                    lanes[k] = Some(op(a, b));
                }
            }
            stride /= 2;
        }
        lanes[0]
    }
}

impl<T: Copy, F: Fn(T, T) -> T + Copy> Reduction<T, F> {
    /// A reduction that has seen no value.
    pub fn new(op: F) -> Reduction<T, F> {
        Reduction { op, levels: Vec::new() }
    }

    /// Takes up the next value.
    pub fn push(&mut self, value: T) {
        self.push_at(0, value);
    }

    fn push_at(&mut self, level: usize, value: T) {
        if level == self.levels.len() {
            self.levels.push(Block::EMPTY);
        }
        // A full block is closed only when a value follows, so that the last block of a level never is empty.
        if self.levels[level].n_values == BLOCK {
            let full = std::mem::replace(&mut self.levels[level], Block::EMPTY);
            if let Some(total) = full.total(self.op) {
                self.push_at(level + 1, total);
            }
        }
        self.levels[level].push(value, self.op);
    }

    /// The total, the start value combined last.
    pub fn finish(mut self, init: T) -> T {
        let mut level = 0;
        while level < self.levels.len() {
            let Some(total) = self.levels[level].total(self.op) else {
                return init;
            };
            if level + 1 == self.levels.len() {
                return (self.op)(init, total);
            }
            self.push_at(level + 1, total);
            level += 1;
        }
        init
    }
}

/// The primitive that combines two values of a monoid.
pub fn monoid_row(monoid: Monoid) -> &'static PrimRow {
    match monoid {
        Monoid::Add => &ADD,
        Monoid::Mul => &MUL,
        Monoid::Max => &MAX,
        Monoid::Min => &MIN,
        Monoid::And => &AND,
        Monoid::Or => &OR,
    }
}

/// The neutral element of a monoid: 0, 1, the least and the greatest value, all bits set, none set.
pub fn identity(monoid: Monoid, elem: Elem) -> Const {
    let extreme = |float: f64, integer: fn((i128, i128)) -> i128| match elem.integer_range() {
        Some(range) => Const::integer(elem, integer(range)),
        None => typed_number(elem, float),
    };
    match monoid {
        Monoid::Add | Monoid::Or => typed_number(elem, 0.0),
        Monoid::Mul => typed_number(elem, 1.0),
        Monoid::Max => extreme(f64::NEG_INFINITY, |(least, _)| least),
        Monoid::Min => extreme(f64::INFINITY, |(_, greatest)| greatest),
        Monoid::And => {
            if elem.is_integer() {
                Const::integer(elem, -1)
            } else {
                Const::bool(true)
            }
        }
    }
}

/// What changes no bit of anything that it is combined with: the neutral element, but -0.0 for a sum of floats.
pub fn neutral(monoid: Monoid, elem: Elem) -> Const {
    if monoid == Monoid::Add && elem.is_float() { Const::float(elem, -0.0) } else { identity(monoid, elem) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule of the module's documentation, word by word, on expressions in text form.
    fn by_the_rule(mut values: Vec<String>, init: &str) -> String {
        let op = |a: &String, b: &String| format!("({a}+{b})");
        loop {
            let mut totals = Vec::new();
            for block in values.chunks(BLOCK) {
                let mut lanes: Vec<String> = Vec::new();
                for (t, v) in block.iter().enumerate() {
                    if t < LANES { lanes.push(v.clone()) } else { lanes[t % LANES] = op(&lanes[t % LANES], v) }
                }
                for stride in [8, 4, 2, 1] {
                    for k in 0..stride {
                        if k + stride < lanes.len() {
                            lanes[k] = op(&lanes[k], &lanes[k + stride]);
                        }
                    }
                    lanes.truncate(stride);
                }
                totals.extend(lanes.into_iter().next());
            }
            match totals.len() {
                0 => return init.to_owned(),
                1 => return op(&init.to_owned(), &totals[0]),
                _ => values = totals,
            }
        }
    }

    #[test]
    fn the_order_is_the_documented_one() {
        for n in [0, 1, 2, 15, 16, 17, 33, 100] {
            let names: Vec<String> = (0..n).map(|k| format!("v{k}")).collect();
            // Values are positions in a list of expressions, which `op` extends.
            let expressions = std::cell::RefCell::new(names.clone());
            expressions.borrow_mut().push("init".to_owned());
            let op = |a: usize, b: usize| {
                let mut all = expressions.borrow_mut();
                let text = format!("({}+{})", all[a], all[b]);
                all.push(text);
                all.len() - 1
            };
            let values: Vec<usize> = (0..n).collect();
            let total = reduce(&values, n, op);
            assert_eq!(expressions.borrow()[total], by_the_rule(names, "init"), "{n} values");
        }
    }

    #[test]
    fn blocks_are_reduced_by_the_same_rule() {
        for n in [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 20 * BLOCK + 7] {
            let values: Vec<f64> = (0..n).map(|k| 1.0 / (k as f64 + 1.0)).collect();
            let totals: Vec<f64> = values.chunks(BLOCK).map(|block| reduce(block, -0.0, |a, b| a + b)).collect();
            let expected = if totals.len() == 1 { 3.0 + totals[0] } else { reduce(&totals, 3.0, |a, b| a + b) };
            assert_eq!(reduce(&values, 3.0, |a, b| a + b).to_bits(), expected.to_bits(), "{n} values");
        }
    }

    #[test]
    fn identities_are_neutral_on_every_type_of_their_row() {
        for monoid in Monoid::ALL {
            let row = monoid_row(monoid);
            assert_eq!(row.name(), monoid.name());
            for elem in Elem::ALL.into_iter().filter(|e| row.sig.domain.has(*e)) {
                for x in [0.0, 1.0, 3.0] {
                    let x = typed_number(elem, x);
                    assert_eq!(row.eval(&[identity(monoid, elem), x]), Ok(x), "{monoid:?} on {elem}");
                }
            }
        }
    }
}
