//! Blocks, and the expressions that are made of blocks.

use super::brackets::List;
use super::{Bracket, Parser, brackets, recovery, statements};
use crate::ast::{Attr, Block, Expr, ExprKind, For, If, IfArm, Match, MatchArm, PatternKind, Stmt, StmtKind, While};
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
}

/// Reads `{ ... }` without counting it as a level of nesting.
pub(super) fn block_at_this_level(parser: &mut Parser<'_>, attrs: Vec<Attr>) -> Block {
    let start = attrs.first().map_or(parser.token().span, |attr| attr.span);
    let outside = parser.open(Bracket::Brace);
    let mut statements = Vec::new();
    let mut ends_in_value = false;
    loop {
        reject_semicolons(parser);
        if matches!(parser.peek(), TokenKind::RBrace | TokenKind::Eof) || brackets::at_unindented_item(parser) {
            break;
        }
        let start = parser.pos;
        if let Some(statement) = statements::statement(parser) {
            statements.push(statement);
            ends_in_value = !end_statement(parser, start);
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

/// Reports semicolons where a statement should start, and moves past them.
fn reject_semicolons(parser: &mut Parser<'_>) {
    while parser.at(TokenKind::Semicolon) {
        let diagnostic =
            Diagnostic::error(codes::STRAY_SEMICOLON, parser.token().span, "expected a statement, found `;`")
                .help("remove the `;`");
        parser.report(diagnostic);
        parser.bump();
    }
}

/// Moves past the end of the statement that began at the token `start`, and says whether a `;`
/// ended it.
fn end_statement(parser: &mut Parser<'_>, start: usize) -> bool {
    if parser.has_failed_here() && (parser.pos == start || !parser.at_new_line()) {
        recovery::skip_statement(parser);
    }
    if parser.eat(TokenKind::Semicolon).is_some() {
        return true;
    }
    if parser.at_new_line() || matches!(parser.peek(), TokenKind::RBrace | TokenKind::Eof) {
        return false;
    }
    let diagnostic = statements::unended_statement(parser);
    parser.report(diagnostic);
    if matches!(parser.peek(), TokenKind::RParen | TokenKind::RBracket) {
        parser.bump();
    }
    recovery::skip_statement(parser);
    parser.eat(TokenKind::Semicolon).is_some()
}

/// Reads the block that must stand after the head of `what`.
fn block_after(parser: &mut Parser<'_>, what: &str) -> Block {
    if parser.at(TokenKind::LBrace) {
        return parser.block(Vec::new());
    }
    recover_block(parser, what)
}

/// Reports that a block is missing, and makes one of what stands there.
#[cold]
fn recover_block(parser: &mut Parser<'_>, what: &str) -> Block {
    let message = format!("expected `{{` after {what}, found {}", parser.found());
    let diagnostic = Diagnostic::error(codes::MISSING_BLOCK, parser.missing_span(), message);
    let diagnostic = if parser.at_word("then") || parser.at_word("do") || parser.at(TokenKind::Colon) {
        diagnostic.help(format!("write `{{ ... }}` instead of {}", parser.found()))
    } else {
        diagnostic.help("put braces round the body: `{ ... }`")
    };
    parser.report(diagnostic);
    if parser.at_word("then") || parser.at_word("do") || parser.at(TokenKind::Colon) {
        parser.bump();
    }
    if parser.at(TokenKind::LBrace) {
        return parser.block(Vec::new());
    }
    // What follows on this line or, indented, on the next is probably the body.
    let mut block = missing_block(parser);
    let follows = parser.starts_expression() && !brackets::at_unindented_item(parser);
    if follows && parser.enter() {
        block.statements.extend(statements::statement(parser));
        block.value = pop_value(&mut block.statements);
        parser.leave();
    }
    block
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

/// Reads an expression that a block follows: struct literals need parentheses in it.
fn head(parser: &mut Parser<'_>) -> Expr {
    let outside = std::mem::replace(&mut parser.struct_literals, false);
    let expr = if parser.at(TokenKind::LBrace) { parser.missing_expr() } else { parser.deeper_expr() };
    parser.struct_literals = outside;
    expr
}

/// Reads the condition of `if` or `while`, where `=` is a slip.
fn condition(parser: &mut Parser<'_>) -> Expr {
    let condition = head(parser);
    if parser.at(TokenKind::Eq) {
        let diagnostic = Diagnostic::error(
            codes::ASSIGNMENT_AS_VALUE,
            parser.token().span,
            "expected a condition, found the assignment `=`",
        )
        .help("write `==` to compare");
        parser.report(diagnostic);
        parser.bump();
        let value = head(parser);
        let span = condition.span.to(value.span);
        return parser.error_expr(span);
    }
    condition
}

pub(super) fn if_expr(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let mut arms = Vec::new();
    let mut otherwise = None;
    loop {
        parser.bump();
        let condition = condition(parser);
        let block = block_after(parser, "the condition");
        arms.push(IfArm { condition, block });
        if at_else_if_word(parser) {
            let found = parser.found();
            let diagnostic = Diagnostic::error(
                codes::ELSE_IF_SPELLING,
                parser.token().span,
                format!("expected `else if`, found {found}"),
            )
            .help("write `else if`");
            parser.report(diagnostic);
            continue;
        }
        if parser.eat(TokenKind::Else).is_none() {
            break;
        }
        if !parser.at(TokenKind::If) {
            otherwise = Some(block_after(parser, "`else`"));
            break;
        }
    }
    parser.expr_node(start, ExprKind::If(Box::new(If { arms, otherwise })))
}

fn at_else_if_word(parser: &Parser<'_>) -> bool {
    ["elif", "elsif", "elseif"].iter().any(|word| parser.at_word(word))
}

pub(super) fn match_expr(parser: &mut Parser<'_>) -> Expr {
    let start = parser.bump();
    let scrutinee = head(parser);
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
    let outside = std::mem::replace(&mut parser.struct_literals, false);
    let pattern = parser.pattern();
    parser.struct_literals = outside;
    let iterable = if parser.eat(TokenKind::In).is_some() { head(parser) } else { missing_in(parser, &pattern.kind) };
    let body = block_after(parser, "the head of the loop");
    let parts = For { attrs, pattern, iterable, body };
    parser.expr_node(start, ExprKind::For(Box::new(parts)))
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
    let body = block_after(parser, "the condition");
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
