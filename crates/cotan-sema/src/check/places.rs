//! Assignments and the places that they change.

use cotan_syntax::ast::{self, PostfixKind};
use cotan_syntax::{Diagnostic, Span};

use super::operator_table::{binary_op, mended_dots};
use super::operators::is_integer_exponent;
use super::{BodyChecker, Def, Definition, fit, indexing, storage, structs, unknown_names, vectors};
use crate::codes;
use crate::typed::{
    AssignOp, BinaryOp, Chain, Expr, ExprKind, Index, Link, Place, PlaceStep, PlaceStepKind, StmtKind, Target,
};
use crate::types::Type;
use crate::unify::Elems;

/// `place op value`
pub(super) fn assign(checker: &mut BodyChecker<'_, '_>, assign: &ast::Assign) -> Option<StmtKind> {
    let value = checker.expr(&assign.value);
    let target = target(checker, &assign.place)?;
    if value.ty.has_error() {
        return None;
    }
    if assign.op == ast::AssignOp::Set {
        let wanted = target_type(&target);
        let origin = Some((assign.place.span, "the place has this type"));
        let is_variable = matches!(assign.place.kind, ast::ExprKind::Name(_));
        let value = if is_variable && fit::is_resize_reported(checker, &value, &wanted, assign.place.span) {
            Expr::error(value.span)
        } else {
            checker.fit_as(value, &wanted, "the assigned value", super::infer::Strictness::Exact, origin)
        };
        return Some(StmtKind::Assign { target, op: AssignOp::Set, value });
    }
    let Target::Place(place) = target else {
        let message = format!("expected `=` after a tuple of places, found `{}`", assign.op.as_str());
        checker.report(
            Diagnostic::error(codes::NOT_A_PLACE, assign.op_span, message).help("change the places one by one"),
        );
        return None;
    };
    update(checker, assign, place, value)
}

/// `place += value` and its like.
fn update(checker: &mut BodyChecker<'_, '_>, assign: &ast::Assign, place: Place, value: Expr) -> Option<StmtKind> {
    let symbol = assign.op.as_str();
    let is_dotted = symbol.starts_with('.');
    if place.ty.has_error() {
        return None;
    }
    if is_dotted == place.ty.is_scalar() {
        let ty = checker.show(&place.ty);
        let (code, what, meant) = if is_dotted {
            (codes::DOTTED, "a tensor", symbol.trim_start_matches('.').to_owned())
        } else {
            (codes::UNDOTTED, "a scalar", format!(".{symbol}"))
        };
        let message = format!("expected {what} before `{symbol}`, found a place of type `{ty}`");
        let diagnostic = Diagnostic::error(code, assign.op_span, message).label(place.span, "this place");
        checker.report(mended_dots(diagnostic.help(format!("write `{meant}`")), assign.op_span, &meant));
        return None;
    }
    if let Some(op) = assign.op.binary().filter(|_| vectors::is_vector(checker, &place.ty)) {
        return update_vector(checker, assign, op, place, value);
    }
    let op = match assign.op.binary() {
        Some(op) => binary_op(op).map(AssignOp::Binary)?,
        None if matches!(assign.op, ast::AssignOp::Max | ast::AssignOp::DotMax) => AssignOp::Max,
        None => AssignOp::Min,
    };
    let scalar = place.ty.scalar().map(|scalar| storage::computed_scalar(&checker.infer, scalar));
    let Some(scalar) = scalar.filter(|scalar| checker.infer.vars.require(*scalar, Elems::numeric())) else {
        let message =
            format!("expected a number before `{symbol}`, found a place of type `{}`", checker.show(&place.ty));
        checker.report(
            Diagnostic::error(codes::OPERATOR_TYPE, assign.op_span, message)
                .label(place.span, "this place")
                .help("assign with `=`"),
        );
        return None;
    };
    let is_integer_power = op == AssignOp::Binary(BinaryOp::Pow) && is_integer_exponent(checker, scalar, &value);
    let (op, value, scalar, subject, origin) = if is_integer_power {
        let op = AssignOp::Binary(BinaryOp::PowInt);
        let exponent = value.ty.scalar().unwrap_or(scalar);
        (op, value, exponent, "the exponent", "the place has this shape")
    } else {
        (op, storage::computed(&checker.infer, value), scalar, "the right side", "the place has this type")
    };
    // A scalar on the right lifts; anything else has the shape of the place.
    let wanted = if value.ty.is_scalar() { Type::Scalar(scalar) } else { place.ty.with_scalar(scalar) };
    let origin = Some((assign.place.span, origin));
    let value = checker.fit_as(value, &wanted, subject, super::infer::Strictness::Exact, origin);
    Some(StmtKind::Assign { target: Target::Place(place), op, value })
}

/// `place .+= value` leaf by leaf, which is `place = place .+ value`.
fn update_vector(
    checker: &mut BodyChecker<'_, '_>,
    assign: &ast::Assign,
    op: ast::BinaryOp,
    place: Place,
    value: Expr,
) -> Option<StmtKind> {
    let (first, span) = (checker.expr(&assign.place), assign.place.span.to(value.span));
    let (op, operand, ty) = vectors::infix(checker, (op, assign.op_span), &first, &place.ty, value);
    let link = Link { op, op_span: assign.op_span, operand, span, ty: ty.clone() };
    let value = Expr { span, ty, kind: ExprKind::Chain(Box::new(Chain { first, rest: vec![link] })) };
    let origin = Some((assign.place.span, "the place has this type"));
    let value = checker.fit_as(value, &place.ty, "the right side", super::infer::Strictness::Exact, origin);
    Some(StmtKind::Assign { target: Target::Place(place), op: AssignOp::Set, value })
}

fn target(checker: &mut BodyChecker<'_, '_>, place: &ast::Expr) -> Option<Target> {
    if let ast::ExprKind::Tuple(parts) = &place.kind
        && !parts.is_empty()
    {
        let parts: Vec<Option<Target>> = parts.iter().map(|part| target(checker, part)).collect();
        return parts.into_iter().collect::<Option<Vec<Target>>>().map(Target::Tuple);
    }
    let (base, ops): (&ast::Expr, &[ast::PostfixOp]) =
        if let ast::ExprKind::Postfix(postfix) = &place.kind { (&postfix.base, &postfix.ops) } else { (place, &[]) };
    if matches!(base.kind, ast::ExprKind::Error) {
        return None;
    }
    let ast::ExprKind::Name(name) = &base.kind else { return report_no_place(checker, place.span) };
    root(checker, name, base.span, ops).map(Target::Place)
}

fn report_no_place<T>(checker: &mut BodyChecker<'_, '_>, span: Span) -> Option<T> {
    checker.report(
        Diagnostic::error(codes::NOT_A_PLACE, span, "expected a place on the left side, found a value")
            .help("places are variables `x`, fields `p.x`, elements and slices `v[i]`, and tuples of them"),
    );
    None
}

/// The place that begins at a variable.
fn root(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span, ops: &[ast::PostfixOp]) -> Option<Place> {
    let Some(root) = checker.lookup_local(name, span) else {
        if checker.generics.iter().any(|generic| generic.name == name) {
            report_immutable(checker, name, span, None, "sizes can't be changed");
        } else if let Some(Definition { def: Def::Constant(_), span: definition, .. }) = checker.module.find(name) {
            report_immutable(checker, name, span, Some(definition), "constants can't be changed");
        } else if checker.module.find(name).is_some() {
            let whole = ops.last().map_or(span, |op| span.to(op.span));
            report_no_place::<()>(checker, whole);
        } else {
            unknown_names::report_place(checker, name, span);
        }
        return None;
    };
    let local = checker.locals.get(root);
    let (definition, ty, mutable) = (local.span, local.ty.clone(), local.mutable);
    let is_param = (root.0 as usize) < checker.n_params;
    if !mutable {
        let diagnostic = immutable(name, span, Some(definition));
        checker.report(if is_param {
            diagnostic.help(format!("copy it into a variable first: `let mut {name} = {name}`"))
        } else {
            diagnostic.help(format!("declare it with `let mut {name}`")).fix(definition.before(), "mut ")
        });
        return None;
    }
    if checker.locals.frames.last().is_some_and(|frame| root.0 < frame.first_local) {
        let message = format!("expected a variable of the lambda, found `{name}`, which it captures");
        checker.report(
            Diagnostic::error(codes::CAPTURED_ASSIGNMENT, span, message)
                .label(definition, "declared outside of the lambda")
                .help("lambdas read what they capture: give the new value as the result, or write a `for` loop"),
        );
        return None;
    }
    let mut place = Place { span, ty, root, steps: Vec::new() };
    for op in ops {
        let whole = span.to(op.span);
        let (ty, kind) = match &op.kind {
            PostfixKind::Field(field) => {
                let (at, ty) = structs::find_field(checker, (&place.ty.clone(), place.span), field)?;
                (ty, PlaceStepKind::Field(at))
            }
            PostfixKind::TupleField { index, span } => {
                let ty = structs::find_part(checker, &place.ty.clone(), *index, *span)?;
                (ty, PlaceStepKind::Field(*index as usize))
            }
            PostfixKind::Index(args) => {
                let base = format!("a place of type `{}`", checker.show(&place.ty));
                let name = Some(name).filter(|_| place.steps.is_empty());
                let (indices, ty) = indexing::indices(checker, &place.ty, (&base, place.span), name, args, whole)?;
                if let Some(gather) = indices.iter().find_map(gathered) {
                    let message = "expected an element or a slice as a place, found a tensor of indices";
                    checker.report(
                        Diagnostic::error(codes::NOT_A_PLACE, gather.span, message)
                            .help("write a `for` loop over the indices"),
                    );
                    return None;
                }
                (ty, PlaceStepKind::Index(indices))
            }
            PostfixKind::Call(_) | PostfixKind::Cast(_) => return report_no_place(checker, whole),
        };
        checker.node_types.push((op.id, ty.clone()));
        place.ty = ty.clone();
        place.span = whole;
        place.steps.push(PlaceStep { span: whole, ty, kind });
    }
    Some(place)
}

fn report_immutable(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span, definition: Option<Span>, help: &str) {
    checker.report(immutable(name, span, definition).help(help));
}

fn immutable(name: &str, span: Span, definition: Option<Span>) -> Diagnostic {
    let message = format!("expected a place that may change, found `{name}`, which is not `mut`");
    let diagnostic = Diagnostic::error(codes::IMMUTABLE, span, message);
    match definition {
        Some(definition) => diagnostic.label(definition, "declared here without `mut`"),
        None => diagnostic,
    }
}

fn gathered(index: &Index) -> Option<&Expr> {
    match index {
        Index::Gather(positions) => Some(positions),
        Index::At(_) | Index::Slice { .. } => None,
    }
}

fn target_type(target: &Target) -> Type {
    match target {
        Target::Place(place) => place.ty.clone(),
        Target::Tuple(parts) => Type::Tuple(parts.iter().map(target_type).collect()),
    }
}
