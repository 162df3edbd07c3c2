//! Lists in brackets, and the arguments in them.

use super::{Bracket, Parser, foreign, recovery};
use crate::ast::{Arg, Ident};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

/// How a list in brackets is written.
#[derive(Clone, Copy)]
pub(super) struct List {
    bracket: Bracket,
    close: TokenKind,
    /// What one element is, for messages.
    element: &'static str,
}

impl List {
    /// `( , )`
    pub(super) fn parens(element: &'static str) -> Self {
        Self { bracket: Bracket::Paren, close: TokenKind::RParen, element }
    }

    /// `[ , ]`
    pub(super) fn squares(element: &'static str) -> Self {
        Self { bracket: Bracket::Square, close: TokenKind::RBracket, element }
    }

    /// `{ , }`, where newlines separate too.
    pub(super) fn braces(element: &'static str) -> Self {
        Self { bracket: Bracket::Brace, close: TokenKind::RBrace, element }
    }
}

/// What [`Parser::open`] has to put back.
pub(super) struct Outside {
    bracket: Bracket,
    struct_literals: bool,
    opening: Span,
}

impl Parser<'_> {
    /// Moves past an opening bracket.
    pub(super) fn open(&mut self, bracket: Bracket) -> Outside {
        Outside {
            opening: self.bump(),
            bracket: std::mem::replace(&mut self.bracket, bracket),
            struct_literals: std::mem::replace(&mut self.struct_literals, true),
        }
    }

    /// Moves past the closing bracket, or reports that it is missing, and gives the span of the
    /// whole bracket.
    pub(super) fn close(&mut self, outside: Outside, close: TokenKind) -> Span {
        self.bracket = outside.bracket;
        self.struct_literals = outside.struct_literals;
        if self.eat(close).is_none() {
            report_unclosed(self, outside.opening, close);
        }
        self.span_from(outside.opening)
    }

    /// Reads a bracket with elements between commas; the next token is the opening one. Every
    /// element that `element` reads makes progress or reports an error.
    pub(super) fn list<T>(&mut self, list: List, mut element: impl FnMut(&mut Self) -> T) -> (Vec<T>, Span) {
        if !self.enter() {
            return (Vec::new(), self.token().span);
        }
        let outside = self.open(list.bracket);
        let mut elements = Vec::new();
        while !self.at(list.close) && !self.at(TokenKind::Eof) {
            if matches!(self.peek(), TokenKind::RBrace | TokenKind::Arrow) || self.at_unindented_item() {
                break;
            }
            let start = self.pos;
            elements.push(element(self));
            if self.has_failed_here() {
                recovery::skip_element(self);
            }
            let separated =
                self.eat(TokenKind::Comma).is_some() || (list.bracket == Bracket::Brace && self.token().newline_before);
            if separated && self.pos > start {
                continue;
            }
            if self.at(list.close) || !recover_separator(self, list) {
                break;
            }
            // In parentheses the rest belongs to what is broken; in braces each line is a part of its own.
            if list.bracket != Bracket::Brace {
                recovery::skip_to_close(self, list.close);
                break;
            }
        }
        // Most lists are short, and a vector that grows has place for four elements at once.
        elements.shrink_to_fit();
        let span = self.close(outside, list.close);
        self.leave();
        (elements, span)
    }

    /// Arguments in parentheses.
    pub(super) fn call_args(&mut self) -> (Vec<Arg>, Span) {
        args(self, List::parens("an argument"))
    }

    /// Arguments in brackets, which may be ranges with open ends and holes.
    pub(super) fn index_args(&mut self) -> (Vec<Arg>, Span) {
        args(self, List::squares("an argument"))
    }
}

#[cold]
fn report_unclosed(parser: &mut Parser<'_>, opening: Span, close: TokenKind) {
    let open = parser.text(opening).to_owned();
    let close = close.text().unwrap_or("");
    let message = format!("expected `{close}` to close `{open}`, found {}", parser.found());
    let diagnostic = Diagnostic::error(codes::UNCLOSED_BRACKET, parser.missing_span(), message)
        .label(opening, format!("this `{open}` is not closed"))
        .help(format!("add `{close}`"));
    let indent = parser.indent_of(opening);
    let is_certain = close == "}" && ends_deeper(parser, opening, indent);
    let end = parser.previous_span().after();
    parser.report(if is_certain { diagnostic.fix(end, format!("\n{}}}", " ".repeat(indent))) } else { diagnostic });
}

/// Whether the next declaration, or the end of the file, follows lines that are indented deeper than the opening brace, so
/// that they are what it encloses.
fn ends_deeper(parser: &Parser<'_>, opening: Span, indent: usize) -> bool {
    let last = parser.previous_span();
    let is_on_other_line = parser.text(opening.to(last)).contains('\n');
    is_on_other_line && parser.indent_of(last) > indent && (parser.at(TokenKind::Eof) || parser.at_unindented_item())
}

/// Neither a separator nor the end of the list stands here. Reports that if the list can go
/// on or is closed further on, and says whether it is so.
#[cold]
fn recover_separator(parser: &mut Parser<'_>, list: List) -> bool {
    let can_go_on = parser.at(TokenKind::Semicolon) || !parser.token().newline_before && starts_element(parser);
    if !can_go_on && (list.bracket == Bracket::Brace || !recovery::is_closed(parser, list.close)) {
        return false;
    }
    let (separators, help) = match list.bracket {
        Bracket::Brace => ("`,` or a new line", "separate the parts with `,` or newlines"),
        Bracket::None | Bracket::Paren | Bracket::Square => ("`,`", "separate the parts with `,`"),
    };
    let close = list.close.text().unwrap_or("");
    let message = format!("expected {separators} or `{close}` after {}, found {}", list.element, parser.found());
    let diagnostic = Diagnostic::error(codes::EXPECTED_SEPARATOR, parser.token().span, message);
    let span = parser.token().span;
    parser.report(match parser.peek() {
        TokenKind::Semicolon if list.bracket != Bracket::Square => diagnostic.help(help).fix(span, ","),
        TokenKind::Semicolon => diagnostic.help(foreign::arrays::help(parser)),
        _ => diagnostic.help(help),
    });
    parser.eat(TokenKind::Semicolon);
    true
}

fn starts_element(parser: &Parser<'_>) -> bool {
    matches!(
        parser.peek(),
        TokenKind::Ident
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Str
            | TokenKind::Char
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Mut
    )
}

fn args(parser: &mut Parser<'_>, list: List) -> (Vec<Arg>, Span) {
    let mut named: Option<Span> = None;
    parser.list(list, |parser| {
        let start = parser.token().span;
        let arg = arg(parser);
        match (&arg.name, named) {
            (Some(_), _) => named = Some(arg.value.span),
            (None, Some(name)) if list.bracket == Bracket::Paren => {
                let diagnostic = Diagnostic::error(
                    codes::POSITIONAL_AFTER_NAMED,
                    parser.span_from(start),
                    "expected a named argument after a named argument, found one without a name",
                )
                .label(name, "this argument is named")
                .help("put the arguments without names first, or write `name = value`");
                parser.report_earlier(diagnostic);
            }
            (None, _) => {}
        }
        arg
    })
}

fn arg(parser: &mut Parser<'_>) -> Arg {
    let is_named = parser.at(TokenKind::Ident) && parser.peek_ahead(1) == TokenKind::Eq;
    let name = is_named.then(|| {
        let span = parser.bump();
        parser.bump();
        Ident { name: parser.text(span).to_owned(), span }
    });
    let value = if parser.bracket == Bracket::Paren { parser.ascribed() } else { foreign::slices::index(parser) };
    Arg { name, value }
}
