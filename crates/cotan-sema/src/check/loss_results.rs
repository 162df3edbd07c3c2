//! Loss results, the body under `@grad`: one float, or a tuple that begins with it.

use cotan_syntax::{Diagnostic, Span, ast};

use super::control::value_of;
use super::infer::Strictness;
use super::{BodyChecker, Signature, sizes};
use crate::codes;
use crate::typed::{DerivativeForm, Expr, forms};
use crate::types::Type;
use crate::unify::Elems;

/// The body under `@grad`, which must be a float or `(loss, aux..)` with the declared types of `aux`.
pub(super) fn loss(
    checker: &mut BodyChecker<'_, '_>,
    value: Expr,
    signature: &Signature,
    item: &ast::Function,
    attr: Option<Span>,
) -> Expr {
    let declared = signature.result.parts().get(1..).unwrap_or_default();
    let (loss, aux) = forms::loss_and_aux(DerivativeForm::Grad, &value.ty);
    let n_aux = aux.len();
    let is_float = match loss.clone() {
        Type::Error => return value,
        Type::Scalar(scalar) => checker.infer.vars.require(scalar, Elems::any_float()),
        Type::Never
        | Type::Tensor { .. }
        | Type::Tuple(_)
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Function(_)
        | Type::Param(_) => false,
    };
    if !is_float {
        report_no_loss(checker, &value, attr);
        return Expr { ty: Type::Error, ..value };
    }
    if n_aux != declared.len() {
        report_aux_count(checker, &value, n_aux, declared.len(), item);
        return Expr { ty: Type::Error, ..value };
    }
    if n_aux == 0 {
        return value;
    }
    let wanted = Type::Tuple([&value.ty.parts()[..1], declared].concat());
    let wanted = sizes::without_holes(&mut checker.infer, &wanted, &value.ty, signature.n_open_sizes);
    let origin = item.signature.result.as_ref().map(|ty| (ty.span, "the declared result"));
    checker.fit_as(value, &wanted, "the loss and what stands beside it", Strictness::Exact, origin)
}

fn report_no_loss(checker: &mut BodyChecker<'_, '_>, value: &Expr, attr: Option<Span>) {
    let message = format!("expected a float to differentiate, found `{}`", checker.show(&value.ty));
    let help = if !value.ty.parts().is_empty() {
        "the body under `@grad` is one float, such as a loss, or a tuple that begins with it: `(loss, aux)`"
    } else if value.ty.dims().is_empty() {
        "the body under `@grad` is one float, such as a loss"
    } else {
        "fold the tensor to one number, as in `+/ v`, or use `jacobian[w](f)`"
    };
    let mut diagnostic = Diagnostic::error(codes::NOT_SCALAR, value_of(value).span, message);
    if let Some(attr) = attr {
        diagnostic = diagnostic.label(attr, "differentiated because of this");
    }
    checker.report(diagnostic.help(help));
}

/// The body gives more or less beside its loss than the declared result has beside the gradients.
fn report_aux_count(
    checker: &mut BodyChecker<'_, '_>,
    value: &Expr,
    found: usize,
    declared: usize,
    item: &ast::Function,
) {
    let values = |n: usize| match n {
        0 => "no values".to_owned(),
        1 => "1 value".to_owned(),
        n => format!("{n} values"),
    };
    let message = format!(
        "expected {} beside the loss, as the declared result has beside the gradient, found {}: `{}`",
        values(declared),
        values(found),
        checker.show(&value.ty)
    );
    let mut diagnostic = Diagnostic::error(codes::AUX_COUNT, value_of(value).span, message);
    if let Some(result) = &item.signature.result {
        diagnostic = diagnostic.label(result.span, "the declared result");
    }
    let help = "for a body `(loss, aux..)` the declared result is the gradient, then the types of `aux..`";
    checker.report(diagnostic.help(help));
}
