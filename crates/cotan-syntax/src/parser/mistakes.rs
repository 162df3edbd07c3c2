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
}

impl Slip {
    /// The operator that was meant.
    pub(super) fn meant(&self) -> Option<Infix> {
        precedence::infix(self.meant)
    }
}

impl Parser<'_> {
    /// The slip in how a real operator is written here.
    pub(super) fn slip_at_operator(&self) -> Option<Slip> {
        let next = self.token_ahead(1);
        match self.peek() {
            TokenKind::At => {
                let before = self.previous_span().end < self.token().span.start;
                let after = self.token().span.end < next.span.start;
                (before != after || !before).then_some(Slip {
                    code: codes::UNSPACED_PRODUCT,
                    expected: "spaces round the matrix product",
                    n_tokens: 1,
                    meant: TokenKind::At,
                    help: "write `a @ b`; `@name` is an attribute",
                })
            }
            TokenKind::EqEq if next.kind == TokenKind::Eq && self.touches_next(0) => {
                Some(operator(2, TokenKind::EqEq, "write `==`"))
            }
            TokenKind::NotEq if next.kind == TokenKind::Eq && self.touches_next(0) => {
                Some(operator(2, TokenKind::NotEq, "write `!=`"))
            }
            _ => None,
        }
    }

    /// The slip that stands where an infix operator may stand.
    pub(super) fn slip(&self) -> Option<Slip> {
        let next = self.peek_ahead(1);
        let slip = match self.peek() {
            TokenKind::Amp => operator(
                1,
                TokenKind::AndAnd,
                "write `&&` for the logical and; bits are combined by the functions of `std`",
            ),
            TokenKind::Bar => operator(
                1,
                TokenKind::OrOr,
                "write `||` for the logical or; bits are combined by the functions of `std`",
            ),
            TokenKind::Caret => operator(1, TokenKind::StarStar, "write `**` for powers"),
            TokenKind::PlusPlus if self.starts_expression_ahead(1) && !self.is_line_end(1) => {
                operator(1, TokenKind::Plus, "write `concat(a, b)` to join tensors")
            }
            TokenKind::Bang if next == TokenKind::Eq || next == TokenKind::EqEq => {
                operator(2, TokenKind::NotEq, "write `!=` without a space")
            }
            TokenKind::Ident => return self.word_slip(),
            TokenKind::FoldMul => Slip {
                code: codes::STRAY_COMMENT_END,
                expected: "an infix operator before the product fold",
                n_tokens: 0,
                meant: TokenKind::Star,
                help: "`*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`",
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
    fn word_slip(&self) -> Option<Slip> {
        let is_operand_next = self.starts_expression_ahead(1) && !self.is_line_end(1) && self.fold_op().is_none();
        if !is_operand_next {
            return None;
        }
        let (meant, help) = match self.word_ahead(0)? {
            "and" => (TokenKind::AndAnd, "write `&&`"),
            "or" => (TokenKind::OrOr, "write `||`"),
            "mod" | "rem" => (TokenKind::Percent, "write `%`"),
            "div" => (TokenKind::Slash, "write `/`, which truncates integers"),
            _ => return None,
        };
        Some(Slip { code: codes::WORD_OPERATOR, ..operator(1, meant, help) })
    }

    fn is_line_end(&self, ahead: usize) -> bool {
        self.newlines_matter() && self.token_ahead(ahead).newline_before
    }

    /// Reports a slip and moves past it.
    #[cold]
    pub(super) fn take_slip(&mut self, slip: Slip) -> Span {
        let last = slip.n_tokens.saturating_sub(1);
        let span = self.token().span.to(self.token_ahead(last).span);
        let message = format!("expected {}, found `{}`", slip.expected, self.text(span));
        self.report(Diagnostic::error(slip.code, span, message).help(slip.help));
        self.pos = (self.pos + slip.n_tokens).min(self.end);
        span
    }

    /// Reports that an expression should stand here, says what to write instead of what does, and
    /// moves past it if nothing else can be made of it.
    #[cold]
    pub(super) fn missing_expr(&mut self) -> Expr {
        let token = self.token();
        // At the start of a block nothing precedes what is wrong.
        let span = if self.previous_kind() == TokenKind::LBrace { token.span } else { self.missing_span() };
        let found = self.found();
        let begins_line = token.newline_before && self.pos > 0;
        let is_infix = precedence::infix(token.kind).is_some();
        if is_infix && begins_line && self.newlines_matter() && !self.line_before_is_open() {
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
        let help = self.help_for_missing_expr();
        let is_keyword = TokenKind::KEYWORDS.contains(&token.kind);
        let message = if is_keyword {
            format!("expected an expression, found the keyword {found}")
        } else {
            format!("expected an expression, found {found}")
        };
        self.report(Diagnostic::error(codes::EXPECTED_EXPRESSION, span, message).help(help));
        if matches!(token.kind, TokenKind::Plus | TokenKind::PlusPlus | TokenKind::Unknown)
            && self.starts_expression_ahead(1)
            && !self.is_line_end(1)
        {
            self.bump();
            return self.deeper_expr();
        }
        self.error_expr(span.before())
    }

    pub(super) fn follows_infix_operator(&self) -> bool {
        precedence::infix(self.previous_kind()).is_some()
    }

    fn previous_kind(&self) -> TokenKind {
        self.pos.checked_sub(1).map_or(TokenKind::Eof, |at| self.tokens[at].kind)
    }

    /// Whether the last token asks for more, so that the next line is its operand.
    fn line_before_is_open(&self) -> bool {
        self.follows_infix_operator()
            || matches!(
                self.previous_kind(),
                TokenKind::Eq
                    | TokenKind::FatArrow
                    | TokenKind::Comma
                    | TokenKind::LParen
                    | TokenKind::LBracket
                    | TokenKind::LBrace
            )
    }

    fn help_for_missing_expr(&self) -> String {
        let help = match self.peek() {
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
            TokenKind::Gt | TokenKind::Lt => "write `!=` for unequal",
            _ if self.follows_infix_operator() => {
                let operator = self.text(self.tokens[self.pos - 1].span);
                return format!("write the right operand of `{operator}`, or remove the operator");
            }
            _ => "write a value here: a name, a number, a call, or something in parentheses",
        };
        help.to_owned()
    }
}

const fn operator(n_tokens: usize, meant: TokenKind, help: &'static str) -> Slip {
    Slip { code: codes::FOREIGN_OPERATOR, expected: "an operator", n_tokens, meant, help }
}

const fn fold(meant: TokenKind) -> Slip {
    Slip {
        code: codes::FOLD_AS_INFIX,
        expected: "an infix operator before a fold",
        n_tokens: 0,
        meant,
        help: "a fold has one operand, on its right: write `a + (+/ v)`",
    }
}
