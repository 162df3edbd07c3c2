//! Operators that people bring along from other languages, and what to say about them.

use super::Parser;
use crate::ast::Expr;
use crate::codes;
use crate::diagnostic::{Code, Diagnostic};
use crate::precedence::{self, Infix};
use crate::span::Span;
use crate::token::TokenKind;

/// A wrong way to write an infix operator. The parser goes on as if it was written right.
#[derive(Clone, Copy)]
pub(super) struct Slip {
    code: Code,
    /// What stands there, for the message.
    expected: &'static str,
    /// How many tokens it has; none if the operator itself is missing.
    n_tokens: usize,
    /// The operator that was meant.
    meant: TokenKind,
    help: &'static str,
    /// Whether to write the operator that was meant mends it for certain.
    is_certain: bool,
}

impl Slip {
    /// The operator that was meant.
    pub(super) fn meant(&self) -> Option<Infix> {
        precedence::infix(self.meant)
    }
}

impl Parser<'_> {
    /// Reports that an expression should stand here, says what to write instead of what does, and
    /// moves past it if nothing else can be made of it.
    #[cold]
    pub(super) fn missing_expr(&mut self) -> Expr {
        let token = self.token();
        // At the start of a block nothing precedes what is wrong.
        let span = if previous_kind(self) == TokenKind::LBrace { token.span } else { self.missing_span() };
        let found = self.found();
        let begins_line = token.newline_before && self.pos > 0;
        let is_infix = precedence::infix(token.kind).is_some();
        if is_infix && begins_line && self.newlines_matter() && !line_before_is_open(self) {
            let diagnostic = Diagnostic::error(
                codes::OPERATOR_AT_LINE_START,
                token.span,
                format!("expected a statement, found the infix operator {found}"),
            )
            .help(format!("end the line before with {found}"));
            self.report(diagnostic);
            self.bump();
            return self.deeper_expr();
        }
        let help = help_for_missing_expr(self);
        let is_keyword = TokenKind::KEYWORDS.contains(&token.kind);
        let message = if is_keyword {
            format!("expected an expression, found the keyword {found}")
        } else {
            format!("expected an expression, found {found}")
        };
        let is_superfluous =
            matches!(token.kind, TokenKind::Plus | TokenKind::PlusPlus | TokenKind::Amp | TokenKind::Unknown)
                && self.starts_expression_ahead(1)
                && !is_line_end(self, 1);
        let diagnostic = Diagnostic::error(codes::EXPECTED_EXPRESSION, span, message).help(help);
        // Neither changes a value.
        let is_mark = matches!(token.kind, TokenKind::Plus | TokenKind::Amp) && is_superfluous;
        self.report(if is_mark { diagnostic.fix(token.span, "") } else { diagnostic });
        if is_superfluous {
            self.bump();
            return self.deeper_expr();
        }
        self.error_expr(span.before())
    }
}

/// The slip in how a real operator is written here.
pub(super) fn slip_at_operator(parser: &Parser<'_>) -> Option<Slip> {
    let next = parser.token_ahead(1);
    match parser.peek() {
        TokenKind::At => {
            let before = parser.previous_span().end < parser.token().span.start;
            let after = parser.token().span.end < next.span.start;
            (before != after || !before).then_some(Slip {
                code: codes::UNSPACED_PRODUCT,
                expected: "spaces round the matrix product",
                n_tokens: 1,
                meant: TokenKind::At,
                help: "write `a @ b`; `@name` is an attribute",
                is_certain: false,
            })
        }
        TokenKind::EqEq if next.kind == TokenKind::Eq && parser.touches_next(0) => {
            Some(certain(operator(2, TokenKind::EqEq, "write `==`")))
        }
        TokenKind::NotEq if next.kind == TokenKind::Eq && parser.touches_next(0) => {
            Some(certain(operator(2, TokenKind::NotEq, "write `!=`")))
        }
        TokenKind::Lt if next.kind == TokenKind::Lt && parser.touches_next(0) => Some(shift("write `shl(a, n)`")),
        TokenKind::Gt if next.kind == TokenKind::Gt && parser.touches_next(0) => Some(shift("write `shr(a, n)`")),
        TokenKind::Lt if next.kind == TokenKind::Gt && parser.touches_next(0) => {
            Some(certain(operator(2, TokenKind::NotEq, "write `!=` for unequal")))
        }
        _ => None,
    }
}

/// The slip that stands where an infix operator may stand.
pub(super) fn slip(parser: &Parser<'_>) -> Option<Slip> {
    let next = parser.peek_ahead(1);
    let slip = match parser.peek() {
        TokenKind::Amp => {
            operator(1, TokenKind::AndAnd, "write `&&` for the logical and, `bit_and(a, b)` for the bits of integers")
        }
        TokenKind::Bar => {
            operator(1, TokenKind::OrOr, "write `||` for the logical or, `bit_or(a, b)` for the bits of integers")
        }
        TokenKind::Caret => certain(operator(1, TokenKind::StarStar, "write `**` for powers")),
        TokenKind::PlusPlus if parser.starts_expression_ahead(1) && !is_line_end(parser, 1) => {
            operator(1, TokenKind::Plus, "write `concat(a, b)` to join tensors")
        }
        TokenKind::Bang if next == TokenKind::Eq || next == TokenKind::EqEq => {
            certain(operator(2, TokenKind::NotEq, "write `!=` without a space"))
        }
        TokenKind::Ident => return word_slip(parser),
        TokenKind::FoldMul => Slip {
            code: codes::STRAY_COMMENT_END,
            expected: "an infix operator before the product fold",
            n_tokens: 0,
            meant: TokenKind::Star,
            help: "`*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`",
            is_certain: false,
        },
        TokenKind::FoldAdd => fold(TokenKind::Plus),
        TokenKind::FoldSub => fold(TokenKind::Minus),
        TokenKind::FoldDiv => Slip {
            help: "write `/`, which truncates integers; `// v` folds the tensor `v`",
            n_tokens: 1,
            ..fold(TokenKind::Slash)
        },
        _ => return None,
    };
    Some(slip)
}

/// `a and b`, `a or b`, `a mod b`.
fn word_slip(parser: &Parser<'_>) -> Option<Slip> {
    let is_operand_next = parser.starts_expression_ahead(1) && !is_line_end(parser, 1) && parser.fold_op().is_none();
    if !is_operand_next {
        return None;
    }
    let (meant, help) = match parser.word_ahead(0)? {
        "and" => (TokenKind::AndAnd, "write `&&`"),
        "or" => (TokenKind::OrOr, "write `||`"),
        "mod" | "rem" => (TokenKind::Percent, "write `%`"),
        "div" => (TokenKind::Slash, "write `/`, which truncates integers"),
        _ => return None,
    };
    // `div` of other languages rounds down, or not.
    let is_certain = meant != TokenKind::Slash;
    Some(Slip { code: codes::WORD_OPERATOR, is_certain, ..operator(1, meant, help) })
}

fn is_line_end(parser: &Parser<'_>, ahead: usize) -> bool {
    parser.newlines_matter() && parser.token_ahead(ahead).newline_before
}

/// Reports a slip and moves past it.
#[cold]
pub(super) fn take_slip(parser: &mut Parser<'_>, slip: Slip) -> Span {
    let last = slip.n_tokens.saturating_sub(1);
    let span = parser.token().span.to(parser.token_ahead(last).span);
    let message = format!("expected {}, found `{}`", slip.expected, parser.text(span));
    let mut diagnostic = Diagnostic::error(slip.code, span, message).help(slip.help);
    if slip.is_certain {
        diagnostic = diagnostic.fix(span, slip.meant.text().unwrap_or(""));
    }
    parser.report(diagnostic);
    parser.pos = (parser.pos + slip.n_tokens).min(parser.end);
    span
}

pub(super) fn follows_infix_operator(parser: &Parser<'_>) -> bool {
    precedence::infix(previous_kind(parser)).is_some()
}

fn previous_kind(parser: &Parser<'_>) -> TokenKind {
    parser.pos.checked_sub(1).map_or(TokenKind::Eof, |at| parser.tokens[at].kind)
}

/// Whether the last token asks for more, so that the next line is its operand.
fn line_before_is_open(parser: &Parser<'_>) -> bool {
    follows_infix_operator(parser)
        || matches!(
            previous_kind(parser),
            TokenKind::Eq
                | TokenKind::FatArrow
                | TokenKind::Comma
                | TokenKind::LParen
                | TokenKind::LBracket
                | TokenKind::LBrace
        )
}

fn help_for_missing_expr(parser: &Parser<'_>) -> String {
    let help = match parser.peek() {
        TokenKind::Plus => "there is no prefix `+`: leave it out",
        TokenKind::PlusPlus => "write `x += 1` to add one",
        TokenKind::Amp => "there are no references: write the value itself",
        TokenKind::Star => "there are no pointers: write the value itself",
        TokenKind::Fn => "write a lambda as `|x| e`",
        TokenKind::Arrow | TokenKind::FatArrow => "write a lambda as `|x| e`",
        TokenKind::Eq => "write `==` to compare",
        TokenKind::Mut => "`mut` stands in a declaration: `let mut x = e`",
        TokenKind::Else => "`else` follows the closing brace of an `if`",
        TokenKind::In => "`in` stands on the line on which the value of `let` ends",
        _ if follows_infix_operator(parser) => {
            let operator = parser.text(parser.tokens[parser.pos - 1].span);
            return format!("write the right operand of `{operator}`, or remove the operator");
        }
        _ => "write a value here: a name, a number, a call, or something in parentheses",
    };
    help.to_owned()
}

const fn operator(n_tokens: usize, meant: TokenKind, help: &'static str) -> Slip {
    Slip { code: codes::FOREIGN_OPERATOR, expected: "an operator", n_tokens, meant, help, is_certain: false }
}

/// `a << n`, read as an operator on two integers that gives one.
const fn shift(help: &'static str) -> Slip {
    operator(2, TokenKind::Star, help)
}

const fn certain(slip: Slip) -> Slip {
    Slip { is_certain: true, ..slip }
}

const fn fold(meant: TokenKind) -> Slip {
    Slip {
        code: codes::FOLD_AS_INFIX,
        expected: "an infix operator before a fold",
        n_tokens: 0,
        meant,
        help: "a fold has one operand, on its right: write `a + (+/ v)`",
        is_certain: false,
    }
}
