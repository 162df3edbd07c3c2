//! Attributes and doc comments.

use super::Parser;
use crate::ast::{Attr, Doc};
use crate::token::{CommentKind, TokenKind};

/// Reads `@name(args)` as often as it stands here.
pub(super) fn attrs(parser: &mut Parser<'_>) -> Vec<Attr> {
    let mut attrs = Vec::new();
    while let Some(start) = parser.eat(TokenKind::At) {
        let name = parser.ident("an attribute");
        let has_args = parser.at(TokenKind::LParen) && !parser.token().newline_before;
        let args = if has_args { parser.call_args().0 } else { Vec::new() };
        attrs.push(Attr { span: parser.span_from(start), name, args });
    }
    attrs
}

/// Whether only white space stands before the span on its line.
fn begins_line(parser: &Parser<'_>, span: crate::Span) -> bool {
    let before = parser.source[..span.start as usize].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// The `##` lines directly before the next token.
pub(super) fn doc(parser: &Parser<'_>) -> Option<Doc> {
    let at = parser.pos as u32;
    let first = parser.comments.partition_point(|comment| comment.before_token < at);
    let mut lines = Vec::new();
    let mut span = None;
    for comment in parser.comments[first..]
        .iter()
        .take_while(|comment| comment.before_token == at)
        .filter(|comment| comment.kind == CommentKind::Doc && begins_line(parser, comment.span))
    {
        let text = parser.text(comment.span).trim_start_matches('#');
        lines.push(text.strip_prefix(' ').unwrap_or(text).trim_end());
        span = Some(span.map_or(comment.span, |first: crate::Span| first.to(comment.span)));
    }
    span.map(|span| Doc { text: lines.join("\n"), span })
}
