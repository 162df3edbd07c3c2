//! Arrays with semicolons, as in `[0.0; n]` and `[a, b; c, d]`.

use super::super::Parser;
use crate::span::Span;
use crate::token::{Token, TokenKind};

/// What to write instead of a list in brackets that goes on with the semicolon that stands here.
#[cold]
pub(in crate::parser) fn help(parser: &Parser<'_>) -> String {
    let separated = "separate the parts with `,`".to_owned();
    let Some(rows) = rows(parser) else { return separated };
    let (is_matrix, texts) = (rows.iter().any(|row| row.is_list), rows.iter().map(|row| parser.quoted(row.span)));
    let texts: Vec<&str> = texts.collect();
    match texts.as_slice() {
        _ if is_matrix => format!("write the rows of a matrix in brackets: `[[{}]]`", texts.join("], [")),
        [copied, n] => format!("write `full({n}, {copied})` for copies, `[{copied}, {n}]` for a vector of both"),
        _ => format!("write `[{}]`", texts.join(", ")),
    }
}

/// What stands between two semicolons.
struct Row {
    span: Span,
    /// Whether it has several elements.
    is_list: bool,
}

/// The rows of the array round the next token; none if the bracket is an index or a type, or is not closed.
fn rows(parser: &Parser<'_>) -> Option<Vec<Row>> {
    let open = opening(parser)?;
    let mut rows = Vec::new();
    let (mut depth, mut begin, mut is_list) = (0, open + 1, false);
    for at in open + 1..parser.end {
        match parser.tokens[at].kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => depth += 1,
            kind @ (TokenKind::Semicolon | TokenKind::RBracket) if depth == 0 => {
                let (first, last) = (parser.tokens.get(begin..at)?.first()?, parser.tokens[at - 1]);
                rows.push(Row { span: first.span.to(last.span), is_list });
                if kind == TokenKind::RBracket {
                    return Some(rows);
                }
                (begin, is_list) = (at + 1, false);
            }
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace if depth == 0 => return None,
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => depth -= 1,
            TokenKind::Comma if depth == 0 => is_list = true,
            _ => {}
        }
    }
    None
}

/// The number of the bracket round the next token, if an array begins there.
fn opening(parser: &Parser<'_>) -> Option<usize> {
    let mut depth = 0;
    for at in (0..parser.pos).rev() {
        match parser.tokens[at].kind {
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => depth += 1,
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace if depth > 0 => depth -= 1,
            TokenKind::LBracket => {
                let before = at.checked_sub(1).map(|before| parser.tokens[before]);
                return before.is_none_or(|before| !ends_operand(parser, before, at)).then_some(at);
            }
            TokenKind::LParen | TokenKind::LBrace => return None,
            _ => {}
        }
    }
    None
}

/// Whether a token ends what an index stands behind, or a type.
fn ends_operand(parser: &Parser<'_>, token: Token, bracket: usize) -> bool {
    token.span.end == parser.tokens[bracket].span.start
        && matches!(token.kind, TokenKind::Ident | TokenKind::RParen | TokenKind::RBracket)
}
