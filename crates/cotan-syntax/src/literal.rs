//! The values of literal tokens.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the tokens that it is about; all others are for other rules"
)]

use crate::ast::{Literal, Suffix};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::sink::Sink;
use crate::span::Span;
use crate::token::TokenKind;

/// Reads the text of a literal token at `span`. Forms that the lexer has reported get some value.
pub(crate) fn read(kind: TokenKind, text: &str, span: Span, report: &mut Sink) -> Option<Literal> {
    match kind {
        TokenKind::Int => Some(integer(text, span, report)),
        TokenKind::Float => Some(float(text)),
        TokenKind::Str => {
            let inner = text.strip_prefix('"').unwrap_or(text);
            let inner = strip_closing_quote(inner, '"');
            Some(Literal::Str(unescape(inner, span, report)))
        }
        TokenKind::Char => Some(character(text, span, report)),
        TokenKind::True => Some(Literal::Bool(true)),
        TokenKind::False => Some(Literal::Bool(false)),
        _ => None,
    }
}

/// Splits `1_000_i64` into `1_000` and `i64`.
fn split_suffix(text: &str) -> (&str, Option<Suffix>) {
    // `b` and `f` are hexadecimal digits, so only integer types can follow a `0x` number.
    let is_hex = text.starts_with("0x");
    Suffix::ALL
        .iter()
        .filter(|suffix| !(is_hex && suffix.is_float()))
        .find_map(|&suffix| {
            let digits = text.strip_suffix(suffix.as_str())?.strip_suffix('_')?;
            Some((digits, Some(suffix)))
        })
        .unwrap_or((text, None))
}

fn integer(text: &str, span: Span, report: &mut Sink) -> Literal {
    let (digits, suffix) = split_suffix(text);
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(hex) => (16, hex),
        None => (10, digits),
    };
    let digits: String = digits.chars().filter(|&c| c != '_').take_while(|c| c.is_digit(radix)).collect();
    // Only a number that was reported as malformed has no digits.
    let value = if digits.is_empty() { Some(0) } else { i128::from_str_radix(&digits, radix).ok() };
    if value.is_none() {
        report.push(
            Diagnostic::error(
                codes::INTEGER_TOO_LARGE,
                span,
                format!("expected an integer below 2^127, found `{text}`"),
            )
            .help(format!("write a float: `{digits}.0`")),
        );
    }
    Literal::Int { value: value.unwrap_or(0), suffix }
}

fn float(text: &str) -> Literal {
    let (digits, suffix) = split_suffix(text);
    let mut digits: String = digits.chars().filter(|&c| c != '_').collect();
    if digits.parse::<f64>().is_err() {
        digits = "0.0".to_owned();
    }
    Literal::Float { digits, suffix: suffix.filter(|suffix| suffix.is_float()) }
}

fn character(text: &str, span: Span, report: &mut Sink) -> Literal {
    let inner = text.strip_prefix('\'').unwrap_or(text);
    let inner = strip_closing_quote(inner, '\'');
    let n_reported = report.n_found();
    let value = unescape(inner, span, report);
    let mut chars = value.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Literal::Char(c),
        (first, _) => {
            if report.n_found() == n_reported {
                let found = value.chars().count();
                report.push(
                    Diagnostic::error(
                        codes::MALFORMED_CHARACTER,
                        span,
                        format!("expected one character between `'`, found {found}"),
                    )
                    .help("write a string as `\"text\"`"),
                );
            }
            Literal::Char(first.unwrap_or('\0'))
        }
    }
}

/// Takes the quote off the end, unless the literal is unterminated.
fn strip_closing_quote(text: &str, quote: char) -> &str {
    text.strip_suffix(quote).unwrap_or(text)
}

/// Resolves the escapes of `text`, which starts one byte after `span` does.
fn unescape(text: &str, span: Span, report: &mut Sink) -> String {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        let offset = span.start + 1 + (text.len() - rest.len() + at) as u32;
        let (c, len) = match escape(&rest[at + 1..]) {
            Ok(found) => found,
            Err(len) => {
                let wrong = Span::new(span.file, offset, offset + 1 + len as u32);
                report.push(unknown_escape(wrong, &rest[at..at + 1 + len]));
                ('\u{fffd}', len)
            }
        };
        value.push(c);
        rest = &rest[at + 1 + len..];
    }
    value.push_str(rest);
    value
}

/// The character that the text after a backslash stands for, and the length of that text; or the
/// length of what is no escape.
fn escape(text: &str) -> Result<(char, usize), usize> {
    let Some(c) = text.chars().next() else {
        return Err(0);
    };
    let simple = match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        '\\' | '"' | '\'' => c,
        'x' => {
            let digits = text.get(1..3).ok_or(1_usize)?;
            let code = hexadecimal(digits).filter(|&code| code < 0x80).ok_or(1_usize)?;
            return char::from_u32(code).map(|c| (c, 3)).ok_or(1);
        }
        'u' => {
            let braced = text[1..].strip_prefix('{').ok_or(1_usize)?;
            let len = braced.find('}').ok_or(1_usize)?;
            let code = hexadecimal(&braced[..len]).ok_or(len + 3)?;
            return char::from_u32(code).map(|c| (c, len + 3)).ok_or(len + 3);
        }
        _ => return Err(c.len_utf8()),
    };
    Ok((simple, 1))
}

/// The value of hexadecimal digits, without the sign that `from_str_radix` would take.
fn hexadecimal(digits: &str) -> Option<u32> {
    let all_digits = digits.chars().all(|c| c.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| all_digits)
}

fn unknown_escape(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_ESCAPE, span, format!("expected an escape sequence, found `{found}`"))
        .help("the escapes are `\\n`, `\\t`, `\\r`, `\\0`, `\\\\`, `\\\"`, `\\'`, `\\x00` to `\\x7f` and `\\u{...}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;

    fn check(kind: TokenKind, text: &str, expected: Literal, codes: &[&str]) {
        let mut report = Sink::new(10);
        let span = Span::new(FileId(0), 0, text.len() as u32);
        assert_eq!(read(kind, text, span, &mut report), Some(expected), "{text}");
        let report = report.finish();
        let found: Vec<_> = report.iter().map(|d| d.code.as_str()).collect();
        assert_eq!(found, codes, "{text}");
    }

    fn int(value: i128, suffix: Option<Suffix>) -> Literal {
        Literal::Int { value, suffix }
    }

    fn float(digits: &str, suffix: Option<Suffix>) -> Literal {
        Literal::Float { digits: digits.to_owned(), suffix }
    }

    #[test]
    fn integers_have_underscores_bases_and_suffixes() {
        check(TokenKind::Int, "1_000", int(1000, None), &[]);
        check(TokenKind::Int, "0xff", int(255, None), &[]);
        check(TokenKind::Int, "0xf_f32", int(0xff32, None), &[]);
        check(TokenKind::Int, "0xff_u8", int(255, Some(Suffix::U8)), &[]);
        check(TokenKind::Int, "170141183460469231731687303715884105727", int(i128::MAX, None), &[]);
        check(TokenKind::Int, "170141183460469231731687303715884105728", int(0, None), &["E0108"]);
    }

    #[test]
    fn floats_keep_their_digits() {
        check(TokenKind::Float, "1_0.5e-3_f32", float("10.5e-3", Some(Suffix::F32)), &[]);
        check(TokenKind::Float, "1_f64", float("1", Some(Suffix::F64)), &[]);
        check(TokenKind::Float, "1_bf16", float("1", Some(Suffix::BF16)), &[]);
    }

    #[test]
    fn escapes_are_resolved_or_reported() {
        let string = |text: &str| Literal::Str(text.to_owned());
        check(TokenKind::Str, r#""a\n\t\r\0\\\"\'""#, string("a\n\t\r\0\\\"'"), &[]);
        check(TokenKind::Str, r#""\x41\u{e9}""#, string("Aé"), &[]);
        check(TokenKind::Str, r#""a\qb""#, string("a\u{fffd}b"), &["E0105"]);
        check(TokenKind::Str, r#""\xff""#, string("\u{fffd}ff"), &["E0105"]);
        check(TokenKind::Str, r#""\u{d800}""#, string("\u{fffd}"), &["E0105"]);
        check(TokenKind::Str, r#""\u{+1}""#, string("\u{fffd}"), &["E0105"]);
    }

    #[test]
    fn a_character_literal_holds_one_character() {
        check(TokenKind::Char, "'A'", Literal::Char('A'), &[]);
        check(TokenKind::Char, r"'\''", Literal::Char('\''), &[]);
        check(TokenKind::Char, "'ab'", Literal::Char('a'), &["E0104"]);
        check(TokenKind::Char, "''", Literal::Char('\0'), &["E0104"]);
    }
}
