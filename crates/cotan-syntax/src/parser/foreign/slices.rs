//! Slices with colons, as in `x[1:]` and `x[0:n:2]`.

use super::super::Parser;
use super::expression;
use crate::ast::{Expr, ExprKind, Range};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

/// Reads one index between brackets, where a colon is never a type.
pub(in crate::parser) fn index(parser: &mut Parser<'_>) -> Expr {
    let start = parser.token().span;
    let first = parser.pos;
    if parser.at(TokenKind::Colon) {
        return slice(parser, start, first, None);
    }
    let value = parser.value();
    if parser.at(TokenKind::Colon) && !parser.has_failed_here() {
        return slice(parser, start, first, Some(value));
    }
    value
}

/// Reads the rest of a slice from its colon on; `first` is the number of its first token.
#[cold]
fn slice(parser: &mut Parser<'_>, start: Span, first: usize, lo: Option<Expr>) -> Expr {
    let op_span = parser.bump();
    let hi = end(parser);
    let has_step = parser.eat(TokenKind::Colon).is_some();
    let step = if has_step { end(parser) } else { None };
    let span = parser.span_from(start);
    let error = expression(span, "a slice with `..`", parser.quoted(span));
    let text = |expr: &Option<Expr>| expr.as_ref().map_or("", |expr| parser.quoted(expr.span));
    let diagnostic = if has_step {
        let step = step.as_ref().map_or("1", |step| parser.quoted(step.span));
        with_step(parser, error, first, [text(&lo), text(&hi), step])
    } else {
        let name = sliced(parser, first).unwrap_or("");
        without_step(error, name, op_span, [text(&lo), text(&hi)])
    };
    parser.report_earlier(diagnostic);
    let range = Range { lo, hi, inclusive: false, op_span, in_brackets: true };
    parser.expr_node(start, ExprKind::Range(Box::new(range)))
}

fn end(parser: &mut Parser<'_>) -> Option<Expr> {
    let is_open = matches!(parser.peek(), TokenKind::Colon | TokenKind::Comma | TokenKind::RBracket);
    (!is_open).then(|| parser.expr())
}

/// `lo:hi`. With both ends, some languages count from 1 and mean the last element too: that is not for certain.
fn without_step(error: Diagnostic, name: &str, colon: Span, [lo, hi]: [&str; 2]) -> Diagnostic {
    let help = if name.is_empty() { format!("write `{lo}..{hi}`") } else { format!("write `{name}[{lo}..{hi}]`") };
    if lo.is_empty() || lo == "0" || hi.is_empty() {
        return error.help(help).fix(colon, "..");
    }
    error.help(format!("{help}: indices start at 0, and the end is not in the slice"))
}

/// `lo:hi:step`. The module that it takes is imported when it is missed.
fn with_step(parser: &Parser<'_>, error: Diagnostic, first: usize, [lo, hi, step]: [&str; 3]) -> Diagnostic {
    let from = if lo.is_empty() { "0" } else { lo };
    let Some(name) = sliced(parser, first).filter(|_| !hi.is_empty()) else {
        return error.help("a slice has no step: import `std.shape`, and write `shape.slice(v, start, stop, step)`");
    };
    let code = format!("shape.slice({name}, {from}, {hi}, {step})");
    let whole = parser.tokens[first - 2].span.to(parser.token().span);
    let counts_up = [from, hi, step].iter().all(|part| !part.starts_with('-') && *part != "...") && step != "0";
    let is_certain = parser.at(TokenKind::RBracket) && counts_up;
    let error = error.help(format!("import `std.shape`, and write `{code}`"));
    if is_certain { error.fix(whole, code) } else { error }
}

/// The name of the tensor whose only index begins at the token `first`.
fn sliced<'a>(parser: &Parser<'a>, first: usize) -> Option<&'a str> {
    let [name, open] = *parser.tokens.get(first.checked_sub(2)?..first)? else { return None };
    let is_whole = name.kind == TokenKind::Ident && open.kind == TokenKind::LBracket && !parser.at(TokenKind::Comma);
    is_whole.then(|| parser.text(name.span))
}
