//! Type compatibility: whether a value fits the type that is wanted, and what to say if not.

use cotan_syntax::{Diagnostic, Span};

use super::conversions::Advice;
use super::infer::{Misfit, Strictness};
use super::{BodyChecker, conversions, shape_help, storage};
use crate::codes;
use crate::typed::{Expr, ExprKind};
use crate::types::{EnumType, StructType, Type};

impl BodyChecker<'_, '_> {
    /// The value as one of type `wanted`: as it is, checked at run time, or reported. `subject`
    /// says what is wanted, as in "the argument `x` of `f`".
    pub(super) fn fit(&mut self, value: Expr, wanted: &Type, subject: &str) -> Expr {
        self.fit_as(value, wanted, subject, Strictness::Exact, None)
    }

    /// [`Self::fit`] with a place that says where the wanted type comes from.
    pub(super) fn fit_as(
        &mut self,
        value: Expr,
        wanted: &Type,
        subject: &str,
        how: Strictness,
        origin: Option<(Span, &str)>,
    ) -> Expr {
        if value.ty == *wanted {
            return value;
        }
        let value = as_tangent(value, wanted);
        match self.infer.relate(&value.ty, wanted, how) {
            Ok(false) => value,
            Ok(true) => storage::shape_check(value, wanted.clone()),
            Err(misfit) => {
                let misfit = match storage::narrowed(&mut self.infer, &value, wanted, how) {
                    Some(Ok(narrowed)) => return narrowed,
                    Some(Err(misfit)) => misfit,
                    None => misfit,
                };
                report_misfit(self, &value, wanted, subject, &misfit, origin);
                Expr { ty: Type::Error, ..value }
            }
        }
    }
}

/// Reports a value that is never as large as the variable at `place`, which it is assigned to.
pub(super) fn is_resize_reported(checker: &mut BodyChecker<'_, '_>, value: &Expr, wanted: &Type, place: Span) -> bool {
    let Err(Misfit::Size(want, found)) = checker.infer.relate(&value.ty, wanted, Strictness::Exact) else {
        return false;
    };
    if found.minus(&want).and_then(|more| more.as_constant()).is_none() {
        return false;
    }
    let message =
        format!("expected `{}` for the assigned value, found {}", checker.show(wanted), checker.show_value(value));
    let note = format!("expected the size `{}`, found `{}`", checker.show_dim(&want), checker.show_dim(&found));
    let diagnostic = Diagnostic::error(codes::SHAPE_MISMATCH, value.span, message).note(note);
    checker.report(diagnostic.label(place, "a variable keeps the sizes of its first value").help(
        "make the variable as large as it gets, as `zeros[f64](n)`, and set parts of it; for another size use another variable",
    ));
    true
}

fn report_misfit(
    checker: &mut BodyChecker<'_, '_>,
    value: &Expr,
    wanted: &Type,
    subject: &str,
    misfit: &Misfit,
    origin: Option<(Span, &str)>,
) {
    let (found, wanted_text) = (checker.show_value(value), checker.show(wanted));
    let subject = if subject.is_empty() { String::new() } else { format!(" for {subject}") };
    let message = format!("expected `{wanted_text}`{subject}, found {found}");
    let mut diagnostic = match misfit {
        Misfit::Type => Diagnostic::error(codes::MISMATCH, value.span, message),
        Misfit::Rank => Diagnostic::error(codes::RANK_MISMATCH, value.span, message),
        Misfit::Size(want, found) => {
            let note = format!("expected the size `{}`, found `{}`", checker.show_dim(want), checker.show_dim(found));
            Diagnostic::error(codes::SHAPE_MISMATCH, value.span, message).note(note)
        }
    };
    if let Some((span, text)) = origin {
        diagnostic = diagnostic.label(span, text);
    }
    let advice = misfit_advice(checker, value, wanted, misfit);
    checker.report(advice.on(diagnostic));
}

/// What to do about a value that does not fit.
pub(super) fn misfit_advice(checker: &mut BodyChecker<'_, '_>, value: &Expr, wanted: &Type, misfit: &Misfit) -> Advice {
    Advice::new(match misfit {
        Misfit::Size(want, found) => match (want.as_constant(), found.as_constant()) {
            (Some(_), Some(_)) => "give a tensor of the size that is expected".to_owned(),
            _ => shape_help::never_equal(checker, &value.ty, want, found).unwrap_or_else(|| {
                let code = checker.module.written(value.span).unwrap_or("value");
                format!("if the sizes are equal, say so with an ascription: `({code} : {})`", checker.show(wanted))
            }),
        },
        Misfit::Rank => shape_help::broadcast(checker, value, wanted)
            .unwrap_or_else(|| "index the tensor, or change its shape with `reshape` or `broadcast`".to_owned()),
        Misfit::Type => return conversion_advice(checker, value, wanted),
    })
}

fn conversion_advice(checker: &mut BodyChecker<'_, '_>, value: &Expr, wanted: &Type) -> Advice {
    if let (Some(found), Some(want)) = (value.ty.scalar(), wanted.scalar())
        && value.ty.dims().len() == wanted.dims().len()
    {
        return conversions::advice(checker, value, found, want);
    }
    Advice::new(other_help(checker, value, wanted))
}

/// What to do about a value that no conversion makes fit.
fn other_help(checker: &mut BodyChecker<'_, '_>, value: &Expr, wanted: &Type) -> String {
    let is_unit_block = value.ty.is_unit() && matches!(value.kind, ExprKind::Block(_) | ExprKind::If(_));
    match (&value.ty, wanted) {
        _ if is_unit_block => "end the block with an expression: its value is the value of the block".to_owned(),
        (Type::Tensor { .. }, Type::Scalar(_)) if starts_with_fold(value) => {
            "a fold binds tighter than infix operators: put parentheses around its operand, as in `+/(a .* b)`"
                .to_owned()
        }
        (Type::Tensor { .. }, Type::Scalar(_)) => {
            "fold the tensor, as in `+/ v`, or take an element, as in `v[i]`".to_owned()
        }
        (Type::Scalar(_), Type::Tensor { dims, .. }) => {
            let dims: Vec<String> = dims.iter().map(|dim| checker.show_dim(dim)).collect();
            format!("repeat the scalar with `full([{}], x)`", dims.join(", "))
        }
        (Type::Struct(a), Type::Struct(b)) if a.def == b.def && a.tangent => {
            "the tangent of a struct has no integers in it: build the struct from its fields".to_owned()
        }
        (Type::Enum(a), Type::Enum(b)) if a.def == b.def && a.tangent => {
            "the tangent of an enum has no integers in it: build the value from its payload".to_owned()
        }
        (_, want) if want.is_unit() => "bind the value with `let`, or leave it out".to_owned(),
        _ => format!("give a value of type `{}`", checker.show(wanted)),
    }
}

/// The value as a tangent, where a struct stands for its own.
fn as_tangent(value: Expr, wanted: &Type) -> Expr {
    let ty = toward_tangent(&value.ty, wanted);
    if ty == value.ty {
        return value;
    }
    Expr { span: value.span, ty, kind: ExprKind::AsTangent(Box::new(value)) }
}

/// A type with its structs replaced by their tangents wherever these are wanted.
fn toward_tangent(found: &Type, wanted: &Type) -> Type {
    match (found, wanted) {
        (Type::Struct(of), Type::Struct(to)) if of.def == to.def && to.tangent => {
            Type::Struct(StructType { tangent: true, ..of.clone() })
        }
        (Type::Enum(of), Type::Enum(to)) if of.def == to.def && to.tangent => {
            Type::Enum(EnumType { tangent: true, ..of.clone() })
        }
        (Type::Tuple(parts), Type::Tuple(to)) if parts.len() == to.len() => {
            Type::Tuple(parts.iter().zip(to).map(|(part, to)| toward_tangent(part, to)).collect())
        }
        (Type::Tensor { elem, dims }, Type::Tensor { elem: to, .. }) => {
            Type::tensor(toward_tangent(elem, to), dims.clone())
        }
        (
            Type::Error
            | Type::Never
            | Type::Scalar(_)
            | Type::Tensor { .. }
            | Type::Tuple(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Function(_)
            | Type::Param(_),
            _,
        ) => found.clone(),
    }
}

/// Whether a run of operators begins with a fold, as `+/ a .* b` does.
fn starts_with_fold(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Chain(chain) if matches!(chain.first.kind, ExprKind::Fold { .. }))
}
