//! Callees: what stands before the parentheses of a call.

use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::effects::Printer;
use super::names::field_name;
use super::schemes::{Scheme, SchemeParam, SchemeTarget, param_scheme};
use super::scope::Found;
use super::vmaps::{VMAP, VmapCallee};
use super::{BodyChecker, Def, FnId, Signature};
use crate::codes;
use crate::modules::einsum::EINSUM;
use crate::prelude::{self, ScalarFunction};
use crate::suggest::closest;
use crate::typed::{Builtin, NamedForm};
use crate::types::{GenericArg, Type};

/// What stands before the parentheses of a call.
pub(super) enum Callee<'s> {
    /// Something with a signature.
    Scheme(Box<Scheme>),
    /// A scalar function of the prelude.
    Scalar(ScalarFunction, Span),
    /// Another function of the prelude, with the element type or shape pack in brackets.
    Builtin(Builtin, Option<GenericArg>, Span),
    /// A function of the prelude that prints.
    Print(Printer, Span),
    /// A lambda: the arguments decide the types of its parameters.
    Lambda(&'s ast::Lambda, Span),
    /// A derivative of something whose signature depends on the arguments, or not.
    Derivative(Box<DerivativeCallee<'s>>),
    /// Something over one more axis of its arguments.
    Vmap(Box<VmapCallee<'s>>),
    /// Reported.
    Failed,
}

/// `grad[w](f)` before the arguments are known.
pub(super) struct DerivativeCallee<'s> {
    pub(super) form: NamedForm,
    pub(super) selector: &'s [AstArg],
    pub(super) base: Callee<'s>,
    pub(super) span: Span,
}

impl Callee<'_> {
    /// Whether the types of the parameters come from the arguments.
    pub(super) fn needs_argument_types(&self) -> bool {
        match self {
            Self::Scheme(_) | Self::Failed => false,
            Self::Scalar(..) | Self::Builtin(..) | Self::Print(..) | Self::Lambda(..) | Self::Vmap(_) => true,
            Self::Derivative(derivative) => match &derivative.base {
                // The tangents of a type are known when the type is.
                Self::Scheme(scheme) => scheme.has_type_params(),
                Self::Scalar(..)
                | Self::Builtin(..)
                | Self::Print(..)
                | Self::Lambda(..)
                | Self::Derivative(_)
                | Self::Vmap(_)
                | Self::Failed => derivative.base.needs_argument_types(),
            },
        }
    }
}

impl BodyChecker<'_, '_> {
    /// What can be called at the beginning of `base ops..`, with how many of the steps belong to
    /// it. `None` if a value stands there.
    pub(super) fn callee<'s>(&mut self, base: &'s ast::Expr, ops: &'s [PostfixOp]) -> Option<(Callee<'s>, usize)> {
        if let ast::ExprKind::Lambda(lambda) = &base.kind {
            return Some((Callee::Lambda(lambda, base.span), 0));
        }
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        if self.names.contains_key(name) {
            let local = *self.names.get(name)?.last()?;
            let Type::Function(ty) = self.locals[local.0 as usize].ty.clone() else { return None };
            self.lookup_local(name, base.span);
            return Some((Callee::Scheme(Box::new(param_scheme(name, base.span, local, *ty))), 0));
        }
        if self.generics.iter().any(|generic| generic.name == *name) {
            return None;
        }
        if self.is_item(name) {
            return self.item_callee(name, base.span, ops);
        }
        if let Some(form) = NamedForm::from_name(name) {
            return Some(self.derivative_callee(form, base.span, ops));
        }
        if name == VMAP {
            return Some(self.vmap_callee(base.span, ops));
        }
        if name == EINSUM {
            return Some(self.einsum_callee(base.span, ops));
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
                (self.builtin_with_type(builtin, args, *span), 1)
            }
            _ => (Callee::Builtin(builtin, None, base.span), 0),
        })
    }

    /// What can be called at the beginning of `name ops..` where the name is that of a declaration.
    fn item_callee<'s>(&mut self, name: &str, span: Span, ops: &'s [PostfixOp]) -> Option<(Callee<'s>, usize)> {
        let n_uses = self.module.facts.definitions.len();
        let found = self.module.follow(name, span, |at| field_name(ops.get(at)))?;
        match found.def {
            Def::Function(id) => Some(self.function_callee(id, found.span, ops, found.n_dots)),
            Def::Gradients(at) => self.gradient_callee(at, &found, ops),
            Def::Trait(id) => Some(self.trait_callee(id, &found, ops)),
            Def::Unusable => {
                let call = ops.iter().position(|op| matches!(op.kind, PostfixKind::Call(_)));
                Some((Callee::Failed, call.unwrap_or(found.n_dots)))
            }
            Def::Pending => Some((Callee::Failed, found.n_dots)),
            Def::Struct(_) | Def::Enum(_) | Def::Alias(_) | Def::Constant(_) | Def::Module(_) => {
                // It is looked up again as a value.
                self.module.facts.definitions.truncate(n_uses);
                None
            }
        }
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
        let Some(given) = self.explicit_generics(&signature.generics, args, &signature.name, span) else {
            return (Callee::Failed, used);
        };
        (Callee::Scheme(Box::new(function_scheme(id, signature, span, given))), used)
    }

    /// A function of a trait with what is known of its generics.
    pub(super) fn method_callee<'s>(&self, id: FnId, span: Span, mut given: Vec<Option<GenericArg>>) -> Callee<'s> {
        let signature = self.module.signature(id).clone();
        given.resize(signature.generics.len(), None);
        Callee::Scheme(Box::new(function_scheme(id, signature, span, given)))
    }

    /// `dloss.w`
    fn gradient_callee<'s>(&mut self, at: usize, found: &Found, ops: &'s [PostfixOp]) -> Option<(Callee<'s>, usize)> {
        let Found { name, span, n_dots, .. } = found;
        let (span, n_dots) = (*span, *n_dots);
        let Some(param) = field_name(ops.get(n_dots)) else {
            let names: Vec<String> =
                self.module.gradients[at].keys().map(|param| format!("`{name}.{param}`")).collect();
            let message = format!("expected the name of one gradient, found `{name}`, which stands for several");
            self.report(
                Diagnostic::error(codes::NOT_CALLABLE, span, message).help(format!("call {}", names.join(" or "))),
            );
            return Some((Callee::Failed, n_dots));
        };
        if let Some(id) = self.module.gradients[at].get(&param.name).copied() {
            let definition = self.module.signature(id).name_span;
            self.module.note_use(span, definition);
            return Some(self.function_callee(id, span.to(param.span), ops, n_dots + 1));
        }
        let known = self.module.gradients[at].keys().map(String::as_str);
        let help = match closest(&param.name, known) {
            Some(near) => format!("did you mean `{name}.{near}`?"),
            None => format!("add `@grad({})` to its declaration", param.name),
        };
        let message = format!("expected a gradient of `{name}`, found `{}`", param.name);
        self.report(Diagnostic::error(codes::UNKNOWN_FIELD, param.span, message).help(help));
        Some((Callee::Failed, n_dots + 1))
    }

    fn derivative_callee<'s>(&mut self, form: NamedForm, span: Span, ops: &'s [PostfixOp]) -> (Callee<'s>, usize) {
        let (selector, used): (&[AstArg], usize) = match ops.first() {
            Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => (args, 1),
            _ => (&[], 0),
        };
        let Some(PostfixOp { kind: PostfixKind::Call(args), span: call_span, .. }) = ops.get(used) else {
            self.report_needs_function(form, span);
            return (Callee::Failed, used);
        };
        let whole = span.to(*call_span);
        let base = match args.as_slice() {
            [AstArg { name: None, value }] => self.function_expr(value),
            _ => None,
        };
        match base {
            Some(base) => {
                (Callee::Derivative(Box::new(DerivativeCallee { form, selector, base, span: whole })), used + 1)
            }
            None => {
                if !args.iter().any(|arg| matches!(arg.value.kind, ast::ExprKind::Error)) {
                    self.report_needs_function(form, whole);
                }
                (Callee::Failed, used + 1)
            }
        }
    }

    fn report_needs_function(&mut self, form: NamedForm, span: Span) {
        let name = form.name;
        let message = format!("expected a function to differentiate in `{name}(f)`, found a value");
        self.report(
            Diagnostic::error(codes::NEEDS_FUNCTION, span, message)
                .help(format!("write the name of a function and then its arguments: `{name}[w](f)(w, x)`")),
        );
    }

    /// What can be called, if the whole expression is that.
    pub(super) fn function_expr<'s>(&mut self, expr: &'s ast::Expr) -> Option<Callee<'s>> {
        let (base, ops): (&ast::Expr, &[PostfixOp]) =
            if let ast::ExprKind::Postfix(postfix) = &expr.kind { (&postfix.base, &postfix.ops) } else { (expr, &[]) };
        let (callee, used) = self.callee(base, ops)?;
        (used == ops.len()).then_some(callee)
    }

    pub(super) fn looks_like_function(&self, expr: &ast::Expr) -> bool {
        matches!(expr.kind, ast::ExprKind::Lambda(_)) || self.is_function_name(expr)
    }

    /// Whether the last call of `base before (..)` takes the function of `grad[w](f)`.
    pub(super) fn is_derivative_form(&self, base: &ast::Expr, before: &[PostfixOp]) -> bool {
        let ast::ExprKind::Name(name) = &base.kind else { return false };
        (NamedForm::from_name(name).is_some() || name == VMAP)
            && !self.names.contains_key(name)
            && self.module.find(name).is_none()
            && before.iter().all(|op| matches!(op.kind, PostfixKind::Index(_)))
    }
}

/// The signature of a function of the program.
fn function_scheme(id: FnId, signature: Signature, span: Span, given: Vec<Option<GenericArg>>) -> Scheme {
    let params = signature.params.iter().map(|param| SchemeParam {
        name: param.name.clone(),
        ty: param.ty.clone(),
        nodiff: param.nodiff,
        default: param.default.clone(),
        definition: Some(param.span),
    });
    Scheme {
        name: signature.name.clone(),
        span,
        given,
        params: params.collect(),
        n_seeds: 0,
        result: signature.result,
        n_open_sizes: signature.n_open_sizes,
        generics: signature.generics,
        definition: Some(signature.name_span),
        target: SchemeTarget::Function(id),
    }
}
