//! Conditional expressions of other languages, and lambdas that begin with their parameters: what follows a complete operand.

use super::super::{Bracket, Parser};
use super::expression;
use crate::ast::{Block, Expr, ExprKind, If, IfArm, Lambda, LambdaParam, Pattern, PatternKind};
use crate::span::Span;
use crate::token::TokenKind;

/// Reads what goes on after a whole expression as in `a if c else b`, `c ? a : b` and `[e for x in v]`.
pub(in crate::parser) fn after_expression(parser: &mut Parser<'_>, left: Expr) -> Expr {
    if parser.at_new_line() {
        return left;
    }
    match parser.peek() {
        TokenKind::If if parser.struct_literals && parser.meets(TokenKind::Else) => value_first(parser, left),
        TokenKind::Question if parser.meets(TokenKind::Colon) => condition_first(parser, left),
        TokenKind::For if matches!(parser.bracket, Bracket::Paren | Bracket::Square) => comprehension(parser, left),
        _ => left,
    }
}

/// Whether one of the tokens stands here at which [`after_expression`] looks.
pub(in crate::parser) fn may_follow_expression(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::If | TokenKind::Question | TokenKind::For)
}

/// `a if c else b`
#[cold]
fn value_first(parser: &mut Parser<'_>, then: Expr) -> Expr {
    parser.bump();
    let condition = parser.deeper_expr();
    if !parser.expect(TokenKind::Else, "and the other value") {
        return parser.error_expr(then.span.to(condition.span));
    }
    let otherwise = parser.deeper_expr();
    let (a, c, b) = (then.span, condition.span, otherwise.span);
    let code = braced(parser, c, a, b);
    let found = parser.quoted(a.to(b));
    let diagnostic = expression(a.to(b), "`if` before the condition", found)
        .help(format!("write `{code}`"))
        .fix(a.before(), format!("if {} {{ ", parser.text(c)))
        .fix(Span { start: a.end, end: b.start, ..a }, " } else { ")
        .fix(b.after(), " }");
    parser.report_earlier(diagnostic);
    if_node(parser, condition, then, otherwise)
}

/// `c ? a : b`
#[cold]
fn condition_first(parser: &mut Parser<'_>, condition: Expr) -> Expr {
    parser.bump();
    let then = parser.deeper_expr();
    if !parser.expect(TokenKind::Colon, "and the other value") {
        return parser.error_expr(condition.span.to(then.span));
    }
    let otherwise = parser.deeper_expr();
    let (c, a, b) = (condition.span, then.span, otherwise.span);
    let code = braced(parser, c, a, b);
    let found = parser.quoted(c.to(b));
    let diagnostic = expression(c.to(b), "`if` and `else`", found)
        .help(format!("write `{code}`"))
        .fix(c.before(), "if ")
        .fix(Span { start: c.end, end: a.start, ..c }, " { ")
        .fix(Span { start: a.end, end: b.start, ..c }, " } else { ")
        .fix(b.after(), " }");
    parser.report_earlier(diagnostic);
    if_node(parser, condition, then, otherwise)
}

fn braced(parser: &Parser<'_>, condition: Span, then: Span, otherwise: Span) -> String {
    let quoted = |span| parser.quoted(span);
    format!("if {} {{ {} }} else {{ {} }}", quoted(condition), quoted(then), quoted(otherwise))
}

fn if_node(parser: &mut Parser<'_>, condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let span = condition.span.to(then.span).to(otherwise.span);
    let block = block_of(parser, then);
    let otherwise = Some(block_of(parser, otherwise));
    let kind = ExprKind::If(Box::new(If { arms: vec![IfArm { condition, block }], otherwise }));
    Expr { id: parser.node(), span, kind }
}

fn block_of(parser: &mut Parser<'_>, value: Expr) -> Block {
    let (id, span) = (parser.node(), value.span);
    Block { id, span, attrs: Vec::new(), statements: Vec::new(), value: Some(Box::new(value)) }
}

/// `[e for x in v]`
#[cold]
fn comprehension(parser: &mut Parser<'_>, element: Expr) -> Expr {
    parser.bump();
    let pattern = parser.pattern();
    let is_filled = parser.expect(TokenKind::In, "after the pattern");
    let iterable = if is_filled { parser.deeper_expr() } else { parser.error_expr(pattern.span.after()) };
    let has_filter = parser.eat(TokenKind::If).is_some();
    if has_filter {
        parser.deeper_expr();
    }
    let span = parser.span_from(element.span);
    let lambda = format!("|{}| {}", parser.quoted(pattern.span), parser.quoted(element.span));
    let over = parser.quoted(iterable.span);
    let count = over.strip_prefix("range(").and_then(|rest| rest.strip_suffix(')')).filter(|n| !n.contains(','));
    let code = match count {
        Some(_) | None if has_filter => {
            "write a loop that counts the elements, and then one that takes them".to_owned()
        }
        Some(n) => format!("write `tabulate({n}, {lambda})`"),
        None => format!("write `map({lambda}, {over})`"),
    };
    if is_filled {
        let found = parser.quoted(span);
        parser.report_earlier(expression(span, "`map` or `tabulate`", found).help(code));
    }
    parser.error_expr(span)
}

/// Reads `x -> e`, `(x, y) => e` after the parameters, in the arguments of a call.
#[cold]
pub(in crate::parser) fn arrow_lambda(parser: &mut Parser<'_>, params: Expr) -> Expr {
    let names = match parser.text(params.span).strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) => inner.trim().to_owned(),
        None => parser.text(params.span).to_owned(),
    };
    let head = params.span.to(parser.bump());
    let body = parser.deeper_expr();
    let code = format!("|{names}| {}", parser.quoted(body.span));
    let found = parser.quoted(head);
    let diagnostic =
        expression(head, "a lambda", found).help(format!("write `{code}`")).fix(head, format!("|{names}|"));
    parser.report_earlier(diagnostic);
    lambda_node(parser, params, body)
}

/// Whether the parameters of an arrow function were read, and its arrow is next.
pub(in crate::parser) fn at_arrow_lambda(parser: &Parser<'_>, base: &Expr) -> bool {
    let is_name = |expr: &Expr| matches!(expr.kind, ExprKind::Name(_));
    let are_params = is_name(base) || matches!(&base.kind, ExprKind::Tuple(parts) if parts.iter().all(is_name));
    are_params && parser.bracket == Bracket::Paren && matches!(parser.peek(), TokenKind::Arrow | TokenKind::FatArrow)
}

fn lambda_node(parser: &mut Parser<'_>, params: Expr, body: Expr) -> Expr {
    let span = params.span.to(body.span);
    let names = if let ExprKind::Tuple(parts) = params.kind { parts } else { vec![params] };
    let params = names.into_iter().filter_map(|name| name_param(parser, name)).collect();
    let kind = ExprKind::Lambda(Box::new(Lambda { params, body }));
    Expr { id: parser.node(), span, kind }
}

fn name_param(parser: &mut Parser<'_>, name: Expr) -> Option<LambdaParam> {
    let ExprKind::Name(text) = name.kind else { return None };
    let ident = crate::ast::Ident { name: text, span: name.span };
    let kind = PatternKind::Name { mutable: None, name: ident };
    Some(LambdaParam { pattern: Pattern { id: parser.node(), span: name.span, kind }, ty: None })
}
