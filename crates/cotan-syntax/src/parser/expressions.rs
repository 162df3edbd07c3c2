//! Everything in an expression that binds tighter than infix operators: prefix operators, folds and
//! what follows a value.

use super::Parser;
use crate::ast::{
    Expr, ExprKind, Fold, FoldBy, FoldOp, Ident, Path, Postfix, PostfixKind, PostfixOp, Selector, UnaryOp,
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::precedence;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expr(&mut self) -> Expr {
        self.operators(0)
    }

    /// Reads an expression that is one level deeper than the one around it.
    pub(super) fn deeper_expr(&mut self) -> Expr {
        self.deeper_operators(0)
    }

    /// Reads an expression like [`Parser::operators`], one level deeper.
    pub(super) fn deeper_operators(&mut self, level: u8) -> Expr {
        if !self.enter() {
            return self.missing_expr();
        }
        let expr = self.operators(level);
        self.leave();
        expr
    }

    /// Reads prefix operators and what they stand before. `level` is that of the operator before
    /// them: an operand of a fold takes no infix operators along.
    pub(super) fn prefix(&mut self, level: u8) -> Expr {
        let start = self.token().span;
        let op = match self.peek() {
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::DotDot | TokenKind::DotDotEq => return self.open_range(),
            _ => {
                return match self.fold_op() {
                    Some((op, len)) => self.fold(op, len),
                    None => self.postfix(),
                };
            }
        };
        let op_span = self.bump();
        let operand = Box::new(self.deeper_operators(level.max(precedence::PREFIX + 1)));
        let kind = ExprKind::Unary { op, op_span, operand };
        self.expr_node(start, kind)
    }

    /// The fold operator that stands here, and how many tokens it has.
    pub(super) fn fold_op(&self) -> Option<(FoldOp, usize)> {
        let word = match self.peek() {
            TokenKind::FoldAdd => return Some((FoldOp::Add, 1)),
            TokenKind::FoldMul => return Some((FoldOp::Mul, 1)),
            TokenKind::FoldSub => return Some((FoldOp::Sub, 1)),
            TokenKind::FoldDiv => return Some((FoldOp::Div, 1)),
            _ => self.word_ahead(0)?,
        };
        let op = match word {
            "max" => FoldOp::Max,
            "min" => FoldOp::Min,
            "and" => FoldOp::And,
            "or" => FoldOp::Or,
            _ => return None,
        };
        (self.touches_next(0) && self.peek_ahead(1) == TokenKind::Slash).then_some((op, 2))
    }

    fn fold(&mut self, op: FoldOp, len: usize) -> Expr {
        let start = self.token().span;
        let op_span = start.to(self.token_ahead(len - 1).span);
        let is_reported = self.has_failed_here();
        self.pos += len;
        if op == FoldOp::Mul && !self.starts_expression() {
            if is_reported {
                return self.error_expr(op_span);
            }
            let diagnostic = Diagnostic::error(
                codes::STRAY_COMMENT_END,
                op_span,
                format!("expected a tensor after the product fold `*/`, found {}", self.found()),
            )
            .help("`*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`");
            self.report(diagnostic);
            return self.error_expr(op_span);
        }
        let selector = self.at_selector().then(|| {
            let (args, span) = self.index_args();
            Selector { span, args }
        });
        let operand = self.deeper_operators(precedence::FOLD + 1);
        let parts = Fold { op, op_span, selector, operand };
        self.expr_node(start, ExprKind::Fold(Box::new(parts)))
    }

    /// Whether `[all]` or `[axis = INT, ...]` stands here with an operand after it; any other
    /// bracket is the operand.
    fn at_selector(&self) -> bool {
        if !self.at(TokenKind::LBracket) {
            return false;
        }
        let is_all = self.word_ahead(1) == Some("all") && self.peek_ahead(2) == TokenKind::RBracket;
        let is_axis = self.word_ahead(1) == Some("axis")
            && self.peek_ahead(2) == TokenKind::Eq
            && self.peek_ahead(3) == TokenKind::Int;
        (is_all || is_axis)
            && self.bracket_length(0).is_ok_and(|len| {
                let next = self.token_ahead(len);
                self.starts_expression_ahead(len) && !(self.newlines_matter() && next.newline_before)
            })
    }

    /// Reads a value and everything that follows it.
    fn postfix(&mut self) -> Expr {
        let start = self.token().span;
        let is_lambda_in_parens =
            self.at(TokenKind::LParen) && matches!(self.peek_ahead(1), TokenKind::Bar | TokenKind::OrOr);
        let mut base = self.primary();
        if is_lambda_in_parens
            && matches!(base.kind, ExprKind::Lambda(_))
            && self.at(TokenKind::Slash)
            && !self.at_new_line()
        {
            return self.fold_by(start, base);
        }
        let mut ops = Vec::new();
        loop {
            if self.at_new_line() && !self.at(TokenKind::As) {
                break;
            }
            let op_start = self.token().span;
            let kind = match self.peek() {
                TokenKind::LParen => PostfixKind::Call(self.call_args().0),
                TokenKind::LBracket => PostfixKind::Index(self.index_args().0),
                TokenKind::Dot => self.field(),
                TokenKind::As => {
                    self.bump();
                    PostfixKind::Cast(self.ty())
                }
                TokenKind::LBrace if self.at_struct_literal(&base, &ops) => {
                    base = self.struct_literal(start, base, std::mem::take(&mut ops));
                    continue;
                }
                _ => break,
            };
            ops.push(PostfixOp { id: self.node(), span: self.span_from(op_start), kind });
        }
        if ops.is_empty() {
            return base;
        }
        ops.shrink_to_fit();
        self.expr_node(start, ExprKind::Postfix(Box::new(Postfix { base, ops })))
    }

    fn fold_by(&mut self, start: Span, function: Expr) -> Expr {
        self.bump();
        let mut operand = self.deeper_operators(precedence::POSTFIX);
        let mut init = None;
        if self.at(TokenKind::Slash) && !self.at_new_line() {
            self.bump();
            init = Some(operand);
            operand = self.deeper_operators(precedence::POSTFIX);
        }
        let parts = FoldBy { function, init, operand };
        self.expr_node(start, ExprKind::FoldBy(Box::new(parts)))
    }

    fn field(&mut self) -> PostfixKind {
        self.bump();
        let span = self.token().span;
        if self.at(TokenKind::Int)
            && let Ok(index) = self.text(span).parse()
        {
            self.bump();
            return PostfixKind::TupleField { index, span };
        }
        PostfixKind::Field(self.ident("a field"))
    }

    /// The path before a struct literal: names and fields, perhaps with one bracket at the end.
    pub(super) fn literal_path(&self, base: &Expr, ops: &[PostfixOp]) -> Option<Path> {
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
                PostfixKind::Index(_)
                | PostfixKind::Call(_)
                | PostfixKind::TupleField { .. }
                | PostfixKind::Cast(_) => return None,
            }
        }
        Some(path)
    }
}
