//! `@grad(w) fn`, `@value_and_grad(w) fn`, `@jvp(w) fn`: functions whose body is what is differentiated.

use cotan_ir::Elem;
use cotan_syntax::{Diagnostic, Span, ast};

use super::attributes::DerivativeAttr;
use super::bodies::Plan;
use super::{ModuleChecker, Signature, attributes};
use crate::codes;
use crate::typed::{Callable, CallableKind, Derivative, DerivativeForm, FnId, FunctionBody, forms};
use crate::types::{Generic, Type};

/// Several `@grad` on one declaration make one function each, called after the parameter.
pub(super) fn name_gradients<'d>(
    checker: &mut ModuleChecker<'_>,
    attrs: &'d [DerivativeAttr],
    base: &str,
) -> Vec<(&'d DerivativeAttr, String)> {
    let mut named: Vec<(&DerivativeAttr, String)> = Vec::new();
    for attr in attrs {
        let [wrt] = attr.wrt.as_slice() else {
            if !attr.wrt.is_empty() {
                let message = "expected one parameter in each of several `@grad`, found more";
                checker.report(
                    Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, attr.span, message)
                        .help("write a single `@grad(w, b)`, whose function gives a tuple"),
                );
            }
            continue;
        };
        if attr.form != DerivativeForm::Grad {
            let message =
                format!("expected one derivative on a declaration, found `@{}` beside another", attr.form.as_str());
            checker.report(
                Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, attr.span, message)
                    .help("declare one function for each"),
            );
            continue;
        }
        let name = format!("{base}.{}", wrt.name);
        if named.iter().any(|(_, other)| *other == name) {
            attributes::report_repeated_parameter(checker, wrt);
            continue;
        }
        named.push((attr, name));
    }
    named
}

/// Adds the function under the attributes, and one function for each of them.
pub(super) fn declare_derivatives<'a>(
    checker: &mut ModuleChecker<'a>,
    declared: Signature,
    function: &'a ast::Function,
    attrs: Vec<(&DerivativeAttr, String)>,
    group: Option<usize>,
) {
    let form = attrs.first().map_or(DerivativeForm::Grad, |(attr, _)| attr.form);
    let n_named = attrs.first().map_or(0, |(attr, _)| attr.wrt.len());
    let n_tangents = if form == DerivativeForm::Jvp { n_named } else { 0 };
    let n_primal = declared.params.len().saturating_sub(n_tangents);
    let mut primal = declared.clone();
    primal.name = format!("{}.primal", declared.name);
    let lacks_tangents = form == DerivativeForm::Jvp && report_missing_tangents(checker, &declared, n_primal, &attrs);
    if !lacks_tangents {
        primal.params.truncate(n_primal);
    }
    primal.result = primal_result(checker, &declared, &primal, &attrs);
    let attr_span = attrs.first().map_or(declared.name_span, |(attr, _)| attr.span);
    let inferred_for = (form == DerivativeForm::Grad).then_some(attr_span);
    let base = checker.add_function(primal.clone(), None);
    checker.plans.push(Plan { module: checker.current, function: base, item: function, inferred_for });
    for (attr, name) in attrs {
        let id = declare_derivative(checker, &declared, &primal, base, attr, name);
        if let (Some(at), [wrt]) = (group, attr.wrt.as_slice()) {
            checker.gradients[at].insert(wrt.name.clone(), id);
        }
    }
}

/// What the declared result says of the body: of `@grad` only what stands beside the loss, which is left open.
fn primal_result(
    checker: &ModuleChecker<'_>,
    declared: &Signature,
    primal: &Signature,
    attrs: &[(&DerivativeAttr, String)],
) -> Type {
    let Some((attr, _)) = attrs.first() else { return Type::Error };
    let parts = declared.result.parts();
    let n_gradients = attr.wrt.len();
    match attr.form {
        DerivativeForm::Grad => {
            let named = attr.wrt.first().and_then(|w| primal.params.iter().find(|param| param.name == w.name));
            let is_tuple_param = n_gradients == 1
                && named.is_some_and(|param| {
                    is_gradient_type(
                        checker,
                        &declared.result,
                        &checker.declarations_in(&primal.generics).tangent(&param.ty),
                    )
                });
            match parts.get(n_gradients..) {
                Some(aux @ [_, ..]) if !is_tuple_param => with_aux(Type::Error, aux),
                _ => Type::Error,
            }
        }
        DerivativeForm::ValueAndGrad => match (parts.first(), parts.get(n_gradients + 1..)) {
            (Some(loss), Some(aux)) => with_aux(loss.clone(), aux),
            (Some(loss), None) => loss.clone(),
            (None, _) => Type::Error,
        },
        DerivativeForm::Jvp
        | DerivativeForm::Vjp
        | DerivativeForm::Jacobian
        | DerivativeForm::Hessian
        | DerivativeForm::Hvp => parts.first().cloned().unwrap_or(Type::Error),
    }
}

/// Whether the named parameters of a `@jvp` are the last ones, so that none are there for the tangents; reports it.
fn report_missing_tangents(
    checker: &mut ModuleChecker<'_>,
    declared: &Signature,
    n_primal: usize,
    attrs: &[(&DerivativeAttr, String)],
) -> bool {
    let tangents = &declared.params[n_primal..];
    let named = attrs.iter().flat_map(|(attr, _)| &attr.wrt);
    let Some(ident) = named.into_iter().find(|ident| tangents.iter().any(|param| param.name == ident.name)) else {
        return false;
    };
    let message =
        format!("expected one more parameter for the tangent of `{0}`, found `{0}` as the last one", ident.name);
    checker.report(
        Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, declared.span, message)
            .label(ident.span, "named here")
            .help(format!("add the parameter `d{}`, with the same type, at the end", ident.name)),
    );
    true
}

fn declare_derivative(
    checker: &mut ModuleChecker<'_>,
    declared: &Signature,
    primal: &Signature,
    base: FnId,
    attr: &DerivativeAttr,
    name: String,
) -> FnId {
    let names: Vec<(&str, Span)> = primal.params.iter().map(|p| (p.name.as_str(), p.span)).collect();
    let wrt: Vec<usize> =
        attr.wrt.iter().filter_map(|ident| checker.find_parameter(ident, &names, attr.form.as_str())).collect();
    let wrt: Vec<usize> = wrt.into_iter().filter(|at| may_differentiate(checker, primal, *at, attr)).collect();
    let is_complete = attr.is_valid && wrt.len() == attr.wrt.len();
    let result =
        if is_complete { declared_derivative_result(checker, declared, primal, base, attr, &wrt) } else { Type::Error };
    let mut signature = Signature { name, result, ..declared.clone() };
    for param in &mut signature.params[primal.params.len()..] {
        // A struct that is named for a tangent stands for its tangent.
        param.ty = checker.declarations_in(&primal.generics).tangent(&param.ty);
    }
    checker.pure.insert(base);
    let callable = Callable {
        span: attr.span,
        params: primal.params.iter().map(|param| param.ty.clone()).collect(),
        result: primal.result.clone(),
        kind: CallableKind::Function { function: base, generics: Generic::as_args(&primal.generics) },
    };
    let mode = declared.hints.mode.filter(|_| attr.form.has_mode());
    let derivative = Derivative { span: attr.span, form: attr.form, mode, base: callable, wrt };
    checker.add_function(signature, Some(FunctionBody::Derivative(derivative)))
}

/// The type of the result that the derivative has; reports a declared one that differs.
fn declared_derivative_result(
    checker: &mut ModuleChecker<'_>,
    declared: &Signature,
    primal: &Signature,
    base: FnId,
    attr: &DerivativeAttr,
    wrt: &[usize],
) -> Type {
    let wrt_types: Vec<Type> = wrt.iter().map(|at| primal.params[*at].ty.clone()).collect();
    if attr.form == DerivativeForm::Jvp {
        let tangents =
            forms::extra_params(checker.declarations_in(&primal.generics), attr.form, &primal.result, &wrt_types);
        check_tangent_parameters(checker, declared, primal, attr, &tangents);
    }
    let aux = primal.result.parts().get(1..).unwrap_or_default();
    let value = match attr.form {
        // The loss itself is no part of a gradient.
        DerivativeForm::Grad => with_aux(Type::of(Elem::F64), aux),
        DerivativeForm::ValueAndGrad
        | DerivativeForm::Jvp
        | DerivativeForm::Vjp
        | DerivativeForm::Jacobian
        | DerivativeForm::Hessian
        | DerivativeForm::Hvp => primal.result.clone(),
    };
    let expected = forms::result(checker.declarations_in(&primal.generics), attr.form, &value, &wrt_types);
    if declared.result.has_error() {
        return declared.result.clone();
    }
    let is_gradient = attr.form == DerivativeForm::Grad;
    let is_pair = !declared.result.parts().is_empty();
    if !(is_gradient || is_pair) || !is_gradient_type(checker, &declared.result, &expected) {
        let (found, wanted) = (checker.show_in(declared, &declared.result), checker.show_in(declared, &expected));
        let message = if is_gradient {
            format!("expected the result type `{wanted}`, that of the gradient, found `{found}`")
        } else if is_pair {
            format!("expected the result type `{wanted}`, found `{found}`")
        } else {
            format!("expected a tuple of the value of `{}` and its derivatives, found `{found}`", declared.name)
        };
        let help = match attr.form {
            DerivativeForm::Grad => format!("write `-> {wanted}`"),
            DerivativeForm::Jvp => "write `-> (R, R)` where `R` is the type of the body".to_owned(),
            DerivativeForm::ValueAndGrad
            | DerivativeForm::Vjp
            | DerivativeForm::Jacobian
            | DerivativeForm::Hessian
            | DerivativeForm::Hvp => {
                "write `-> (R, G)`: the type of the loss, then the type of each gradient".to_owned()
            }
        };
        let diagnostic = Diagnostic::error(codes::DERIVATIVE_RESULT, declared.span, message)
            .label(attr.span, "because of this")
            .help(help);
        if is_gradient {
            // Nothing more is to be said if the body itself is wrong.
            checker.result_errors.push((base, diagnostic));
        } else {
            checker.report(diagnostic);
        }
        return Type::Error;
    }
    if !is_gradient && !has_smooth_value(checker, primal, attr) {
        return Type::Error;
    }
    expected
}

/// Whether the declared type of the value can be differentiated; reports one that can't.
fn has_smooth_value(checker: &mut ModuleChecker<'_>, primal: &Signature, attr: &DerivativeAttr) -> bool {
    let (value, _) = forms::loss_and_aux(attr.form, &primal.result);
    let is_smooth = checker.is_differentiable(value, &primal.generics);
    if is_smooth && (value.is_scalar() || value.has_error() || !attr.form.is_of_a_number()) {
        return true;
    }
    let found = checker.show_in(primal, value);
    let message = format!("expected a float to differentiate, found `{found}`");
    checker.report(
        Diagnostic::error(codes::NOT_SCALAR, primal.span, message)
            .label(attr.span, "differentiated because of this")
            .help("the declared result begins with the type of the body, which is one float for a gradient"),
    );
    false
}

/// Whether a declared type is that of a derivative; a struct may stand for its tangent.
pub(super) fn is_gradient_type(checker: &ModuleChecker<'_>, declared: &Type, expected: &Type) -> bool {
    match (declared, expected) {
        (Type::Error, _) | (_, Type::Error) => true,
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_gradient_type(checker, a, b))
        }
        _ => declared == expected || checker.declarations().tangent(declared) == *expected,
    }
}

/// The parameters of `@jvp` that hold the tangents must have the types of tangents.
fn check_tangent_parameters(
    checker: &mut ModuleChecker<'_>,
    declared: &Signature,
    primal: &Signature,
    attr: &DerivativeAttr,
    tangents: &[Type],
) {
    let given = &declared.params[primal.params.len()..];
    for ((tangent, param), ident) in tangents.iter().zip(given).zip(&attr.wrt) {
        if !is_gradient_type(checker, &param.ty, tangent) {
            let (found, wanted) = (checker.show_in(declared, &param.ty), checker.show_in(declared, tangent));
            let message = format!(
                "expected `{}`, the tangent of `{}`, to be `{wanted}`, found `{found}`",
                param.name, ident.name
            );
            checker.report(
                Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, param.span, message)
                    .label(attr.span, "takes one tangent for each parameter that it names")
                    .help("after the parameters of the function stand the tangents, in the order of the attribute"),
            );
        }
    }
}

/// Whether a parameter that an attribute names can be differentiated; reports one that can't.
fn may_differentiate(checker: &mut ModuleChecker<'_>, primal: &Signature, at: usize, attr: &DerivativeAttr) -> bool {
    let param = &primal.params[at];
    if param.nodiff {
        let message =
            format!("expected a parameter with a derivative, found `{}`, which is marked `@nodiff`", param.name);
        checker.report(
            Diagnostic::error(codes::NODIFF_PARAMETER, attr.span, message)
                .label(param.span, "declared here")
                .help("leave `@nodiff` out, or differentiate with respect to another parameter"),
        );
        return false;
    }
    if checker.is_differentiable(&param.ty, &primal.generics) {
        return true;
    }
    let found = checker.show_in(primal, &param.ty);
    let message = format!("expected a parameter with floats in it, found `{}: {found}`", param.name);
    checker.report(
        Diagnostic::error(codes::NOT_DIFFERENTIABLE, attr.span, message)
            .label(param.span, "declared here")
            .help("only floats, and tensors, tuples and structs with floats in them, have derivatives"),
    );
    false
}

/// What a body gives: the loss alone, or with what stands beside it.
fn with_aux(loss: Type, aux: &[Type]) -> Type {
    if aux.is_empty() { loss } else { Type::Tuple([&[loss], aux].concat()) }
}
