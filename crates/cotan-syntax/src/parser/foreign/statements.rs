//! Statements of other languages: variables with their type in front, lists without parentheses, `i++`.

use super::super::Parser;
use super::statement;
use crate::ast::{Assign, AssignOp, Expr, ExprKind, Let, Literal, StmtKind, Suffix};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::token::TokenKind;

/// What a word in front of the name of a new variable says about it.
enum Declares {
    /// Its type here.
    Typed(&'static str),
    /// A type whose width depends on the language.
    Unclear(&'static str),
    /// Only that it is new.
    New,
    /// That it is new and will change.
    Changing,
}

fn declares(word: &str) -> Option<Declares> {
    if let Some(scalar) = Suffix::ALL.iter().find(|scalar| scalar.as_str() == word) {
        return Some(Declares::Typed(scalar.as_str()));
    }
    Some(match word {
        "double" | "float64" | "Float64" => Declares::Typed("f64"),
        "float32" | "Float32" => Declares::Typed("f32"),
        "long" | "int64" | "Int64" => Declares::Typed("i64"),
        "bool" | "boolean" => Declares::Typed("bool"),
        "int" | "Int" => Declares::Unclear("i64"),
        "float" | "real" => Declares::Unclear("f64"),
        "auto" | "val" | "local" | "final" => Declares::New,
        "var" => Declares::Changing,
        _ => return None,
    })
}

/// Reads a declaration of another language, such as `double y = x`, `x: f64 = 2.0`, `y := x`; none if no such stands here.
pub(in crate::parser) fn declaration(parser: &mut Parser<'_>) -> Option<StmtKind> {
    let next = parser.token_ahead(1);
    if next.newline_before {
        return None;
    }
    let is_word = parser.at(TokenKind::Ident);
    match (next.kind, parser.peek_ahead(2)) {
        (TokenKind::Ident, TokenKind::Eq) if is_word => {
            let word = parser.text(parser.token().span);
            declares(word).map(|declares| word_first(parser, &declares))
        }
        (TokenKind::Ident, TokenKind::Eq) if parser.at(TokenKind::Mut) => Some(mut_first(parser)),
        (TokenKind::Colon, TokenKind::Eq) if is_word && parser.touches_next(1) => Some(colon_equals(parser)),
        (TokenKind::Colon, TokenKind::Ident) if is_word && !is_ascribed_value(parser) => Some(annotated(parser)),
        (TokenKind::Minus, TokenKind::Minus) if is_word && parser.touches_next(1) && is_statement_end(parser, 3) => {
            let name = parser.bump();
            let place = Expr { id: parser.node(), span: name, kind: ExprKind::Name(parser.text(name).to_owned()) };
            let mark = parser.bump().to(parser.bump());
            Some(step(parser, place, mark, AssignOp::Sub, "-= 1"))
        }
        _ => None,
    }
}

/// Whether `y: T }` stands here, the value of a block with its type.
fn is_ascribed_value(parser: &Parser<'_>) -> bool {
    parser.meets(TokenKind::RBrace) && !parser.meets(TokenKind::Eq)
}

/// `double y = x`, `var y = x`
#[cold]
fn word_first(parser: &mut Parser<'_>, declares: &Declares) -> StmtKind {
    let word = parser.token().span;
    let name = parser.text(parser.token_ahead(1).span);
    let head = word.to(parser.token_ahead(1).span);
    let new = match declares {
        Declares::Typed(ty) | Declares::Unclear(ty) => format!("let {name}: {ty}"),
        Declares::New => format!("let {name}"),
        Declares::Changing => format!("let mut {name}"),
    };
    let diagnostic = statement(word, "`let`", parser.text(word)).help(format!("write `{new} = ...`"));
    let diagnostic = match declares {
        Declares::Unclear(_) => diagnostic,
        Declares::Typed(_) | Declares::New | Declares::Changing => diagnostic.fix(head, new),
    };
    parser.report_earlier(diagnostic);
    parser.bump();
    binding(parser)
}

/// `mut y = x`
#[cold]
fn mut_first(parser: &mut Parser<'_>) -> StmtKind {
    let word = parser.token().span;
    let name = parser.text(parser.token_ahead(1).span);
    let diagnostic = statement(word, "`let` before `mut`", "mut").help(format!("write `let mut {name} = ...`"));
    parser.report_earlier(diagnostic.fix(word.before(), "let "));
    binding(parser)
}

/// `y := x`
#[cold]
fn colon_equals(parser: &mut Parser<'_>) -> StmtKind {
    let name = parser.token().span;
    let mark = parser.token_ahead(1).span.to(parser.token_ahead(2).span);
    let text = parser.text(name);
    let diagnostic = statement(name.to(mark), "`let`", parser.text(name.to(mark)));
    let diagnostic = diagnostic.help(format!("write `let {text} = ...`"));
    parser.report_earlier(diagnostic.fix(name.before(), "let ").fix(mark, "="));
    let pattern = parser.pattern();
    parser.bump();
    parser.bump();
    let value = parser.ascribed();
    StmtKind::Let(Box::new(Let { pattern, ty: None, value }))
}

/// `x: f64 = 2.0`
#[cold]
fn annotated(parser: &mut Parser<'_>) -> StmtKind {
    let name = parser.token().span;
    let text = parser.text(name);
    let has_value = parser.meets(TokenKind::Eq);
    let pattern = parser.pattern();
    parser.bump();
    let ty = parser.ty();
    let diagnostic = statement(name, "`let` before a new variable", text);
    let diagnostic = diagnostic.help(format!("write `let {text}: {} = ...`", parser.quoted(ty.span)));
    parser.report_earlier(if has_value { diagnostic.fix(name.before(), "let ") } else { diagnostic });
    let ty = Some(ty);
    let value = if parser.eat(TokenKind::Eq).is_some() { parser.ascribed() } else { parser.error_expr(name) };
    StmtKind::Let(Box::new(Let { pattern, ty, value }))
}

/// Reads the name and the value of a variable whose declaration was reported.
fn binding(parser: &mut Parser<'_>) -> StmtKind {
    let binding = parser.let_after_keyword();
    StmtKind::Let(Box::new(binding))
}

/// Reads what goes on after an expression as in `return a, b`, `a, b = b, a`, `i++`; gives the expression back if nothing does.
pub(in crate::parser) fn after_expression(parser: &mut Parser<'_>, expr: Expr) -> Result<StmtKind, Expr> {
    match parser.peek() {
        TokenKind::Comma => Ok(list(parser, expr)),
        TokenKind::PlusPlus if is_statement_end(parser, 1) => {
            let span = parser.bump();
            Ok(step(parser, expr, span, AssignOp::Add, "+= 1"))
        }
        _ => Err(expr),
    }
}

/// Whether a statement ends with the token before the one `ahead` tokens away.
fn is_statement_end(parser: &Parser<'_>, ahead: usize) -> bool {
    let token = parser.token_ahead(ahead);
    token.newline_before || matches!(token.kind, TokenKind::RBrace | TokenKind::Semicolon | TokenKind::Eof)
}

/// `i++`
#[cold]
fn step(parser: &mut Parser<'_>, place: Expr, op_span: Span, op: AssignOp, text: &str) -> StmtKind {
    let found = parser.text(op_span);
    let code = format!("{} {text}", parser.quoted(place.span));
    let gap = Span { start: place.span.end, ..op_span };
    let message = format!("expected `{text}`, found `{found}`");
    let diagnostic = Diagnostic::error(codes::FOREIGN_OPERATOR, op_span, message).help(format!("write `{code}`"));
    parser.report_earlier(diagnostic.fix(gap, format!(" {text}")));
    let one = Literal::Int { value: 1, suffix: None };
    let value = Expr { id: parser.node(), span: op_span, kind: ExprKind::Literal(one) };
    StmtKind::Assign(Box::new(Assign { place, op, op_span, value }))
}

/// `return a, b`, `a, b = b, a`
#[cold]
fn list(parser: &mut Parser<'_>, first: Expr) -> StmtKind {
    let start = first.span;
    let returned = if let ExprKind::Return(Some(value)) = &first.kind { Some(value.span) } else { None };
    let parts = rest_of_list(parser, returned.unwrap_or(start));
    let code = format!("({})", parser.quoted(parts));
    let code = if returned.is_some() { format!("return {code}") } else { code };
    let found = parser.quoted(parts);
    let mut diagnostic = in_parentheses(statement(parts, "parentheses round several values", found), parts);
    if parser.at(TokenKind::Eq) && !parser.at_new_line() {
        parser.bump();
        let from = parser.token().span;
        parser.expr();
        let is_list = parser.at(TokenKind::Comma);
        let values = rest_of_list(parser, from);
        let right = parser.quoted(values);
        diagnostic = if is_list {
            in_parentheses(diagnostic.help(format!("write `{code} = ({right})`")), values)
        } else {
            diagnostic.help(format!("write `{code} = {right}`"))
        };
    } else {
        diagnostic = diagnostic.help(format!("write `{code}`"));
    }
    parser.report_earlier(diagnostic);
    let span = parser.span_from(start);
    StmtKind::Expr(parser.error_expr(span))
}

/// Reads the other expressions of a list, of which the first was read; gives the place of all.
fn rest_of_list(parser: &mut Parser<'_>, start: Span) -> Span {
    while parser.at(TokenKind::Comma) && !parser.at_new_line() {
        parser.bump();
        parser.expr();
    }
    parser.span_from(start)
}

fn in_parentheses(diagnostic: Diagnostic, parts: Span) -> Diagnostic {
    diagnostic.fix(parts.before(), "(").fix(parts.after(), ")")
}
