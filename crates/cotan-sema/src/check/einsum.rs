//! `einsum["ij,jk->ik"](a, b)`: the function that was written for the string.

use cotan_syntax::ast::{self, Arg as AstArg, Literal, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::callee::Callee;
use super::{BodyChecker, Def};
use crate::codes;
use crate::modules::einsum::{MODULE, name_of};

/// `einsum` and what follows it: the sum in brackets.
pub(super) fn einsum_callee<'s>(
    checker: &mut BodyChecker<'_, '_>,
    span: Span,
    ops: &'s [PostfixOp],
) -> (Callee<'s>, usize) {
    let Some(PostfixOp { kind: PostfixKind::Index(args), span: brackets, .. }) = ops.first() else {
        return (no_sum(checker, span), 0);
    };
    let whole = span.to(*brackets);
    let [AstArg { name: None, value: ast::Expr { kind: ast::ExprKind::Literal(Literal::Str(sum)), .. } }] =
        args.as_slice()
    else {
        return (no_sum(checker, whole), 1);
    };
    let module = checker.module.modules.iter().position(|module| module.label == MODULE);
    let found = name_of(sum).zip(module).and_then(|(name, at)| checker.module.definitions[at].get(&name).copied());
    match found.map(|found| found.def) {
        Some(Def::Function(id)) => (checker.function_callee(id, whole, &[], 0).0, 1),
        Some(
            Def::Gradients(_)
            | Def::Trait(_)
            | Def::Unusable
            | Def::Pending
            | Def::Struct(_)
            | Def::Enum(_)
            | Def::Alias(_)
            | Def::Constant(_)
            | Def::Module(_),
        )
        | None => (no_sum(checker, whole), 1),
    }
}

fn no_sum<'s>(checker: &mut BodyChecker<'_, '_>, span: Span) -> Callee<'s> {
    let message = "expected a sum in the brackets of `einsum`, such as `\"ij,jk->ik\"`, found something else";
    checker.report(Diagnostic::error(codes::BAD_SUM, span, message).help(
        "name the axes of each operand by letters, then, behind `->`, those of the result, each once; `...` stands \
         for leading axes that all of them have",
    ));
    Callee::Failed
}
