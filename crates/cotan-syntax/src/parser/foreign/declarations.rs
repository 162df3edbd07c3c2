//! Declarations of other languages: `def f(x):`, `function f(x) ... end`, `double f(double x)`, `class P:`, `use a::b`.

use super::super::{Parser, recovery};
use super::blocks::Braceless;
use crate::ast::{FunctionForm, Ident, Import, ImportSource, ItemKind, Path};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// The keyword for what a word declares in other languages, if it stands at the beginning of a declaration.
    pub(in crate::parser) fn foreign_keyword(&self) -> Option<TokenKind> {
        let word = self.word_ahead(0)?;
        let is_declaration = self.peek_ahead(1) == TokenKind::Ident && !self.token_ahead(1).newline_before;
        let kind = match word {
            "function" | "def" | "fun" | "func" | "proc" | "fnc" => TokenKind::Fn,
            "class" | "record" => TokenKind::Struct,
            "interface" | "protocol" => TokenKind::Trait,
            "use" | "include" | "using" | "from" => TokenKind::Import,
            "typedef" | "alias" | "newtype" => TokenKind::Type,
            _ if is_c_function(self) => TokenKind::Fn,
            _ => return None,
        };
        is_declaration.then_some(kind)
    }
}

/// Whether `double f(double x) {` stands here.
fn is_c_function(parser: &Parser<'_>) -> bool {
    parser.peek_ahead(1) == TokenKind::Ident
        && parser.peek_ahead(2) == TokenKind::LParen
        && recovery::bracket_length(parser, 2).is_ok_and(|length| parser.peek_ahead(2 + length) == TokenKind::LBrace)
}

/// Reads a declaration that begins with a word of another language, where `kind` is meant.
#[cold]
pub(in crate::parser) fn declaration(parser: &mut Parser<'_>, kind: TokenKind) -> ItemKind {
    let word = parser.token().span;
    let keyword = kind.text().unwrap_or("");
    let message = format!("expected `{keyword}`, found {}", parser.found());
    let diagnostic = Diagnostic::error(codes::FOREIGN_KEYWORD, word, message);
    match kind {
        TokenKind::Import => return import(parser, diagnostic),
        TokenKind::Fn if !has_own_form(parser) => {
            let code = header(parser);
            parser.report(diagnostic.help(format!("write `{code} {{ ... }}`, with the types that are meant")));
            return ItemKind::Error;
        }
        TokenKind::Struct if parser.peek_ahead(2) == TokenKind::Colon => return class(parser, diagnostic),
        _ => {}
    }
    let diagnostic = diagnostic.help(format!("write `{keyword}`")).fix(word, keyword);
    if kind == TokenKind::Fn {
        return parser.function(FunctionForm::Fn, Braceless::with(diagnostic));
    }
    parser.report_earlier(diagnostic);
    parser.declaration_of(kind)
}

/// Reads `// text` where no fold can stand: the rest of the line.
#[cold]
pub(in crate::parser) fn comment(parser: &mut Parser<'_>) {
    let marks = parser.bump();
    let diagnostic =
        Diagnostic::error(codes::FOREIGN_COMMENT, marks, "expected a comment with `#`, found one with `//`");
    parser.report_earlier(diagnostic.help("write `#`").fix(marks, "#"));
    while !parser.token().newline_before && !parser.at(TokenKind::Eof) {
        parser.bump();
    }
}

/// Whether the function that begins here is written as functions are, up to the word in front.
fn has_own_form(parser: &Parser<'_>) -> bool {
    let Some((open, length)) = parameters(parser) else { return false };
    let mut depth = 0;
    let mut begins = true;
    for ahead in open..open + length {
        match parser.peek_ahead(ahead) {
            TokenKind::LParen | TokenKind::LBracket => depth += 1,
            TokenKind::RParen | TokenKind::RBracket => depth -= 1,
            TokenKind::Comma if depth == 1 => begins = true,
            TokenKind::Ident if depth == 1 && begins => {
                if parser.peek_ahead(ahead + 1) != TokenKind::Colon {
                    return false;
                }
                begins = false;
            }
            _ => {}
        }
    }
    parser.peek_ahead(open + length) == TokenKind::Arrow
}

/// Where the parameters of the function that begins here stand, and how many tokens they have.
fn parameters(parser: &Parser<'_>) -> Option<(usize, usize)> {
    let mut open = 2;
    if parser.peek_ahead(open) == TokenKind::LBracket {
        open += recovery::bracket_length(parser, open).ok()?;
    }
    if parser.peek_ahead(open) != TokenKind::LParen {
        return None;
    }
    Some((open, recovery::bracket_length(parser, open).ok()?))
}

/// The head of the function that begins here, as it is written in this language, every type `f64`.
fn header(parser: &Parser<'_>) -> String {
    let name = parser.text(parser.token_ahead(1).span);
    let Some((open, length)) = parameters(parser) else { return format!("fn {name}(x: f64) -> f64") };
    let mut params: Vec<String> = Vec::new();
    for ahead in open + 1..open + length {
        // A type may stand in front of the name, or after it and a colon, and a default after `=`.
        let ends = matches!(
            parser.peek_ahead(ahead + 1),
            TokenKind::Comma | TokenKind::RParen | TokenKind::Colon | TokenKind::Eq
        );
        let is_type = matches!(parser.peek_ahead(ahead - 1), TokenKind::Colon | TokenKind::Eq);
        if parser.peek_ahead(ahead) == TokenKind::Ident && ends && !is_type {
            params.push(format!("{}: f64", parser.text(parser.token_ahead(ahead).span)));
        }
    }
    format!("fn {name}({}) -> f64", params.join(", "))
}

/// Reads `class P:` with a field on each indented line.
fn class(parser: &mut Parser<'_>, diagnostic: Diagnostic) -> ItemKind {
    let word = parser.token().span;
    let name = parser.text(parser.token_ahead(1).span);
    let mut ahead = 3;
    let mut are_fields = true;
    let mut last = parser.token_ahead(2).span;
    while parser.peek_ahead(ahead) != TokenKind::Eof
        && parser.column(parser.token_ahead(ahead).span) > parser.indent_of(word)
    {
        let token = parser.token_ahead(ahead);
        are_fields &=
            !token.newline_before || token.kind == TokenKind::Ident && parser.peek_ahead(ahead + 1) == TokenKind::Colon;
        are_fields &= token.kind != TokenKind::LParen;
        last = token.span;
        ahead += 1;
    }
    let diagnostic = diagnostic.help(format!("write `struct {name} {{ ... }}`"));
    let colon = parser.token_ahead(2).span;
    parser.report_earlier(if are_fields && ahead > 3 {
        diagnostic.fix(word, "struct").fix(colon, " {").fix(last.after(), "\n}")
    } else {
        diagnostic
    });
    parser.pos += ahead;
    ItemKind::Error
}

/// Reads `use a::b::c;`, `from a.b import c`: the rest of the line. What it names is imported, so that nothing else is
/// said about uses of it; of the library that is the module, and of anything else it is for the loader to say what it is.
fn import(parser: &mut Parser<'_>, diagnostic: Diagnostic) -> ItemKind {
    let word = parser.bump();
    let first = parser.token().span;
    let mut segments = Vec::new();
    let mut is_path = true;
    while !parser.token().newline_before && !parser.at(TokenKind::Eof) {
        let token = parser.token();
        // In `from std import nn` the word joins the parts.
        is_path &= matches!(token.kind, TokenKind::Ident | TokenKind::Dot | TokenKind::Colon | TokenKind::Import);
        if token.kind == TokenKind::Ident && is_path {
            segments.push(Ident { name: parser.text(token.span).to_owned(), span: token.span });
        }
        parser.bump();
    }
    let whole = parser.span_from(word);
    let is_library = segments.first().is_some_and(|segment| segment.name == "std") && segments.len() > 1;
    if is_library {
        segments.truncate(2);
    }
    let names: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
    let code = format!("import {}", names.join("."));
    if is_library {
        let diagnostic = diagnostic.help(format!("write `{code}`, and `{}.name` for what is in it", names[1]));
        parser.report_earlier(diagnostic.fix(whole, code));
    }
    let path = Path { segments, span: Span { end: whole.end, ..first } };
    ItemKind::Import(Import { source: ImportSource::Library(path), alias: None })
}
