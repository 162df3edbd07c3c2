//! Blocks, and the expressions that are made of blocks.

use super::brackets::List;
use super::{Bracket, Parser};
use crate::ast::{Attr, Block, Expr, ExprKind, For, If, IfArm, Match, MatchArm, PatternKind, Stmt, StmtKind, While};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reads `{ ... }`; the next token is the brace.
    pub(super) fn block(&mut self, attrs: Vec<Attr>) -> Block {
        if !self.enter() {
            return self.missing_block();
        }
        let block = self.block_at_this_level(attrs);
        self.leave();
        block
    }

    /// Reads `{ ... }` without counting it as a level of nesting.
    pub(super) fn block_at_this_level(&mut self, attrs: Vec<Attr>) -> Block {
        let start = attrs.first().map_or(self.token().span, |attr| attr.span);
        let outside = self.open(Bracket::Brace);
        let mut statements = Vec::new();
        let mut ends_in_value = false;
        loop {
            self.reject_semicolons();
            if matches!(self.peek(), TokenKind::RBrace | TokenKind::Eof) || self.at_unindented_item() {
                break;
            }
            let start = self.pos;
            if let Some(statement) = self.statement() {
                statements.push(statement);
                ends_in_value = !self.end_statement(start);
            }
            if self.pos == start {
                // Nothing begins with this token, and that has been reported.
                self.bump();
            }
        }
        let value = if ends_in_value { pop_value(&mut statements) } else { None };
        statements.shrink_to_fit();
        self.close(outside, TokenKind::RBrace);
        Block { id: self.node(), span: self.span_from(start), attrs, statements, value }
    }

    /// Reports semicolons where a statement should start, and moves past them.
    fn reject_semicolons(&mut self) {
        while self.at(TokenKind::Semicolon) {
            let diagnostic =
                Diagnostic::error(codes::STRAY_SEMICOLON, self.token().span, "expected a statement, found `;`")
                    .help("remove the `;`");
            self.report(diagnostic);
            self.bump();
        }
    }

    /// Moves past the end of the statement that began at the token `start`, and says whether a `;`
    /// ended it.
    fn end_statement(&mut self, start: usize) -> bool {
        if self.has_failed_here() && (self.pos == start || !self.at_new_line()) {
            self.skip_statement();
        }
        if self.eat(TokenKind::Semicolon).is_some() {
            return true;
        }
        if self.at_new_line() || matches!(self.peek(), TokenKind::RBrace | TokenKind::Eof) {
            return false;
        }
        let diagnostic = self.unended_statement();
        self.report(diagnostic);
        if matches!(self.peek(), TokenKind::RParen | TokenKind::RBracket) {
            self.bump();
        }
        self.skip_statement();
        self.eat(TokenKind::Semicolon).is_some()
    }

    /// Reads the block that must stand after the head of `what`.
    fn block_after(&mut self, what: &str) -> Block {
        if self.at(TokenKind::LBrace) {
            return self.block(Vec::new());
        }
        self.recover_block(what)
    }

    /// Reports that a block is missing, and makes one of what stands there.
    #[cold]
    fn recover_block(&mut self, what: &str) -> Block {
        let message = format!("expected `{{` after {what}, found {}", self.found());
        let diagnostic = Diagnostic::error(codes::MISSING_BLOCK, self.missing_span(), message);
        let diagnostic = if self.at_word("then") || self.at_word("do") || self.at(TokenKind::Colon) {
            diagnostic.help(format!("write `{{ ... }}` instead of {}", self.found()))
        } else {
            diagnostic.help("put braces round the body: `{ ... }`")
        };
        self.report(diagnostic);
        if self.at_word("then") || self.at_word("do") || self.at(TokenKind::Colon) {
            self.bump();
        }
        if self.at(TokenKind::LBrace) {
            return self.block(Vec::new());
        }
        // What follows on this line or, indented, on the next is probably the body.
        let mut block = self.missing_block();
        let follows = self.starts_expression() && !self.at_unindented_item();
        if follows && self.enter() {
            block.statements.extend(self.statement());
            block.value = pop_value(&mut block.statements);
            self.leave();
        }
        block
    }

    #[cold]
    fn missing_block(&mut self) -> Block {
        Block {
            id: self.node(),
            span: self.missing_span().before(),
            attrs: Vec::new(),
            statements: Vec::new(),
            value: None,
        }
    }

    /// Reads an expression that a block follows: struct literals need parentheses in it.
    fn head(&mut self) -> Expr {
        let outside = std::mem::replace(&mut self.struct_literals, false);
        let expr = if self.at(TokenKind::LBrace) { self.missing_expr() } else { self.deeper_expr() };
        self.struct_literals = outside;
        expr
    }

    /// Reads the condition of `if` or `while`, where `=` is a slip.
    fn condition(&mut self) -> Expr {
        let condition = self.head();
        if self.at(TokenKind::Eq) {
            let diagnostic = Diagnostic::error(
                codes::ASSIGNMENT_AS_VALUE,
                self.token().span,
                "expected a condition, found the assignment `=`",
            )
            .help("write `==` to compare");
            self.report(diagnostic);
            self.bump();
            let value = self.head();
            let span = condition.span.to(value.span);
            return self.error_expr(span);
        }
        condition
    }

    pub(super) fn if_expr(&mut self) -> Expr {
        let start = self.token().span;
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            self.bump();
            let condition = self.condition();
            let block = self.block_after("the condition");
            arms.push(IfArm { condition, block });
            if self.at_else_if_word() {
                let found = self.found();
                let diagnostic = Diagnostic::error(
                    codes::ELSE_IF_SPELLING,
                    self.token().span,
                    format!("expected `else if`, found {found}"),
                )
                .help("write `else if`");
                self.report(diagnostic);
                continue;
            }
            if self.eat(TokenKind::Else).is_none() {
                break;
            }
            if !self.at(TokenKind::If) {
                otherwise = Some(self.block_after("`else`"));
                break;
            }
        }
        self.expr_node(start, ExprKind::If(Box::new(If { arms, otherwise })))
    }

    fn at_else_if_word(&self) -> bool {
        ["elif", "elsif", "elseif"].iter().any(|word| self.at_word(word))
    }

    pub(super) fn match_expr(&mut self) -> Expr {
        let start = self.bump();
        let scrutinee = self.head();
        let arms = if self.at(TokenKind::LBrace) {
            self.list(List::braces("an arm"), Self::match_arm).0
        } else {
            let message = format!("expected `{{` after the value, found {}", self.found());
            let diagnostic = Diagnostic::error(codes::MISSING_BLOCK, self.missing_span(), message)
                .help("put braces round the arms: `match x { 0 => a, _ => b }`");
            self.report(diagnostic);
            Vec::new()
        };
        self.expr_node(start, ExprKind::Match(Box::new(Match { scrutinee, arms })))
    }

    fn match_arm(&mut self) -> MatchArm {
        let start = self.token().span;
        let pattern = self.pattern();
        let guard = self.eat(TokenKind::If).map(|_| self.expr());
        let body = if self.has_failed_here() {
            self.error_expr(start.before())
        } else if self.expect(TokenKind::FatArrow, "after the pattern") {
            self.expr()
        } else {
            self.error_expr(start.before())
        };
        MatchArm { span: self.span_from(start), pattern, guard, body }
    }

    pub(super) fn for_expr(&mut self, attrs: Vec<Attr>) -> Expr {
        let keyword = self.bump();
        let start = attrs.first().map_or(keyword, |attr| attr.span);
        let outside = std::mem::replace(&mut self.struct_literals, false);
        let pattern = self.pattern();
        self.struct_literals = outside;
        let iterable = if self.eat(TokenKind::In).is_some() { self.head() } else { self.missing_in(&pattern.kind) };
        let body = self.block_after("the head of the loop");
        let parts = For { attrs, pattern, iterable, body };
        self.expr_node(start, ExprKind::For(Box::new(parts)))
    }

    #[cold]
    fn missing_in(&mut self, pattern: &PatternKind) -> Expr {
        let name = match pattern {
            PatternKind::Name { name, .. } => name.name.as_str(),
            _ => "i",
        };
        let message = format!("expected `in` after the pattern of a loop, found {}", self.found());
        let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, self.missing_span(), message)
            .help(format!("write `for {name} in lo..hi {{ ... }}`"));
        self.report(diagnostic);
        while !matches!(self.peek(), TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof) && !self.at_new_line() {
            self.bump();
        }
        let span = self.missing_span().before();
        self.error_expr(span)
    }

    pub(super) fn while_expr(&mut self, attrs: Vec<Attr>) -> Expr {
        let keyword = self.bump();
        let start: Span = attrs.first().map_or(keyword, |attr| attr.span);
        let condition = self.condition();
        let body = self.block_after("the condition");
        let parts = While { attrs, condition, body };
        self.expr_node(start, ExprKind::While(Box::new(parts)))
    }
}

/// Takes the last statement as the value of its block, if it is an expression.
fn pop_value(statements: &mut Vec<Stmt>) -> Option<Box<Expr>> {
    match statements.pop() {
        Some(Stmt { kind: StmtKind::Expr(expr), .. }) => Some(Box::new(expr)),
        other => {
            statements.extend(other);
            None
        }
    }
}
