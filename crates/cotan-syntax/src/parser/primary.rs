//! Expressions that are no operators: literals, names, brackets, lambdas.

use super::brackets::List;
use super::{Bracket, Parser, attributes, blocks, foreign, mistakes, patterns, recovery, statements};
use crate::ast::{Expr, ExprKind, FieldInit, Ident, Lambda, LambdaParam, Path, PostfixKind, PostfixOp, StructLiteral};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::literal;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// A node from `start` to the last token that was read.
    pub(super) fn expr_node(&mut self, start: Span, kind: ExprKind) -> Expr {
        Expr { id: self.node(), span: self.span_from(start), kind }
    }

    /// A node for something that was reported.
    pub(super) fn error_expr(&mut self, span: Span) -> Expr {
        Expr { id: self.node(), span, kind: ExprKind::Error }
    }

    /// Whether an expression can start with the next token.
    pub(super) fn starts_expression(&self) -> bool {
        let is_attribute = self.at(TokenKind::At) && self.at_new_line();
        let is_body = self.at(TokenKind::LBrace) && !self.struct_literals;
        self.starts_expression_ahead(0) && !is_attribute && !is_body
    }

    pub(super) fn starts_expression_ahead(&self, ahead: usize) -> bool {
        matches!(
            self.peek_ahead(ahead),
            TokenKind::Ident
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::Str
                | TokenKind::Char
                | TokenKind::True
                | TokenKind::False
                | TokenKind::LParen
                | TokenKind::LBracket
                | TokenKind::LBrace
                | TokenKind::Minus
                | TokenKind::Bang
                | TokenKind::Bar
                | TokenKind::OrOr
                | TokenKind::FoldAdd
                | TokenKind::FoldMul
                | TokenKind::FoldSub
                | TokenKind::FoldDiv
                | TokenKind::If
                | TokenKind::Match
                | TokenKind::Let
                | TokenKind::For
                | TokenKind::While
                | TokenKind::Break
                | TokenKind::Continue
                | TokenKind::Return
                | TokenKind::At
        )
    }

    /// Reads a value, perhaps with `: T` after it.
    pub(super) fn ascribed(&mut self) -> Expr {
        let start = self.token().span;
        let expr = self.value();
        if self.at_new_line() || !self.at(TokenKind::Colon) {
            return expr;
        }
        self.ascription(start, expr)
    }

    /// Reads `: T` after an expression that begins at `start`.
    pub(super) fn ascription(&mut self, start: Span, expr: Expr) -> Expr {
        self.bump();
        let kind = ExprKind::Ascription { operand: Box::new(expr), ty: Box::new(self.ty()) };
        self.expr_node(start, kind)
    }
}

/// Reads an expression without operators round it.
pub(super) fn primary(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    match parser.peek() {
        TokenKind::Ident => name(parser),
        TokenKind::LParen => parenthesised(parser),
        TokenKind::LBracket => {
            let (elements, _) = parser.list(List::squares("an element"), Parser::expr);
            parser.expr_node(start, ExprKind::Array(elements))
        }
        TokenKind::LBrace => {
            let block = parser.block(Vec::new());
            parser.expr_node(start, ExprKind::Block(Box::new(block)))
        }
        TokenKind::Bar | TokenKind::OrOr => lambda(parser),
        TokenKind::If => blocks::if_expr(parser),
        TokenKind::Match => blocks::match_expr(parser),
        TokenKind::For => blocks::for_expr(parser, Vec::new()),
        TokenKind::While => blocks::while_expr(parser, Vec::new()),
        TokenKind::At => with_attributes(parser),
        TokenKind::Let => let_in(parser),
        TokenKind::Break => {
            parser.bump();
            parser.expr_node(start, ExprKind::Break)
        }
        TokenKind::Continue => {
            parser.bump();
            parser.expr_node(start, ExprKind::Continue)
        }
        TokenKind::Return => {
            parser.bump();
            let has_value = !parser.at_new_line() && parser.starts_expression_ahead(0);
            let value = has_value.then(|| Box::new(parser.deeper_expr()));
            parser.expr_node(start, ExprKind::Return(value))
        }
        kind => {
            let text = parser.text(start);
            match literal::read(kind, text, start, &mut parser.diagnostics) {
                Some(literal) => {
                    parser.bump();
                    parser.expr_node(start, ExprKind::Literal(literal))
                }
                None => parser.missing_expr(),
            }
        }
    }
}

fn name(parser: &mut Parser<'_>) -> Expr {
    let token = parser.token();
    let text = parser.text(token.span);
    if text != "_" {
        if let Some(expr) = foreign::words::expression_at_name(parser, text) {
            return expr;
        }
        parser.bump();
        return parser.expr_node(token.span, ExprKind::Name(text.to_owned()));
    }
    if parser.bracket == Bracket::Square {
        parser.bump();
        return parser.expr_node(token.span, ExprKind::Hole);
    }
    let diagnostic = Diagnostic::error(codes::HOLE_AS_VALUE, token.span, "expected an expression, found `_`")
        .help("`_` is a pattern that matches everything, or a size that is left open as in `f64[_]`");
    parser.report(diagnostic);
    parser.bump();
    parser.error_expr(token.span)
}

/// Reads `()`, `(e)`, `(a, b)` or `(e : T)`.
fn parenthesised(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let (mut parts, span) = parser.list(List::parens("an expression"), Parser::ascribed);
    let is_group = parts.len() == 1 && !is_trailing_comma(parser, span);
    match parts.pop() {
        Some(part) if is_group => Expr { span, ..part },
        last => {
            parts.extend(last);
            parser.expr_node(start, ExprKind::Tuple(parts))
        }
    }
}

/// Whether the bracket that was just read ends in `,` and its closing mark.
fn is_trailing_comma(parser: &Parser<'_>, span: Span) -> bool {
    let before = parser.pos.checked_sub(2).map(|at| parser.tokens[at]);
    before.is_some_and(|token| token.kind == TokenKind::Comma && token.span.start > span.start)
}

fn lambda(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let mut params = Vec::new();
    if parser.eat(TokenKind::OrOr).is_none() {
        parser.bump();
        while !matches!(parser.peek(), TokenKind::Bar | TokenKind::Eof) {
            let pattern = patterns::single_pattern(parser);
            let ty = parser.eat(TokenKind::Colon).map(|_| parser.ty());
            params.push(LambdaParam { pattern, ty });
            if parser.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        if !end_lambda_params(parser) {
            let span = parser.span_from(start);
            return parser.error_expr(span);
        }
    }
    let body = parser.deeper_expr();
    parser.expr_node(start, ExprKind::Lambda(Box::new(Lambda { params, body })))
}

/// Moves past the `|` that ends the parameters of a lambda; false if there is none.
fn end_lambda_params(parser: &mut Parser<'_>) -> bool {
    if parser.expect(TokenKind::Bar, "after the parameters of a lambda") {
        return true;
    }
    recovery::skip_to_bar(parser);
    parser.eat(TokenKind::Bar).is_some()
}

fn let_in(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let ends_operand = parser.at_new_line() && mistakes::follows_infix_operator(parser);
    if ends_operand || !parser.enter() {
        return parser.missing_expr();
    }
    let binding = statements::let_binding(parser);
    parser.leave();
    if parser.at(TokenKind::In) && !parser.at_new_line() {
        return statements::let_in_body(parser, start, binding);
    }
    let message = format!("expected `in` after `let` in an expression, found {}", parser.found());
    let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, parser.missing_span(), message)
        .help("write `let x = e in b`, or a block: `{ let x = e; b }`");
    parser.report(diagnostic);
    let span = parser.span_from(start);
    parser.error_expr(span)
}

/// Reads attributes and the loop or block that they stand before.
fn with_attributes(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let attrs = attributes::attrs(parser);
    match parser.peek() {
        TokenKind::For => blocks::for_expr(parser, attrs),
        TokenKind::While => blocks::while_expr(parser, attrs),
        TokenKind::LBrace => {
            let block = parser.block(attrs);
            parser.expr_node(start, ExprKind::Block(Box::new(block)))
        }
        _ => {
            let span = parser.span_from(start);
            let message =
                format!("expected a loop, a block or a declaration after the attribute, found {}", parser.found());
            let help = if parser.at(TokenKind::Let) {
                "move the attribute to the loop, block or function that it is about"
            } else {
                "for a matrix product put spaces round `@` and end the line before with it"
            };
            let diagnostic = Diagnostic::error(codes::MISPLACED_ATTRIBUTE, span, message).help(help);
            parser.report(diagnostic);
            parser.error_expr(span)
        }
    }
}

/// Whether the `{` that stands here after a name starts a struct literal.
pub(super) fn at_struct_literal(parser: &Parser<'_>, base: &Expr, ops: &[PostfixOp]) -> bool {
    if parser.struct_literals {
        return literal_path(base, ops).is_some();
    }
    // In the head of `if` and the like a block starts here, but no block starts with `x:`.
    parser.peek_ahead(1) == TokenKind::Ident
        && parser.peek_ahead(2) == TokenKind::Colon
        && literal_path(base, ops).is_some()
}

pub(super) fn struct_literal(parser: &mut Parser<'_>, start: Span, base: Expr, mut ops: Vec<PostfixOp>) -> Expr {
    let Some(path) = literal_path(&base, &ops) else {
        return base;
    };
    if !parser.struct_literals {
        let name = parser.text(path.span).to_owned();
        let diagnostic = Diagnostic::error(
            codes::STRUCT_LITERAL_IN_HEAD,
            path.span,
            format!("expected parentheses round the struct literal of `{name}` in the head of a block, found none"),
        )
        .help(format!("write `({name} {{ ... }})`"));
        parser.report(diagnostic);
    }
    let generics = match ops.pop() {
        Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => args,
        _ => Vec::new(),
    };
    let mut update = None;
    let (fields, _) = parser.list(List::braces("a field"), |parser| {
        if parser.eat(TokenKind::DotDot).is_some() {
            update = Some(parser.expr());
            return None;
        }
        Some(field_init(parser))
    });
    let parts = StructLiteral { path, generics, fields: fields.into_iter().flatten().collect(), base: update };
    parser.expr_node(start, ExprKind::Struct(Box::new(parts)))
}

fn field_init(parser: &mut Parser<'_>) -> FieldInit {
    let name = parser.ident("a field");
    if parser.eat(TokenKind::Colon).is_some() {
        let value = parser.ascribed();
        return FieldInit { name, value, shorthand: false };
    }
    if parser.at(TokenKind::Eq) {
        let message = format!("expected `:` after the field `{}`, found `=`", name.name);
        let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, parser.token().span, message)
            .help(format!("write `{}: ...`", name.name));
        parser.report_earlier(diagnostic);
        parser.bump();
        let value = parser.expr();
        return FieldInit { name, value, shorthand: false };
    }
    let value = Expr { id: parser.node(), span: name.span, kind: ExprKind::Name(name.name.clone()) };
    FieldInit { name, value, shorthand: true }
}

/// The path before a struct literal: names and fields, perhaps with one bracket at the end.
fn literal_path(base: &Expr, ops: &[PostfixOp]) -> Option<Path> {
    let ExprKind::Name(name) = &base.kind else {
        return None;
    };
    let mut path = Path { segments: vec![Ident { name: name.clone(), span: base.span }], span: base.span };
    for (at, op) in ops.iter().enumerate() {
        match &op.kind {
            PostfixKind::Field(name) => {
                path.segments.push(name.clone());
                path.span = path.span.to(op.span);
            }
            PostfixKind::Index(_) if at + 1 == ops.len() => {}
            PostfixKind::Index(_) | PostfixKind::Call(_) | PostfixKind::TupleField { .. } | PostfixKind::Cast(_) => {
                return None;
            }
        }
    }
    Some(path)
}
