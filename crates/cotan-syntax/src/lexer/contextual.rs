//! Contextual keywords: `kernel`, `type` and `in` are names where they begin nothing.
//!
//! Each follows from the tokens beside it, so that the parser and the formatter know keywords and names only:
//!
//! - `kernel` and `type` are keywords in front of a name on the same line.
//! - `in` is a keyword after what can end a pattern or an expression on the same line, and at the start of a line in front
//!   of an expression.

use crate::token::{Token, TokenKind};

/// Makes names of the contextual keywords that begin nothing.
pub(super) fn resolve(tokens: &mut [Token]) {
    // What `in` follows may be such a word, and so may what stands after `kernel`.
    for at in 0..tokens.len() {
        if tokens[at].kind == TokenKind::In && !is_in(tokens, at) {
            tokens[at].kind = TokenKind::Ident;
        }
    }
    for at in (0..tokens.len()).rev() {
        let begins = |next: &Token| next.kind == TokenKind::Ident && !next.newline_before;
        let is_word = matches!(tokens[at].kind, TokenKind::Kernel | TokenKind::Type);
        if is_word && !tokens.get(at + 1).is_some_and(begins) {
            tokens[at].kind = TokenKind::Ident;
        }
    }
}

/// Whether the `in` at this place is the keyword.
fn is_in(tokens: &[Token], at: usize) -> bool {
    let token = tokens[at];
    let Some(next) = tokens.get(at + 1) else { return false };
    if token.newline_before {
        let touches = token.span.end == next.span.start;
        return !next.newline_before && !touches && (is_end(next.kind) || next.kind == TokenKind::LParen);
    }
    at > 0 && is_end(tokens[at - 1].kind)
}

/// Whether a pattern or an expression can end with the token, or one of a single token is it.
fn is_end(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Ident
            | TokenKind::Kernel
            | TokenKind::Type
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Str
            | TokenKind::Char
            | TokenKind::True
            | TokenKind::False
            | TokenKind::RParen
            | TokenKind::RBracket
            | TokenKind::RBrace
            | TokenKind::Unknown
    )
}

#[cfg(test)]
mod tests {
    use crate::FileId;
    use crate::lexer::lex;

    /// The words that are keywords, with `_` for those that are names.
    fn check(source: &str, expected: &str) {
        let lexed = lex(FileId(0), source, 10);
        let words = lexed.tokens.iter().filter(|token| matches!(&source[token.span.range()], "kernel" | "type" | "in"));
        let kinds: Vec<&str> = words.map(|token| token.kind.text().unwrap_or("_")).collect();
        assert_eq!(kinds.join(" "), expected, "{source}");
    }

    #[test]
    fn a_word_in_front_of_a_name_declares() {
        check("kernel f(x: f64) -> f64", "kernel");
        check("pub type A = f64", "type");
        check("fn f(kernel: f64[3], type: i64) -> f64 = kernel[type]", "_ _ _ _");
        check("fn kernel(x: f64) -> f64 = x\nkernel kernel(x: f64) -> f64 = x", "_ kernel _");
        check("let y = kernel\nz", "_");
    }

    #[test]
    fn in_follows_a_pattern_or_an_expression() {
        check("for i in 0..n { }", "in");
        check("for in in in { }", "_ in _");
        check("for (a, b) in v { }\nlet x = f(1) in x", "in in");
        check("fn f(in: f64) -> f64 = in + g(in, x.in)", "_ _ _ _");
        check("in += 1\nin[0] = 2\nin", "_ _ _");
        check("let x = 1\nin x + 1", "in");
    }
}
