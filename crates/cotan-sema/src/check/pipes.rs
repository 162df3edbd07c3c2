//! Pipes: `x |> f(y) |> g`.

use cotan_syntax::ast::{self, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::arguments::{Given, Source};
use super::{BodyChecker, arguments, callee};
use crate::codes;
use crate::typed::{Block, Expr, ExprKind, Pattern, PatternKind, Stmt, StmtKind};

/// `x |> f(y) |> g`: each value is bound, so that long pipes stay flat.
pub(super) fn pipe(checker: &mut BodyChecker<'_, '_>, pipe: &ast::Pipe, span: Span) -> Expr {
    let mut value = checker.expr(&pipe.first);
    let mut statements = Vec::new();
    for stage in &pipe.stages {
        let local = checker.locals.push("$pipe", value.span, value.ty.clone(), false);
        let size = checker.size_of(&value);
        checker.locals.set_known(local, size);
        let (ty, value_span) = (value.ty.clone(), value.span);
        let pattern = Pattern { span: value_span, ty: ty.clone(), kind: PatternKind::Local(local) };
        statements.push(Stmt { span: value_span, kind: StmtKind::Let { pattern, value } });
        let piped = Source::Typed(Expr { span: value_span, ty, kind: ExprKind::Local(local) });
        let whole = span.to(stage.function.span);
        value = pipe_stage(checker, &stage.function, piped, whole);
        checker.node_types.push((stage.id, value.ty.clone()));
    }
    let ty = value.ty.clone();
    Expr {
        span,
        ty,
        kind: ExprKind::Block(Box::new(Block { statements, value: Some(value), recompute: false, mode: None })),
    }
}

fn pipe_stage(checker: &mut BodyChecker<'_, '_>, function: &ast::Expr, piped: Source<'_>, span: Span) -> Expr {
    if let ast::ExprKind::Postfix(postfix) = &function.kind
        && let Some((PostfixOp { kind: PostfixKind::Call(args), .. }, before)) = postfix.ops.split_last()
        && !callee::is_derivative_form(checker, &postfix.base, before)
        && let Some((callee, used)) = checker.callee(&postfix.base, &postfix.ops)
    {
        if used == before.len() {
            let mut given = arguments::given(args);
            given.positional.insert(0, piped);
            return checker.apply(callee, given, span);
        }
    } else if let Some(callee) = checker.function_expr(function) {
        return checker.apply(callee, Given::from(vec![piped]), span);
    }
    let message = "expected a function after `|>`, found a value";
    checker.report(
        Diagnostic::error(codes::NOT_CALLABLE, function.span, message)
            .help("write the name of a function, a call that lacks its first argument, or a lambda in parentheses"),
    );
    Expr::error(span)
}
