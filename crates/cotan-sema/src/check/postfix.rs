//! Values followed by calls, indices, fields and casts.

use cotan_ir::Elem;
use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::callees::Callee;
use crate::codes;
use crate::typed::{Arg, Builtin, Expr, ExprKind};
use crate::types::{Scalar, Type};
use crate::unify::Elems;

impl BodyChecker<'_, '_> {
    /// A value followed by calls, indices, fields and casts.
    pub(super) fn postfix(&mut self, postfix: &ast::Postfix, span: Span) -> Expr {
        if self.depth + postfix.ops.len() >= self.module.limits.nesting {
            return self.too_deep(span);
        }
        self.depth += postfix.ops.len();
        let value = self.postfix_steps(postfix);
        self.depth -= postfix.ops.len();
        value
    }

    fn postfix_steps(&mut self, postfix: &ast::Postfix) -> Expr {
        let ops = &postfix.ops;
        let (mut value, mut at) = match self.callee(&postfix.base, ops) {
            Some((callee, used)) => match ops.get(used) {
                Some(PostfixOp { id, kind: PostfixKind::Call(args), span }) => {
                    let whole = postfix.base.span.to(*span);
                    let given = self.given(args);
                    let value = self.apply(callee, given, whole);
                    self.node_types.push((*id, value.ty.clone()));
                    (value, used + 1)
                }
                _ if matches!(callee, Callee::Failed) => (Expr::error(postfix.base.span), ops.len()),
                _ => {
                    let span = ops.get(used.saturating_sub(1)).map_or(postfix.base.span, |op| op.span);
                    (self.function_as_value(postfix.base.span.to(span), "a function"), ops.len())
                }
            },
            None => match (self.variant_value(&postfix.base, ops), self.reversed_range(&postfix.base, ops)) {
                (Some(first), _) => first,
                (None, Some(value)) => (value, 2),
                (None, None) => self.base_value(&postfix.base, ops),
            },
        };
        while let Some(op) = ops.get(at) {
            let whole = postfix.base.span.to(op.span);
            value = match &op.kind {
                PostfixKind::Field(name) => match ops.get(at + 1) {
                    Some(PostfixOp { kind: PostfixKind::Call(args), span, .. }) => {
                        at += 1;
                        self.method(value, name, args, postfix.base.span.to(*span))
                    }
                    _ => self.field(value, name, whole),
                },
                PostfixKind::Call(args) => self.call_of_value(value, args, op.span),
                PostfixKind::Index(args) => self.index(value, args, whole),
                PostfixKind::TupleField { index, span } => self.tuple_field(value, *index, *span, whole),
                PostfixKind::Cast(ty) => self.cast(value, ty, whole),
            };
            self.node_types.push((ops[at].id, value.ty.clone()));
            at += 1;
        }
        value
    }

    /// The value before the steps, with how many of them belong to its name.
    fn base_value(&mut self, base: &ast::Expr, ops: &[PostfixOp]) -> (Expr, usize) {
        let ast::ExprKind::Name(name) = &base.kind else { return (self.expr(base), 0) };
        let (value, used) = self.name(name, base.span, ops);
        if used == 0 {
            self.node_types.push((base.id, value.ty.clone()));
        }
        (value, used)
    }

    fn reversed_range(&mut self, base: &ast::Expr, ops: &[PostfixOp]) -> Option<Expr> {
        let ast::ExprKind::Range(range) = &base.kind else { return None };
        let [
            PostfixOp { kind: PostfixKind::Field(name), .. },
            PostfixOp { kind: PostfixKind::Call(args), span, .. },
            ..,
        ] = ops
        else {
            return None;
        };
        (name.name == "rev" && args.is_empty()).then(|| {
            let value = self.range_value(range, base.span);
            self.reverse(value, base.span.to(*span))
        })
    }

    pub(super) fn reverse(&mut self, value: Expr, span: Span) -> Expr {
        let ty = value.ty.clone();
        if ty.has_error() {
            return Expr::error(span);
        }
        if ty.dims().is_empty() {
            let message = format!("expected a range or a tensor before `.rev()`, found `{}`", self.show(&ty));
            self.report(
                Diagnostic::error(codes::METHOD, span, message).help("put parentheses around a range: `(0..n).rev()`"),
            );
            return Expr::error(span);
        }
        if self.first_axis(&value, ".rev()").is_none() {
            return Expr::error(span);
        }
        let args = vec![Arg::Value(value)];
        Expr { span, ty, kind: ExprKind::Builtin { builtin: Builtin::Reverse, args } }
    }

    /// `e as T`
    fn cast(&mut self, value: Expr, ty: &ast::TypeExpr, span: Span) -> Expr {
        let target = self.written_type(ty, None);
        if value.ty.has_error() || target.has_error() {
            return Expr::error(span);
        }
        let Type::Scalar(to) = target else {
            let message = format!("expected a scalar type after `as`, found `{}`", self.show(&target));
            let help = match target.scalar() {
                Some(scalar) => format!("a cast keeps the shape: write `as {}`", self.show_scalar(scalar)),
                None => "only numbers are converted".to_owned(),
            };
            self.report(Diagnostic::error(codes::CAST, ty.span, message).help(help));
            return Expr::error(span);
        };
        let Some(from) = value.ty.scalar() else {
            let message = format!("expected a number before `as`, found {}", self.show_value(&value));
            self.report(Diagnostic::error(codes::CAST, value.span, message).help("convert the parts one by one"));
            return Expr::error(span);
        };
        let to_bool = self.vars.resolve(to) == Scalar::Of(Elem::Bool);
        if to_bool && !self.vars.is_within(from, Elems::bool()) {
            let message = format!("expected `bool` before `as bool`, found {}", self.show_value(&value));
            self.report(Diagnostic::error(codes::CAST, span, message).help("compare, as in `x != 0`"));
            return Expr::error(span);
        }
        let ty = value.ty.with_scalar(to);
        Expr { span, ty, kind: ExprKind::Cast(Box::new(value)) }
    }

    /// The indices of an indexing with the dims that they leave.
    pub(super) fn index(&mut self, value: Expr, args: &[AstArg], span: Span) -> Expr {
        let base = self.show_value(&value);
        let name = if let ExprKind::Local(local) = value.kind {
            Some(self.locals[local.0 as usize].name.clone()).filter(|name| !name.starts_with('$'))
        } else {
            None
        };
        match self.indices(&value.ty, (&base, value.span), name.as_deref(), args, span) {
            Some((indices, ty)) => Expr { span, ty, kind: ExprKind::Index { base: Box::new(value), indices } },
            None => Expr::error(span),
        }
    }
}
