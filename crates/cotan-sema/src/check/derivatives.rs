//! Derivatives as expressions: `grad[w](f)` and its like.

use cotan_syntax::ast::{Arg, ExprKind};
use cotan_syntax::{Diagnostic, Span};

use super::infer::Infer;
use super::schemes::{Scheme, SchemeParam, SchemeTarget};
use super::{BodyChecker, attributes, effects};
use crate::codes;
use crate::typed::{DerivativeForm, DerivativeMode, NamedForm, forms};
use crate::types::{Generic, Scalar, Type};
use crate::unify::Elems;

/// What stands in the bracket of `grad[w, mode = forward](f)`.
struct Selected {
    wrt: Vec<usize>,
    mode: Option<DerivativeMode>,
}

/// The signature of a derivative of something with the signature `base`.
pub(super) fn derivative_scheme(
    checker: &mut BodyChecker<'_, '_>,
    named: NamedForm,
    selector: &[Arg],
    base: Scheme,
    span: Span,
) -> Option<Scheme> {
    let form = named.form;
    checker.module.pure.extend(base.owner());
    if base.params.iter().any(|param| param.ty.has_error()) || base.result.has_error() {
        return None;
    }
    if let Some(id) = base.owner()
        && checker.module.signature(id).prints
    {
        effects::report_derivative_of_output(checker, &base.name, span, base.definition);
        return None;
    }
    let selected = selected(checker, named, selector, &base, span)?;
    let wrt = selected.wrt;
    if !result_can_be_differentiated(checker, named, &base, span) {
        return None;
    }
    let value = checker.infer.vars.resolve_type(&base.result);
    let wrt_types: Vec<Type> = wrt.iter().map(|at| checker.infer.vars.resolve_type(&base.params[*at].ty)).collect();
    if !has_matrix(checker, named, wrt_types.iter().chain([&value]), span)
        || !has_known_blocks(checker, named, &base, &value, &wrt_types, span)
    {
        return None;
    }
    // A function with generics of its own says its types by them; a lambda says them by those around.
    let generics = if base.generics.is_empty() { &checker.generics } else { &base.generics };
    let declarations = checker.module.declarations_in(generics);
    let mut params = base.params.clone();
    let names = wrt.iter().map(|at| match form {
        DerivativeForm::Vjp => "cotangent".to_owned(),
        DerivativeForm::Jvp
        | DerivativeForm::Hvp
        | DerivativeForm::Grad
        | DerivativeForm::ValueAndGrad
        | DerivativeForm::Jacobian
        | DerivativeForm::Hessian => format!("tangent of {}", base.params[*at].name),
    });
    let extra = names.zip(forms::extra_params(declarations, form, &value, &wrt_types));
    params.extend(extra.map(|(name, ty)| SchemeParam::new(name, ty)));
    let result = forms::result(declarations, form, &value, &wrt_types);
    Some(Scheme {
        name: format!("{}({})", named.name, base.name),
        span,
        generics: base.generics.clone(),
        given: base.given.clone(),
        n_seeds: base.n_seeds + params.len() - base.params.len(),
        params,
        result,
        n_open_sizes: base.n_open_sizes,
        definition: base.definition,
        target: SchemeTarget::Derivative { form, mode: selected.mode, wrt, base: Box::new(base) },
    })
}

/// Whether a form that gives a matrix may do so; reports enums, which have no matrix.
fn has_matrix<'t>(
    checker: &mut BodyChecker<'_, '_>,
    named: NamedForm,
    mut types: impl Iterator<Item = &'t Type>,
    span: Span,
) -> bool {
    let is_matrix = matches!(named.form, DerivativeForm::Jacobian | DerivativeForm::Hessian);
    let found = types.find_map(|ty| checker.module.declarations().enum_in(ty));
    let Some(id) = found.filter(|_| is_matrix) else { return true };
    let (form, name) = (named.name, checker.module.enum_name(id.0));
    let message = format!("expected floats, and tensors, tuples and structs of them, for `{form}`, found `{name}`");
    checker
        .report(Diagnostic::error(codes::ENUM_MATRIX, span, message).help(
            "take the gradient, or a product with `jvp`, `vjp` or `hvp`: these follow the variant that is there",
        ));
    false
}

/// The blocks of a Jacobian follow the structure of both types, which a parameter for any type does not have.
fn has_known_blocks(
    checker: &mut BodyChecker<'_, '_>,
    named: NamedForm,
    base: &Scheme,
    value: &Type,
    wrt: &[Type],
    span: Span,
) -> bool {
    let is_matrix = matches!(named.form, DerivativeForm::Jacobian | DerivativeForm::Hessian);
    let is_any = |ty: &&Type| matches!(ty.elem(), Type::Param(_));
    let Some(found) = std::iter::once(value).chain(wrt).find(|ty| is_matrix && is_any(ty)).cloned() else {
        return true;
    };
    let shown = show_for(checker, base, &found);
    let message = format!("expected types whose parts are known for `{}`, found `{shown}`", named.name);
    checker.report(
        Diagnostic::error(codes::NOT_DIFFERENTIABLE, span, message)
            .help("use `jvp` or `vjp`, or an element type such as `T: Float`"),
    );
    false
}

/// The generics that the types of a scheme are closed over.
fn generics_of(generics: &[Generic], scheme: &Scheme) -> Vec<Generic> {
    match scheme.owner() {
        Some(_) => scheme.generics.clone(),
        None => generics.to_vec(),
    }
}

fn show_for(checker: &BodyChecker<'_, '_>, scheme: &Scheme, ty: &Type) -> String {
    match scheme.owner() {
        Some(id) => checker.module.show_in(checker.module.signature(id), ty),
        None => checker.show(ty),
    }
}

fn selected(
    checker: &mut BodyChecker<'_, '_>,
    named: NamedForm,
    selector: &[Arg],
    base: &Scheme,
    span: Span,
) -> Option<Selected> {
    let mut wrt = Vec::new();
    let mut mode = named.mode;
    let mut failed = false;
    let params: Vec<(&str, Span)> =
        base.params.iter().map(|param| (param.name.as_str(), base.definition.unwrap_or(base.span))).collect();
    for arg in selector {
        if arg.name.is_some() {
            match mode_of(checker, named, arg) {
                Some(found) => mode = Some(found),
                None => failed = true,
            }
            continue;
        }
        let Some(ident) = attributes::parameter_name(checker.module, arg) else {
            failed = true;
            continue;
        };
        match checker.module.find_parameter(&ident, &params, named.name) {
            Some(at) if wrt.contains(&at) => {
                attributes::report_repeated_parameter(checker.module, &ident);
                failed = true;
            }
            Some(at) => {
                failed |= !may_differentiate(checker, base, at, ident.span);
                wrt.push(at);
            }
            None => failed = true,
        }
    }
    if failed {
        return None;
    }
    if wrt.is_empty() {
        let generics = generics_of(&checker.generics, base);
        let is_smooth = |param: &SchemeParam| {
            !param.nodiff && checker.module.is_differentiable(&checker.infer.vars.resolve_type(&param.ty), &generics)
        };
        match base.params.iter().position(is_smooth) {
            Some(at) if require_floats(&mut checker.infer, &base.params[at].ty) => wrt.push(at),
            _ => {
                let message = format!("expected a parameter of `{}` that can be differentiated, found none", base.name);
                checker.report(
                    Diagnostic::error(codes::NO_PARAMETER, span, message)
                        .help("only floats, and tensors, tuples and structs with floats in them, have derivatives"),
                );
                return None;
            }
        }
    }
    let mode = mode.or_else(|| {
        base.owner().filter(|_| named.form.has_mode()).and_then(|id| checker.module.signature(id).hints.mode)
    });
    Some(Selected { wrt, mode })
}

/// A literal that may be integer or float can't be told apart by its tangent: it must be decided.
fn require_floats(infer: &mut Infer, ty: &Type) -> bool {
    let Type::Scalar(scalar @ Scalar::Var(_)) = ty else { return true };
    infer.vars.require(*scalar, Elems::any_float())
}

fn mode_of(checker: &mut BodyChecker<'_, '_>, named: NamedForm, arg: &Arg) -> Option<DerivativeMode> {
    let name = arg.name.as_ref().map_or("", |name| name.name.as_str());
    let value = if let ExprKind::Name(value) = &arg.value.kind { value.as_str() } else { "" };
    let is_fixed = !named.takes_mode();
    let mode = match value {
        "forward" => Some(DerivativeMode::Forward),
        "reverse" => Some(DerivativeMode::Reverse),
        _ => None,
    };
    if name == "mode" && mode.is_some() && !is_fixed {
        return mode;
    }
    let message = if is_fixed {
        format!("expected no mode for `{}`, which has one, found `{name} = {value}`", named.name)
    } else {
        format!("expected `mode = forward` or `mode = reverse`, found `{name} = {value}`")
    };
    let help =
        if is_fixed { "leave the mode out" } else { "write `mode = forward` or `mode = reverse`, or leave it out" };
    checker.report(Diagnostic::error(codes::MODE, arg.value.span, message).help(help));
    None
}

fn may_differentiate(checker: &mut BodyChecker<'_, '_>, base: &Scheme, at: usize, span: Span) -> bool {
    let param = &base.params[at];
    if param.nodiff {
        let message =
            format!("expected a parameter with a derivative, found `{}`, which is marked `@nodiff`", param.name);
        let mut diagnostic = Diagnostic::error(codes::NODIFF_PARAMETER, span, message);
        if let Some(definition) = base.definition {
            diagnostic = diagnostic.label(definition, "declared here");
        }
        checker.report(diagnostic.help("leave `@nodiff` out, or differentiate with respect to another parameter"));
        return false;
    }
    let generics = generics_of(&checker.generics, base);
    let ty = checker.infer.vars.resolve_type(&param.ty);
    if checker.module.is_differentiable(&ty, &generics) && require_floats(&mut checker.infer, &ty) {
        return true;
    }
    let message =
        format!("expected a parameter with floats in it, found `{}: {}`", param.name, show_for(checker, base, &ty));
    checker.report(
        Diagnostic::error(codes::NOT_DIFFERENTIABLE, span, message)
            .help("only floats, and tensors, tuples and structs with floats in them, have derivatives"),
    );
    false
}

/// Gradients and Hessians are of one number, the other forms of anything with floats in it.
fn result_can_be_differentiated(
    checker: &mut BodyChecker<'_, '_>,
    named: NamedForm,
    base: &Scheme,
    span: Span,
) -> bool {
    let form = named.form;
    let needs_scalar = form.is_of_a_number();
    let result = checker.infer.vars.resolve_type(&base.result);
    let generics = generics_of(&checker.generics, base);
    let (loss, _) = forms::loss_and_aux(form, &result);
    let is_smooth = checker.module.is_differentiable(loss, &generics);
    if is_smooth && (!needs_scalar || loss.is_scalar()) {
        let loss = loss.clone();
        return require_floats(&mut checker.infer, &loss);
    }
    let found = show_for(checker, base, &result);
    let message = if needs_scalar {
        format!("expected a function that gives one float for `{}`, found the result `{found}`", named.name)
    } else {
        format!("expected a function with floats in its result for `{}`, found `{found}`", named.name)
    };
    let jacobian = format!(
        "fold the result to one number, or use `jacobian[{}]({})`",
        base.params.first().map_or("w", |param| param.name.as_str()),
        base.name
    );
    let help = match (needs_scalar, &result) {
        (true, Type::Tensor { .. }) => jacobian.as_str(),
        (true, Type::Tuple(_)) if form.takes_aux() => "the loss, one float, comes first: `(loss, aux)`",
        (true, Type::Tuple(_)) => "give the loss alone, and compute the rest in a function of its own",
        _ => "give a result made of floats",
    };
    let mut diagnostic = Diagnostic::error(codes::NOT_SCALAR, span, message);
    if let Some(definition) = base.definition {
        diagnostic = diagnostic.label(definition, "declared here");
    }
    checker.report(diagnostic.help(help));
    false
}
