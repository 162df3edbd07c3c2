//! Heads of functions: names, parameters and result types.

use super::brackets::List;
use super::{Parser, attributes, recovery, types};
use crate::ast::{GenericParam, Ident, Param, Signature, Suffix, TypeExpr, TypeKind};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

/// Reads the head of a function from its keyword on, up to the result type.
pub(super) fn signature(parser: &mut Parser<'_>) -> Signature {
    let start = parser.bump();
    let name = parser.ident("a function");
    let generics = generics(parser);
    let mut untyped = Vec::new();
    let params = if parser.at(TokenKind::LParen) {
        parser.list(List::parens("a parameter"), |parser| param(parser, &mut untyped)).0
    } else {
        if !parser.has_failed_here() {
            let message = format!("expected `(` and the parameters of `{}`, found {}", name.name, parser.found());
            let diagnostic = Diagnostic::error(codes::EXPECTED_TOKEN, parser.missing_span(), message)
                .help(format!("write `fn {}()` if there are none", name.name));
            parser.report(diagnostic);
        }
        Vec::new()
    };
    let head = parser.span_from(start);
    let result = result_type(parser, &name, head, untyped.is_empty());
    if let Some(first) = untyped.into_iter().next() {
        let code = whole_head(parser, &name, &params, result.as_ref());
        parser.report_earlier(first.help(format!("write the types, as in `{code}`")));
    }
    Signature { span: parser.span_from(start), name, generics, params, result }
}

/// The head of a function with a type at each parameter, and at the result.
fn whole_head(parser: &Parser<'_>, name: &Ident, params: &[Param], result: Option<&TypeExpr>) -> String {
    let params = params.iter().map(|param| match param.ty.kind {
        TypeKind::Error => format!("{}: f64", parser.text(param.span)),
        TypeKind::Path(_) | TypeKind::Apply { .. } | TypeKind::Tuple(_) | TypeKind::Function { .. } => {
            parser.quoted(param.span).to_owned()
        }
    });
    let result = result.map_or("f64", |ty| parser.quoted(ty.span));
    format!("fn {}({}) -> {result}", name.name, params.collect::<Vec<_>>().join(", "))
}

/// Reads `-> T`; `head` is what stands before it, and whether it is missing is told if `is_told`.
fn result_type(parser: &mut Parser<'_>, name: &Ident, head: Span, is_told: bool) -> Option<TypeExpr> {
    if parser.eat(TokenKind::Arrow).is_some() {
        return Some(parser.ty());
    }
    if parser.has_failed_here() {
        return None;
    }
    let found = parser.found();
    let is_body = parser.token_ahead(1).newline_before;
    if matches!(parser.peek(), TokenKind::Colon | TokenKind::FatArrow) && !is_body {
        let message = format!("expected `->` before the result type, found {found}");
        let span = parser.token().span;
        let diagnostic = Diagnostic::error(codes::MISSING_RESULT, span, message).help("write `->`");
        // The mark may touch the parenthesis.
        let gap = Span { start: parser.previous_span().end, ..span };
        parser.report_earlier(diagnostic.fix(gap, " ->"));
        parser.bump();
        return Some(parser.ty());
    }
    let message = format!("expected `->` and the result type of `{}`, found {found}", name.name);
    let diagnostic = Diagnostic::error(codes::MISSING_RESULT, parser.missing_span(), message);
    if is_arrow_missing(parser) {
        let span = parser.token().span;
        let code = format!("-> {}", parser.text(span));
        parser.report_earlier(diagnostic.help(format!("write `{code}`")).fix(span.before(), "-> "));
        return Some(parser.ty());
    }
    if name.name != "main" && is_told {
        let code = parser.quoted(head);
        let diagnostic = diagnostic.help(format!("write `{code} -> f64`, or `-> ()` if there is no result"));
        // Without a result type, a body of another form is no mistake of its own.
        if is_body { parser.report(diagnostic) } else { parser.report_earlier(diagnostic) }
    }
    None
}

/// Whether a type stands here, and the body after it.
fn is_arrow_missing(parser: &Parser<'_>) -> bool {
    let after = match parser.peek_ahead(1) {
        TokenKind::LBracket => recovery::bracket_length(parser, 1).map_or(0, |length| 1 + length),
        _ => 1,
    };
    parser.at(TokenKind::Ident)
        && !parser.token().newline_before
        && matches!(parser.peek_ahead(after), TokenKind::LBrace | TokenKind::Eq)
}

/// Reads `[N, T: Float, ..S]`, if it is there.
pub(super) fn generics(parser: &mut Parser<'_>) -> Vec<GenericParam> {
    if parser.at(TokenKind::Lt) {
        let diagnostic = Diagnostic::error(
            codes::EXPECTED_TOKEN,
            parser.token().span,
            "expected `[` before the type parameters, found `<`",
        )
        .help("write type and shape parameters in `[...]`");
        parser.report(diagnostic);
        return Vec::new();
    }
    if !parser.at(TokenKind::LBracket) {
        return Vec::new();
    }
    parser
        .list(List::squares("a parameter"), |parser| {
            let start = parser.token().span;
            let pack = parser.eat(TokenKind::DotDot);
            let name = parser.ident("a type or shape parameter");
            let mut bounds = Vec::new();
            if parser.eat(TokenKind::Colon).is_some() {
                bounds.push(parser.ty());
                while parser.eat(TokenKind::Plus).is_some() {
                    bounds.push(parser.ty());
                }
            }
            GenericParam { id: parser.node(), span: parser.span_from(start), pack, name, bounds }
        })
        .0
}

/// Reads a parameter; if its type is missing, the error about it goes to `untyped`.
fn param(parser: &mut Parser<'_>, untyped: &mut Vec<Diagnostic>) -> Param {
    let start = parser.token().span;
    let attrs = attributes::attrs(parser);
    let mutable = parser.eat(TokenKind::Mut);
    let name = parser.ident("a parameter");
    let ends = matches!(parser.peek(), TokenKind::Comma | TokenKind::RParen) && !parser.has_failed_here();
    let ty = if parser.eat(TokenKind::Colon).is_some() {
        parser.ty()
    } else if ends {
        let message = format!("expected `:` and the type of `{}`, found {}", name.name, parser.found());
        untyped.push(Diagnostic::error(codes::MISSING_PARAM_TYPE, parser.missing_span(), message));
        let span = parser.missing_span().before();
        types::error_type(parser, span)
    } else {
        missing_param_type(parser, &name)
    };
    let default = parser.eat(TokenKind::Eq).map(|_| parser.expr());
    Param { id: parser.node(), span: parser.span_from(start), attrs, mutable, name, ty, default }
}

/// Reports that a parameter or field has no type, and reads one that stands in another place.
pub(super) fn missing_param_type(parser: &mut Parser<'_>, name: &Ident) -> TypeExpr {
    let span = parser.missing_span().before();
    let second = parser.word_ahead(0).filter(|_| !parser.token().newline_before);
    if !parser.has_failed_here() {
        let message = format!("expected `:` and the type of `{}`, found {}", name.name, parser.found());
        let diagnostic = Diagnostic::error(codes::MISSING_PARAM_TYPE, parser.missing_span(), message);
        let name = &name.name;
        // A type may stand first, as C writes it, or the colon may be missing.
        let Some(second) = second else {
            parser.report_earlier(diagnostic.help(format!("write the type: `{name}: f64`")));
            return types::error_type(parser, span);
        };
        let is_reversed = Suffix::ALL.iter().any(|scalar| scalar.as_str() == name);
        if is_reversed {
            let span = parser.previous_span().to(parser.token().span);
            let code = format!("{second}: {name}");
            parser.report(diagnostic.help(format!("write `{code}`")).fix(span, code));
            parser.bump();
        } else {
            let colon = parser.previous_span().after();
            parser.report(diagnostic.help(format!("write `{name}: {second}`")).fix(colon, ":"));
            return parser.ty();
        }
    }
    types::error_type(parser, span)
}
