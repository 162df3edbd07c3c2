//! Ranges of Python: `for i in range(n)`.

use cotan_syntax::ast::{self, Arg, ExprKind, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;

/// The range that a call of `range` in the head of a loop stands for, which is reported; none if something else stands
/// there, or a step.
pub(super) fn reported(checker: &mut BodyChecker<'_, '_>, iterable: &ast::Expr) -> Option<ast::Range> {
    let ExprKind::Postfix(postfix) = &iterable.kind else { return None };
    let [PostfixOp { kind: PostfixKind::Call(args), .. }] = postfix.ops.as_slice() else { return None };
    let ExprKind::Name(name) = &postfix.base.kind else { return None };
    let is_free = checker.locals.named(name).is_none() && !checker.is_item(name);
    if !matches!(name.as_str(), "range" | "xrange" | "arange") || !is_free {
        return None;
    }
    let (lo, hi) = match args.as_slice() {
        [Arg { name: None, value: hi }] => (None, hi),
        [Arg { name: None, value: lo }, Arg { name: None, value: hi }] => (Some(lo), hi),
        _ => return None,
    };
    let [from, to] = [lo.map(|lo| lo.span), Some(hi.span)].map(|end| match end {
        Some(span) => checker.module.written(span).map(str::to_owned),
        None => Some("0".to_owned()),
    });
    let span = postfix.base.span;
    let message = format!("expected a name that is declared, found `{name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, span, message);
    checker.report(match from.zip(to) {
        Some((from, to)) => {
            let code = format!("{from}..{to}");
            diagnostic.help(format!("a loop goes over a range: write `{code}`")).fix(iterable.span, code)
        }
        None => diagnostic.help("a loop goes over a range: write `0..n`"),
    });
    let zero = || zero(iterable, span);
    Some(ast::Range {
        lo: Some(lo.cloned().unwrap_or_else(zero)),
        hi: Some(hi.clone()),
        inclusive: false,
        op_span: span,
        in_brackets: false,
    })
}

fn zero(iterable: &ast::Expr, span: Span) -> ast::Expr {
    let kind = ExprKind::Literal(ast::Literal::Int { value: 0, suffix: None });
    ast::Expr { id: iterable.id, span, kind }
}
