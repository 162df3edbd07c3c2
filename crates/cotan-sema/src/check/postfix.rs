//! Values followed by calls, indices, fields and casts.

use cotan_ir::Elem;
use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::callee::Callee;
use super::{
    BodyChecker, arguments, builtins, calls, enums, foreign_members, indexing, literals, methods, names, ranges,
    structs, unbound_derivatives,
};
use crate::codes;
use crate::typed::{Expr, ExprKind};
use crate::types::{Scalar, Type};
use crate::unify::Elems;

/// A value followed by calls, indices, fields and casts.
pub(super) fn postfix(checker: &mut BodyChecker<'_, '_>, postfix: &ast::Postfix, span: Span) -> Expr {
    if checker.depth + postfix.ops.len() >= checker.module.limits.nesting {
        return checker.too_deep(span);
    }
    checker.depth += postfix.ops.len();
    let value = postfix_steps(checker, postfix);
    checker.depth -= postfix.ops.len();
    value
}

fn postfix_steps(checker: &mut BodyChecker<'_, '_>, postfix: &ast::Postfix) -> Expr {
    let ops = &postfix.ops;
    let (mut value, mut at) = match checker.callee(&postfix.base, ops) {
        Some((callee, used)) => match ops.get(used) {
            Some(PostfixOp { id, kind: PostfixKind::Call(args), span }) => {
                let whole = postfix.base.span.to(*span);
                let given = arguments::given(args);
                let value = checker.apply(callee, given, whole);
                checker.node_types.push((*id, value.ty.clone()));
                (value, used + 1)
            }
            _ if matches!(callee, Callee::Failed) => (Expr::error(postfix.base.span), ops.len()),
            _ => {
                let last = ops.get(used.saturating_sub(1)).map_or(postfix.base.span, |op| op.span);
                let span = postfix.base.span.to(last);
                let value = match &callee {
                    Callee::Derivative(derivative) => unbound_derivatives::report(checker, derivative),
                    Callee::Scheme(_)
                    | Callee::Scalar(..)
                    | Callee::Builtin(..)
                    | Callee::Print(..)
                    | Callee::Lambda(..)
                    | Callee::Vmap(_)
                    | Callee::Failed => checker.function_as_value(span, "a function"),
                };
                (value, ops.len())
            }
        },
        None => {
            match (enums::variant_value(checker, &postfix.base, ops), reversed_range(checker, &postfix.base, ops)) {
                (Some(first), _) => first,
                (None, Some(value)) => (value, 2),
                (None, None) => base_value(checker, &postfix.base, ops),
            }
        }
    };
    while let Some(op) = ops.get(at) {
        let whole = postfix.base.span.to(op.span);
        value = match &op.kind {
            PostfixKind::Field(name) => match ops.get(at + 1) {
                Some(PostfixOp { kind: PostfixKind::Call(args), span, .. }) => {
                    at += 1;
                    methods::method(checker, value, name, args, postfix.base.span.to(*span))
                }
                _ if foreign_members::is_axis_of_shape(checker, &value, &ops[at..]) => {
                    at += 1;
                    Expr::error(whole)
                }
                _ => structs::field(checker, value, name, whole),
            },
            PostfixKind::Call(args) => calls::call_of_value(checker, value, args, op.span),
            PostfixKind::Index(args) => index(checker, value, args, whole),
            PostfixKind::TupleField { index, span } => structs::tuple_field(checker, value, *index, *span, whole),
            PostfixKind::Cast(ty) => cast(checker, value, ty, whole),
        };
        checker.node_types.push((ops[at].id, value.ty.clone()));
        at += 1;
    }
    value
}

/// The value before the steps, with how many of them belong to its name.
fn base_value(checker: &mut BodyChecker<'_, '_>, base: &ast::Expr, ops: &[PostfixOp]) -> (Expr, usize) {
    let ast::ExprKind::Name(name) = &base.kind else { return (checker.expr(base), 0) };
    let (value, used) = names::name(checker, name, base.span, ops);
    if used == 0 {
        checker.node_types.push((base.id, value.ty.clone()));
    }
    (value, used)
}

fn reversed_range(checker: &mut BodyChecker<'_, '_>, base: &ast::Expr, ops: &[PostfixOp]) -> Option<Expr> {
    let ast::ExprKind::Range(range) = &base.kind else { return None };
    let [PostfixOp { kind: PostfixKind::Field(name), .. }, PostfixOp { kind: PostfixKind::Call(args), span, .. }, ..] =
        ops
    else {
        return None;
    };
    (name.name == "rev" && args.is_empty()).then(|| {
        let value = ranges::range_value(checker, range, base.span);
        builtins::reverse(checker, value, base.span.to(*span))
    })
}

/// `e as T`
fn cast(checker: &mut BodyChecker<'_, '_>, value: Expr, ty: &ast::TypeExpr, span: Span) -> Expr {
    let target = checker.written_type(ty, None);
    if value.ty.has_error() || target.has_error() {
        return Expr::error(span);
    }
    let Type::Scalar(to) = target else {
        let message = format!("expected a scalar type after `as`, found `{}`", checker.show(&target));
        let help = match target.scalar() {
            Some(scalar) => format!("a cast keeps the shape: write `as {}`", checker.show_scalar(scalar)),
            None => "only numbers are converted".to_owned(),
        };
        checker.report(Diagnostic::error(codes::CAST, ty.span, message).help(help));
        return Expr::error(span);
    };
    let Some(from) = value.ty.scalar() else {
        let message = format!("expected a number before `as`, found {}", checker.show_value(&value));
        checker.report(Diagnostic::error(codes::CAST, value.span, message).help("convert the parts one by one"));
        return Expr::error(span);
    };
    let to_bool = checker.infer.vars.resolve(to) == Scalar::Of(Elem::Bool);
    if to_bool && !checker.infer.vars.is_within(from, Elems::bool()) {
        let message = format!("expected `bool` before `as bool`, found {}", checker.show_value(&value));
        checker.report(Diagnostic::error(codes::CAST, span, message).help("compare, as in `x != 0`"));
        return Expr::error(span);
    }
    if literals::is_quotient(&value) && checker.infer.vars.is_within(to, Elems::any_float()) {
        // A cast of literals that may be floats says that they are.
        checker.infer.vars.unify(from, to);
    }
    let ty = value.ty.with_scalar(to);
    Expr { span, ty, kind: ExprKind::Cast(Box::new(value)) }
}

/// The indices of an indexing with the dims that they leave.
fn index(checker: &mut BodyChecker<'_, '_>, value: Expr, args: &[AstArg], span: Span) -> Expr {
    let base = checker.show_value(&value);
    let name = if let ExprKind::Local(local) = value.kind {
        Some(checker.locals.get(local).name.clone()).filter(|name| !name.starts_with('$'))
    } else {
        None
    };
    match indexing::indices(checker, &value.ty, (&base, value.span), name.as_deref(), args, span) {
        Some((indices, ty)) => Expr { span, ty, kind: ExprKind::Index { base: Box::new(value), indices } },
        None => Expr::error(span),
    }
}
