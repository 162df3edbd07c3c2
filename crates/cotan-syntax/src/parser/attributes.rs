//! Attributes and doc comments.

use super::Parser;
use crate::ast::{Attr, Doc};
use crate::token::{CommentKind, TokenKind};

impl Parser<'_> {
    /// Reads `@name(args)` as often as it stands here.
    pub(super) fn attrs(&mut self) -> Vec<Attr> {
        let mut attrs = Vec::new();
        while let Some(start) = self.eat(TokenKind::At) {
            let name = self.ident("an attribute");
            let has_args = self.at(TokenKind::LParen) && !self.token().newline_before;
            let args = if has_args { self.call_args().0 } else { Vec::new() };
            attrs.push(Attr { span: self.span_from(start), name, args });
        }
        attrs
    }

    /// Whether only white space stands before the span on its line.
    fn begins_line(&self, span: crate::Span) -> bool {
        let before = self.source[..span.start as usize].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// The `##` lines directly before the next token.
    pub(super) fn doc(&self) -> Option<Doc> {
        let at = self.pos as u32;
        let first = self.comments.partition_point(|comment| comment.before_token < at);
        let mut lines = Vec::new();
        let mut span = None;
        for comment in self.comments[first..]
            .iter()
            .take_while(|comment| comment.before_token == at)
            .filter(|comment| comment.kind == CommentKind::Doc && self.begins_line(comment.span))
        {
            let text = self.text(comment.span).trim_start_matches('#');
            lines.push(text.strip_prefix(' ').unwrap_or(text).trim_end());
            span = Some(span.map_or(comment.span, |first: crate::Span| first.to(comment.span)));
        }
        span.map(|span| Doc { text: lines.join("\n"), span })
    }
}
