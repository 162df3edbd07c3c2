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
                type_node(self, start, TypeKind::Path(path))
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
    let diagnostic = Diagnostic::error(codes::EXPECTED_TYPE, span, message).help(match parser.peek() {
        TokenKind::LBracket => "write the element type first, as in `f64[3]`",
        TokenKind::Amp | TokenKind::Star => "there are no references or pointers: write the type itself",
        _ => "types are written as in `f64`, `f64[N, M]` and `(i64, f64)`",
    });
    parser.report(diagnostic);
    if parser.at(TokenKind::LBracket) {
        recovery::skip_tree(parser);
    }
    error_type(parser, span)
}

/// A node for a type that is missing, which was reported.
pub(super) fn error_type(parser: &mut Parser<'_>, span: Span) -> TypeExpr {
    TypeExpr { id: parser.node(), span, kind: TypeKind::Error }
}
