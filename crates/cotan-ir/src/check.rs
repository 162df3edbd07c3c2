//! Run-time errors that a program can have.

use crate::Elem;

/// What a failing check means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckKind {
    /// An index lies outside its axis. Arguments: index, extent.
    IndexRange,
    /// A slice lies outside its axis. Arguments: lower bound, upper bound, extent.
    SliceRange,
    /// An integer result does not fit its type. Arguments: the operands.
    IntegerOverflow,
    /// An integer division or remainder by zero.
    DivisionByZero,
    /// A value does not fit the type it is cast to. Arguments: the value where it is an integer.
    CastRange,
    /// A shift distance is negative or not less than the width. Arguments: the distance.
    ShiftRange,
    /// Two extents that must be equal are not. Arguments: expected, found.
    ShapeMismatch,
    /// A size is negative. Arguments: the size.
    NegativeSize,
    /// A fold without a start value over an empty axis.
    EmptyFold,
    /// An integer raised to a negative power. Arguments: the exponent.
    NegativePower,
    /// The elements that a `tabulate` stacks are of different shapes. Arguments: expected, found.
    RaggedStack,
    /// The tangent of a value of an enum is of another variant than the value. Arguments: expected, found.
    VariantMismatch,
    /// An operation made a NaN of numbers. Arguments: the number of the place in the program where it may do so, and
    /// what is shown of it there, floats as their bits. No program has this check unless it is asked for.
    Nan,
    /// A matrix that has to be inverted has no inverse.
    Singular,
    /// A matrix that has to be positive definite is not.
    NotPositiveDefinite,
    /// An iteration of a numerical routine did not converge.
    NotConverged,
    /// What a program asserts does not hold. Arguments: where the message begins and ends, in bytes of the file.
    Assertion,
}

impl CheckKind {
    /// Every kind.
    pub const ALL: [CheckKind; 17] = [
        CheckKind::IndexRange,
        CheckKind::SliceRange,
        CheckKind::IntegerOverflow,
        CheckKind::DivisionByZero,
        CheckKind::CastRange,
        CheckKind::ShiftRange,
        CheckKind::ShapeMismatch,
        CheckKind::NegativeSize,
        CheckKind::EmptyFold,
        CheckKind::NegativePower,
        CheckKind::RaggedStack,
        CheckKind::VariantMismatch,
        CheckKind::Nan,
        CheckKind::Singular,
        CheckKind::NotPositiveDefinite,
        CheckKind::NotConverged,
        CheckKind::Assertion,
    ];

    /// The error code.
    pub fn code(self) -> &'static str {
        match self {
            CheckKind::IndexRange => "R0001",
            CheckKind::SliceRange => "R0002",
            CheckKind::IntegerOverflow => "R0003",
            CheckKind::DivisionByZero => "R0004",
            CheckKind::CastRange => "R0005",
            CheckKind::ShiftRange => "R0006",
            CheckKind::ShapeMismatch => "R0007",
            CheckKind::NegativeSize => "R0008",
            CheckKind::EmptyFold => "R0009",
            CheckKind::NegativePower => "R0010",
            CheckKind::RaggedStack => "R0011",
            CheckKind::VariantMismatch => "R0040",
            CheckKind::Nan => "R0012",
            CheckKind::Singular => "R0013",
            CheckKind::NotPositiveDefinite => "R0014",
            CheckKind::NotConverged => "R0015",
            CheckKind::Assertion => "R0016",
        }
    }

    /// Whether an argument of this type is reported: integers are, and of a NaN the operands that it was made of.
    pub fn reports(self, elem: Elem) -> bool {
        elem.is_integer() || self == CheckKind::Nan
    }

    /// The kind with that error code.
    pub fn from_code(code: &str) -> Option<CheckKind> {
        CheckKind::ALL.into_iter().find(|k| k.code() == code)
    }

    /// The message for these argument values, those that are integers; missing ones are left out.
    pub fn message(self, args: &[i128]) -> String {
        match (self, args) {
            (CheckKind::IndexRange, [index, extent, ..]) => {
                format!("index out of range: expected 0 <= index < {extent}, found {index}")
            }
            (CheckKind::IndexRange, _) => "index out of range".to_owned(),
            (CheckKind::SliceRange, [lo, hi, extent, ..]) => {
                format!("slice out of range: expected 0 <= lo <= hi <= {extent}, found {lo}..{hi}")
            }
            (CheckKind::SliceRange, _) => "slice out of range".to_owned(),
            (CheckKind::IntegerOverflow, [a, b, ..]) => format!("integer overflow: operands {a} and {b}"),
            (CheckKind::IntegerOverflow, [a]) => format!("integer overflow: operand {a}"),
            (CheckKind::IntegerOverflow, []) => "integer overflow".to_owned(),
            (CheckKind::DivisionByZero, _) => "integer division by zero".to_owned(),
            (CheckKind::CastRange, [value, ..]) => format!("cast out of range: {value} does not fit"),
            (CheckKind::CastRange, []) => "cast out of range: the value does not fit".to_owned(),
            (CheckKind::ShiftRange, [by, ..]) => format!("shift out of range: distance {by}"),
            (CheckKind::ShiftRange, []) => "shift out of range".to_owned(),
            (CheckKind::ShapeMismatch, [expected, found, ..]) => {
                format!("shape mismatch: expected extent {expected}, found {found}")
            }
            (CheckKind::ShapeMismatch, _) => "shape mismatch".to_owned(),
            (CheckKind::NegativeSize, [n, ..]) => format!("negative size: expected at least 0, found {n}"),
            (CheckKind::NegativeSize, []) => "negative size".to_owned(),
            (CheckKind::EmptyFold, _) => "fold of an empty axis without a start value".to_owned(),
            (CheckKind::NegativePower, [n, ..]) => {
                format!("negative power of an integer: expected exponent at least 0, found {n}")
            }
            (CheckKind::NegativePower, []) => "negative power of an integer".to_owned(),
            (CheckKind::RaggedStack, [expected, found, ..]) => {
                format!("elements of different shapes: expected extent {expected}, found {found}")
            }
            (CheckKind::RaggedStack, _) => "elements of different shapes".to_owned(),
            (CheckKind::VariantMismatch, [expected, found, ..]) => {
                format!("tangent of another variant: expected variant number {expected}, found number {found}")
            }
            (CheckKind::VariantMismatch, _) => "tangent of another variant".to_owned(),
            (CheckKind::Nan, _) => "a NaN was made of numbers".to_owned(),
            (CheckKind::Singular, _) => "singular matrix: expected one that has an inverse".to_owned(),
            (CheckKind::NotPositiveDefinite, _) => {
                "matrix is not positive definite: expected one with a Cholesky factor".to_owned()
            }
            (CheckKind::NotConverged, _) => "the iteration of a numerical routine did not converge".to_owned(),
            (CheckKind::Assertion, _) => "an assertion does not hold".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_found_again() {
        for kind in CheckKind::ALL {
            assert_eq!(CheckKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(CheckKind::from_code("R0000"), None);
    }

    #[test]
    fn messages_show_the_arguments_that_are_there() {
        let check = |kind: CheckKind, args: &[i128], expected: &str| assert_eq!(kind.message(args), expected);
        check(CheckKind::IndexRange, &[7, 5], "index out of range: expected 0 <= index < 5, found 7");
        check(CheckKind::IndexRange, &[7], "index out of range");
        check(CheckKind::SliceRange, &[2, 9, 5], "slice out of range: expected 0 <= lo <= hi <= 5, found 2..9");
        check(CheckKind::IntegerOverflow, &[1, 2], "integer overflow: operands 1 and 2");
        check(CheckKind::IntegerOverflow, &[1], "integer overflow: operand 1");
        check(CheckKind::ShapeMismatch, &[3, 4], "shape mismatch: expected extent 3, found 4");
        check(CheckKind::NegativeSize, &[-1], "negative size: expected at least 0, found -1");
        for kind in CheckKind::ALL {
            assert!(!kind.message(&[]).contains("found"), "{}", kind.message(&[]));
        }
    }
}
