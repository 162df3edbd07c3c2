//! What people bring along from other languages: each form is recognised as a whole, told in one message with what to write
//! here, and read as what was meant, so that nothing else is reported about it.
//!
//! A fix is given only where the form has one meaning in the languages that have it, and the same one here.

pub(super) mod arrays;
pub(super) mod blocks;
pub(super) mod conditionals;
pub(super) mod declarations;
pub(super) mod loops;
pub(super) mod slices;
pub(super) mod statements;
pub(super) mod words;

use super::Parser;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

/// The longest code that a message quotes.
const LONGEST_QUOTE: usize = 60;

impl<'a> Parser<'a> {
    /// The text of a place, where it fits into a message; dots elsewhere.
    pub(super) fn quoted(&self, span: Span) -> &'a str {
        let text = self.text(span);
        if text.len() <= LONGEST_QUOTE && !text.contains('\n') { text } else { "..." }
    }

    /// Whether `wanted` stands further on in this line or bracket, before anything that ends an expression.
    pub(super) fn meets(&self, wanted: TokenKind) -> bool {
        let mut ahead = 0;
        loop {
            let token = self.token_ahead(ahead);
            if ahead > 0 && token.kind == wanted {
                return true;
            }
            let is_end = matches!(
                token.kind,
                TokenKind::Eof
                    | TokenKind::RParen
                    | TokenKind::RBracket
                    | TokenKind::RBrace
                    | TokenKind::LBrace
                    | TokenKind::Comma
                    | TokenKind::Semicolon
            );
            if is_end || ahead > 0 && token.newline_before && self.newlines_matter() {
                return false;
            }
            let is_open = matches!(token.kind, TokenKind::LParen | TokenKind::LBracket);
            match is_open.then(|| super::recovery::bracket_length(self, ahead)) {
                None => ahead += 1,
                Some(Ok(length)) => ahead += length,
                Some(Err(_)) => return false,
            }
        }
    }
}

/// An error about an expression of another language.
fn expression(span: Span, expected: &str, found: &str) -> Diagnostic {
    Diagnostic::error(codes::FOREIGN_EXPRESSION, span, format!("expected {expected}, found `{found}`"))
}

/// An error about a statement of another language.
fn statement(span: Span, expected: &str, found: &str) -> Diagnostic {
    Diagnostic::error(codes::FOREIGN_STATEMENT, span, format!("expected {expected}, found `{found}`"))
}
