//! Expressions that are no operators: literals, names, brackets, lambdas.

use super::brackets::List;
use super::{Bracket, Parser};
use crate::ast::{Expr, ExprKind, FieldInit, Lambda, LambdaParam, PostfixKind, PostfixOp, StructLiteral};
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

    /// Reads an expression without operators round it.
    pub(super) fn primary(&mut self) -> Expr {
        let start = self.token().span;
        match self.peek() {
            TokenKind::Ident => self.name(),
            TokenKind::LParen => self.parenthesised(),
            TokenKind::LBracket => {
                let (elements, _) = self.list(List::squares("an element"), Self::expr);
                self.expr_node(start, ExprKind::Array(elements))
            }
            TokenKind::LBrace => {
                let block = self.block(Vec::new());
                self.expr_node(start, ExprKind::Block(Box::new(block)))
            }
            TokenKind::Bar | TokenKind::OrOr => self.lambda(),
            TokenKind::If => self.if_expr(),
            TokenKind::Match => self.match_expr(),
            TokenKind::For => self.for_expr(Vec::new()),
            TokenKind::While => self.while_expr(Vec::new()),
            TokenKind::At => self.with_attributes(),
            TokenKind::Let => self.let_in(),
            TokenKind::Break => {
                self.bump();
                self.expr_node(start, ExprKind::Break)
            }
            TokenKind::Continue => {
                self.bump();
                self.expr_node(start, ExprKind::Continue)
            }
            TokenKind::Return => {
                self.bump();
                let has_value = !self.at_new_line() && self.starts_expression_ahead(0);
                let value = has_value.then(|| Box::new(self.deeper_expr()));
                self.expr_node(start, ExprKind::Return(value))
            }
            kind => {
                let text = self.text(start);
                match literal::read(kind, text, start, &mut self.diagnostics) {
                    Some(literal) => {
                        self.bump();
                        self.expr_node(start, ExprKind::Literal(literal))
                    }
                    None => self.missing_expr(),
                }
            }
        }
    }

    fn name(&mut self) -> Expr {
        let token = self.token();
        let text = self.text(token.span);
        if text != "_" {
            self.bump();
            return self.expr_node(token.span, ExprKind::Name(text.to_owned()));
        }
        if self.bracket == Bracket::Square {
            self.bump();
            return self.expr_node(token.span, ExprKind::Hole);
        }
        let diagnostic = Diagnostic::error(codes::HOLE_AS_VALUE, token.span, "expected an expression, found `_`")
            .help("`_` is a pattern that matches everything, or a size that is left open as in `f64[_]`");
        self.report(diagnostic);
        self.bump();
        self.error_expr(token.span)
    }

    /// Reads `()`, `(e)`, `(a, b)` or `(e : T)`.
    fn parenthesised(&mut self) -> Expr {
        let start = self.token().span;
        let (mut parts, span) = self.list(List::parens("an expression"), Self::ascribed);
        let is_group = parts.len() == 1 && !self.is_trailing_comma(span);
        match parts.pop() {
            Some(part) if is_group => Expr { span, ..part },
            last => {
                parts.extend(last);
                self.expr_node(start, ExprKind::Tuple(parts))
            }
        }
    }

    /// Whether the bracket that was just read ends in `,` and its closing mark.
    fn is_trailing_comma(&self, span: Span) -> bool {
        let before = self.pos.checked_sub(2).map(|at| self.tokens[at]);
        before.is_some_and(|token| token.kind == TokenKind::Comma && token.span.start > span.start)
    }

    /// Reads a value, perhaps with `: T` after it.
    pub(super) fn ascribed(&mut self) -> Expr {
        let start = self.token().span;
        let expr = self.value();
        if self.at_new_line() || self.eat(TokenKind::Colon).is_none() {
            return expr;
        }
        let kind = ExprKind::Ascription { operand: Box::new(expr), ty: Box::new(self.ty()) };
        self.expr_node(start, kind)
    }

    fn lambda(&mut self) -> Expr {
        let start = self.token().span;
        let mut params = Vec::new();
        if self.eat(TokenKind::OrOr).is_none() {
            self.bump();
            while !matches!(self.peek(), TokenKind::Bar | TokenKind::Eof) {
                let pattern = self.single_pattern();
                let ty = self.eat(TokenKind::Colon).map(|_| self.ty());
                params.push(LambdaParam { pattern, ty });
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            if !self.end_lambda_params() {
                let span = self.span_from(start);
                return self.error_expr(span);
            }
        }
        let body = self.deeper_expr();
        self.expr_node(start, ExprKind::Lambda(Box::new(Lambda { params, body })))
    }

    /// Moves past the `|` that ends the parameters of a lambda; false if there is none.
    fn end_lambda_params(&mut self) -> bool {
        if self.expect(TokenKind::Bar, "after the parameters of a lambda") {
            return true;
        }
        self.skip_to_bar();
        self.eat(TokenKind::Bar).is_some()
    }

    fn let_in(&mut self) -> Expr {
        let start = self.token().span;
        let ends_operand = self.at_new_line() && self.follows_infix_operator();
        if ends_operand || !self.enter() {
            return self.missing_expr();
        }
        let binding = self.let_binding();
        self.leave();
        if self.at(TokenKind::In) && !self.at_new_line() {
            return self.let_in_body(start, binding);
        }
        let message = format!("expected `in` after `let` in an expression, found {}", self.found());
        let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, self.missing_span(), message)
            .help("write `let x = e in b`, or a block: `{ let x = e; b }`");
        self.report(diagnostic);
        let span = self.span_from(start);
        self.error_expr(span)
    }

    /// Reads attributes and the loop or block that they stand before.
    fn with_attributes(&mut self) -> Expr {
        let start = self.token().span;
        let attrs = self.attrs();
        match self.peek() {
            TokenKind::For => self.for_expr(attrs),
            TokenKind::While => self.while_expr(attrs),
            TokenKind::LBrace => {
                let block = self.block(attrs);
                self.expr_node(start, ExprKind::Block(Box::new(block)))
            }
            _ => {
                let span = self.span_from(start);
                let message =
                    format!("expected a loop, a block or a declaration after the attribute, found {}", self.found());
                let help = if self.at(TokenKind::Let) {
                    "move the attribute to the loop, block or function that it is about"
                } else {
                    "for a matrix product put spaces round `@` and end the line before with it"
                };
                let diagnostic = Diagnostic::error(codes::MISPLACED_ATTRIBUTE, span, message).help(help);
                self.report(diagnostic);
                self.error_expr(span)
            }
        }
    }

    /// Whether the `{` that stands here after a name starts a struct literal.
    pub(super) fn at_struct_literal(&self, base: &Expr, ops: &[PostfixOp]) -> bool {
        if self.struct_literals {
            return self.literal_path(base, ops).is_some();
        }
        // In the head of `if` and the like a block starts here, but no block starts with `x:`.
        self.peek_ahead(1) == TokenKind::Ident
            && self.peek_ahead(2) == TokenKind::Colon
            && self.literal_path(base, ops).is_some()
    }

    pub(super) fn struct_literal(&mut self, start: Span, base: Expr, mut ops: Vec<PostfixOp>) -> Expr {
        let Some(path) = self.literal_path(&base, &ops) else {
            return base;
        };
        if !self.struct_literals {
            let name = self.text(path.span).to_owned();
            let diagnostic = Diagnostic::error(
                codes::STRUCT_LITERAL_IN_HEAD,
                path.span,
                format!("expected parentheses round the struct literal of `{name}` in the head of a block, found none"),
            )
            .help(format!("write `({name} {{ ... }})`"));
            self.report(diagnostic);
        }
        let generics = match ops.pop() {
            Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => args,
            _ => Vec::new(),
        };
        let mut update = None;
        let (fields, _) = self.list(List::braces("a field"), |parser| {
            if parser.eat(TokenKind::DotDot).is_some() {
                update = Some(parser.expr());
                return None;
            }
            Some(parser.field_init())
        });
        let parts = StructLiteral { path, generics, fields: fields.into_iter().flatten().collect(), base: update };
        self.expr_node(start, ExprKind::Struct(Box::new(parts)))
    }

    fn field_init(&mut self) -> FieldInit {
        let name = self.ident("a field");
        if self.eat(TokenKind::Colon).is_some() {
            let value = self.ascribed();
            return FieldInit { name, value, shorthand: false };
        }
        if self.at(TokenKind::Eq) {
            let message = format!("expected `:` after the field `{}`, found `=`", name.name);
            let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, self.token().span, message)
                .help(format!("write `{}: ...`", name.name));
            self.report_earlier(diagnostic);
            self.bump();
            let value = self.expr();
            return FieldInit { name, value, shorthand: false };
        }
        let value = Expr { id: self.node(), span: name.span, kind: ExprKind::Name(name.name.clone()) };
        FieldInit { name, value, shorthand: true }
    }
}
