//! Statements.

use super::Parser;
use crate::ast::{Assign, AssignOp, Expr, ExprKind, Let, LetIn, Stmt, StmtKind, TypeExpr};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reads a statement without its end. None if a declaration stood here, which is reported and
    /// left out.
    pub(super) fn statement(&mut self) -> Option<Stmt> {
        let start = self.token().span;
        if self.starts_item() || self.attributes_belong_to_item() {
            self.nested_item();
            return None;
        }
        let kind = match self.peek() {
            TokenKind::Let => self.let_statement(),
            TokenKind::Else => self.stray_else(),
            _ => self.expression_statement(),
        };
        Some(Stmt { id: self.node(), span: self.span_from(start), kind })
    }

    fn let_statement(&mut self) -> StmtKind {
        let start = self.token().span;
        let binding = self.let_binding();
        if self.at(TokenKind::In) && !self.at_new_line() {
            let expr = self.let_in_body(start, binding);
            return self.assignment_or_expression(expr);
        }
        StmtKind::Let(Box::new(binding))
    }

    /// Reads `let pattern: T = e`.
    pub(super) fn let_binding(&mut self) -> Let {
        self.bump();
        let pattern = self.pattern();
        self.reject_colon_equals();
        let ty: Option<TypeExpr> = self.eat(TokenKind::Colon).map(|_| self.ty());
        let value = if self.eat(TokenKind::Eq).is_some() { self.ascribed() } else { self.missing_value(pattern.span) };
        Let { pattern, ty, value }
    }

    /// Reports `let x := e`, and reads the colon.
    #[cold]
    fn reject_colon_equals(&mut self) {
        if self.at(TokenKind::Colon) && self.peek_ahead(1) == TokenKind::Eq {
            let span = self.token().span.to(self.token_ahead(1).span);
            let diagnostic = Diagnostic::error(codes::FOREIGN_OPERATOR, span, "expected `=`, found `:=`");
            self.report_earlier(diagnostic.help("write `=`"));
            self.bump();
        }
    }

    #[cold]
    fn missing_value(&mut self, pattern: Span) -> Expr {
        let span = self.missing_span();
        let found = self.found();
        let name = self.text(pattern).lines().next().unwrap_or("x").to_owned();
        let message = format!("expected `=` and a value for `{name}`, found {found}");
        let diagnostic = Diagnostic::error(codes::LET_WITHOUT_VALUE, span, message)
            .help(format!("write `let {name} = ...`: a variable has a value from the start"));
        self.report(diagnostic); // `let x == e` and `let x += e` are meant as `=`.
        let is_slip = self.at(TokenKind::EqEq) || self.assign_op().is_some();
        if is_slip && !self.at_new_line() {
            self.bump();
            return self.value();
        }
        self.error_expr(span.before())
    }

    /// Reads an expression after `=`, where a second assignment is a slip.
    pub(super) fn value(&mut self) -> Expr {
        let value = self.expr();
        if self.at_new_line() {
            return value;
        }
        let Some((op, len)) = self.assign_op() else {
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

    /// Reads the rest of `let x = e in b`; `start` is the place of the `let`.
    pub(super) fn let_in_body(&mut self, start: Span, binding: Let) -> Expr {
        self.bump();
        let body = self.deeper_expr();
        let parts = LetIn { binding, body };
        self.expr_node(start, ExprKind::LetIn(Box::new(parts)))
    }

    fn expression_statement(&mut self) -> StmtKind {
        let expr = self.expr();
        self.assignment_or_expression(expr)
    }

    fn assignment_or_expression(&mut self, expr: Expr) -> StmtKind {
        if self.at_new_line() {
            return StmtKind::Expr(expr);
        }
        let Some((op, len)) = self.assign_op() else {
            return StmtKind::Expr(expr);
        };
        let op_span = self.token().span.to(self.token_ahead(len - 1).span);
        self.pos += len;
        let value = self.ascribed();
        StmtKind::Assign(Box::new(Assign { place: expr, op, op_span, value }))
    }

    /// The assignment operator that stands here, and how many tokens it has.
    pub(super) fn assign_op(&self) -> Option<(AssignOp, usize)> {
        if let Some(word @ ("max" | "min")) = self.word_ahead(0) {
            let is_assignment = self.touches_next(0) && self.peek_ahead(1) == TokenKind::Eq;
            let op = if word == "max" { AssignOp::Max } else { AssignOp::Min };
            return is_assignment.then_some((op, 2));
        }
        let text = self.peek().text()?;
        AssignOp::ALL.iter().find(|op| op.as_str() == text).map(|&op| (op, 1))
    }

    #[cold]
    fn stray_else(&mut self) -> StmtKind {
        let diagnostic =
            Diagnostic::error(codes::STRAY_ELSE, self.token().span, "expected a statement, found `else` without `if`")
                .help("`else` follows the closing brace of an `if`");
        self.report(diagnostic);
        self.bump();
        if matches!(self.peek(), TokenKind::LBrace | TokenKind::If) {
            self.expr();
        }
        StmtKind::Error
    }

    /// Whether attributes stand here that belong to a declaration.
    fn attributes_belong_to_item(&self) -> bool {
        let mut ahead = 0;
        while self.peek_ahead(ahead) == TokenKind::At {
            ahead += 2;
            if self.peek_ahead(ahead) == TokenKind::LParen {
                match self.bracket_length(ahead) {
                    Ok(len) => ahead += len,
                    Err(_) => return false,
                }
            }
        }
        ahead > 0 && self.starts_item_ahead(ahead)
    }

    #[cold]
    fn nested_item(&mut self) {
        let span = self.token().span;
        if self.enter() {
            self.item();
            self.leave();
        }
        let diagnostic = Diagnostic::error(
            codes::NESTED_ITEM,
            span,
            format!("expected a statement, found the declaration `{}`", self.text(span)),
        )
        .help("move the declaration out of the function, or pass a lambda `|x| e`");
        self.report_earlier(diagnostic);
    }

    /// The error for a statement that goes on where it should end.
    #[cold]
    pub(super) fn unended_statement(&mut self) -> Diagnostic {
        let found = self.found();
        let span = self.token().span;
        let closes = matches!(self.peek(), TokenKind::RParen | TokenKind::RBracket);
        if closes {
            return Diagnostic::error(
                codes::UNMATCHED_BRACKET,
                span,
                format!("expected an open bracket before {found}, found none"),
            )
            .help(format!("remove {found}, or add the bracket that it closes"));
        }
        let foreign = match self.peek() {
            TokenKind::PlusPlus => Some("write `x += 1` to add one"),
            TokenKind::Arrow => Some("`->` stands before the result type of a function"),
            TokenKind::FatArrow => Some("write a lambda as `|x| e`"),
            _ => None,
        };
        if let Some(help) = foreign {
            let message = format!("expected the end of the statement, found {found}");
            return Diagnostic::error(codes::FOREIGN_OPERATOR, span, message).help(help);
        }
        if let "var" | "val" | "auto" | "local" = self.text(self.previous_span()) {
            let word = self.previous_span();
            let message = format!("expected `let`, found `{}`", self.text(word));
            return Diagnostic::error(codes::FOREIGN_KEYWORD, word, message)
                .help("write `let`, or `let mut` for a variable that changes");
        }
        Diagnostic::error(codes::UNENDED_STATEMENT, span, format!("expected the end of the statement, found {found}"))
            .help("put each statement on a line of its own, or end it with `;`")
    }
}
