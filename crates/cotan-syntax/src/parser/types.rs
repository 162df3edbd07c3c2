//! Types.

use super::Parser;
use super::brackets::List;
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
                self.type_node(start, TypeKind::Path(path))
            }
            TokenKind::LParen => self.tuple_or_function_type(),
            _ => self.missing_type(),
        };
        let outer = self.depth;
        while self.at(TokenKind::LBracket) && !self.at_new_line() {
            // Each bracket holds the type before it, so it counts as one more level.
            if !self.enter() {
                break;
            }
            let (args, args_span) = self.index_args();
            let kind = TypeKind::Apply { base: Box::new(ty), args, args_span };
            ty = self.type_node(start, kind);
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

    fn type_node(&mut self, start: Span, kind: TypeKind) -> TypeExpr {
        TypeExpr { id: self.node(), span: self.span_from(start), kind }
    }

    fn tuple_or_function_type(&mut self) -> TypeExpr {
        let start = self.token().span;
        let (mut parts, span) = self.list(List::parens("a type"), Self::ty);
        if self.at(TokenKind::Arrow) && self.enter() {
            self.bump();
            let result = Box::new(self.ty());
            self.leave();
            let kind = TypeKind::Function { params: parts, result };
            return self.type_node(start, kind);
        }
        if let [_] = parts.as_slice()
            && let Some(part) = parts.pop()
        {
            return TypeExpr { span, ..part };
        }
        self.type_node(start, TypeKind::Tuple(parts))
    }

    fn missing_type(&mut self) -> TypeExpr {
        let message = format!("expected a type, found {}", self.found());
        let span = self.missing_span();
        let diagnostic = Diagnostic::error(codes::EXPECTED_TYPE, span, message).help(match self.peek() {
            TokenKind::LBracket => "write the element type first, as in `f64[3]`",
            TokenKind::Amp | TokenKind::Star => "there are no references or pointers: write the type itself",
            _ => "types are written as in `f64`, `f64[N, M]` and `(i64, f64)`",
        });
        self.report(diagnostic);
        if self.at(TokenKind::LBracket) {
            self.skip_tree();
        }
        self.error_type(span)
    }

    /// A node for a type that is missing, which was reported.
    pub(super) fn error_type(&mut self, span: Span) -> TypeExpr {
        TypeExpr { id: self.node(), span, kind: TypeKind::Error }
    }
}
