//! Numbers: `42`, `1_000`, `0xff`, `1.0`, `2e-3`, `7_i64`, and the forms that are no numbers.

use super::{Diagnostic, Lexer, Suffix, TokenKind, codes};

impl Lexer<'_> {
    /// Whether a `.` starts something like `.5`. After a value `.5` is the field of a tuple.
    pub(super) fn starts_bare_fraction(&self) -> bool {
        self.byte(1).is_ascii_digit() && !self.follows_value()
    }

    /// Whether the token before this place ends a value and touches it.
    fn follows_value(&self) -> bool {
        self.follows_value_at(self.pos)
    }

    /// The same of another place.
    pub(super) fn follows_value_at(&self, place: usize) -> bool {
        self.tokens.last().is_some_and(|token| {
            let ends_value = match token.kind {
                TokenKind::Ident
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::Str
                | TokenKind::Char
                | TokenKind::RParen
                | TokenKind::RBracket
                | TokenKind::RBrace => true,
                kind => TokenKind::KEYWORDS.contains(&kind),
            };
            ends_value && token.span.end as usize == place
        })
    }

    /// Reads `.5` as a float and says how it is written.
    pub(super) fn bare_fraction(&mut self) {
        let start = self.pos;
        self.pos += 1;
        self.digits_and_exponent();
        let span = self.span(start, self.pos);
        let text = &self.source[span.range()];
        self.report(
            Diagnostic::error(
                codes::MALFORMED_NUMBER,
                span,
                format!("expected a digit before the point, found `{text}`"),
            )
            .help(format!("write `0{text}`")),
        );
        self.push(TokenKind::Float, start);
    }

    pub(super) fn number(&mut self) {
        let start = self.pos;
        let is_tuple_field =
            self.tokens.last().is_some_and(|token| token.kind == TokenKind::Dot && token.span.end as usize == start);
        if is_tuple_field {
            self.take_while(|b| b.is_ascii_digit());
            self.push(TokenKind::Int, start);
            return;
        }
        if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X' | b'b' | b'B' | b'o' | b'O') {
            self.prefixed_number();
            return;
        }
        self.digits();
        let mut is_float = false;
        if self.byte(0) == b'.' {
            if self.byte(1).is_ascii_digit() {
                is_float = true;
                self.pos += 1;
                self.digits_and_exponent();
            } else if !self.point_starts_operator() {
                is_float = true;
                self.bare_point(start);
            }
        }
        if !is_float && self.exponent() {
            is_float = true;
        }
        let suffix = self.suffix(start);
        let kind = if is_float || suffix.is_some_and(Suffix::is_float) { TokenKind::Float } else { TokenKind::Int };
        if is_float && let Some(suffix) = suffix.filter(|suffix| !suffix.is_float()) {
            let span = self.span(start, self.pos);
            self.report(
                Diagnostic::error(
                    codes::UNKNOWN_SUFFIX,
                    span,
                    format!("expected a float type after a float literal, found `{}`", suffix.as_str()),
                )
                .help("write `as` to cast: `1.5 as i64` cuts the fraction off"),
            );
        }
        self.push(kind, start);
    }

    /// `1..n` is a range, `2.*v` an element-wise product and `1.x` looks like a field.
    fn point_starts_operator(&self) -> bool {
        matches!(self.byte(1), b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'!' | b'<' | b'>')
            || (self.byte(1).is_ascii_alphabetic() && !matches!(self.byte(1), b'e' | b'E'))
    }

    /// Reads the point of `1.` and says how the number is written.
    fn bare_point(&mut self, start: usize) {
        self.pos += 1;
        let digits = self.source[start..self.pos - 1].to_owned();
        self.exponent();
        let span = self.span(start, self.pos);
        let text = &self.source[span.range()];
        let exponent = &text[digits.len() + 1..];
        self.report(
            Diagnostic::error(
                codes::MALFORMED_NUMBER,
                span,
                format!("expected a digit after the point, found `{text}`"),
            )
            .help(format!("write `{digits}.0{exponent}`")),
        );
    }

    fn digits_and_exponent(&mut self) {
        self.digits();
        self.exponent();
    }

    /// Digits with underscores between them; an underscore before a letter starts the suffix.
    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() || (self.byte(0) == b'_' && self.is_digit_after_bars()) {
            self.pos += 1;
        }
    }

    fn is_digit_after_bars(&self) -> bool {
        let rest = self.rest().trim_start_matches('_');
        rest.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Reads `e5`, `E-3`; says whether there was one.
    fn exponent(&mut self) -> bool {
        if !matches!(self.byte(0), b'e' | b'E') {
            return false;
        }
        let signed = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if self.byte(1 + signed).is_ascii_digit() {
            self.pos += 1 + signed;
            self.digits();
            return true;
        }
        if signed == 0 && (self.byte(1).is_ascii_alphanumeric() || self.byte(1) == b'_') {
            // `1east` is a wrong suffix rather than a wrong exponent.
            return false;
        }
        let start = self.pos;
        self.pos += 1 + signed;
        let span = self.span(start, self.pos);
        let found = &self.source[span.range()];
        self.report(
            Diagnostic::error(
                codes::MALFORMED_NUMBER,
                span,
                format!("expected digits in the exponent, found `{found}`"),
            )
            .help("write an exponent as in `1e5` or `2.5e-3`"),
        );
        true
    }

    /// Reads the letters after a number. Gives the type that they name, if it is one.
    fn suffix(&mut self, start: usize) -> Option<Suffix> {
        let suffix_start = self.pos;
        self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
        let written = &self.source[suffix_start..self.pos];
        if written.is_empty() {
            return None;
        }
        let name = written.trim_start_matches('_');
        let known = Suffix::ALL.iter().copied().find(|suffix| suffix.as_str() == name);
        if known.is_some() && written.len() == name.len() + 1 {
            return known;
        }
        let span = self.span(suffix_start, self.pos);
        let number = &self.source[start..suffix_start];
        let diagnostic = Diagnostic::error(
            codes::UNKNOWN_SUFFIX,
            span,
            format!("expected `_` and a numeric type after a number, found `{written}`"),
        );
        self.report(match known {
            Some(suffix) => diagnostic.help(format!("write `{number}_{}`", suffix.as_str())),
            None if matches!(written, "j" | "J" | "i" | "im") => diagnostic.help(format!(
                "complex numbers are structs of `std.complex`: `complex.complex {{ re: 0.0, im: {number} }}`"
            )),
            None if matches!(written, "f" | "F") => diagnostic.help(format!("write `{number}_f32`")),
            None => diagnostic
                .help("the types are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32` and `f64`")
                .help(format!("a product needs an operator: `{number} * {written}`")),
        });
        known
    }

    /// Reads `0xff`, and reports `0b1` and `0o7`, which do not exist.
    fn prefixed_number(&mut self) {
        let start = self.pos;
        let prefix = self.byte(1);
        self.pos += 2;
        let digits_start = self.pos;
        self.take_while(|b| b.is_ascii_hexdigit() || b == b'_');
        if prefix != b'x' {
            self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
            let span = self.span(start, self.pos);
            let text = &self.source[span.range()];
            self.report(
                Diagnostic::error(
                    codes::MALFORMED_NUMBER,
                    span,
                    format!("expected a decimal or `0x` number, found `{text}`"),
                )
                .help("write the number in decimal or as `0xff`"),
            );
        } else if !self.source[digits_start..self.pos].contains(|c: char| c.is_ascii_hexdigit()) {
            let span = self.span(start, self.pos);
            self.report(
                Diagnostic::error(codes::MALFORMED_NUMBER, span, "expected hexadecimal digits after `0x`, found none")
                    .help("write digits as in `0xff`"),
            );
        } else {
            // The bar before a suffix looks like one between digits.
            while self.byte(0).is_ascii_alphabetic() && self.source[..self.pos].ends_with('_') {
                self.pos -= 1;
            }
            self.suffix(start);
        }
        self.push(TokenKind::Int, start);
    }
}
