//! Types.

use super::brackets::List;
use super::{Parser, recovery};
use crate::ast::{Path, TypeExpr, TypeKind};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reads a type.
    pub(super) fn ty(&mut self) -> TypeExpr {
        let start = self.token().span;
        let mut ty = match self.peek() {
            TokenKind::Ident if self.text(start) != "_" => {
                let path = self.path("a type");
                let is_foreign = angle_brackets(self, start);
                type_node(self, start, if is_foreign { TypeKind::Error } else { TypeKind::Path(path) })
            }
            TokenKind::LParen => tuple_or_function_type(self),
            _ => missing_type(self),
        };
        let outer = self.depth;
        while self.at(TokenKind::LBracket) && !self.at_new_line() {
            // Each bracket holds the type before it, so it counts as one more level.
            if !self.enter() {
                break;
            }
            let (args, args_span) = self.index_args();
            let kind = TypeKind::Apply { base: Box::new(ty), args, args_span };
            ty = type_node(self, start, kind);
        }
        self.depth = outer;
        ty
    }

    /// Reads `a.b.c`; the next token is a name.
    pub(super) fn path(&mut self, what: &str) -> Path {
        let mut segments = vec![self.ident(what)];
        let start = segments[0].span;
        while self.at(TokenKind::Dot) && self.peek_ahead(1) == TokenKind::Ident {
            self.bump();
            segments.push(self.ident(what));
        }
        segments.shrink_to_fit();
        Path { segments, span: self.span_from(start) }
    }
}

fn type_node(parser: &mut Parser<'_>, start: Span, kind: TypeKind) -> TypeExpr {
    TypeExpr { id: parser.node(), span: parser.span_from(start), kind }
}

fn tuple_or_function_type(parser: &mut Parser<'_>) -> TypeExpr {
    let start = parser.token().span;
    let (mut parts, span) = parser.list(List::parens("a type"), Parser::ty);
    if parser.at(TokenKind::Arrow) && parser.enter() {
        parser.bump();
        let result = Box::new(parser.ty());
        parser.leave();
        let kind = TypeKind::Function { params: parts, result };
        return type_node(parser, start, kind);
    }
    if let [_] = parts.as_slice()
        && let Some(part) = parts.pop()
    {
        return TypeExpr { span, ..part };
    }
    type_node(parser, start, TypeKind::Tuple(parts))
}

fn missing_type(parser: &mut Parser<'_>) -> TypeExpr {
    let message = format!("expected a type, found {}", parser.found());
    let span = parser.missing_span();
    let diagnostic = Diagnostic::error(codes::EXPECTED_TYPE, span, message);
    match parser.peek() {
        TokenKind::LBracket => array_type(parser, span, diagnostic),
        TokenKind::Amp => reference_type(parser, diagnostic),
        TokenKind::Star => {
            parser.report(diagnostic.help("there are no pointers: write the type itself"));
            error_type(parser, span)
        }
        _ => {
            parser.report(diagnostic.help("types are written as in `f64`, `f64[N, M]` and `(i64, f64)`"));
            error_type(parser, span)
        }
    }
}

/// Reads `[f64]`, `[f64; 3]`, and these after a `&` at `from`: the element type stands first here.
#[cold]
fn array_type(parser: &mut Parser<'_>, from: Span, diagnostic: Diagnostic) -> TypeExpr {
    let start = parser.token();
    if recovery::bracket_length(parser, 0).is_err() {
        parser.report(diagnostic.help("write the element type first, as in `f64[3]`"));
        return error_type(parser, start.span);
    }
    recovery::skip_tree(parser);
    let span = parser.span_from(start.span);
    let inner = Span { start: start.span.end, end: parser.previous_span().start, ..span };
    let text = parser.text(inner);
    let span = from.to(span);
    let is_number = |size: &str| size.chars().all(|c| c.is_ascii_digit());
    parser.report_earlier(match text.split_once(';') {
        Some((element, size)) if is_number(size.trim()) => {
            let code = format!("{}[{}]", element.trim(), size.trim());
            diagnostic.help(format!("write `{code}`")).fix(span, code)
        }
        Some((element, _)) => {
            let element = element.trim();
            diagnostic.help(format!("write `{element}[N]`, and `[N]` after the name of the function"))
        }
        None => {
            let code = format!("{}[_]", text.trim());
            diagnostic.help(format!("a vector of any length is `{code}`")).fix(span, code)
        }
    });
    error_type(parser, span)
}

/// Reads `&T`: every value is passed as if it was copied.
#[cold]
fn reference_type(parser: &mut Parser<'_>, diagnostic: Diagnostic) -> TypeExpr {
    let mark = parser.bump();
    let is_mutable = parser.eat(TokenKind::Mut).is_some();
    if parser.at(TokenKind::LBracket) {
        return array_type(parser, mark, diagnostic);
    }
    let diagnostic = diagnostic.help("there are no references: write the type itself");
    parser.report_earlier(if is_mutable { diagnostic } else { diagnostic.fix(mark, "") });
    parser.ty()
}

/// Reads the `<...>` of `Vec<f64>`, which stands after a name; says whether it was there.
fn angle_brackets(parser: &mut Parser<'_>, start: Span) -> bool {
    let is_vector = |word: &str| matches!(word, "Vec" | "vector" | "Vector" | "List" | "list" | "Array" | "array");
    let mut ahead = 1;
    let mut element = "f64";
    // `Vec<Vec<f64>>` has two axes.
    let mut rank = usize::from(is_vector(parser.text(start)));
    while matches!(parser.peek_ahead(ahead), TokenKind::Ident | TokenKind::Lt | TokenKind::Comma) {
        element = parser.word_ahead(ahead).unwrap_or(element);
        if rank > 0 && parser.peek_ahead(ahead) == TokenKind::Ident {
            let is_last = parser.peek_ahead(ahead + 1) == TokenKind::Gt;
            rank = if is_last {
                rank
            } else if is_vector(element) {
                rank + 1
            } else {
                0
            };
        }
        ahead += 1;
    }
    if !parser.at(TokenKind::Lt) || parser.peek_ahead(ahead) != TokenKind::Gt {
        return false;
    }
    while parser.peek_ahead(ahead + 1) == TokenKind::Gt {
        ahead += 1;
    }
    parser.pos += ahead + 1;
    let span = parser.span_from(start);
    let message = format!("expected a type, found `{}`", parser.text(span));
    let diagnostic = Diagnostic::error(codes::EXPECTED_TYPE, span, message);
    let sizes = vec!["_"; rank].join(", ");
    let code = format!("{element}[{sizes}]");
    parser.report_earlier(match rank {
        0 => diagnostic.help("parameters of a type stand in brackets, as in `Params[N]`"),
        1 => diagnostic.help(format!("a vector of any length is `{code}`")).fix(span, code),
        _ => diagnostic.help(format!("a tensor of any shape is `{code}`")).fix(span, code),
    });
    true
}

/// A node for a type that is missing, which was reported.
pub(super) fn error_type(parser: &mut Parser<'_>, span: Span) -> TypeExpr {
    TypeExpr { id: parser.node(), span, kind: TypeKind::Error }
}
