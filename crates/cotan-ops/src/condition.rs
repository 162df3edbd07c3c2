//! Conditions on operands: the domain on which the partials of a primitive are its derivatives.

use std::fmt;

/// A condition on the operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// The operand is greater than the number.
    Above(usize, f64),
    /// The operand is less than the number.
    Below(usize, f64),
    /// The operand is not the number.
    IsNot(usize, f64),
    /// The operand is no whole number.
    NotWhole(usize),
    /// The operand is no odd multiple of 1/2.
    NotHalf(usize),
    /// The quotient of the two operands is no whole number.
    NotWholeRatio(usize, usize),
    /// The operand is no odd multiple of pi/2.
    NotPole(usize),
    /// The operand is no whole number that is 0 or less.
    NotGammaPole(usize),
    /// The two operands differ.
    Differ(usize, usize),
    /// The two operands are not both zero.
    NotBothZero(usize, usize),
    /// The point with the first operand as abscissa and the second as ordinate is not on the left half of the axis.
    OffCut(usize, usize),
}

impl Condition {
    /// Whether it holds for these operands.
    pub fn holds(&self, at: &[f64]) -> bool {
        let is_whole = |x: f64| x == libm::floor(x);
        match *self {
            Condition::Above(a, bound) => at[a] > bound,
            Condition::Below(a, bound) => at[a] < bound,
            Condition::IsNot(a, x) => at[a] != x,
            Condition::NotWhole(a) => !is_whole(at[a]),
            Condition::NotHalf(a) => !is_whole(at[a] - 0.5),
            Condition::NotWholeRatio(a, b) => !is_whole(at[a] / at[b]),
            // No float is an odd multiple of pi/2.
            Condition::NotPole(a) => at[a].is_finite(),
            Condition::NotGammaPole(a) => at[a] > 0.0 || !is_whole(at[a]),
            Condition::Differ(a, b) => at[a] != at[b],
            Condition::NotBothZero(a, b) => at[a] != 0.0 || at[b] != 0.0,
            Condition::OffCut(x, y) => at[x] > 0.0 || at[y] != 0.0,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Above(a, bound) => write!(f, "a{a} > {bound}"),
            Condition::Below(a, bound) => write!(f, "a{a} < {bound}"),
            Condition::IsNot(a, x) => write!(f, "a{a} != {x}"),
            Condition::NotWhole(a) => write!(f, "a{a} is no whole number"),
            Condition::NotHalf(a) => write!(f, "a{a} is no odd multiple of 1/2"),
            Condition::NotWholeRatio(a, b) => write!(f, "a{a} / a{b} is no whole number"),
            Condition::NotPole(a) => write!(f, "a{a} is no odd multiple of pi/2"),
            Condition::NotGammaPole(a) => write!(f, "a{a} is not 0, -1, -2, .."),
            Condition::Differ(a, b) => write!(f, "a{a} != a{b}"),
            Condition::NotBothZero(a, b) => write!(f, "(a{a} != 0 or a{b} != 0)"),
            Condition::OffCut(x, y) => write!(f, "(a{x} > 0 or a{y} != 0)"),
        }
    }
}
