//! Warnings about integer division: quotients that drop a remainder where a float may have been meant.

use cotan_ir::{Const, Elem};
use cotan_syntax::{Diagnostic, Span};

use super::evaluate::evaluate;
use super::{ModuleChecker, literals};
use crate::codes;
use crate::typed::{BinaryOp, Body, Chain, Expr, ExprKind, Part};
use crate::types::Type;

/// Warns of the quotients of a body whose types are decided.
pub(super) fn check(checker: &mut ModuleChecker<'_>, body: &Body) {
    let mut found = Vec::new();
    visit(&body.value, &mut found);
    found.into_iter().for_each(|quotient| report(checker, quotient));
}

/// A quotient of integers that may have been meant as one of floats.
enum Quotient {
    /// Of literals, with a remainder: where it stands, and what it is.
    OfLiterals(Span, i128),
    /// Cast to a float: where the cast stands, the type, and both operands.
    Cast(Span, Elem, [Span; 2]),
}

fn visit(expr: &Expr, found: &mut Vec<Quotient>) {
    if let (true, ExprKind::Chain(chain)) = (is_integer(&expr.ty), &expr.kind) {
        of_literals(chain, found);
    }
    if let ExprKind::Cast(operand) = &expr.kind {
        found.extend(cast(expr, operand));
    }
    expr.each_part(&mut |part| visit_part(part, found));
}

fn visit_part(part: Part<'_>, found: &mut Vec<Quotient>) {
    match part {
        Part::Expr(expr) => visit(expr, found),
        Part::Callable(callable) => callable.each_part(&mut |part| visit_part(part, found)),
    }
}

/// The quotients in a run of operators that begins with literals.
fn of_literals(chain: &Chain, found: &mut Vec<Quotient>) {
    for (at, link) in chain.rest.iter().enumerate().filter(|(_, link)| link.op == BinaryOp::Div) {
        let first = Chain { first: chain.first.clone(), rest: chain.rest[..at].to_vec() };
        let dividend = Expr { kind: ExprKind::Chain(Box::new(first)), ..chain.first.clone() };
        if !literals::is_made_of_integers(&dividend) || !literals::is_made_of_integers(&link.operand) {
            continue;
        }
        let (Some(dividend), Some(divisor)) = (integer(&dividend), integer(&link.operand)) else { continue };
        if divisor != 0 && dividend % divisor != 0 {
            found.push(Quotient::OfLiterals(link.span, dividend / divisor));
        }
    }
}

/// A cast to a float of nothing but a quotient of integers.
fn cast(whole: &Expr, operand: &Expr) -> Option<Quotient> {
    let elem = whole.ty.concrete().filter(|elem| elem.is_float())?;
    let ExprKind::Chain(chain) = &operand.kind else { return None };
    let link = chain.rest.last().filter(|link| link.op == BinaryOp::Div && is_integer(&operand.ty))?;
    let before = chain.rest.iter().rev().nth(1).map_or(chain.first.span, |link| chain.first.span.to(link.operand.span));
    Some(Quotient::Cast(whole.span, elem, [before, link.operand.span]))
}

fn report(checker: &mut ModuleChecker<'_>, quotient: Quotient) {
    match quotient {
        Quotient::OfLiterals(span, value) => {
            let text = checker.quoted(span, "a quotient of literals");
            let message =
                format!("expected a quotient without a remainder, found `{text}`, which is {value} as an integer");
            let help = "for the fraction, write one of the literals as a float, such as `1.0`";
            checker.report(Diagnostic::warning(codes::TRUNCATED_QUOTIENT, span, message).help(help));
        }
        Quotient::Cast(span, elem, operands) => {
            let [a, b] = operands.map(|operand| checker.quoted(operand, "n"));
            let name = elem.name();
            let message = format!(
                "expected a quotient of floats before `as {name}`, found one of integers, which drops its remainder"
            );
            let help =
                format!("write `({a} as {name}) / ({b} as {name})`, or bind the integer first: `let q = {a} / {b}`");
            checker.report(Diagnostic::warning(codes::CAST_QUOTIENT, span, message).help(help));
        }
    }
}

fn is_integer(ty: &Type) -> bool {
    ty.concrete().is_some_and(Elem::is_integer)
}

/// The value of arithmetic of literals.
fn integer(expr: &Expr) -> Option<i128> {
    let ExprKind::Literal(literal) = evaluate(expr).ok()?.kind else { return None };
    Const::as_integer(literal.constant(expr.ty.concrete()?))
}
