//! Pipes: `x |> f(y) |> g`.

use cotan_syntax::ast::{self, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::arguments::{Given, Source};
use crate::codes;
use crate::typed::{Block, Expr, ExprKind, Pattern, PatternKind, Stmt, StmtKind};

impl BodyChecker<'_, '_> {
    /// `x |> f(y) |> g`: each value is bound, so that long pipes stay flat.
    pub(super) fn pipe(&mut self, pipe: &ast::Pipe, span: Span) -> Expr {
        let mut value = self.expr(&pipe.first);
        let mut statements = Vec::new();
        for stage in &pipe.stages {
            let local = self.bind("", value.span, value.ty.clone(), false);
            self.locals[local.0 as usize].name = "$pipe".to_owned();
            self.local_facts[local.0 as usize].known = self.size_of(&value);
            let (ty, value_span) = (value.ty.clone(), value.span);
            let pattern = Pattern { span: value_span, ty: ty.clone(), kind: PatternKind::Local(local) };
            statements.push(Stmt { span: value_span, kind: StmtKind::Let { pattern, value } });
            let piped = Source::Typed(Expr { span: value_span, ty, kind: ExprKind::Local(local) });
            let whole = span.to(stage.function.span);
            value = self.pipe_stage(&stage.function, piped, whole);
            self.node_types.push((stage.id, value.ty.clone()));
        }
        let ty = value.ty.clone();
        Expr {
            span,
            ty,
            kind: ExprKind::Block(Box::new(Block { statements, value: Some(value), recompute: false, mode: None })),
        }
    }

    fn pipe_stage(&mut self, function: &ast::Expr, piped: Source<'_>, span: Span) -> Expr {
        if let ast::ExprKind::Postfix(postfix) = &function.kind
            && let Some((PostfixOp { kind: PostfixKind::Call(args), .. }, before)) = postfix.ops.split_last()
            && !self.is_derivative_form(&postfix.base, before)
            && let Some((callee, used)) = self.callee(&postfix.base, &postfix.ops)
        {
            if used == before.len() {
                let mut given = self.given(args);
                given.positional.insert(0, piped);
                return self.apply(callee, given, span);
            }
        } else if let Some(callee) = self.function_expr(function) {
            return self.apply(callee, Given::from(vec![piped]), span);
        }
        let message = "expected a function after `|>`, found a value";
        self.report(
            Diagnostic::error(codes::NOT_CALLABLE, function.span, message)
                .help("write the name of a function, a call that lacks its first argument, or a lambda in parentheses"),
        );
        Expr::error(span)
    }
}
