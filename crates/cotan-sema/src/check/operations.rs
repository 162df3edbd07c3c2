//! `operation("solve", [0], a, b) : T[N]`: an operation of the op table by its name, with its attributes and operands.
//!
//! Libraries alone write this, once for each operation, in the body of a function whose signature says what the shapes
//! have to be: so operations get types, defaults and documentation in the language, and the op table stays free of them.

use cotan_syntax::ast::{self, Arg as AstArg, ExprKind as AstKind, Literal as AstLiteral, PostfixKind};
use cotan_syntax::{Diagnostic, Span};

use super::{BodyChecker, ModuleChecker};
use crate::codes;
use crate::typed::{Arg, Builtin, Expr, ExprKind};

/// The name.
const OPERATION: &str = "operation";

/// The arguments of a use of an operation, if the expression is one.
pub(super) fn operation_args<'s>(module: &ModuleChecker<'_>, expr: &'s ast::Expr) -> Option<&'s [AstArg]> {
    let AstKind::Postfix(postfix) = &expr.kind else { return None };
    let (AstKind::Name(name), [op]) = (&postfix.base.kind, postfix.ops.as_slice()) else { return None };
    let PostfixKind::Call(args) = &op.kind else { return None };
    let is_library = module.modules[module.current.0 as usize].is_library;
    (name == OPERATION && is_library).then_some(args)
}

/// A use of an operation, whose result has the written type.
pub(super) fn operation(checker: &mut BodyChecker<'_, '_>, args: &[AstArg], span: Span, ty: &ast::TypeExpr) -> Expr {
    let ty = checker.written_type(ty, None);
    let [name, attrs, operands @ ..] = args else { return no_operation(checker, span) };
    let AstKind::Literal(AstLiteral::Str(name)) = &name.value.kind else { return no_operation(checker, span) };
    let (Some(record), AstKind::Array(attrs)) = (checker.module.registry.tensor_op(name), &attrs.value.kind) else {
        return no_operation(checker, span);
    };
    let n_attrs = attrs.len();
    let parts = attrs.iter().chain(operands.iter().map(|arg| &arg.value));
    let args: Vec<Expr> = parts.map(|part| checker.expr(part)).collect();
    if ty.has_error() || args.iter().any(|arg| arg.ty.has_error()) {
        return Expr::error(span);
    }
    let args = args.into_iter().map(Arg::Value).collect();
    Expr { span, ty, kind: ExprKind::Builtin { builtin: Builtin::Operation(record.op(), n_attrs), args } }
}

fn no_operation(checker: &mut BodyChecker<'_, '_>, span: Span) -> Expr {
    let message = "expected the name of an operation of the op table, an array of its attributes and its operands";
    checker.report(
        Diagnostic::error(codes::ARGUMENT_TYPE, span, message)
            .help("write it as in `operation(\"solve\", [0], a, b) : T[N]`"),
    );
    Expr::error(span)
}
