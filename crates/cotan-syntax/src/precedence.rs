//! How tight operators bind: the table of the language reference, as data.

use crate::ast::BinaryOp;
use crate::token::TokenKind;

/// How operators of one level combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Associativity {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a ** b ** c` is `a ** (b ** c)`.
    Right,
    /// `a < b < c` is an error.
    None,
}

/// What an infix operator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InfixKind {
    /// `|>`
    Pipe,
    /// `..` or `..=`
    Range {
        /// Whether it is `..=`.
        inclusive: bool,
    },
    /// Any other.
    Binary(BinaryOp),
}

/// One infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Infix {
    /// Its token.
    pub token: TokenKind,
    /// Its level; a higher one binds tighter.
    pub level: u8,
    /// How it combines with operators of the same level.
    pub associativity: Associativity,
    /// What it makes.
    pub kind: InfixKind,
}

/// The level of comparisons.
pub const COMPARISON: u8 = 10;

/// The level of prefix `-` and `!`.
pub const PREFIX: u8 = 36;

/// The level of prefix folds such as `+/`.
pub const FOLD: u8 = 38;

/// The level of everything that follows a value: calls, indices, fields, `as`, folds by a
/// function.
pub const POSTFIX: u8 = 40;

/// The level of `..` and `..=`.
pub const RANGE: u8 = 15;

const fn left(token: TokenKind, level: u8, op: BinaryOp) -> Infix {
    binary(token, level, Associativity::Left, op)
}

const fn comparison(token: TokenKind, op: BinaryOp) -> Infix {
    binary(token, COMPARISON, Associativity::None, op)
}

const fn power(token: TokenKind, op: BinaryOp) -> Infix {
    binary(token, 37, Associativity::Right, op)
}

const fn binary(token: TokenKind, level: u8, associativity: Associativity, op: BinaryOp) -> Infix {
    Infix { token, level, associativity, kind: InfixKind::Binary(op) }
}

/// All infix operators, loosest first.
pub const INFIX: &[Infix] = &[
    Infix { token: TokenKind::Pipe, level: 1, associativity: Associativity::Left, kind: InfixKind::Pipe },
    left(TokenKind::OrOr, 5, BinaryOp::Or),
    left(TokenKind::AndAnd, 6, BinaryOp::And),
    comparison(TokenKind::EqEq, BinaryOp::Eq),
    comparison(TokenKind::NotEq, BinaryOp::Ne),
    comparison(TokenKind::Lt, BinaryOp::Lt),
    comparison(TokenKind::Le, BinaryOp::Le),
    comparison(TokenKind::Gt, BinaryOp::Gt),
    comparison(TokenKind::Ge, BinaryOp::Ge),
    comparison(TokenKind::DotEqEq, BinaryOp::DotEq),
    comparison(TokenKind::DotNotEq, BinaryOp::DotNe),
    comparison(TokenKind::DotLt, BinaryOp::DotLt),
    comparison(TokenKind::DotLe, BinaryOp::DotLe),
    comparison(TokenKind::DotGt, BinaryOp::DotGt),
    comparison(TokenKind::DotGe, BinaryOp::DotGe),
    Infix {
        token: TokenKind::DotDot,
        level: RANGE,
        associativity: Associativity::None,
        kind: InfixKind::Range { inclusive: false },
    },
    Infix {
        token: TokenKind::DotDotEq,
        level: RANGE,
        associativity: Associativity::None,
        kind: InfixKind::Range { inclusive: true },
    },
    left(TokenKind::Plus, 20, BinaryOp::Add),
    left(TokenKind::Minus, 20, BinaryOp::Sub),
    left(TokenKind::DotPlus, 20, BinaryOp::DotAdd),
    left(TokenKind::DotMinus, 20, BinaryOp::DotSub),
    left(TokenKind::Star, 30, BinaryOp::Mul),
    left(TokenKind::Slash, 30, BinaryOp::Div),
    left(TokenKind::Percent, 30, BinaryOp::Rem),
    left(TokenKind::DotStar, 30, BinaryOp::DotMul),
    left(TokenKind::DotSlash, 30, BinaryOp::DotDiv),
    left(TokenKind::DotPercent, 30, BinaryOp::DotRem),
    left(TokenKind::At, 35, BinaryOp::MatMul),
    power(TokenKind::StarStar, BinaryOp::Pow),
    power(TokenKind::DotStarStar, BinaryOp::DotPow),
];

/// The infix operator that this token is.
pub fn infix(token: TokenKind) -> Option<Infix> {
    INFIX.iter().copied().find(|infix| infix.token == token)
}

/// Whether a line that begins with this token continues the one before: `|>`, `else`, `&&`, `||`,
/// `as` and the dotted operators.
pub fn continues_line(token: TokenKind) -> bool {
    matches!(token, TokenKind::Pipe | TokenKind::Else | TokenKind::AndAnd | TokenKind::OrOr | TokenKind::As)
        || matches!(infix(token), Some(Infix { kind: InfixKind::Binary(op), .. }) if op.is_dotted())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_goes_from_loose_to_tight_and_names_each_operator_once() {
        assert!(INFIX.is_sorted_by_key(|infix| infix.level));
        for op in BinaryOp::ALL {
            let rows: Vec<_> = INFIX
                .iter()
                .filter(|infix| infix.kind == InfixKind::Binary(*op))
                .map(|infix| infix.token.text())
                .collect();
            assert_eq!(rows, [Some(op.as_str())]);
        }
    }

    #[test]
    fn operators_of_one_level_combine_in_one_way() {
        for pair in INFIX.windows(2) {
            if pair[0].level == pair[1].level {
                assert_eq!(pair[0].associativity, pair[1].associativity);
            }
        }
    }

    #[test]
    fn only_lines_that_cannot_start_a_statement_continue_the_one_before() {
        assert!(continues_line(TokenKind::DotMinus));
        assert!(continues_line(TokenKind::Else));
        assert!(!continues_line(TokenKind::Minus));
        assert!(!continues_line(TokenKind::DotDot));
        assert!(!continues_line(TokenKind::Dot));
    }
}
