//! Heads of loops of other languages: `for (int i = 0; i < n; i++)`, `for i = 1:n`.

use super::super::{Parser, recovery};
use super::statement;
use crate::ast::{Expr, ExprKind, Ident, Pattern, PatternKind};
use crate::span::Span;
use crate::token::TokenKind;

/// A head of three parts.
struct ThreeParts {
    name: Span,
    lo: Span,
    comparison: Span,
    hi: Span,
    step: Span,
}

/// Reads `(int i = 0; i < n; i++)` after `for`; none if something else stands here.
pub(in crate::parser) fn three_parts(parser: &mut Parser<'_>) -> Option<(Pattern, Expr)> {
    if !parser.at(TokenKind::LParen) {
        return None;
    }
    let length = recovery::bracket_length(parser, 0).ok()?;
    let parts = parts(parser, length)?;
    let span = parser.token().span.to(parser.token_ahead(length - 1).span);
    let (name, lo, hi) = (parser.text(parts.name), parser.text(parts.lo), parser.text(parts.hi));
    let range = match parser.text(parts.comparison) {
        "<" | "!=" => Some(format!("{name} in {lo}..{hi}")),
        "<=" => Some(format!("{name} in {lo}..={hi}")),
        _ => None,
    };
    let step: String = parser.text(parts.step).split_whitespace().collect();
    let is_by_one = [format!("{name}++"), format!("++{name}"), format!("{name}+=1"), format!("{name}={name}+1")];
    let range = range.filter(|_| is_by_one.contains(&step));
    let found = parser.quoted(span);
    let diagnostic = statement(span, "a range", found);
    parser.report_earlier(match range {
        Some(range) => diagnostic.help(format!("write `for {range} {{ ... }}`")).fix(span, range),
        None => diagnostic.help(format!("write `for {name} in {lo}..hi {{ ... }}`, or a `while` loop")),
    });
    parser.pos += length;
    let ident = Ident { name: name.to_owned(), span: parts.name };
    let kind = PatternKind::Name { mutable: None, name: ident };
    let pattern = Pattern { id: parser.node(), span: parts.name, kind };
    Some((pattern, parser.error_expr(span)))
}

/// The parts of a head that is `length` tokens long, both parentheses included.
fn parts(parser: &Parser<'_>, length: usize) -> Option<ThreeParts> {
    let kind = |ahead: usize| parser.peek_ahead(ahead);
    let semicolons: Vec<usize> = (1..length).filter(|&ahead| kind(ahead) == TokenKind::Semicolon).collect();
    let equals = (1..length).find(|&ahead| kind(ahead) == TokenKind::Eq)?;
    let &[first, second] = semicolons.as_slice() else { return None };
    let between =
        |from: usize, to: usize| (from < to).then(|| parser.token_ahead(from).span.to(parser.token_ahead(to - 1).span));
    let is_compared = matches!(kind(first + 1), TokenKind::Ident) && first + 2 < second;
    (equals < first && equals >= 2 && is_compared).then_some(())?;
    Some(ThreeParts {
        name: parser.token_ahead(equals - 1).span,
        lo: between(equals + 1, first)?,
        comparison: parser.token_ahead(first + 2).span,
        hi: between(first + 3, second)?,
        step: between(second + 1, length - 1)?,
    })
}

/// Reads the rest of `for i in 1:n` from its colon on; `lo` was read.
#[cold]
pub(in crate::parser) fn colon_range(parser: &mut Parser<'_>, lo: Expr) -> Expr {
    parser.bump();
    let hi = parser.head();
    let span = lo.span.to(hi.span);
    let code = format!("{}..={}", parser.quoted(lo.span), parser.quoted(hi.span));
    let diagnostic = statement(span, "a range with `..`", parser.quoted(span));
    parser.report_earlier(diagnostic.help(format!("write `{code}`; indices start at 0")));
    parser.error_expr(span)
}

/// Whether a colon stands here between the ends of a range that begins with `lo`, and not before a block.
pub(in crate::parser) fn at_colon_range(parser: &Parser<'_>, lo: &Expr) -> bool {
    let is_number = matches!(lo.kind, ExprKind::Literal(_));
    let goes_on = parser.at(TokenKind::Colon) && !parser.token_ahead(1).newline_before;
    goes_on && (is_number || parser.meets(TokenKind::LBrace))
}
