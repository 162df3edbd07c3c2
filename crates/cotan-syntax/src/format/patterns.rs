//! Patterns and types.

use super::Formatter;
use super::lists::Separator;
use crate::ast::{Pattern, PatternKind, PatternLiteral, TypeExpr, TypeKind};
use crate::span::Span;
use crate::token::TokenKind;

impl<'a> Formatter<'a> {
    /// How many pairs of parentheses stand round what ends at `end`, from the next token on.
    pub(super) fn parens(&self, end: u32) -> usize {
        let mut n = 0;
        let mut last: Option<usize> = None;
        while self.tokens[self.pos + n].kind == TokenKind::LParen {
            let partner = self.partners[self.pos + n] as usize;
            // A comma may stand before the parenthesis of a pattern or type.
            let is_last = match last {
                None => self.tokens[partner].span.end == end,
                Some(outer) => {
                    partner + 1 == outer || (partner + 2 == outer && self.tokens[partner + 1].kind == TokenKind::Comma)
                }
            };
            if !is_last {
                break;
            }
            last = Some(partner);
            n += 1;
        }
        n
    }

    /// Closes `n` pairs of parentheses.
    pub(super) fn close_parens(&mut self, n: usize) {
        for _ in 0..n {
            self.skip(TokenKind::Comma);
            self.next();
        }
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        let own = usize::from(matches!(pattern.kind, PatternKind::Tuple(_)));
        let parens = self.parens(pattern.span.end).saturating_sub(own);
        self.next_n(parens);
        self.bare_pattern(pattern);
        self.close_parens(parens);
    }

    fn bare_pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard => self.next(),
            PatternKind::Name { mutable, .. } => {
                if mutable.is_some() {
                    self.next_and_space();
                }
                self.bind();
                self.next();
            }
            PatternKind::Literal(literal) => self.pattern_literal(literal),
            PatternKind::Range { lo, hi, .. } => {
                self.pattern_literal(lo);
                self.next();
                self.pattern_literal(hi);
            }
            PatternKind::Tuple(parts) => self.list(parts.len(), |f, k| f.pattern(&parts[k])),
            PatternKind::Variant { path, args } => {
                self.tokens_of(path.span);
                if self.at(TokenKind::LParen) {
                    self.list(args.len(), |f, k| f.pattern(&args[k]));
                }
            }
            PatternKind::Struct { path, fields, rest } => {
                self.tokens_of(path.span);
                self.layout.space();
                let n = fields.len() + usize::from(rest.is_some());
                self.braces(n, Separator::Comma, rest.is_none(), |f, _| {
                    // `..` may stand between the fields.
                    let at = f.token().span;
                    match fields.iter().find(|field| field.name.span == at) {
                        Some(field) => f.field_pattern(&field.pattern),
                        None => f.next(),
                    }
                });
            }
            PatternKind::Or(alternatives) => {
                for (k, alternative) in alternatives.iter().enumerate() {
                    if k > 0 {
                        self.spaced_next();
                    }
                    self.pattern(alternative);
                }
            }
            PatternKind::Error => self.tokens_of(pattern.span),
        }
    }

    fn field_pattern(&mut self, pattern: &Pattern) {
        if pattern.span == self.token().span {
            self.pattern(pattern);
            return;
        }
        self.next();
        self.next_and_space();
        self.pattern(pattern);
    }

    fn pattern_literal(&mut self, literal: &PatternLiteral) {
        self.next_n(1 + usize::from(literal.negative));
    }

    /// Notes that the next token is the name of a variable.
    pub(super) fn bind(&mut self) {
        let name = self.text_of(self.token().span);
        self.bound.insert(name);
    }

    /// Prints `: T`.
    pub(super) fn type_after_colon(&mut self, ty: &TypeExpr) {
        self.next_and_space();
        self.ty(ty);
    }

    /// A type. It is never broken, so its tokens follow each other.
    pub(super) fn ty(&mut self, ty: &TypeExpr) {
        self.tokens_of(ty.span);
    }

    /// Whether the type is that of a function.
    pub(super) fn is_function_type(ty: &TypeExpr) -> bool {
        matches!(ty.kind, TypeKind::Function { .. })
    }

    /// Prints the tokens of a span as those of a type: no spaces but after commas and round `->`.
    #[allow(clippy::wildcard_enum_match_arm, reason = "all other tokens touch their neighbours")]
    pub(super) fn tokens_of(&mut self, span: Span) {
        while self.token().span.start < span.end && self.token().kind != TokenKind::Eof {
            let closes = self
                .tokens
                .get(self.pos + 1)
                .is_some_and(|token| matches!(token.kind, TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace));
            match self.token().kind {
                TokenKind::Comma if closes => {
                    self.skip(TokenKind::Comma);
                }
                TokenKind::Comma => {
                    self.bare_next();
                    self.layout.space();
                }
                TokenKind::Colon => self.next_and_space(),
                TokenKind::Arrow | TokenKind::Eq | TokenKind::As => self.spaced_next(),
                _ => self.next(),
            }
        }
    }
}
