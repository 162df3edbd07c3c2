//! Words and marks of other languages with which an expression begins: `lambda`, `not`, `f"..."`, `println!`, `a::b`, `loop`.

use super::super::{Bracket, Parser, patterns, recovery};
use super::{expression, statement};
use crate::ast::{Expr, ExprKind, Lambda, LambdaParam, Literal, UnaryOp, While};
use crate::precedence;
use crate::span::Span;
use crate::token::TokenKind;

/// Reads an expression of another language that begins with the name `text` here; none if it is just a name.
pub(in crate::parser) fn expression_at_name(parser: &mut Parser<'_>, text: &str) -> Option<Expr> {
    let (next, after) = (parser.token_ahead(1), parser.peek_ahead(2));
    let is_on_line = !(next.newline_before && parser.newlines_matter());
    match (text, next.kind) {
        ("lambda", TokenKind::Ident | TokenKind::Colon) if is_on_line => Some(lambda(parser)),
        ("not", TokenKind::Ident | TokenKind::True | TokenKind::False) if is_on_line => Some(not(parser)),
        ("f", TokenKind::Str) if parser.touches_next(0) => Some(format_string(parser)),
        ("loop", TokenKind::LBrace) if !at_fields(parser) => Some(endless_loop(parser)),
        (_, TokenKind::Bang) if is_macro(parser, after) => Some(macro_call(parser)),
        (_, TokenKind::Colon) if after == TokenKind::Colon && parser.touches_next(1) => Some(path(parser)),
        _ => None,
    }
}

/// `lambda t, u: e`
#[cold]
fn lambda(parser: &mut Parser<'_>) -> Expr {
    let start = parser.bump();
    let names = parser.token().span;
    let mut params = Vec::new();
    while parser.at(TokenKind::Ident) {
        let pattern = patterns::single_pattern(parser);
        params.push(LambdaParam { pattern, ty: None });
        if parser.eat(TokenKind::Comma).is_none() {
            break;
        }
    }
    let names = if params.is_empty() { String::new() } else { parser.text(parser.span_from(names)).to_owned() };
    if !parser.expect(TokenKind::Colon, "after the parameters") {
        return parser.error_expr(start);
    }
    let head = parser.span_from(start);
    let body = parser.deeper_expr();
    let code = format!("|{names}| {}", parser.quoted(body.span));
    let diagnostic = expression(head, "a lambda", parser.quoted(head));
    parser.report_earlier(diagnostic.help(format!("write `{code}`")).fix(head, format!("|{names}|")));
    parser.expr_node(start, ExprKind::Lambda(Box::new(Lambda { params, body })))
}

/// `not e`, which is looser than comparisons.
#[cold]
fn not(parser: &mut Parser<'_>) -> Expr {
    let op_span = parser.bump();
    let operand = parser.deeper_operators(precedence::COMPARISON);
    let is_tight = matches!(operand.kind, ExprKind::Name(_) | ExprKind::Literal(_) | ExprKind::Postfix(_));
    let (open, close) = if is_tight { ("!", "") } else { ("!(", ")") };
    let code = format!("{open}{}{close}", parser.quoted(operand.span));
    let gap = Span { end: operand.span.start, ..op_span };
    let mut diagnostic = expression(op_span, "`!`", "not").help(format!("write `{code}`")).fix(gap, open);
    if !close.is_empty() {
        diagnostic = diagnostic.fix(operand.span.after(), close);
    }
    parser.report_earlier(diagnostic);
    let kind = ExprKind::Unary { op: UnaryOp::Not, op_span, operand: Box::new(operand) };
    parser.expr_node(op_span, kind)
}

/// `f"x = {x}"`
#[cold]
fn format_string(parser: &mut Parser<'_>) -> Expr {
    let start = parser.bump();
    let string = parser.bump();
    let span = start.to(string);
    let diagnostic = expression(span, "text and values between commas", parser.quoted(span));
    let follows_print = parser.pos.checked_sub(4).is_some_and(|at| parser.text(parser.tokens[at].span) == "print");
    let is_argument = parser.bracket == Bracket::Paren && follows_print && parser.at(TokenKind::RParen);
    parser.report_earlier(match arguments_of_format(parser.text(string)) {
        Some(code) if is_argument => diagnostic.help(format!("write `print({code})`")).fix(span, code),
        Some(code) => diagnostic.help(format!("only `print` takes text: `print({code})`")),
        None => diagnostic.help("write `print(\"x =\", x)`: values are separated by spaces"),
    });
    parser.error_expr(span)
}

/// The arguments of `print` that print what a string with values in braces does; none if spaces or formats differ.
fn arguments_of_format(string: &str) -> Option<String> {
    let mut rest = string.strip_prefix('"')?.strip_suffix('"')?;
    let mut parts: Vec<String> = Vec::new();
    while let Some((text, tail)) = rest.split_once('{') {
        let (value, tail) = tail.split_once('}')?;
        if value.is_empty() || value.contains(['{', ':', '!', '"']) {
            return None;
        }
        if !text.is_empty() {
            let inner = if parts.is_empty() { text } else { text.strip_prefix(' ')? };
            if let Some(inner) = inner.strip_suffix(' ').filter(|inner| !inner.is_empty()) {
                parts.push(format!("\"{inner}\""));
            } else if !inner.is_empty() || parts.is_empty() {
                return None;
            }
        } else if !parts.is_empty() {
            return None;
        }
        parts.push(value.trim().to_owned());
        rest = tail;
    }
    if parts.is_empty() || rest.contains('}') {
        return None;
    }
    if !rest.is_empty() {
        parts.push(format!("\"{}\"", rest.strip_prefix(' ').filter(|rest| !rest.is_empty())?));
    }
    Some(parts.join(", "))
}

/// Whether `name!(` or `name![` stands here, without spaces.
fn is_macro(parser: &Parser<'_>, after: TokenKind) -> bool {
    let is_bracket = matches!(after, TokenKind::LParen | TokenKind::LBracket);
    is_bracket && parser.touches_next(0) && parser.touches_next(1)
}

/// `println!("{}", x)`, `vec![0.0; n]`
#[cold]
fn macro_call(parser: &mut Parser<'_>) -> Expr {
    let name = parser.bump();
    let head = name.to(parser.bump());
    let open = parser.token();
    let first = parser.token_ahead(1);
    recovery::skip_tree(parser);
    let span = parser.span_from(name);
    let args = Span { start: open.span.end, end: parser.previous_span().start.max(open.span.end), ..span };
    let diagnostic = expression(span, "a call", &format!("{}...", parser.text(head)));
    let is_print = matches!(parser.text(name), "println" | "print" | "eprintln");
    let diagnostic = match parser.text(name) {
        "vec" => match parser.text(args).split_once(';') {
            Some((value, n)) => {
                let code = format!("full({}, {})", n.trim(), value.trim());
                diagnostic.help(format!("write `{code}`")).fix(span, code)
            }
            None => diagnostic.help(format!("write `[{}]`", parser.quoted(args))),
        },
        _ if is_print => match printed(parser, args, first.span) {
            Some(code) => diagnostic.help(format!("write `print({code})`")).fix(span, format!("print({code})")),
            None => diagnostic.help("write `print(\"x =\", x)`: values are separated by spaces"),
        },
        other => diagnostic.help(format!("there are no macros: call a function, as in `{other}(...)`")),
    };
    parser.report_earlier(diagnostic);
    parser.error_expr(span)
}

/// The arguments of `print` for those of a macro whose format is text alone, or values alone with a space between.
fn printed(parser: &Parser<'_>, args: Span, first: Span) -> Option<String> {
    let format = parser.text(first).strip_prefix('"')?.strip_suffix('"')?;
    let rest = parser.text(Span { start: first.end, end: args.end.max(first.end), ..args }).trim();
    if rest.is_empty() {
        return (!format.contains(['{', '}'])).then(|| format!("\"{format}\""));
    }
    let are_plain = format.split(' ').all(|part| part == "{}" || part == "{:?}");
    let values = rest.strip_prefix(',').filter(|_| are_plain)?;
    Some(values.trim().trim_end_matches(',').to_owned())
}

/// `std::f64::consts::PI`
#[cold]
fn path(parser: &mut Parser<'_>) -> Expr {
    let start = parser.bump();
    let mut last = start;
    while parser.at(TokenKind::Colon) && parser.peek_ahead(1) == TokenKind::Colon {
        parser.bump();
        parser.bump();
        last = if parser.at(TokenKind::Ident) { parser.bump() } else { parser.previous_span() };
    }
    let span = start.to(last);
    let found = parser.quoted(span);
    let diagnostic = expression(span, "a name, with `.` after that of a module", found);
    let meant = match found.split("::").collect::<Vec<_>>().as_slice() {
        [.., "consts", "PI"] => "pi".to_owned(),
        [.., "consts", "E"] => "e".to_owned(),
        [.., "INFINITY"] => "inf".to_owned(),
        [.., "NAN"] => "nan".to_owned(),
        ["f64" | "f32" | "i64" | "i32" | "u64" | "u32", rest @ ..] if !rest.is_empty() => rest.join("."),
        segments => segments.join("."),
    };
    parser.report_earlier(diagnostic.help(format!("write `{meant}`")).fix(span, meant));
    parser.error_expr(span)
}

/// Whether the brace after the name has fields in it, or nothing.
fn at_fields(parser: &Parser<'_>) -> bool {
    let is_field = parser.peek_ahead(2) == TokenKind::Ident
        && matches!(parser.peek_ahead(3), TokenKind::Colon | TokenKind::Comma | TokenKind::RBrace);
    is_field || matches!(parser.peek_ahead(2), TokenKind::RBrace | TokenKind::DotDot)
}

/// `loop { ... }`
#[cold]
fn endless_loop(parser: &mut Parser<'_>) -> Expr {
    let start = parser.bump();
    parser.report_earlier(
        statement(start, "`while true`", "loop").help("write `while true { ... }`").fix(start, "while true"),
    );
    let condition = Expr { id: parser.node(), span: start, kind: ExprKind::Literal(Literal::Bool(true)) };
    let body = parser.block_after("the head of the loop");
    parser.expr_node(start, ExprKind::While(Box::new(While { attrs: Vec::new(), condition, body })))
}
