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
        let first = single_pattern(self);
        if !self.at(TokenKind::Bar) {
            return first;
        }
        let mut alternatives = vec![first];
        while self.eat(TokenKind::Bar).is_some() {
            alternatives.push(single_pattern(self));
        }
        pattern_node(self, start, PatternKind::Or(alternatives))
    }
}

/// Reads a pattern that does not end at `|`, as between the bars of a lambda.
pub(super) fn single_pattern(parser: &mut Parser<'_>) -> Pattern {
    let start = parser.token().span;
    match parser.peek() {
        TokenKind::Ident if parser.text(start) == "_" => {
            parser.bump();
            pattern_node(parser, start, PatternKind::Wildcard)
        }
        TokenKind::Ident => name_or_variant(parser),
        TokenKind::Mut => mutable_name(parser),
        TokenKind::LParen => {
            let (mut parts, span) = parser.list(List::parens("a pattern"), Parser::pattern);
            if let [_] = parts.as_slice()
                && let Some(part) = parts.pop()
            {
                return Pattern { span, ..part };
            }
            pattern_node(parser, start, PatternKind::Tuple(parts))
        }
        _ => match pattern_literal(parser) {
            Some(lo) => literal_or_range(parser, lo),
            None => missing_pattern(parser),
        },
    }
}

fn pattern_node(parser: &mut Parser<'_>, start: Span, kind: PatternKind) -> Pattern {
    Pattern { id: parser.node(), span: parser.span_from(start), kind }
}

fn mutable_name(parser: &mut Parser<'_>) -> Pattern {
    let start = parser.bump();
    if parser.at(TokenKind::LParen) {
        let diagnostic =
            Diagnostic::error(codes::MISPLACED_MUT, start, "expected `mut` before a name, found it before `(`")
                .help("write `mut` before each name that changes: `(mut a, b)`");
        parser.report_earlier(diagnostic);
        return single_pattern(parser);
    }
    let name = parser.ident("a variable");
    let kind = PatternKind::Name { mutable: Some(start), name };
    pattern_node(parser, start, kind)
}

fn name_or_variant(parser: &mut Parser<'_>) -> Pattern {
    let start = parser.token().span;
    let mut path = parser.path("a variable");
    let kind = match parser.peek() {
        TokenKind::LParen => {
            let (args, _) = parser.list(List::parens("a pattern"), Parser::pattern);
            PatternKind::Variant { path, args }
        }
        TokenKind::LBrace if parser.struct_literals => {
            let mut rest = None;
            let (fields, _) = parser.list(List::braces("a field"), |parser| field_pattern(parser, &mut rest));
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
    pattern_node(parser, start, kind)
}

/// Reads `name`, `name: pattern` or the `..` that stands for the other fields.
fn field_pattern(parser: &mut Parser<'_>, rest: &mut Option<Span>) -> Option<FieldPattern> {
    if let Some(span) = parser.eat(TokenKind::DotDot) {
        *rest = Some(span);
        return None;
    }
    let name: Ident = parser.ident("a field");
    let pattern = if parser.eat(TokenKind::Colon).is_some() {
        parser.pattern()
    } else {
        let kind = PatternKind::Name { mutable: None, name: name.clone() };
        Pattern { id: parser.node(), span: name.span, kind }
    };
    Some(FieldPattern { name, pattern })
}

fn pattern_literal(parser: &mut Parser<'_>) -> Option<PatternLiteral> {
    let start = parser.token().span;
    let negative = parser.at(TokenKind::Minus);
    let token = parser.token_ahead(usize::from(negative));
    let text = parser.text(token.span);
    let literal = literal::read(token.kind, text, token.span, &mut parser.diagnostics)?;
    if negative {
        parser.bump();
    }
    parser.bump();
    Some(PatternLiteral { span: parser.span_from(start), negative, literal })
}

fn literal_or_range(parser: &mut Parser<'_>, lo: PatternLiteral) -> Pattern {
    let start = lo.span;
    let inclusive = parser.at(TokenKind::DotDotEq);
    if !inclusive && !parser.at(TokenKind::DotDot) {
        return pattern_node(parser, start, PatternKind::Literal(lo));
    }
    parser.bump();
    match pattern_literal(parser) {
        Some(hi) => pattern_node(parser, start, PatternKind::Range { lo, hi, inclusive }),
        None => {
            let message = format!("expected a literal that ends the range, found {}", parser.found());
            let diagnostic = Diagnostic::error(codes::EXPECTED_PATTERN, parser.missing_span(), message)
                .help("ranges in patterns have two ends, as in `1..10`");
            parser.report(diagnostic);
            pattern_node(parser, start, PatternKind::Error)
        }
    }
}

fn missing_pattern(parser: &mut Parser<'_>) -> Pattern {
    let span = parser.missing_span();
    let found = parser.found();
    let diagnostic = if TokenKind::KEYWORDS.contains(&parser.peek()) {
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
    parser.report(diagnostic);
    let is_misused = TokenKind::KEYWORDS.contains(&parser.peek())
        && !parser.token().newline_before
        && !matches!(parser.peek(), TokenKind::In | TokenKind::If);
    if is_misused {
        parser.bump();
    }
    Pattern { id: parser.node(), span, kind: PatternKind::Error }
}
