//! Margins: where lines begin, which says what belongs together where brackets are missing.

use super::Parser;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Whether the next token is the first of its line, with nothing in front.
    pub(super) fn at_margin(&self) -> bool {
        // Lines may be long: no search for the beginning.
        let start = self.token().span.start as usize;
        start == 0 || self.source.as_bytes()[start - 1] == b'\n'
    }

    /// Whether a declaration starts here at the left margin: then a bracket before it was left
    /// open.
    pub(super) fn at_unindented_item(&self) -> bool {
        (self.starts_item() || self.at(TokenKind::At)) && self.at_margin()
    }

    /// The bytes in front of a place on its line.
    pub(super) fn column(&self, span: Span) -> usize {
        let before = &self.source[..span.start as usize];
        before.len() - before.rfind('\n').map_or(0, |at| at + 1)
    }

    /// The spaces with which the line of a place begins.
    pub(super) fn indent_of(&self, span: Span) -> usize {
        let before = &self.source[..span.start as usize];
        let line = &self.source[before.rfind('\n').map_or(0, |at| at + 1)..];
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }
}
