//! Operators: precedence climbing over the table of infix operators, prefix operators, folds and
//! everything that follows a value.

use super::mistakes::Slip;
use super::{Bracket, Parser};
use crate::ast::{
    Chain, Expr, ExprKind, Fold, FoldBy, FoldOp, Link, Path, Pipe, Postfix, PostfixKind, PostfixOp, Range, Selector,
    Stage, UnaryOp,
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::precedence::{self, Associativity, Infix, InfixKind};
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

    fn deeper_operators(&mut self, level: u8) -> Expr {
        if !self.enter() {
            return self.missing_expr();
        }
        let expr = self.operators(level);
        self.leave();
        expr
    }

    /// Reads an expression with the infix operators of `level` and tighter.
    fn operators(&mut self, level: u8) -> Expr {
        let start = self.token().span;
        let mut left = self.prefix(level);
        while let Some((infix, slip)) = self.infix(level) {
            left = match (infix.kind, infix.associativity) {
                (InfixKind::Pipe, _) => self.pipe(start, left, infix),
                (InfixKind::Range { inclusive }, _) => self.range(start, Some(left), inclusive),
                (InfixKind::Binary(_), Associativity::Left) => self.chain(start, left, (infix, slip)),
                (InfixKind::Binary(_), Associativity::Right | Associativity::None) => {
                    self.single(start, left, (infix, slip))
                }
            };
            if infix.associativity == Associativity::None {
                left = self.reject_chaining(left, infix);
            }
        }
        left
    }

    /// The infix operator that stands here, if it is of `level` or tighter, and the slip if it
    /// is written in a wrong way.
    fn infix(&self, level: u8) -> Option<(Infix, Option<Slip>)> {
        if self.at_new_line() && !precedence::continues_line(self.peek()) {
            return None;
        }
        let found = match precedence::infix(self.peek()) {
            Some(infix) => (infix, self.slip_at_operator()),
            None => {
                let slip = self.slip()?;
                (slip.meant()?, Some(slip))
            }
        };
        (found.0.level >= level).then_some(found)
    }

    /// Moves past an infix operator and reports its slip.
    fn take_operator(&mut self, slip: Option<Slip>) -> Span {
        match slip {
            Some(slip) => self.take_slip(slip),
            None => self.bump(),
        }
    }

    fn chain(&mut self, start: Span, first: Expr, operator: (Infix, Option<Slip>)) -> Expr {
        let level = operator.0.level;
        let mut next = Some(operator);
        let mut rest = Vec::new();
        while let Some((infix, slip)) = next.take()
            && let InfixKind::Binary(op) = infix.kind
        {
            let op_span = self.take_operator(slip);
            let operand = self.operators(level + 1);
            rest.push(Link { id: self.node(), op, op_span, operand });
            next = self.infix(level).filter(|(infix, _)| infix.level == level);
        }
        self.expr_node(start, ExprKind::Binary(Box::new(Chain { first, rest })))
    }

    /// Reads the right side of an operator that does not combine from the left.
    fn single(&mut self, start: Span, first: Expr, (infix, slip): (Infix, Option<Slip>)) -> Expr {
        let InfixKind::Binary(op) = infix.kind else {
            return first;
        };
        let op_span = self.take_operator(slip);
        let operand = match infix.associativity {
            Associativity::Right => self.deeper_operators(infix.level),
            Associativity::Left | Associativity::None => self.operators(infix.level + 1),
        };
        let rest = vec![Link { id: self.node(), op, op_span, operand }];
        self.expr_node(start, ExprKind::Binary(Box::new(Chain { first, rest })))
    }

    fn pipe(&mut self, start: Span, first: Expr, infix: Infix) -> Expr {
        let mut stages = Vec::new();
        while self.at(TokenKind::Pipe) {
            let op_span = self.bump();
            let function = self.operators(infix.level + 1);
            stages.push(Stage { id: self.node(), op_span, function });
        }
        self.expr_node(start, ExprKind::Pipe(Box::new(Pipe { first, stages })))
    }

    /// Reads `..hi`; in brackets `hi` may be missing.
    fn range(&mut self, start: Span, lo: Option<Expr>, inclusive: bool) -> Expr {
        let op_span = self.bump();
        let hi = self.starts_expression().then(|| self.deeper_operators(precedence::RANGE + 1));
        if self.bracket != Bracket::Square && (lo.is_none() || hi.is_none()) {
            let missing = if lo.is_none() { "start" } else { "end" };
            let text = self.text(op_span);
            let diagnostic = Diagnostic::error(
                codes::OPEN_RANGE,
                op_span,
                format!("expected a range with two ends, found `{text}` without {missing}"),
            )
            .help("only an index may leave an end out, as in `a[1..]`");
            self.report_earlier(diagnostic);
        }
        let parts = Range { lo, hi, inclusive, op_span };
        self.expr_node(start, ExprKind::Range(Box::new(parts)))
    }

    /// Reports `a < b < c`, and reads the rest of it.
    fn reject_chaining(&mut self, left: Expr, infix: Infix) -> Expr {
        let mut left = left;
        while let Some((next, slip)) = self.infix(infix.level).filter(|(next, _)| next.level == infix.level) {
            let text = |token: TokenKind| token.text().unwrap_or("");
            let message =
                format!("expected the end of the operands of `{}`, found `{}`", text(infix.token), text(next.token));
            let diagnostic = Diagnostic::error(codes::CHAINED_OPERATORS, self.token().span, message)
                .label(left.span, "this is already a complete expression")
                .help(if infix.level == precedence::RANGE {
                    "a range has two ends; put parentheses round an end that is a range"
                } else {
                    "compare in pairs: `a < b && b < c`; or put parentheses round one comparison"
                });
            self.report(diagnostic);
            self.take_operator(slip);
            let right = self.operators(infix.level + 1);
            let span = left.span.to(right.span);
            left = self.error_expr(span);
        }
        left
    }

    /// Reads prefix operators and what they stand before. `level` is that of the operator before
    /// them: an operand of a fold takes no infix operators along.
    fn prefix(&mut self, level: u8) -> Expr {
        let start = self.token().span;
        let op = match self.peek() {
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::DotDot | TokenKind::DotDotEq => {
                let inclusive = self.at(TokenKind::DotDotEq);
                return self.range(start, None, inclusive);
            }
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
            && self.bracket_length(0).is_some_and(|len| {
                let next = self.token_ahead(len);
                self.starts_expression_ahead(len) && !(self.newlines_matter() && next.newline_before)
            })
    }

    /// Reads a value and everything that follows it.
    fn postfix(&mut self) -> Expr {
        let start = self.token().span;
        let is_lambda_in_parens =
            self.at(TokenKind::LParen) && matches!(self.peek_ahead(1), TokenKind::Bar | TokenKind::OrOr);
        let base = self.primary();
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
                    return self.struct_literal(start, base, ops);
                }
                _ => break,
            };
            ops.push(PostfixOp { id: self.node(), span: self.span_from(op_start), kind });
        }
        if ops.is_empty() {
            return base;
        }
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
        let mut path =
            Path { segments: vec![crate::ast::Ident { name: name.clone(), span: base.span }], span: base.span };
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
