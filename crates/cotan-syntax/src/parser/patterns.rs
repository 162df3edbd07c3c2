//! Patterns.

use super::Parser;
use super::brackets::List;
use crate::ast::{FieldPattern, Ident, Pattern, PatternKind, PatternLiteral};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::literal;
use crate::span::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reads a pattern with its alternatives.
    pub(super) fn pattern(&mut self) -> Pattern {
        let start = self.token().span;
        let first = self.single_pattern();
        if !self.at(TokenKind::Bar) {
            return first;
        }
        let mut alternatives = vec![first];
        while self.eat(TokenKind::Bar).is_some() {
            alternatives.push(self.single_pattern());
        }
        self.pattern_node(start, PatternKind::Or(alternatives))
    }

    /// Reads a pattern that does not end at `|`, as between the bars of a lambda.
    pub(super) fn single_pattern(&mut self) -> Pattern {
        let start = self.token().span;
        match self.peek() {
            TokenKind::Ident if self.text(start) == "_" => {
                self.bump();
                self.pattern_node(start, PatternKind::Wildcard)
            }
            TokenKind::Ident => self.name_or_variant(),
            TokenKind::Mut => self.mutable_name(),
            TokenKind::LParen => {
                let (mut parts, span) = self.list(List::parens("a pattern"), Self::pattern);
                if let [_] = parts.as_slice()
                    && let Some(part) = parts.pop()
                {
                    return Pattern { span, ..part };
                }
                self.pattern_node(start, PatternKind::Tuple(parts))
            }
            _ => match self.pattern_literal() {
                Some(lo) => self.literal_or_range(lo),
                None => self.missing_pattern(),
            },
        }
    }

    fn pattern_node(&mut self, start: Span, kind: PatternKind) -> Pattern {
        Pattern { id: self.node(), span: self.span_from(start), kind }
    }

    fn mutable_name(&mut self) -> Pattern {
        let start = self.bump();
        if self.at(TokenKind::LParen) {
            let diagnostic =
                Diagnostic::error(codes::MISPLACED_MUT, start, "expected `mut` before a name, found it before `(`")
                    .help("write `mut` before each name that changes: `(mut a, b)`");
            self.report_earlier(diagnostic);
            return self.single_pattern();
        }
        let name = self.ident("a variable");
        let kind = PatternKind::Name { mutable: Some(start), name };
        self.pattern_node(start, kind)
    }

    fn name_or_variant(&mut self) -> Pattern {
        let start = self.token().span;
        let mut path = self.path("a variable");
        let kind = match self.peek() {
            TokenKind::LParen => {
                let (args, _) = self.list(List::parens("a pattern"), Self::pattern);
                PatternKind::Variant { path, args }
            }
            TokenKind::LBrace if self.struct_literals => {
                let mut rest = None;
                let (fields, _) = self.list(List::braces("a field"), |parser| parser.field_pattern(&mut rest));
                PatternKind::Struct { path, fields: fields.into_iter().flatten().collect(), rest }
            }
            _ => match path.segments.pop() {
                Some(name) if path.segments.is_empty() => PatternKind::Name { mutable: None, name },
                last => {
                    path.segments.extend(last);
                    PatternKind::Variant { path, args: Vec::new() }
                }
            },
        };
        self.pattern_node(start, kind)
    }

    /// Reads `name`, `name: pattern` or the `..` that stands for the other fields.
    fn field_pattern(&mut self, rest: &mut Option<Span>) -> Option<FieldPattern> {
        if let Some(span) = self.eat(TokenKind::DotDot) {
            *rest = Some(span);
            return None;
        }
        let name: Ident = self.ident("a field");
        let pattern = if self.eat(TokenKind::Colon).is_some() {
            self.pattern()
        } else {
            let kind = PatternKind::Name { mutable: None, name: name.clone() };
            Pattern { id: self.node(), span: name.span, kind }
        };
        Some(FieldPattern { name, pattern })
    }

    fn pattern_literal(&mut self) -> Option<PatternLiteral> {
        let start = self.token().span;
        let negative = self.at(TokenKind::Minus);
        let token = self.token_ahead(usize::from(negative));
        let text = self.text(token.span);
        let literal = literal::read(token.kind, text, token.span, &mut self.diagnostics)?;
        if negative {
            self.bump();
        }
        self.bump();
        Some(PatternLiteral { span: self.span_from(start), negative, literal })
    }

    fn literal_or_range(&mut self, lo: PatternLiteral) -> Pattern {
        let start = lo.span;
        let inclusive = self.at(TokenKind::DotDotEq);
        if !inclusive && !self.at(TokenKind::DotDot) {
            return self.pattern_node(start, PatternKind::Literal(lo));
        }
        self.bump();
        match self.pattern_literal() {
            Some(hi) => self.pattern_node(start, PatternKind::Range { lo, hi, inclusive }),
            None => {
                let message = format!("expected a literal that ends the range, found {}", self.found());
                let diagnostic = Diagnostic::error(codes::EXPECTED_PATTERN, self.missing_span(), message)
                    .help("ranges in patterns have two ends, as in `1..10`");
                self.report(diagnostic);
                self.pattern_node(start, PatternKind::Error)
            }
        }
    }

    fn missing_pattern(&mut self) -> Pattern {
        let span = self.missing_span();
        let found = self.found();
        let diagnostic = if TokenKind::KEYWORDS.contains(&self.peek()) {
            Diagnostic::error(
                codes::KEYWORD_AS_NAME,
                span,
                format!("expected the name of a variable, found the keyword {found}"),
            )
            .help("choose another name")
        } else {
            Diagnostic::error(codes::EXPECTED_PATTERN, span, format!("expected a pattern, found {found}"))
                .help("a pattern is a name, `_`, a literal, a tuple, or a struct or variant with patterns inside")
        };
        self.report(diagnostic);
        let is_misused = TokenKind::KEYWORDS.contains(&self.peek())
            && !self.token().newline_before
            && !matches!(self.peek(), TokenKind::In | TokenKind::If);
        if is_misused {
            self.bump();
        }
        Pattern { id: self.node(), span, kind: PatternKind::Error }
    }
}
