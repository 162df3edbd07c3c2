//! What derivative forms take and give, as types. The table stands at [`super::Derivative`].

use super::{Declarations, DerivativeForm};
use crate::dims::Dim;
use crate::types::{Scalar, Type};

/// The number that a form differentiates and what a function gives beside it: of `(loss, aux..)` a gradient takes the
/// loss apart, every other form takes the whole value.
pub fn loss_and_aux(form: DerivativeForm, value: &Type) -> (&Type, &[Type]) {
    match value.parts() {
        [loss, aux @ ..] if form.takes_aux() && loss.is_scalar() => (loss, aux),
        _ => (value, &[]),
    }
}

/// The tangents, or the cotangent, that a derivative takes after the parameters of its base; `params` are the types of
/// those that it is taken with respect to.
pub fn extra_params(declarations: Declarations<'_>, form: DerivativeForm, value: &Type, params: &[Type]) -> Vec<Type> {
    match form {
        DerivativeForm::Jvp | DerivativeForm::Hvp => params.iter().map(|param| declarations.tangent(param)).collect(),
        DerivativeForm::Vjp => vec![declarations.tangent(value)],
        DerivativeForm::Grad | DerivativeForm::ValueAndGrad | DerivativeForm::Jacobian | DerivativeForm::Hessian => {
            Vec::new()
        }
    }
}

/// The result of a derivative of a function that gives `value`, with respect to parameters of the types `params`.
pub fn result(declarations: Declarations<'_>, form: DerivativeForm, value: &Type, params: &[Type]) -> Type {
    let (loss, aux) = loss_and_aux(form, value);
    let gradients = || params.iter().map(|param| declarations.tangent(param));
    match form {
        DerivativeForm::Grad => one_or_tuple(gradients().chain(aux.iter().cloned()).collect()),
        DerivativeForm::Hvp => one_or_tuple(gradients().collect()),
        DerivativeForm::ValueAndGrad | DerivativeForm::Vjp => {
            Type::Tuple(std::iter::once(loss.clone()).chain(gradients()).chain(aux.iter().cloned()).collect())
        }
        DerivativeForm::Jvp => Type::Tuple(vec![value.clone(), declarations.tangent(value)]),
        DerivativeForm::Jacobian => {
            one_or_tuple(params.iter().map(|param| jacobian(declarations, value, param)).collect())
        }
        DerivativeForm::Hessian => {
            let row = |gradient: Type| {
                one_or_tuple(params.iter().map(|param| jacobian(declarations, &gradient, param)).collect())
            };
            one_or_tuple(gradients().map(row).collect())
        }
    }
}

/// A single type as it is, several as a tuple.
pub fn one_or_tuple(mut types: Vec<Type>) -> Type {
    if types.len() == 1 { types.swap_remove(0) } else { Type::Tuple(types) }
}

/// All partial derivatives of a value with respect to one parameter: for each scalar or tensor of the value its dims,
/// then those of the parameter. The parts of a tuple or struct in the value become a tuple, as do those of a tuple that
/// is the parameter; of a struct that is the parameter there are as many tangents as the value has elements.
fn jacobian(declarations: Declarations<'_>, value: &Type, param: &Type) -> Type {
    let parts = |types: Vec<Type>, lead: &[Dim]| {
        let part = |ty: Type| jacobian(declarations, &Type::tensor(ty, lead.to_vec()), param);
        Type::Tuple(types.into_iter().map(part).collect())
    };
    match value.elem() {
        Type::Tuple(types) => parts(types.clone(), value.dims()),
        Type::Struct(of) => parts(declarations.field_types(of), value.dims()),
        Type::Scalar(Scalar::Of(elem)) if !elem.is_float() => Type::UNIT,
        Type::Scalar(_) => repeated(declarations.tangent(param), value.dims()),
        // Reported: what the entries would be is another question for each variant.
        Type::Error | Type::Enum(_) => Type::Error,
        // The checker wants a known value here.
        Type::Never | Type::Function(_) | Type::Param(_) | Type::Tensor { .. } => Type::UNIT,
    }
}

/// As many tangents as a tensor with these dims has elements. A part without a derivative stays the unit.
fn repeated(tangent: Type, dims: &[Dim]) -> Type {
    match tangent {
        Type::Tuple(parts) => Type::Tuple(parts.into_iter().map(|part| repeated(part, dims)).collect()),
        one @ (Type::Error
        | Type::Never
        | Type::Scalar(_)
        | Type::Tensor { .. }
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Param(_)
        | Type::Function(_)) => Type::tensor(one, dims.to_vec()),
    }
}
