//! `map` for effects: `map(|t| { s += t }, x)` as a statement, which is a loop here.

use cotan_syntax::ast::{self, Arg, ExprKind, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;

/// A map whose function has no value.
struct EffectMap<'s> {
    pattern: Span,
    body: &'s ast::Block,
    tensor: Span,
    span: Span,
}

/// Reports a statement that maps a function without a value over a tensor; `false` if it is another one.
pub(super) fn is_reported(checker: &mut BodyChecker<'_, '_>, expr: &ast::Expr) -> bool {
    let Some(map) = effect_map(checker, expr) else { return false };
    let message = "expected a loop for what has an effect, found `map`, which makes a tensor of results";
    let diagnostic = Diagnostic::error(codes::MISMATCH, map.span, message);
    let head = [map.pattern, map.tensor].map(|span| checker.module.written(span));
    let body = checker.module.text(map.body.span);
    let [Some(pattern), Some(tensor)] = head else {
        checker.report(diagnostic.help("write a `for` loop: lambdas read what they capture, and change nothing"));
        return true;
    };
    let head = format!("for {pattern} in {tensor} ");
    let help = format!("write `{head}{{ ... }}`: lambdas read what they capture, and change nothing");
    let fix = body.map(|body| format!("{head}{body}"));
    checker.report(match fix {
        Some(code) => diagnostic.help(help).fix(map.span, code),
        None => diagnostic.help(help),
    });
    true
}

fn effect_map<'s>(checker: &BodyChecker<'_, '_>, expr: &'s ast::Expr) -> Option<EffectMap<'s>> {
    let ExprKind::Postfix(postfix) = &expr.kind else { return None };
    let [PostfixOp { kind: PostfixKind::Call(args), .. }] = postfix.ops.as_slice() else { return None };
    let [Arg { name: None, value: function }, Arg { name: None, value: tensor }] = args.as_slice() else { return None };
    let ExprKind::Lambda(lambda) = &function.kind else { return None };
    let ([param], ExprKind::Block(body)) = (lambda.params.as_slice(), &lambda.body.kind) else { return None };
    let is_map = matches!(&postfix.base.kind, ExprKind::Name(name) if name == "map" && !checker.is_item(name));
    let changes = body.statements.iter().any(|statement| matches!(statement.kind, ast::StmtKind::Assign(_)));
    let is_effect = is_map && body.value.is_none() && body.attrs.is_empty() && changes && param.ty.is_none();
    is_effect.then_some(EffectMap { pattern: param.pattern.span, body, tensor: tensor.span, span: expr.span })
}
