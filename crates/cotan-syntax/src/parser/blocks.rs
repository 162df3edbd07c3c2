//! Blocks, and the expressions that are made of blocks.

use super::brackets::List;
use super::foreign::blocks::Braceless;
use super::{Bracket, Parser, foreign, recovery, statements};
use crate::ast::{
    Attr, Block, Expr, ExprKind, For, If, IfArm, Match, MatchArm, Pattern, PatternKind, Stmt, StmtKind, While,
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reads `{ ... }`; the next token is the brace.
    pub(super) fn block(&mut self, attrs: Vec<Attr>) -> Block {
        if !self.enter() {
            return missing_block(self);
        }
        let block = block_at_this_level(self, attrs);
        self.leave();
        block
    }

    /// Reads the block that must stand after the head of `what`.
    pub(super) fn block_after(&mut self, what: &str) -> Block {
        let mut braceless = Braceless::default();
        let block = self.block_of_chain(what, &mut braceless);
        braceless.report(self);
        block
    }

    /// The same of one block of several that belong together.
    pub(super) fn block_of_chain(&mut self, what: &str, braceless: &mut Braceless) -> Block {
        if self.at(TokenKind::LBrace) {
            return self.block(Vec::new());
        }
        match foreign::blocks::block(self, what, braceless) {
            Some(block) => block,
            None => recover_block(self, what),
        }
    }

    /// A block of statements that were read.
    pub(super) fn block_of(&mut self, start: Span, mut statements: Vec<Stmt>) -> Block {
        let value = pop_value(&mut statements);
        Block { id: self.node(), span: self.span_from(start), attrs: Vec::new(), statements, value }
    }

    /// Reads an expression that a block follows: struct literals need parentheses in it.
    pub(super) fn head(&mut self) -> Expr {
        let outside = std::mem::replace(&mut self.struct_literals, false);
        let expr = if self.at(TokenKind::LBrace) { self.missing_expr() } else { self.deeper_expr() };
        self.struct_literals = outside;
        expr
    }

    /// Moves past the end of the statement that began at the token `start`, and says whether a `;`
    /// ended it.
    pub(super) fn end_statement(&mut self, start: usize) -> bool {
        if self.has_failed_here() && (self.pos == start || !self.at_new_line()) {
            recovery::skip_statement(self);
        }
        if self.eat(TokenKind::Semicolon).is_some() {
            return true;
        }
        if self.at_new_line() || matches!(self.peek(), TokenKind::RBrace | TokenKind::Eof) {
            return false;
        }
        let diagnostic = statements::unended_statement(self);
        self.report(diagnostic);
        if matches!(self.peek(), TokenKind::RParen | TokenKind::RBracket) {
            self.bump();
        }
        recovery::skip_statement(self);
        self.eat(TokenKind::Semicolon).is_some()
    }
}

/// Reads `{ ... }` without counting it as a level of nesting.
pub(super) fn block_at_this_level(parser: &mut Parser<'_>, attrs: Vec<Attr>) -> Block {
    let start = attrs.first().map_or(parser.token().span, |attr| attr.span);
    let outside = parser.open(Bracket::Brace);
    let mut statements = Vec::new();
    let mut ends_in_value = false;
    loop {
        reject_semicolons(parser);
        if matches!(parser.peek(), TokenKind::RBrace | TokenKind::Eof) || parser.at_unindented_item() {
            break;
        }
        let start = parser.pos;
        if let Some(statement) = statements::statement(parser) {
            ends_in_value = !parser.end_statement(start) || ends_unused_value(parser, &statement);
            statements.push(statement);
        }
        if parser.pos == start {
            // Nothing begins with this token, and that has been reported.
            parser.bump();
        }
    }
    let value = if ends_in_value { pop_value(&mut statements) } else { None };
    statements.shrink_to_fit();
    parser.close(outside, TokenKind::RBrace);
    Block { id: parser.node(), span: parser.span_from(start), attrs, statements, value }
}

/// Reports a `;` after a last statement that is a value and nothing else: without it, it is the value of the block.
fn ends_unused_value(parser: &mut Parser<'_>, statement: &Stmt) -> bool {
    let StmtKind::Expr(expr) = &statement.kind else { return false };
    let is_value = matches!(
        expr.kind,
        ExprKind::Name(_) | ExprKind::Literal(_) | ExprKind::Binary(_) | ExprKind::Unary { .. } | ExprKind::Fold(_)
    );
    if !is_value || !parser.at(TokenKind::RBrace) || parser.has_failed_here() {
        return false;
    }
    let semicolon = parser.previous_span();
    let code = parser.quoted(expr.span);
    let message = format!("expected the value `{code}` at the end of the block, found `;` after it");
    let diagnostic = Diagnostic::error(codes::STRAY_SEMICOLON, semicolon, message);
    parser.report_earlier(diagnostic.help(format!("write `{code}`")).fix(semicolon, ""));
    true
}

/// Reports semicolons where a statement should start, and moves past them.
fn reject_semicolons(parser: &mut Parser<'_>) {
    while parser.at(TokenKind::Semicolon) {
        let diagnostic =
            Diagnostic::error(codes::STRAY_SEMICOLON, parser.token().span, "expected a statement, found `;`")
                .help("remove the `;`")
                .fix(parser.token().span, "");
        parser.report(diagnostic);
        parser.bump();
    }
}

/// Reports that a block is missing, of which nothing stands here either.
#[cold]
fn recover_block(parser: &mut Parser<'_>, what: &str) -> Block {
    let message = format!("expected `{{` after {what}, found {}", parser.found());
    let diagnostic = Diagnostic::error(codes::MISSING_BLOCK, parser.missing_span(), message);
    let has_mark = foreign::blocks::at_mark(parser);
    parser.report(if has_mark {
        diagnostic.help(format!("write `{{ ... }}` instead of {}", parser.found()))
    } else {
        diagnostic.help("put braces round the body: `{ ... }`")
    });
    if has_mark {
        parser.bump();
    }
    if parser.at(TokenKind::LBrace) { parser.block(Vec::new()) } else { missing_block(parser) }
}

#[cold]
fn missing_block(parser: &mut Parser<'_>) -> Block {
    Block {
        id: parser.node(),
        span: parser.missing_span().before(),
        attrs: Vec::new(),
        statements: Vec::new(),
        value: None,
    }
}

/// Reads the condition of `if` or `while`, where `=` is a slip.
fn condition(parser: &mut Parser<'_>) -> Expr {
    let condition = parser.head();
    if parser.at(TokenKind::Eq) {
        let diagnostic = Diagnostic::error(
            codes::ASSIGNMENT_AS_VALUE,
            parser.token().span,
            "expected a condition, found the assignment `=`",
        )
        .help("write `==` to compare")
        .fix(parser.token().span, "==");
        parser.report(diagnostic);
        parser.bump();
        let value = parser.head();
        let span = condition.span.to(value.span);
        return parser.error_expr(span);
    }
    condition
}

pub(super) fn if_expr(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let mut arms = Vec::new();
    let mut otherwise = None;
    let mut braceless = Braceless::default();
    loop {
        parser.bump();
        let condition = condition(parser);
        let block = parser.block_of_chain("the condition", &mut braceless);
        arms.push(IfArm { condition, block });
        if at_else_if_word(parser) {
            if braceless.absorbs(parser.token().span, "else if") {
                continue;
            }
            let found = parser.found();
            let diagnostic = Diagnostic::error(
                codes::ELSE_IF_SPELLING,
                parser.token().span,
                format!("expected `else if`, found {found}"),
            )
            .help("write `else if`")
            .fix(parser.token().span, "else if");
            parser.report(diagnostic);
            continue;
        }
        if parser.eat(TokenKind::Else).is_none() {
            break;
        }
        if !parser.at(TokenKind::If) {
            otherwise = Some(parser.block_of_chain("`else`", &mut braceless));
            break;
        }
    }
    braceless.report(parser);
    parser.expr_node(start, ExprKind::If(Box::new(If { arms, otherwise })))
}

fn at_else_if_word(parser: &Parser<'_>) -> bool {
    ["elif", "elsif", "elseif"].iter().any(|word| parser.at_word(word))
}

pub(super) fn match_expr(parser: &mut Parser<'_>) -> Expr {
    let start = parser.bump();
    let scrutinee = parser.head();
    let arms = if parser.at(TokenKind::LBrace) {
        parser.list(List::braces("an arm"), match_arm).0
    } else {
        let message = format!("expected `{{` after the value, found {}", parser.found());
        let diagnostic = Diagnostic::error(codes::MISSING_BLOCK, parser.missing_span(), message)
            .help("put braces round the arms: `match x { 0 => a, _ => b }`");
        parser.report(diagnostic);
        Vec::new()
    };
    parser.expr_node(start, ExprKind::Match(Box::new(Match { scrutinee, arms })))
}

fn match_arm(parser: &mut Parser<'_>) -> MatchArm {
    let start = parser.token().span;
    let pattern = parser.pattern();
    let guard = parser.eat(TokenKind::If).map(|_| parser.expr());
    let body = if parser.has_failed_here() {
        parser.error_expr(start.before())
    } else if parser.expect(TokenKind::FatArrow, "after the pattern") {
        parser.expr()
    } else {
        parser.error_expr(start.before())
    };
    MatchArm { span: parser.span_from(start), pattern, guard, body }
}

pub(super) fn for_expr(parser: &mut Parser<'_>, attrs: Vec<Attr>) -> Expr {
    let keyword = parser.bump();
    let start = attrs.first().map_or(keyword, |attr| attr.span);
    let (pattern, iterable) = match foreign::loops::three_parts(parser) {
        Some(head) => head,
        None => pattern_in_iterable(parser),
    };
    let body = parser.block_after("the head of the loop");
    let parts = For { attrs, pattern, iterable, body };
    parser.expr_node(start, ExprKind::For(Box::new(parts)))
}

/// Reads `i in 0..n`.
fn pattern_in_iterable(parser: &mut Parser<'_>) -> (Pattern, Expr) {
    let outside = std::mem::replace(&mut parser.struct_literals, false);
    let pattern = parser.pattern();
    parser.struct_literals = outside;
    let is_colon_range = parser.at(TokenKind::Eq) && parser.meets(TokenKind::Colon);
    // After a keyword that is no pattern, `in` looks like a name.
    if parser.at(TokenKind::In) || parser.at_word("in") || is_colon_range {
        parser.bump();
    } else {
        let iterable = missing_in(parser, &pattern.kind);
        return (pattern, iterable);
    }
    let lo = parser.head();
    let is_colon = foreign::loops::at_colon_range(parser, &lo);
    let iterable = if is_colon { foreign::loops::colon_range(parser, lo) } else { lo };
    (pattern, iterable)
}

#[cold]
fn missing_in(parser: &mut Parser<'_>, pattern: &PatternKind) -> Expr {
    let name = match pattern {
        PatternKind::Name { name, .. } => name.name.as_str(),
        _ => "i",
    };
    let message = format!("expected `in` after the pattern of a loop, found {}", parser.found());
    let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, parser.missing_span(), message)
        .help(format!("write `for {name} in lo..hi {{ ... }}`"));
    parser.report(diagnostic);
    while !matches!(parser.peek(), TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof) && !parser.at_new_line() {
        parser.bump();
    }
    let span = parser.missing_span().before();
    parser.error_expr(span)
}

pub(super) fn while_expr(parser: &mut Parser<'_>, attrs: Vec<Attr>) -> Expr {
    let keyword = parser.bump();
    let start: Span = attrs.first().map_or(keyword, |attr| attr.span);
    let condition = condition(parser);
    let body = parser.block_after("the condition");
    let parts = While { attrs, condition, body };
    parser.expr_node(start, ExprKind::While(Box::new(parts)))
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
