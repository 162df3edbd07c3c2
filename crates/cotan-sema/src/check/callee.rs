//! What can stand before the parentheses of a call, before the arguments are known.

use cotan_syntax::Span;
use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};

use super::BodyChecker;
use super::effects::Printer;
use super::schemes::Scheme;
use super::vmap_axes::{VMAP, VmapAxes};
use crate::prelude::ScalarFunction;
use crate::typed::{Builtin, NamedForm};
use crate::types::GenericArg;

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

/// `vmap[axis](f)` before the arguments are known.
pub(super) struct VmapCallee<'s> {
    pub(super) axes: VmapAxes,
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

/// Whether the last call of `base before (..)` takes the function of `grad[w](f)`.
pub(super) fn is_derivative_form(checker: &BodyChecker<'_, '_>, base: &ast::Expr, before: &[PostfixOp]) -> bool {
    let ast::ExprKind::Name(name) = &base.kind else { return false };
    (NamedForm::from_name(name).is_some() || name == VMAP)
        && checker.locals.named(name).is_none()
        && checker.module.find(name).is_none()
        && before.iter().all(|op| matches!(op.kind, PostfixKind::Index(_)))
}
