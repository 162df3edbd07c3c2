//! Reporting, and finding a place to go on.

use super::Parser;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reports an error at the next token, unless one was reported there or the rest of the
    /// declaration is hidden.
    #[cold]
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        // The lexer has reported the tokens that it does not know and the strings without end.
        let is_reported =
            self.last_error == Some(self.pos) || self.at(TokenKind::Unknown) || follows_endless_string(self);
        if !self.is_leaving() && !is_reported {
            self.diagnostics.push(diagnostic);
        }
        self.last_error = Some(self.pos);
    }

    /// Reports an error about something that was read already and that parsing goes on after.
    pub(super) fn report_earlier(&mut self, diagnostic: Diagnostic) {
        if !self.is_leaving() {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether a declaration that is nested too deeply is being left, its rest being hidden.
    pub(super) fn is_leaving(&self) -> bool {
        self.end + 1 < self.tokens.len()
    }

    /// Whether an error was reported at the next token.
    pub(super) fn has_failed_here(&self) -> bool {
        self.last_error == Some(self.pos)
    }

    /// The next token, for a message.
    pub(super) fn found(&self) -> String {
        let token = self.token();
        if token.kind == TokenKind::Eof {
            return "the end of the file".to_owned();
        }
        let text = self.text(token.span);
        let text = text.lines().next().unwrap_or("");
        match text.char_indices().nth(40) {
            Some((at, _)) => format!("`{}...`", &text[..at]),
            None => format!("`{text}`"),
        }
    }

    /// The span to show for something that is missing here: the next token, or, if that stands on
    /// another line, the place after the last one.
    pub(super) fn missing_span(&self) -> Span {
        let token = self.token();
        if (token.newline_before || token.kind == TokenKind::Eof) && self.pos > 0 {
            self.previous_span().after()
        } else {
            token.span
        }
    }

    /// Reports that `token` should stand here, with what it is for.
    #[cold]
    pub(super) fn report_expected(&mut self, token: &str, purpose: &str) {
        let message = format!("expected `{token}` {purpose}, found {}", self.found());
        let span = self.missing_span();
        self.report(Diagnostic::error(codes::EXPECTED_TOKEN, span, message).help(format!("add `{token}` here")));
    }

    /// Reads a token that must stand here, and says whether it does.
    pub(super) fn expect(&mut self, kind: TokenKind, purpose: &str) -> bool {
        let is_there = self.eat(kind).is_some();
        if !is_there {
            let text = kind.text().unwrap_or("a token");
            self.report_expected(text, purpose);
        }
        is_there
    }
}

/// Whether the line before ended inside a string, so that its last tokens are in the string.
fn follows_endless_string(parser: &Parser<'_>) -> bool {
    let Some(at) = parser.pos.checked_sub(1) else {
        return false;
    };
    let before = parser.tokens[at];
    let text = parser.text(before.span);
    before.kind == TokenKind::Str
        && (parser.token().newline_before || parser.at(TokenKind::Eof))
        && (text.len() == 1 || !text.ends_with('"'))
}

/// Skips to the end of the line or statement: to a `;`, a closing bracket, or the first token
/// of a line. Brackets on the way are skipped as a whole.
pub(super) fn skip_statement(parser: &mut Parser<'_>) {
    while !matches!(
        parser.peek(),
        TokenKind::Eof | TokenKind::Semicolon | TokenKind::RBrace | TokenKind::RParen | TokenKind::RBracket
    ) {
        skip_tree(parser);
        if parser.token().newline_before {
            break;
        }
    }
}

/// Skips to a `|` on this line, as far as the innermost bracket goes.
pub(super) fn skip_to_bar(parser: &mut Parser<'_>) {
    while !matches!(
        parser.peek(),
        TokenKind::Eof | TokenKind::Bar | TokenKind::RBrace | TokenKind::RParen | TokenKind::RBracket
    ) && !parser.token().newline_before
    {
        skip_tree(parser);
    }
}

/// Inside a bracket: skips to a token that separates its elements or closes it, or to one that
/// can only start a statement or a declaration.
pub(super) fn skip_element(parser: &mut Parser<'_>) {
    while !(matches!(
        parser.peek(),
        TokenKind::Eof
            | TokenKind::Semicolon
            | TokenKind::Comma
            | TokenKind::RBrace
            | TokenKind::RParen
            | TokenKind::RBracket
    ) || parser.token().newline_before && starts_statement_or_item(parser))
    {
        skip_tree(parser);
    }
}

/// Inside a bracket: skips to the token that closes it, or to one that can not be inside.
pub(super) fn skip_to_close(parser: &mut Parser<'_>, close: TokenKind) {
    while !parser.at(close) {
        skip_element(parser);
        if parser.eat(TokenKind::Comma).is_none() && parser.eat(TokenKind::Semicolon).is_none() {
            break;
        }
    }
}

/// Whether the bracket around the next token is closed by `close` on the way that [`skip_to_close`] goes, on this line.
pub(super) fn is_closed(parser: &Parser<'_>, close: TokenKind) -> bool {
    let mut ahead = 0;
    loop {
        let token = parser.token_ahead(ahead);
        match token.kind {
            kind if kind == close => return true,
            TokenKind::Eof | TokenKind::RBrace | TokenKind::RParen | TokenKind::RBracket => return false,
            _ if token.newline_before => return false,
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => match bracket_length(parser, ahead) {
                Ok(length) => ahead += length,
                Err(_) => return false,
            },
            _ => ahead += 1,
        }
    }
}

/// Whether the next token is a keyword with which only a statement or a declaration starts.
fn starts_statement_or_item(parser: &Parser<'_>) -> bool {
    matches!(parser.peek(), TokenKind::Let | TokenKind::For | TokenKind::While | TokenKind::Return)
        || parser.starts_item()
}

/// Skips to a declaration at the start of a line.
pub(super) fn skip_to_item(parser: &mut Parser<'_>) {
    while !parser.at(TokenKind::Eof) {
        parser.bump();
        let token = parser.token();
        let is_item = |parser: &Parser<'_>| parser.starts_item() || parser.at(TokenKind::At);
        let is_foreign = |parser: &Parser<'_>| parser.at_margin() && parser.foreign_keyword().is_some();
        if token.newline_before && (is_item(parser) || is_foreign(parser)) {
            break;
        }
    }
}

/// Skips one token, or a bracket with everything up to its partner. An opening bracket
/// without partner is skipped alone, and so are the brackets in what was searched for the
/// partner: searching again from each of them would take quadratic time.
pub(super) fn skip_tree(parser: &mut Parser<'_>) {
    let is_open = |kind| matches!(kind, TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace);
    if is_open(parser.peek()) && parser.pos >= parser.unbalanced_until {
        match bracket_length(parser, 0) {
            Ok(len) => {
                parser.pos += len;
                return;
            }
            Err(len) => parser.unbalanced_until = parser.pos + len,
        }
    }
    parser.bump();
}

/// The number of tokens from the opening bracket `ahead` tokens away to its partner, both
/// included. If a declaration at the start of a line, another kind of closing bracket or the
/// end comes first, the number of tokens before that.
pub(super) fn bracket_length(parser: &Parser<'_>, ahead: usize) -> Result<usize, usize> {
    let mut closers = Vec::new();
    let mut at = 0;
    loop {
        let token = parser.token_ahead(ahead + at);
        match token.kind {
            TokenKind::LParen => closers.push(TokenKind::RParen),
            TokenKind::LBracket => closers.push(TokenKind::RBracket),
            TokenKind::LBrace => closers.push(TokenKind::RBrace),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                if closers.pop() != Some(token.kind) {
                    return Err(at);
                }
                if closers.is_empty() {
                    return Ok(at + 1);
                }
            }
            TokenKind::Fn | TokenKind::Kernel if token.newline_before => return Err(at),
            TokenKind::Eof => return Err(at),
            _ => {}
        }
        at += 1;
    }
}
