//! Callees: what stands before the parentheses of a call.

use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::callee::{Callee, DerivativeCallee};
use super::effects::Printer;
use super::schemes::{function_scheme, param_scheme};
use super::scope::{Found, field_name};
use super::vmap_axes::VMAP;
use super::{
    BodyChecker, Def, FnId, builtins, einsum, instantiate, methods, unbound_derivatives, unknown_names, vmaps,
};
use crate::codes;
use crate::modules::einsum::EINSUM;
use crate::prelude;
use crate::suggest::closest;
use crate::typed::NamedForm;
use crate::types::Type;

impl BodyChecker<'_, '_> {
    /// What can be called at the beginning of `base ops..`, with how many of the steps belong to
    /// it. `None` if a value stands there.
    pub(super) fn callee<'s>(&mut self, base: &'s ast::Expr, ops: &'s [PostfixOp]) -> Option<(Callee<'s>, usize)> {
        if let ast::ExprKind::Lambda(lambda) = &base.kind {
            return Some((Callee::Lambda(lambda, base.span), 0));
        }
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        if let Some(local) = self.locals.named(name) {
            let Type::Function(ty) = self.locals.get(local).ty.clone() else { return None };
            self.lookup_local(name, base.span);
            return Some((Callee::Scheme(Box::new(param_scheme(name, base.span, local, *ty))), 0));
        }
        if self.generics.iter().any(|generic| generic.name == *name) {
            return None;
        }
        let is_member = field_name(ops.first()).is_some();
        if self.is_item(name) && (is_member || !self.module.is_beside_module(name)) {
            return item_callee(self, name, base.span, ops);
        }
        if let Some(form) = NamedForm::from_name(name) {
            return Some(derivative_callee(self, form, base.span, ops));
        }
        if name == VMAP {
            return Some(vmaps::vmap_callee(self, base.span, ops));
        }
        if name == EINSUM {
            return Some(einsum::einsum_callee(self, base.span, ops));
        }
        if let Some(function) = prelude::scalar_function(name) {
            return Some((Callee::Scalar(function, base.span), 0));
        }
        if let Some(printer) = Printer::from_name(name) {
            return Some((Callee::Print(printer, base.span), 0));
        }
        let builtin = prelude::builtin(name)?;
        Some(match ops.first() {
            Some(PostfixOp { kind: PostfixKind::Index(args), span, .. }) => {
                (builtins::builtin_with_type(self, builtin, args, *span), 1)
            }
            _ => (Callee::Builtin(builtin, None, base.span), 0),
        })
    }

    pub(super) fn function_callee<'s>(
        &mut self,
        id: FnId,
        span: Span,
        ops: &'s [PostfixOp],
        used: usize,
    ) -> (Callee<'s>, usize) {
        let signature = self.module.signature(id).clone();
        let (args, used): (&[AstArg], usize) = match ops.get(used) {
            Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => (args, used + 1),
            _ => (&[], used),
        };
        let Some(given) = instantiate::explicit_generics(self, &signature.generics, args, &signature.name, span) else {
            return (Callee::Failed, used);
        };
        (Callee::Scheme(Box::new(function_scheme(id, signature, span, given))), used)
    }

    /// What can be called, if the whole expression is that.
    pub(super) fn function_expr<'s>(&mut self, expr: &'s ast::Expr) -> Option<Callee<'s>> {
        let (base, ops): (&ast::Expr, &[PostfixOp]) =
            if let ast::ExprKind::Postfix(postfix) = &expr.kind { (&postfix.base, &postfix.ops) } else { (expr, &[]) };
        let (callee, used) = self.callee(base, ops)?;
        (used == ops.len()).then_some(callee)
    }
}

/// What can be called at the beginning of `name ops..` where the name is that of a declaration.
fn item_callee<'s>(
    checker: &mut BodyChecker<'_, '_>,
    name: &str,
    span: Span,
    ops: &'s [PostfixOp],
) -> Option<(Callee<'s>, usize)> {
    if let Some(used) = unknown_names::member_call(checker, name, span, ops) {
        return Some((Callee::Failed, used));
    }
    let n_uses = checker.module.facts.definitions.len();
    let found = checker.module.follow(name, span, |at| field_name(ops.get(at)))?;
    match found.def {
        Def::Function(id) => Some(checker.function_callee(id, found.span, ops, found.n_dots)),
        Def::Gradients(at) => gradient_callee(checker, at, &found, ops),
        Def::Trait(id) => Some(methods::trait_callee(checker, id, &found, ops)),
        Def::Unusable => {
            let call = ops.iter().position(|op| matches!(op.kind, PostfixKind::Call(_)));
            Some((Callee::Failed, call.unwrap_or(found.n_dots)))
        }
        Def::Pending => Some((Callee::Failed, found.n_dots)),
        Def::Struct(_) | Def::Enum(_) | Def::Alias(_) | Def::Constant(_) | Def::Module(_) => {
            // It is looked up again as a value.
            checker.module.facts.definitions.truncate(n_uses);
            None
        }
    }
}

/// `dloss.w`
fn gradient_callee<'s>(
    checker: &mut BodyChecker<'_, '_>,
    at: usize,
    found: &Found,
    ops: &'s [PostfixOp],
) -> Option<(Callee<'s>, usize)> {
    let Found { name, span, n_dots, .. } = found;
    let (span, n_dots) = (*span, *n_dots);
    let Some(param) = field_name(ops.get(n_dots)) else {
        let names: Vec<String> = checker.module.gradients[at].keys().map(|param| format!("`{name}.{param}`")).collect();
        let message = format!("expected the name of one gradient, found `{name}`, which stands for several");
        checker
            .report(Diagnostic::error(codes::NOT_CALLABLE, span, message).help(format!("call {}", names.join(" or "))));
        return Some((Callee::Failed, n_dots));
    };
    if let Some(id) = checker.module.gradients[at].get(&param.name).copied() {
        let definition = checker.module.signature(id).name_span;
        checker.module.note_use(span, definition);
        return Some(checker.function_callee(id, span.to(param.span), ops, n_dots + 1));
    }
    let known = checker.module.gradients[at].keys().map(String::as_str);
    let help = match closest(&param.name, known) {
        Some(near) => format!("did you mean `{name}.{near}`?"),
        None => format!("add `@grad({})` to its declaration", param.name),
    };
    let message = format!("expected a gradient of `{name}`, found `{}`", param.name);
    checker.report(Diagnostic::error(codes::UNKNOWN_FIELD, param.span, message).help(help));
    Some((Callee::Failed, n_dots + 1))
}

fn derivative_callee<'s>(
    checker: &mut BodyChecker<'_, '_>,
    form: NamedForm,
    span: Span,
    ops: &'s [PostfixOp],
) -> (Callee<'s>, usize) {
    let (selector, used): (&[AstArg], usize) = match ops.first() {
        Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => (args, 1),
        _ => (&[], 0),
    };
    let Some(PostfixOp { kind: PostfixKind::Call(args), span: call_span, .. }) = ops.get(used) else {
        report_needs_function(checker, form, span);
        return (Callee::Failed, used);
    };
    let whole = span.to(*call_span);
    let base = match args.as_slice() {
        [AstArg { name: None, value }] => checker.function_expr(value),
        _ => None,
    };
    match base {
        Some(base) => (Callee::Derivative(Box::new(DerivativeCallee { form, selector, base, span: whole })), used + 1),
        None => {
            let is_known = args.iter().any(|arg| matches!(arg.value.kind, ast::ExprKind::Error))
                || unbound_derivatives::is_argument_number(checker, form, args, whole)
                || unbound_derivatives::is_call_inside(checker, form, args, whole);
            if !is_known {
                report_needs_function(checker, form, whole);
            }
            (Callee::Failed, used + 1)
        }
    }
}

fn report_needs_function(checker: &mut BodyChecker<'_, '_>, form: NamedForm, span: Span) {
    let name = form.name;
    let message = format!("expected a function to differentiate in `{name}(f)`, found a value");
    checker.report(
        Diagnostic::error(codes::NEEDS_FUNCTION, span, message)
            .help(format!("write the name of a function and then its arguments: `{name}[w](f)(w, x)`")),
    );
}
