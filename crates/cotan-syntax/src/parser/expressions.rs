//! Everything in an expression that binds tighter than infix operators: prefix operators, folds and
//! what follows a value.

use super::{Parser, foreign, primary, recovery};
use crate::ast::{Expr, ExprKind, Fold, FoldBy, FoldOp, Postfix, PostfixKind, PostfixOp, Selector, UnaryOp};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::precedence;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
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
}

/// Reads prefix operators and what they stand before. `level` is that of the operator before
/// them: an operand of a fold takes no infix operators along.
pub(super) fn prefix(parser: &mut Parser<'_>, level: u8) -> Expr {
    let start = parser.token().span;
    let op = match parser.peek() {
        TokenKind::Minus => UnaryOp::Neg,
        TokenKind::Bang => UnaryOp::Not,
        TokenKind::DotDot | TokenKind::DotDotEq => return parser.open_range(),
        _ => {
            return match parser.fold_op() {
                Some((op, len)) => fold(parser, op, len),
                None => postfix(parser),
            };
        }
    };
    let op_span = parser.bump();
    let operand = Box::new(parser.deeper_operators(level.max(precedence::PREFIX + 1)));
    let kind = ExprKind::Unary { op, op_span, operand };
    parser.expr_node(start, kind)
}

fn fold(parser: &mut Parser<'_>, op: FoldOp, len: usize) -> Expr {
    let start = parser.token().span;
    let op_span = start.to(parser.token_ahead(len - 1).span);
    let is_reported = parser.has_failed_here();
    parser.pos += len;
    if op == FoldOp::Mul && !parser.starts_expression() {
        if is_reported {
            return parser.error_expr(op_span);
        }
        let diagnostic = Diagnostic::error(
            codes::STRAY_COMMENT_END,
            op_span,
            format!("expected a tensor after the product fold `*/`, found {}", parser.found()),
        )
        .help("`*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`");
        parser.report(diagnostic);
        return parser.error_expr(op_span);
    }
    let selector = at_selector(parser).then(|| {
        let (args, span) = parser.index_args();
        Selector { span, args }
    });
    let operand = parser.deeper_operators(precedence::FOLD + 1);
    let parts = Fold { op, op_span, selector, operand };
    parser.expr_node(start, ExprKind::Fold(Box::new(parts)))
}

/// Whether `[all]` or `[axis = INT, ...]` stands here with an operand after it; any other
/// bracket is the operand.
fn at_selector(parser: &Parser<'_>) -> bool {
    if !parser.at(TokenKind::LBracket) {
        return false;
    }
    let is_all = parser.word_ahead(1) == Some("all") && parser.peek_ahead(2) == TokenKind::RBracket;
    let is_axis = parser.word_ahead(1) == Some("axis")
        && parser.peek_ahead(2) == TokenKind::Eq
        && parser.peek_ahead(3) == TokenKind::Int;
    (is_all || is_axis)
        && recovery::bracket_length(parser, 0).is_ok_and(|len| {
            let next = parser.token_ahead(len);
            parser.starts_expression_ahead(len) && !(parser.newlines_matter() && next.newline_before)
        })
}

/// Reads a value and everything that follows it.
fn postfix(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let is_lambda_in_parens =
        parser.at(TokenKind::LParen) && matches!(parser.peek_ahead(1), TokenKind::Bar | TokenKind::OrOr);
    let mut base = primary::primary(parser);
    if is_lambda_in_parens
        && matches!(base.kind, ExprKind::Lambda(_))
        && parser.at(TokenKind::Slash)
        && !parser.at_new_line()
    {
        return fold_by(parser, start, base);
    }
    if foreign::conditionals::at_arrow_lambda(parser, &base) {
        return foreign::conditionals::arrow_lambda(parser, base);
    }
    let mut ops = Vec::new();
    loop {
        if parser.at_new_line() && !parser.at(TokenKind::As) {
            break;
        }
        let op_start = parser.token().span;
        let kind = match parser.peek() {
            TokenKind::LParen => PostfixKind::Call(parser.call_args().0),
            TokenKind::LBracket => PostfixKind::Index(parser.index_args().0),
            TokenKind::Dot => field(parser),
            TokenKind::As => {
                parser.bump();
                PostfixKind::Cast(parser.ty())
            }
            TokenKind::LBrace if primary::at_struct_literal(parser, &base, &ops) => {
                base = primary::struct_literal(parser, start, base, std::mem::take(&mut ops));
                continue;
            }
            _ => break,
        };
        ops.push(PostfixOp { id: parser.node(), span: parser.span_from(op_start), kind });
    }
    if ops.is_empty() {
        return base;
    }
    ops.shrink_to_fit();
    parser.expr_node(start, ExprKind::Postfix(Box::new(Postfix { base, ops })))
}

fn fold_by(parser: &mut Parser<'_>, start: Span, function: Expr) -> Expr {
    parser.bump();
    let mut operand = parser.deeper_operators(precedence::POSTFIX);
    let mut init = None;
    if parser.at(TokenKind::Slash) && !parser.at_new_line() {
        parser.bump();
        init = Some(operand);
        operand = parser.deeper_operators(precedence::POSTFIX);
    }
    let parts = FoldBy { function, init, operand };
    parser.expr_node(start, ExprKind::FoldBy(Box::new(parts)))
}

fn field(parser: &mut Parser<'_>) -> PostfixKind {
    parser.bump();
    let span = parser.token().span;
    if parser.at(TokenKind::Int)
        && let Ok(index) = parser.text(span).parse()
    {
        parser.bump();
        return PostfixKind::TupleField { index, span };
    }
    PostfixKind::Field(parser.ident("a field"))
}
