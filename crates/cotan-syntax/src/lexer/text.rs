//! Strings and characters.

use super::{Diagnostic, Lexer, TokenKind, codes};

impl Lexer<'_> {
    pub(super) fn string(&mut self) {
        let start = self.pos;
        self.pos += 1;
        if !self.take_until(b'"') {
            let opening = self.span(start, start + 1);
            self.report(
                Diagnostic::error(
                    codes::UNTERMINATED_STRING,
                    opening,
                    "expected `\"` to end the string, found the end of the line",
                )
                .note("the string starts here")
                .help("end the string on its line; `\\n` stands for a line break"),
            );
        }
        self.push(TokenKind::Str, start);
    }

    pub(super) fn character(&mut self) {
        let start = self.pos;
        self.pos += 1;
        // In `don't` it is an apostrophe.
        if self.follows_value_at(start) && !self.byte(0).is_ascii_alphanumeric() {
            self.transposed(start);
            return;
        }
        if self.take_until(b'\'') {
            self.push(TokenKind::Char, start);
            return;
        }
        // Probably an apostrophe: do not swallow the line.
        self.pos = start + 1;
        let opening = self.span(start, self.pos);
        self.report(
            Diagnostic::error(
                codes::MALFORMED_CHARACTER,
                opening,
                "expected a character and `'`, found the end of the line",
            )
            .help("write a character as `'A'`, a string as `\"text\"`"),
        );
        self.push(TokenKind::Unknown, start);
    }

    /// Reports the mark of `x'`; nothing stands for it.
    fn transposed(&mut self, start: usize) {
        let mark = self.span(start, self.pos);
        let diagnostic = Diagnostic::error(
            codes::MALFORMED_CHARACTER,
            mark,
            "expected `transpose(x)`, found the mark `'` of other languages",
        );
        let mut last = self.tokens.iter().rev();
        let name = last.next().filter(|token| token.kind == TokenKind::Ident).map(|token| token.span);
        let is_whole = last.next().is_none_or(|token| token.kind != TokenKind::Dot);
        self.report(match name.filter(|_| is_whole) {
            Some(name) => {
                let code = format!("transpose({})", &self.source[name.range()]);
                diagnostic.help(format!("write `{code}`")).fix(name.to(mark), code)
            }
            None => diagnostic.help("write `transpose(x)` round the matrix"),
        });
    }

    /// Moves past the next `quote` of this line that is not escaped. If there is none, moves to
    /// the end of the line and gives false.
    fn take_until(&mut self, quote: u8) -> bool {
        while self.pos < self.source.len() {
            match self.byte(0) {
                b'\n' => return false,
                b'\\' if matches!(self.byte(1), b'\\' | b'"' | b'\'') => self.pos += 2,
                b if b == quote => {
                    self.pos += 1;
                    return true;
                }
                _ => self.pos += 1,
            }
        }
        false
    }
}
