//! Tokens and comments in their order.

use super::Formatter;
use super::layout::Comment;
use crate::span::Span;
use crate::token::{Token, TokenKind};

/// For each opening bracket the index of its partner; for every other token 0.
#[allow(clippy::wildcard_enum_match_arm, reason = "only brackets have partners")]
pub(super) fn partners(tokens: &[Token]) -> Vec<u32> {
    let mut partners = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => open.push(at),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                if let Some(opening) = open.pop() {
                    partners[opening] = at as u32;
                }
            }
            _ => {}
        }
    }
    partners
}

impl<'a> Formatter<'a> {
    /// The next token. The last one, the end of the file, is never passed.
    pub(super) fn token(&self) -> Token {
        self.tokens[self.pos]
    }

    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.token().kind == kind
    }

    pub(super) fn text_of(&self, span: Span) -> &'a str {
        &self.source[span.range()]
    }

    fn bump(&mut self) {
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
    }

    /// Prints the next token with the comments before it.
    pub(super) fn next(&mut self) {
        self.comments();
        self.bare_next();
    }

    /// Prints the next token, and leaves the comments before it for later: so a separator follows
    /// what it separates.
    pub(super) fn bare_next(&mut self) {
        let text = self.text_of(self.token().span);
        if self.layout.ends_in_text() && self.would_merge(text) {
            self.layout.space();
        }
        self.layout.text(text);
        self.bump();
    }

    /// Prints `n` tokens.
    pub(super) fn next_n(&mut self, n: usize) {
        for _ in 0..n {
            self.next();
        }
    }

    /// Prints the next token and a space.
    pub(super) fn next_and_space(&mut self) {
        self.next();
        self.layout.space();
    }

    /// Prints the next token, an operator, with a space on both sides.
    pub(super) fn spaced_next(&mut self) {
        self.layout.space();
        self.bare_next();
        self.layout.space();
    }

    /// Moves past the next token, if it is of this kind, without printing it.
    pub(super) fn skip(&mut self, kind: TokenKind) -> bool {
        let is_there = self.at(kind);
        if is_there {
            self.bump();
        }
        is_there
    }

    /// Prints the comments before the next token.
    pub(super) fn comments(&mut self) {
        while let Some(comment) = self.comments.get(self.next_comment)
            && comment.before_token as usize <= self.pos
        {
            self.next_comment += 1;
            let printed = self.surroundings(comment.span);
            self.layout.comment(printed);
        }
    }

    /// Whether comments stand before the next token.
    pub(super) fn has_comments(&self) -> bool {
        self.comments.get(self.next_comment).is_some_and(|c| c.before_token as usize <= self.pos)
    }

    /// The comment before the last one passed, with what stands round it. What follows is what is printed
    /// after it: separators between the comment and the next token have been printed before it.
    fn surroundings(&self, span: Span) -> Comment<'a> {
        let before = &self.source[..span.start as usize];
        let gap = &before[before.trim_end().len()..];
        let newlines_before = gap.matches('\n').count();
        let next_comment = self.comments.get(self.next_comment).map_or(u32::MAX, |comment| comment.span.start);
        let next = self.token().span.start.min(next_comment);
        let after = &self.source[span.end as usize..next as usize];
        let newlines_after = after.matches('\n').count().max(usize::from(next as usize == self.source.len()));
        // What stands before other text on its line goes with that, wherever it goes.
        let is_inline = newlines_after == 0;
        Comment {
            text: self.text_of(span),
            begins_line: !is_inline && (newlines_before > 0 || gap.len() == before.len()),
            blank_before: newlines_before > 1,
            newlines_after,
        }
    }

    /// Whether an empty line follows the last token that was printed or passed.
    pub(super) fn blank_follows(&self) -> bool {
        let Some(last) = self.pos.checked_sub(1) else { return false };
        let after = &self.source[self.tokens[last].span.end as usize..];
        let blank = &after[..after.len() - after.trim_start().len()];
        blank.matches('\n').count() > 1
    }

    /// Whether a line ends after the next token.
    pub(super) fn newline_follows(&self) -> bool {
        self.tokens.get(self.pos + 1).is_some_and(|token| token.newline_before)
    }

    /// Whether two tokens would become others if nothing stood between the last one and this text.
    fn would_merge(&self, text: &str) -> bool {
        let Some(at) = self.pos.checked_sub(1) else { return false };
        let last = self.tokens[at];
        let last_text = self.text_of(last.span);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if last.kind == TokenKind::Dot && text.starts_with(|c: char| c.is_ascii_digit()) {
            // `7 . 3` and `2_u8 . 0` are fields of whole numbers, `7 .3` and `2_u8.0` are something else.
            return at > 0 && self.tokens[at - 1].kind == TokenKind::Int && !self.is_field(at - 1);
        }
        if last_text.ends_with(is_word) {
            let is_fold_word = last.kind == TokenKind::Ident && matches!(last_text, "max" | "min" | "and" | "or");
            let touches = last.span.end == self.token().span.start;
            return text.starts_with(is_word)
                || (last.kind == TokenKind::Int
                    && text.starts_with('.')
                    && !text.starts_with("..")
                    && !self.is_field(at))
                || (is_fold_word && !touches && text.starts_with(['/', '=']));
        }
        let joined = format!("{last_text}{text}");
        let longest = TokenKind::SYMBOLS
            .iter()
            .filter_map(|k| k.text())
            .filter(|s| joined.starts_with(s))
            .max_by_key(|s| s.len());
        joined.starts_with("/*") || longest.is_some_and(|s| s.len() > last_text.len())
    }

    /// Whether the token is the number of a field, as in `t.0`.
    fn is_field(&self, at: usize) -> bool {
        at > 0 && self.tokens[at - 1].kind == TokenKind::Dot
    }
}
