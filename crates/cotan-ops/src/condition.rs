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

impl Condition {
    /// On which side of the points where it does not hold these operands are: operands with other numbers are on another
    /// side, or between sides, and a path from one to the other leads through such a point.
    pub fn side(&self, at: &[f64]) -> i64 {
        let against = |a: f64, b: f64| a.partial_cmp(&b).map_or(NO_SIDE, |order| order as i64);
        // Odd between two whole numbers, even at one of them.
        let among_whole = |x: f64| 2 * libm::floor(x) as i64 + i64::from(x != libm::floor(x));
        match *self {
            Condition::Above(a, bound) | Condition::Below(a, bound) | Condition::IsNot(a, bound) => {
                against(at[a], bound)
            }
            Condition::NotWhole(a) => among_whole(at[a]),
            Condition::NotHalf(a) => among_whole(at[a] - 0.5),
            Condition::NotWholeRatio(a, b) => among_whole(at[a] / at[b]),
            Condition::NotPole(a) => among_whole(at[a] / std::f64::consts::PI - 0.5),
            Condition::NotGammaPole(a) => among_whole(at[a].min(0.5)),
            Condition::Differ(a, b) => against(at[a], at[b]),
            Condition::NotBothZero(a, b) if at[b] == 0.0 => against(at[a], 0.0),
            Condition::NotBothZero(a, b) if at[a] == 0.0 => 4 + against(at[b], 0.0),
            Condition::NotBothZero(..) => 8,
            Condition::OffCut(x, y) if at[x] <= 0.0 => against(at[y], 0.0),
            Condition::OffCut(..) => 4,
        }
    }
}

/// The side of what is NaN.
const NO_SIDE: i64 = 2;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_changes_where_the_condition_does_not_hold() {
        let paths = [
            (Condition::Above(0, 1.0), [[0.5, 0.0], [1.0, 0.0], [1.5, 0.0]]),
            (Condition::IsNot(0, 0.0), [[-0.5, 0.0], [0.0, 0.0], [0.5, 0.0]]),
            (Condition::NotWhole(0), [[1.75, 0.0], [2.0, 0.0], [2.25, 0.0]]),
            (Condition::NotHalf(0), [[2.25, 0.0], [2.5, 0.0], [2.75, 0.0]]),
            (Condition::NotWholeRatio(0, 1), [[3.5, 2.0], [4.0, 2.0], [4.5, 2.0]]),
            (Condition::NotGammaPole(0), [[-1.5, 0.0], [-1.0, 0.0], [-0.5, 0.0]]),
            (Condition::Differ(0, 1), [[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]]),
            (Condition::NotBothZero(0, 1), [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]),
            (Condition::OffCut(0, 1), [[-1.0, -1.0], [-1.0, 0.0], [-1.0, 1.0]]),
        ];
        for (condition, path) in paths {
            let sides = path.map(|at| condition.side(&at));
            // A bound has no points below it where the condition holds.
            assert!(!condition.holds(&path[1]) && condition.holds(&path[2]), "{condition}");
            assert!(sides[0] != sides[1] && sides[1] != sides[2] && sides[0] != sides[2], "{condition}: {sides:?}");
        }
    }

    #[test]
    fn a_path_on_which_the_condition_holds_stays_on_its_side() {
        assert_eq!(Condition::NotBothZero(0, 1).side(&[-1.0, 2.0]), Condition::NotBothZero(0, 1).side(&[1.0, 2.0]));
        assert_eq!(Condition::OffCut(0, 1).side(&[1.0, -1.0]), Condition::OffCut(0, 1).side(&[1.0, 1.0]));
        assert_eq!(Condition::NotGammaPole(0).side(&[0.25]), Condition::NotGammaPole(0).side(&[7.0]));
    }
}
