//! Text to tokens. Every byte belongs to a token, a comment or white space, and nothing stops
//! the lexer: what is wrong is reported and a token of the probable kind is made.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the tokens that it is about; all others are for other rules"
)]

mod comments;
mod contextual;
mod numbers;
mod text;

use crate::ast::Suffix;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::sink::Sink;
use crate::span::{FileId, Span};
use crate::token::{Comment, CommentKind, Token, TokenKind};

/// What the lexer makes of a file.
#[derive(Clone, Debug)]
pub struct Lexed {
    /// The tokens; the last one is [`TokenKind::Eof`].
    pub tokens: Vec<Token>,
    /// The comments.
    pub comments: Vec<Comment>,
    /// What is wrong.
    pub(crate) diagnostics: Sink,
}

/// Splits `source` into tokens, and keeps so many diagnostics at most. The source is shorter than 4 GiB.
pub fn lex(file: FileId, source: &str, most_diagnostics: usize) -> Lexed {
    let mut lexer = Lexer {
        file,
        source,
        pos: 0,
        tokens: Vec::with_capacity(source.len() / 4),
        comments: Vec::new(),
        diagnostics: Sink::new(most_diagnostics),
        newline: false,
    };
    while lexer.step() {}
    lexer.push(TokenKind::Eof, lexer.pos);
    lexer.tokens.shrink_to_fit();
    contextual::resolve(&mut lexer.tokens);
    Lexed { tokens: lexer.tokens, comments: lexer.comments, diagnostics: lexer.diagnostics }
}

/// Turns the bytes of a file into text, or says where they are no UTF-8.
pub fn decode(file: FileId, bytes: Vec<u8>) -> Result<String, InvalidUtf8> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[at];
        let valid = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
        let offset = u32::try_from(at).unwrap_or(u32::MAX);
        let diagnostic = Diagnostic::error(
            codes::INVALID_UTF8,
            Span::new(file, offset, offset),
            format!("expected UTF-8 text, found the byte `0x{byte:02x}`"),
        )
        .help("save the file as UTF-8");
        InvalidUtf8 { diagnostic: Box::new(diagnostic), valid }
    })
}

/// The bytes of a file are no text.
#[derive(Clone, Debug)]
pub struct InvalidUtf8 {
    /// What to report; its span is empty and lies at the end of [`InvalidUtf8::valid`].
    pub diagnostic: Box<Diagnostic>,
    /// The text before the first wrong byte, to show the place.
    pub valid: String,
}

struct Lexer<'a> {
    file: FileId,
    source: &'a str,
    pos: usize,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    diagnostics: Sink,
    /// Whether a line ended since the last token.
    newline: bool,
}

impl<'a> Lexer<'a> {
    /// Reads white space, a comment or a token; false at the end of the file.
    fn step(&mut self) -> bool {
        let Some(c) = self.rest().chars().next() else {
            return false;
        };
        let start = self.pos;
        match c {
            '\n' => {
                self.newline = true;
                self.pos += 1;
            }
            ' ' | '\t' | '\r' => self.pos += 1,
            '#' => self.line_comment(),
            '/' if self.rest().starts_with("/*") => self.block_comment(),
            '/' if self.at_foreign_comment() => self.foreign_comment(),
            '"' => self.string(),
            '\'' => self.character(),
            '0'..='9' => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                let kind = keyword(&self.source[start..self.pos]).unwrap_or(TokenKind::Ident);
                self.push(kind, start);
            }
            '.' if self.starts_bare_fraction() => self.bare_fraction(),
            _ => match self.symbol() {
                Some((kind, len)) => {
                    self.pos += len;
                    self.push(kind, start);
                }
                None => self.unknown(c),
            },
        }
        true
    }

    fn rest(&self) -> &'a str {
        &self.source[self.pos..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) {
        let rest = &self.source.as_bytes()[self.pos..];
        self.pos += rest.iter().position(|&b| !accept(b)).unwrap_or(rest.len());
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token {
            kind,
            span: self.span(start, self.pos),
            newline_before: std::mem::take(&mut self.newline),
        });
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The longest symbol at this place.
    fn symbol(&self) -> Option<(TokenKind, usize)> {
        let rest = self.rest();
        // `x .max= y` assigns, `x.max = y` changes a field: the space decides.
        let spaced = self.pos == 0 || self.source.as_bytes()[self.pos - 1].is_ascii_whitespace();
        TokenKind::SYMBOLS
            .iter()
            .filter_map(|&kind| kind.text().map(|text| (kind, text)))
            .filter(|(kind, text)| match kind {
                TokenKind::DotMaxEq | TokenKind::DotMinEq => spaced && self.byte(text.len()) != b'=',
                _ => true,
            })
            .filter(|(_, text)| rest.starts_with(text))
            .max_by_key(|(_, text)| text.len())
            .map(|(kind, text)| (kind, text.len()))
    }

    fn unknown(&mut self, c: char) {
        let start = self.pos;
        self.pos += c.len_utf8();
        // A run of foreign characters is one mistake.
        while let Some(next) = self.rest().chars().next()
            && !next.is_ascii()
        {
            self.pos += next.len_utf8();
        }
        let span = self.span(start, self.pos);
        let found = self.source[span.range()].escape_debug().to_string();
        let mut diagnostic = Diagnostic::error(
            codes::UNKNOWN_CHARACTER,
            span,
            format!("expected a token, found the character `{found}`"),
        );
        if let Some(help) = replacement(c) {
            diagnostic = diagnostic.help(help);
        }
        if let Some(meant) = meant_by(c).filter(|_| span.len() as usize == c.len_utf8()) {
            diagnostic = diagnostic.help(format!("write `{meant}`")).fix(span, meant);
        }
        self.report(diagnostic);
        self.push(TokenKind::Unknown, start);
    }
}

fn keyword(word: &str) -> Option<TokenKind> {
    TokenKind::KEYWORDS.iter().copied().find(|kind| kind.text() == Some(word))
}

/// The token that a character of another alphabet is.
fn meant_by(c: char) -> Option<&'static str> {
    Some(match c {
        '−' | '–' => "-",
        '÷' => "/",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '→' => "->",
        _ => return None,
    })
}

/// What to write instead of a character that is no token.
fn replacement(c: char) -> Option<&'static str> {
    Some(match c {
        '~' => "write `!` for the logical not",
        '\\' => "write a lambda as `|x| e`; a line is continued by ending it with an operator",
        '×' | '·' | '∙' => "write `*` for a product of scalars and `.*` for an element-wise one",
        '“' | '”' => "write strings between `\"`",
        _ if c.is_alphabetic() => "names consist of `A-Z`, `a-z`, `0-9` and `_`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
