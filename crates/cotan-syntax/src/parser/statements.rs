//! Statements.

use super::{Parser, foreign, recovery};
use crate::ast::{Assign, AssignOp, Expr, ExprKind, Let, LetIn, Stmt, StmtKind, TypeExpr};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reads an expression after `=`, where a second assignment is a slip.
    pub(super) fn value(&mut self) -> Expr {
        let value = self.expr();
        if self.at_new_line() {
            return value;
        }
        let Some((op, len)) = assign_op(self) else {
            return value;
        };
        let diagnostic = Diagnostic::error(
            codes::ASSIGNMENT_AS_VALUE,
            self.token().span,
            format!("expected a value, found the assignment `{}`", op.as_str()),
        )
        .help(match op {
            AssignOp::Set => "an assignment is a statement of its own; write `==` to compare",
            _ => "an assignment is a statement of its own: put it on a line before",
        });
        self.report(diagnostic);
        self.pos += len;
        let right = self.expr();
        let span = value.span.to(right.span);
        self.error_expr(span)
    }

    /// Reads what follows a `let`.
    pub(super) fn let_after_keyword(&mut self) -> Let {
        let pattern = self.pattern();
        reject_colon_equals(self);
        let ty: Option<TypeExpr> = self.eat(TokenKind::Colon).map(|_| self.ty());
        let value = if self.eat(TokenKind::Eq).is_some() { self.ascribed() } else { missing_value(self, pattern.span) };
        Let { pattern, ty, value }
    }
}

/// Reads a statement without its end. None if a declaration stood here, which is reported and
/// left out.
pub(super) fn statement(parser: &mut Parser<'_>) -> Option<Stmt> {
    let start = parser.token().span;
    if parser.starts_item() || attributes_belong_to_item(parser) {
        nested_item(parser);
        return None;
    }
    let kind = match parser.peek() {
        TokenKind::Let => let_statement(parser),
        TokenKind::Else => stray_else(parser),
        _ => match foreign::statements::declaration(parser) {
            Some(kind) => kind,
            None => expression_statement(parser),
        },
    };
    Some(Stmt { id: parser.node(), span: parser.span_from(start), kind })
}

fn let_statement(parser: &mut Parser<'_>) -> StmtKind {
    let start = parser.token().span;
    let binding = let_binding(parser);
    if parser.at(TokenKind::In) && !parser.at_new_line() {
        let expr = let_in_body(parser, start, binding);
        return assignment_or_expression(parser, expr);
    }
    StmtKind::Let(Box::new(binding))
}

/// Reads `let pattern: T = e`.
pub(super) fn let_binding(parser: &mut Parser<'_>) -> Let {
    parser.bump();
    parser.let_after_keyword()
}

/// Reports `let x := e`, and reads the colon.
#[cold]
fn reject_colon_equals(parser: &mut Parser<'_>) {
    if parser.at(TokenKind::Colon) && parser.peek_ahead(1) == TokenKind::Eq {
        let span = parser.token().span.to(parser.token_ahead(1).span);
        let diagnostic = Diagnostic::error(codes::FOREIGN_OPERATOR, span, "expected `=`, found `:=`");
        parser.report_earlier(diagnostic.help("write `=`").fix(span, "="));
        parser.bump();
    }
}

#[cold]
fn missing_value(parser: &mut Parser<'_>, pattern: Span) -> Expr {
    let span = parser.missing_span();
    let found = parser.found();
    let name = parser.text(pattern).lines().next().unwrap_or("x").to_owned();
    let message = format!("expected `=` and a value for `{name}`, found {found}");
    let diagnostic = Diagnostic::error(codes::LET_WITHOUT_VALUE, span, message)
        .help(format!("write `let {name} = ...`: a variable has a value from the start"));
    parser.report(diagnostic); // `let x == e` and `let x += e` are meant as `=`.
    let is_slip = parser.at(TokenKind::EqEq) || assign_op(parser).is_some();
    if is_slip && !parser.at_new_line() {
        parser.bump();
        return parser.value();
    }
    parser.error_expr(span.before())
}

/// Reads the rest of `let x = e in b`; `start` is the place of the `let`.
pub(super) fn let_in_body(parser: &mut Parser<'_>, start: Span, binding: Let) -> Expr {
    parser.bump();
    let body = parser.deeper_expr();
    let parts = LetIn { binding, body };
    parser.expr_node(start, ExprKind::LetIn(Box::new(parts)))
}

fn expression_statement(parser: &mut Parser<'_>) -> StmtKind {
    let start = parser.token().span;
    let expr = parser.expr();
    if is_type_next(parser) {
        return StmtKind::Expr(parser.ascription(start, expr));
    }
    assignment_or_expression(parser, expr)
}

/// Whether a colon and a type go on with an expression.
fn is_type_next(parser: &Parser<'_>) -> bool {
    let is_type = matches!(parser.peek_ahead(1), TokenKind::Ident | TokenKind::LParen);
    parser.at(TokenKind::Colon) && is_type && !parser.at_new_line() && !parser.token_ahead(1).newline_before
}

fn assignment_or_expression(parser: &mut Parser<'_>, expr: Expr) -> StmtKind {
    if parser.at_new_line() {
        return StmtKind::Expr(expr);
    }
    let Some((op, len)) = assign_op(parser) else {
        return foreign::statements::after_expression(parser, expr).unwrap_or_else(StmtKind::Expr);
    };
    let op_span = parser.token().span.to(parser.token_ahead(len - 1).span);
    parser.pos += len;
    let value = parser.ascribed();
    StmtKind::Assign(Box::new(Assign { place: expr, op, op_span, value }))
}

/// The assignment operator that stands here, and how many tokens it has.
fn assign_op(parser: &Parser<'_>) -> Option<(AssignOp, usize)> {
    if let Some(word @ ("max" | "min")) = parser.word_ahead(0) {
        let is_assignment = parser.touches_next(0) && parser.peek_ahead(1) == TokenKind::Eq;
        let op = if word == "max" { AssignOp::Max } else { AssignOp::Min };
        return is_assignment.then_some((op, 2));
    }
    let text = parser.peek().text()?;
    AssignOp::ALL.iter().find(|op| op.as_str() == text).map(|&op| (op, 1))
}

#[cold]
fn stray_else(parser: &mut Parser<'_>) -> StmtKind {
    let diagnostic =
        Diagnostic::error(codes::STRAY_ELSE, parser.token().span, "expected a statement, found `else` without `if`")
            .help("`else` follows the closing brace of an `if`");
    parser.report(diagnostic);
    parser.bump();
    if matches!(parser.peek(), TokenKind::LBrace | TokenKind::If) {
        parser.expr();
    }
    StmtKind::Error
}

/// Whether attributes stand here that belong to a declaration.
fn attributes_belong_to_item(parser: &Parser<'_>) -> bool {
    let mut ahead = 0;
    while parser.peek_ahead(ahead) == TokenKind::At {
        ahead += 2;
        if parser.peek_ahead(ahead) == TokenKind::LParen {
            match recovery::bracket_length(parser, ahead) {
                Ok(len) => ahead += len,
                Err(_) => return false,
            }
        }
    }
    ahead > 0 && parser.starts_item_ahead(ahead)
}

#[cold]
fn nested_item(parser: &mut Parser<'_>) {
    let span = parser.token().span;
    if parser.enter() {
        parser.item();
        parser.leave();
    }
    let diagnostic = Diagnostic::error(
        codes::NESTED_ITEM,
        span,
        format!("expected a statement, found the declaration `{}`", parser.text(span)),
    )
    .help("move the declaration out of the function, or pass a lambda `|x| e`");
    parser.report_earlier(diagnostic);
}

/// The error for a statement that goes on where it should end.
#[cold]
pub(super) fn unended_statement(parser: &mut Parser<'_>) -> Diagnostic {
    let found = parser.found();
    let span = parser.token().span;
    let closes = matches!(parser.peek(), TokenKind::RParen | TokenKind::RBracket);
    if closes {
        return Diagnostic::error(
            codes::UNMATCHED_BRACKET,
            span,
            format!("expected an open bracket before {found}, found none"),
        )
        .help(format!("remove {found}, or add the bracket that it closes"));
    }
    let foreign = match parser.peek() {
        TokenKind::Arrow => Some("`->` stands before the result type of a function"),
        TokenKind::FatArrow => Some("write a lambda as `|x| e`"),
        _ => None,
    };
    if let Some(help) = foreign {
        let message = format!("expected the end of the statement, found {found}");
        return Diagnostic::error(codes::FOREIGN_OPERATOR, span, message).help(help);
    }
    Diagnostic::error(codes::UNENDED_STATEMENT, span, format!("expected the end of the statement, found {found}"))
        .help("put each statement on a line of its own, or end it with `;`")
}
