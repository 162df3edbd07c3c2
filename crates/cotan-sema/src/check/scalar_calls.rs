//! Scalar functions of the prelude, on scalars or element by element.

use cotan_ir::Elem;
use cotan_ops::WordElems;
use cotan_syntax::{Diagnostic, Span};

use super::arguments::Source;
use super::infer::Strictness;
use super::{BodyChecker, arguments, conversions, storage, vectors};
use crate::codes;
use crate::prelude::{Operand, ScalarFunction};
use crate::typed::{Expr, ExprKind};
use crate::types::{Scalar, Type};
use crate::unify::Elems;

/// A scalar function of the prelude, on scalars or element-wise.
pub(super) fn scalar_call(
    checker: &mut BodyChecker<'_, '_>,
    function: ScalarFunction,
    sources: Vec<Source<'_>>,
    span: Span,
) -> Expr {
    let name = function.name();
    if sources.len() != function.operands().len() {
        arguments::report_argument_count(checker, name, function.operands().len(), sources.len(), span, None);
        checker.check_anyway(sources);
        return Expr::error(span);
    }
    let mut args: Vec<Expr> = sources.into_iter().map(|source| checker.source(source)).collect();
    if function.word.elems != WordElems::Any {
        args = args.into_iter().map(|arg| storage::computed(&checker.infer, arg)).collect();
    }
    if args.iter().any(|arg| arg.ty.has_error()) {
        return Expr::error(span);
    }
    let allowed = match function.word.elems {
        WordElems::Float => Elems::float(),
        WordElems::Numeric => Elems::numeric(),
        WordElems::Integer => Elems::integer(),
        WordElems::Any => Elems::any(),
    };
    let is_on_floats = matches!(function.word.elems, WordElems::Float | WordElems::Numeric) && !function.is_predicate();
    let takes_vectors = is_on_floats && function.operands().all(|operand| operand == Operand::Same);
    if takes_vectors && args.iter().any(|arg| vectors::is_vector(checker, &arg.ty)) {
        let Some((args, ty)) = vectors::combined(checker, args, name) else { return Expr::error(span) };
        let kind = ExprKind::Primitive { row: function.row, wraps: function.word.wraps, args };
        return Expr { span, ty, kind };
    }
    let shared = checker.infer.vars.fresh(allowed, None);
    for (arg, operand) in args.iter().zip(function.operands()) {
        let fits = arg.ty.scalar().is_some_and(|scalar| match operand {
            Operand::Same => checker.infer.vars.require(scalar, allowed) && checker.infer.vars.unify(scalar, shared),
            Operand::Integer => checker.infer.vars.require(scalar, Elems::integer()),
            Operand::Bool => checker.infer.vars.require(scalar, Elems::bool()),
        });
        if !fits {
            report_scalar_operand(checker, function, operand, arg, shared, allowed);
            return Expr::error(span);
        }
    }
    let shape = args.iter().map(|arg| (arg.ty.dims().to_vec(), arg.span)).find(|(dims, _)| !dims.is_empty());
    let (dims, shape_span) = shape.unwrap_or((Vec::new(), span));
    let mut fitted = Vec::with_capacity(args.len());
    for arg in args.drain(..) {
        if arg.ty.is_scalar() {
            fitted.push(arg);
            continue;
        }
        let wanted = Type::tensor(arg.ty.elem().clone(), dims.clone());
        let origin = Some((shape_span, "this argument has another shape"));
        fitted.push(checker.fit_as(arg, &wanted, &format!("an argument of `{name}`"), Strictness::Exact, origin));
    }
    if fitted.iter().any(|arg| arg.ty.has_error()) {
        return Expr::error(span);
    }
    let scalar = if function.is_predicate() { Scalar::Of(Elem::Bool) } else { shared };
    let kind = ExprKind::Primitive { row: function.row, wraps: function.word.wraps, args: fitted };
    Expr { span, ty: Type::tensor(Type::Scalar(scalar), dims), kind }
}

fn report_scalar_operand(
    checker: &mut BodyChecker<'_, '_>,
    function: ScalarFunction,
    operand: Operand,
    arg: &Expr,
    shared: Scalar,
    allowed: Elems,
) {
    let found = checker.show_value(arg);
    let is_other_type =
        operand == Operand::Same && arg.ty.scalar().is_some_and(|scalar| checker.infer.vars.is_within(scalar, allowed));
    let wanted = match operand {
        Operand::Same if is_other_type => format!("`{}`, as the other arguments are", checker.show_scalar(shared)),
        Operand::Same if allowed == Elems::float() => "a float".to_owned(),
        Operand::Same if allowed == Elems::integer() => "an integer".to_owned(),
        Operand::Same => "a number".to_owned(),
        Operand::Integer => "an integer".to_owned(),
        Operand::Bool => "`bool`".to_owned(),
    };
    let help = match (operand, arg.ty.scalar()) {
        (Operand::Same, Some(scalar)) => {
            let target = if is_other_type {
                shared
            } else if allowed == Elems::integer() {
                checker.infer.vars.integer_literal()
            } else {
                checker.infer.vars.float_literal()
            };
            conversions::help(checker, arg, scalar, target)
        }
        (Operand::Integer, Some(_)) => "write an integer such as `2`, or call `pow`".to_owned(),
        (Operand::Bool, Some(_)) => "compare, as in `x > 0.0`".to_owned(),
        (_, None) => format!("`{}` works on scalars and tensors of scalars", function.name()),
    };
    let message = format!("expected {wanted} for an argument of `{}`, found {found}", function.name());
    checker.report(Diagnostic::error(codes::ARGUMENT_TYPE, arg.span, message).help(help));
}
