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
