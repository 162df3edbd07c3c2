//! Operators: infix runs, prefix operators, folds.

use cotan_ir::Elem;
use cotan_syntax::ast::{self, NodeId};
use cotan_syntax::{Diagnostic, Span};

use super::infer::Strictness;
use super::operator_table::{binary_op, bound, is_comparison, mended_dots, trait_with};
use super::{BodyChecker, conversions, folds, literals, shape_help, storage, vectors};
use crate::codes;
use crate::dims::Dim;
use crate::prelude;
use crate::typed::{BinaryOp, Chain, Expr, ExprKind, Link, LogicOp, UnaryOp};
use crate::types::{Scalar, Type};
use crate::unify::Elems;

/// One operand of a run with the operator before it.
struct Operand<'s> {
    op: ast::BinaryOp,
    op_span: Span,
    id: NodeId,
    span: Span,
    value: Value<'s>,
}

/// An operand as it is written, or the fold that it turned out to be.
enum Value<'s> {
    Written(&'s ast::Expr),
    Fold(Expr),
}

/// A run of infix operators.
pub(super) fn chain(checker: &mut BodyChecker<'_, '_>, chain: &ast::Chain, span: Span) -> Expr {
    let (first, rest) = resolve_folds(checker, chain);
    let first = checked_operand(checker, first);
    if rest.is_empty() {
        return first;
    }
    if rest[0].op == ast::BinaryOp::And {
        return logic(checker, LogicOp::And, first, rest, span);
    }
    if rest[0].op == ast::BinaryOp::Or {
        return logic(checker, LogicOp::Or, first, rest, span);
    }
    let first = storage::computed(&checker.infer, first);
    let mut ty = first.ty.clone();
    let mut links: Vec<Link> = Vec::with_capacity(rest.len());
    for operand in rest {
        let (op, op_span, id, link_span) = (operand.op, operand.op_span, operand.id, operand.span);
        let value = checked_operand(checker, operand.value);
        let value = storage::computed(&checker.infer, value);
        // Messages speak of the operand on the left: the first one, or the last one so far.
        let left = links.last().map_or(&first, |link: &Link| &link.operand);
        let (op, operand, result) = infix(checker, (op, op_span), (&first, &links), left, &ty, value);
        ty = result;
        checker.node_types.push((id, ty.clone()));
        links.push(Link { op, op_span, operand, span: link_span, ty: ty.clone() });
    }
    Expr { span, ty, kind: ExprKind::Chain(Box::new(Chain { first, rest: links })) }
}

fn checked_operand(checker: &mut BodyChecker<'_, '_>, value: Value<'_>) -> Expr {
    match value {
        Value::Written(expr) => checker.expr(expr),
        Value::Fold(expr) => expr,
    }
}

/// Finds `f/v` and `f/init/v` in a run: a bare name of a function before `/`.
fn resolve_folds<'s>(checker: &mut BodyChecker<'_, '_>, chain: &'s ast::Chain) -> (Value<'s>, Vec<Operand<'s>>) {
    let mut at = 0;
    let (first, _) = maybe_fold(checker, &chain.first, &chain.rest, &mut at);
    let mut rest = Vec::new();
    while let Some(link) = chain.rest.get(at) {
        at += 1;
        let (value, last) = maybe_fold(checker, &link.operand, &chain.rest, &mut at);
        let last = last.unwrap_or(link);
        let span = chain.first.span.to(last.operand.span);
        rest.push(Operand { op: link.op, op_span: link.op_span, id: last.id, span, value });
    }
    (first, rest)
}

/// An operand, and if it begins a fold that fold, with the last link that belongs to it. `at`
/// is the link after the operand, and moves behind the fold.
fn maybe_fold<'s>(
    checker: &mut BodyChecker<'_, '_>,
    operand: &'s ast::Expr,
    links: &'s [ast::Link],
    at: &mut usize,
) -> (Value<'s>, Option<&'s ast::Link>) {
    let negated = if let ast::ExprKind::Unary { op: ast::UnaryOp::Neg, operand, .. } = &operand.kind {
        Some(&**operand)
    } else {
        None
    };
    let (named, is_negated) = (negated.unwrap_or(operand), negated.is_some());
    let is_division = |at: usize| links.get(at).filter(|link| link.op == ast::BinaryOp::Div);
    let Some(second) = is_division(*at).filter(|_| is_function_name(checker, named)) else {
        return (Value::Written(operand), None);
    };
    let third = is_division(*at + 1);
    *at += if third.is_some() { 2 } else { 1 };
    let (init, last) = match third {
        Some(third) => (Some(&second.operand), third),
        None => (None, second),
    };
    let span = operand.span.to(last.operand.span);
    let folded = folds::fold_by(checker, named, init, &last.operand, named.span.to(span));
    let value = if is_negated { apply_unary(checker, UnaryOp::Neg, operand.span, folded, span) } else { folded };
    (Value::Fold(value), Some(last))
}

/// Whether an expression is the bare name of a function.
pub(super) fn is_function_name(checker: &BodyChecker<'_, '_>, expr: &ast::Expr) -> bool {
    let ast::ExprKind::Name(name) = &expr.kind else { return false };
    match checker.locals.named(name) {
        Some(local) => matches!(checker.locals.get(local).ty, Type::Function(_)),
        None if checker.generics.iter().any(|generic| generic.name == *name) => false,
        None => match checker.module.find(name) {
            Some(definition) => {
                matches!(definition.def, super::Def::Function(_)) || checker.module.is_beside_module(name)
            }
            None => prelude::scalar_function(name).is_some() || prelude::builtin(name).is_some(),
        },
    }
}

/// Whether an expression stands for a function.
pub(super) fn looks_like_function(checker: &BodyChecker<'_, '_>, expr: &ast::Expr) -> bool {
    matches!(expr.kind, ast::ExprKind::Lambda(_)) || is_function_name(checker, expr)
}

/// `a && b && ...`
fn logic(checker: &mut BodyChecker<'_, '_>, op: LogicOp, first: Expr, rest: Vec<Operand<'_>>, span: Span) -> Expr {
    let mut operands = vec![condition(checker, first, "an operand of a logical operator")];
    for operand in rest {
        let value = checked_operand(checker, operand.value);
        operands.push(condition(checker, value, "an operand of a logical operator"));
    }
    Expr { span, ty: Type::of(Elem::Bool), kind: ExprKind::Logic { op, operands } }
}

/// The value, which must be a `bool`.
pub(super) fn condition(checker: &mut BodyChecker<'_, '_>, value: Expr, subject: &str) -> Expr {
    let bool_type = Type::of(Elem::Bool);
    if checker.infer.relate(&value.ty, &bool_type, Strictness::Exact).is_ok() {
        return value;
    }
    let found = checker.show_value(&value);
    let help = match value.ty.scalar() {
        Some(_) if !value.ty.is_scalar() => "fold it to one `bool` with `and/` or `or/`",
        Some(scalar) if checker.infer.vars.is_within(scalar, Elems::integer()) => "compare it, as in `x != 0`",
        Some(_) => "compare it, as in `x > 0.0`",
        None => "write a comparison",
    };
    let message = format!("expected `bool` for {subject}, found {found}");
    checker.report(Diagnostic::error(codes::CONDITION, value.span, message).help(help));
    Expr { ty: Type::Error, ..value }
}

/// What stands before an operator: the first operand, and the operators after it.
type Run<'e> = (&'e Expr, &'e [Link]);

/// One step of a run: the operator, the operand as it fits, and the type of the result. `run` is what stands before.
fn infix(
    checker: &mut BodyChecker<'_, '_>,
    (op, op_span): (ast::BinaryOp, Span),
    run: Run<'_>,
    left: &Expr,
    left_ty: &Type,
    right: Expr,
) -> (BinaryOp, Expr, Type) {
    // Logical operators have been dealt with; only they have no counterpart here.
    let core = binary_op(op).unwrap_or(BinaryOp::Add);
    if left_ty.has_error() || right.ty.has_error() {
        return (core, right, Type::Error);
    }
    if core == BinaryOp::MatMul {
        let (right, ty) = matrix_product(checker, op_span, left.span, left_ty, right);
        return (core, right, ty);
    }
    let is_on_vectors = vectors::is_vector(checker, left_ty) || vectors::is_vector(checker, &right.ty);
    if is_on_vectors && !is_comparison(core) {
        return vectors::infix(checker, (op, op_span), left, left_ty, right);
    }
    let right_ty = right.ty.clone();
    let (Some(a), Some(b)) = (left_ty.scalar(), right_ty.scalar()) else {
        report_no_operator(checker, op, op_span, left.span, left_ty, &right);
        return (core, right, Type::Error);
    };
    if !dots_are_right(checker, op, op_span, left, left_ty, &right) {
        return (core, right, Type::Error);
    }
    if core == BinaryOp::Pow
        && is_integer_exponent(checker, a, &right)
        && checker.infer.vars.require(a, Elems::numeric())
    {
        let (right, shape) = same_shape(checker, left.span, left_ty, right);
        return (BinaryOp::PowInt, right, shape.map_or(Type::Error, |dims| Type::tensor(Type::Scalar(a), dims)));
    }
    if !checker.infer.vars.unify(a, b) {
        report_operand_types(checker, (op, op_span), run, left, left_ty, &right);
        return (core, right, Type::Error);
    }
    let allowed = Elems::of_bound(bound(core));
    if !checker.infer.vars.require(a, allowed) {
        report_no_operator(checker, op, op_span, left.span, left_ty, &right);
        return (core, right, Type::Error);
    }
    let scalar = if is_comparison(core) { Scalar::Of(Elem::Bool) } else { a };
    let (right, shape) = same_shape(checker, left.span, left_ty, right);
    let ty = shape.map_or(Type::Error, |dims| Type::tensor(Type::Scalar(scalar), dims));
    (core, right, ty)
}

/// Whether an exponent is an integer: it is decided to be one, or literals leave it open. A quotient of literals is a
/// float, unless the base is an integer.
pub(super) fn is_integer_exponent(checker: &mut BodyChecker<'_, '_>, base: Scalar, exponent: &Expr) -> bool {
    let Some(scalar) = exponent.ty.scalar() else { return false };
    let vars = &mut checker.infer.vars;
    let is_open = vars.default_of(scalar).is_some_and(Elem::is_integer);
    if is_open && literals::is_quotient(exponent) && !vars.is_within(base, Elems::integer()) {
        return false;
    }
    vars.is_within(scalar, Elems::integer()) || is_open && vars.require(scalar, Elems::integer())
}

/// Makes the shape of the right operand that of the left, unless one is a scalar. Gives the
/// dims of the result.
fn same_shape(
    checker: &mut BodyChecker<'_, '_>,
    left_span: Span,
    left: &Type,
    right: Expr,
) -> (Expr, Option<Vec<Dim>>) {
    if right.ty.is_scalar() {
        return (right, Some(left.dims().to_vec()));
    }
    if left.is_scalar() {
        let dims = right.ty.dims().to_vec();
        return (right, Some(dims));
    }
    let elem = right.ty.elem().clone();
    let wanted = Type::tensor(elem, left.dims().to_vec());
    if shape_help::is_row_reported(checker, (left_span, left), &right) {
        return (Expr { ty: Type::Error, ..right }, None);
    }
    let origin = Some((left_span, "the other operand has this shape"));
    let right = checker.fit_as(right, &wanted, "the right operand", Strictness::Exact, origin);
    let dims = (!right.ty.has_error()).then(|| left.dims().to_vec());
    (right, dims)
}

/// Undotted operators are for scalars, dotted ones for tensors.
fn dots_are_right(
    checker: &mut BodyChecker<'_, '_>,
    op: ast::BinaryOp,
    op_span: Span,
    left: &Expr,
    left_ty: &Type,
    right: &Expr,
) -> bool {
    let all_scalars = left_ty.is_scalar() && right.ty.is_scalar();
    if op.is_dotted() != all_scalars {
        return true;
    }
    let Some(counterpart) = op.counterpart() else { return true };
    let (a, b) = (checker.show(left_ty), checker.show(&right.ty));
    let (code, what) = if op.is_dotted() { (codes::DOTTED, "a tensor") } else { (codes::UNDOTTED, "two scalars") };
    let message = format!("expected {what} around `{}`, found `{a}` and `{b}`", op.as_str());
    let mut diagnostic = Diagnostic::error(code, op_span, message)
        .label(left.span, format!("this is a `{a}`"))
        .label(right.span, format!("this is a `{b}`"))
        .help(format!("write `{}`", counterpart.as_str()));
    let is_fold = matches!(left.kind, ExprKind::Fold { .. }) && left_ty.is_scalar();
    if op.is_dotted() || !is_fold && has_one_dotted_meaning(op, left_ty, &right.ty) {
        diagnostic = mended_dots(diagnostic, op_span, counterpart.as_str());
    } else if op == ast::BinaryOp::Mul && !is_fold {
        diagnostic = diagnostic.help("or `@`, if the matrix product is meant");
    }
    if is_fold {
        diagnostic = diagnostic.help("to fold the whole expression, put parentheses around it, as in `+/(a .* b)`");
    }
    checker.report(diagnostic);
    false
}

/// Whether an undotted operator on tensors means the dotted one in every language that has it: a product of matrices may be
/// theirs, and `==` may ask whether they are equal as a whole.
fn has_one_dotted_meaning(op: ast::BinaryOp, left: &Type, right: &Type) -> bool {
    let are_matrices = [left, right].iter().all(|ty| ty.dims().len() > 1);
    let is_equality = matches!(op, ast::BinaryOp::Eq | ast::BinaryOp::Ne);
    let is_product = op == ast::BinaryOp::Mul && are_matrices;
    !is_equality && !is_product
}

fn report_operand_types(
    checker: &mut BodyChecker<'_, '_>,
    (op, op_span): (ast::BinaryOp, Span),
    (first, links): Run<'_>,
    left: &Expr,
    left_ty: &Type,
    right: &Expr,
) {
    let (a, b) = (checker.show(left_ty), checker.show(&right.ty));
    let message = format!("expected operands of one type for `{}`, found `{a}` and `{b}`", op.as_str());
    let (Some(left_scalar), Some(right_scalar)) = (left_ty.scalar(), right.ty.scalar()) else { return };
    let advice = if conversions::is_left(checker, left_scalar, right_scalar) {
        // What stands on the left of an operator is the whole run before it.
        let chain = Chain { first: first.clone(), rest: links.to_vec() };
        let kind = if links.is_empty() { first.kind.clone() } else { ExprKind::Chain(Box::new(chain)) };
        let run = Expr { span: first.span.to(left.span), ty: left_ty.clone(), kind };
        conversions::advice(checker, &run, left_scalar, right_scalar)
    } else {
        conversions::advice(checker, right, right_scalar, left_scalar)
    };
    checker.report(
        advice.on(Diagnostic::error(codes::OPERAND_TYPES, op_span, message)
            .label(left.span, format!("this is `{a}`"))
            .label(right.span, format!("this is `{b}`"))),
    );
}

fn report_no_operator(
    checker: &mut BodyChecker<'_, '_>,
    op: ast::BinaryOp,
    op_span: Span,
    left_span: Span,
    left_ty: &Type,
    right: &Expr,
) {
    let (a, b) = (checker.show(left_ty), checker.show(&right.ty));
    let message = format!("expected numbers around `{}`, found `{a}` and `{b}`", op.as_str());
    let is_bool = |ty: &Type| ty.concrete() == Some(Elem::Bool);
    let is_generic = |ty: &Type| matches!(ty.scalar(), Some(Scalar::Param(_)));
    let param = [(left_ty, &a), (&right.ty, &b)].into_iter().find(|(ty, _)| matches!(ty, Type::Param(_)));
    let wanted;
    let help = if let Some((_, name)) = param {
        wanted = format!("ask for a trait that has `{0}`, as in `{name}: {1}`", op.as_str(), trait_with(op));
        &wanted
    } else if is_generic(left_ty) || is_generic(&right.ty) {
        "convert with `as f32`, or bound the type by `Float` or `Numeric`"
    } else if is_bool(left_ty) || is_bool(&right.ty) {
        "convert with `as`, or use `&&` and `||`"
    } else if matches!(op, ast::BinaryOp::Pow | ast::BinaryOp::DotPow) {
        "convert the base to a float, or the exponent to an integer, with `as`"
    } else if matches!(left_ty, Type::Enum(_)) {
        "values of an enum are told apart with `match`: `match (a, b) { (Dot, Dot) => true, _ => false }`"
    } else {
        "operators work on numbers: take the fields or parts first"
    };
    checker.report(
        Diagnostic::error(codes::OPERATOR_TYPE, op_span, message)
            .label(left_span, format!("this is a `{a}`"))
            .label(right.span, format!("this is a `{b}`"))
            .help(help),
    );
}

fn matrix_product(
    checker: &mut BodyChecker<'_, '_>,
    op_span: Span,
    left_span: Span,
    left: &Type,
    right: Expr,
) -> (Expr, Type) {
    let right_ty = right.ty.clone();
    let scalars = left.scalar().zip(right_ty.scalar());
    let (m, n) = (left.dims(), right_ty.dims());
    let has_pack = left.has_pack() || right_ty.has_pack();
    // A batch may be a pack, as long as both matrices are known behind it.
    let is_batched = m.len() == n.len() && left.back().len() >= 2 && right_ty.back().len() >= 2;
    let ranks_fit = is_batched || !has_pack && matches!((m.len(), n.len()), (1, 1) | (1, 2) | (2, 1));
    let Some((a, b)) = scalars.filter(|_| ranks_fit) else {
        let (found_left, found_right) = (checker.show(left), checker.show(&right_ty));
        let message = format!("expected matrices or vectors around `@`, found `{found_left}` and `{found_right}`");
        let help = if m.is_empty() || n.is_empty() {
            "multiply scalars with `*`, and a tensor by a scalar with `.*`"
        } else {
            "shapes of a product are `[M, K] @ [K, N]`, `[M, K] @ [K]`, `[K] @ [K, N]` and `[K] @ [K]`, batched over equal leading dims"
        };
        checker.report(
            Diagnostic::error(codes::MATRIX_PRODUCT, op_span, message)
                .label(left_span, "the left side")
                .label(right.span, "the right side")
                .help(help),
        );
        return (right, Type::Error);
    };
    if !checker.infer.vars.unify(a, b) || !checker.infer.vars.require(a, Elems::numeric()) {
        let (found_left, found_right) = (checker.show(left), checker.show(&right_ty));
        let message =
            format!("expected elements of one numeric type for `@`, found `{found_left}` and `{found_right}`");
        checker.report(Diagnostic::error(codes::OPERAND_TYPES, op_span, message).help("convert one side with `as`"));
        return (right, Type::Error);
    }
    let batch = if m.len() >= 2 && n.len() >= 2 { m.len() - 2 } else { 0 };
    let mut wanted = m[..batch].to_vec();
    wanted.extend(m.last().cloned());
    if n.len() >= 2 {
        wanted.extend(n.last().cloned());
    }
    let wanted = Type::tensor(right_ty.elem().clone(), wanted);
    if let Some(help) = shape_help::other_products(checker, (left, left_span), &right) {
        let (found, wanted) = (checker.show_value(&right), checker.show(&wanted));
        let message = format!("expected `{wanted}` for the right operand of `@`, found {found}");
        let diagnostic = Diagnostic::error(codes::SHAPE_MISMATCH, right.span, message);
        checker.report(diagnostic.label(left_span, "the other operand has this shape").help(help));
        return (right, Type::Error);
    }
    let origin = Some((left_span, "the other operand has this shape"));
    let right = checker.fit_as(right, &wanted, "the right operand of `@`", Strictness::Exact, origin);
    if right.ty.has_error() {
        return (right, Type::Error);
    }
    let rows = if m.len() >= 2 { m[..m.len() - 1].to_vec() } else { Vec::new() };
    let columns = if n.len() >= 2 { n.last().cloned() } else { None };
    let dims = rows.into_iter().chain(columns).collect();
    (right, Type::tensor(Type::Scalar(a), dims))
}

/// `-a`, `!a`
pub(super) fn unary(
    checker: &mut BodyChecker<'_, '_>,
    op: ast::UnaryOp,
    op_span: Span,
    operand: &ast::Expr,
    span: Span,
) -> Expr {
    let op = match op {
        ast::UnaryOp::Neg => UnaryOp::Neg,
        ast::UnaryOp::Not => UnaryOp::Not,
    };
    if let (UnaryOp::Neg, ast::ExprKind::Literal(literal @ (ast::Literal::Int { .. } | ast::Literal::Float { .. }))) =
        (op, &operand.kind)
    {
        return literals::literal(checker, literal, true, span);
    }
    let operand = checker.expr(operand);
    apply_unary(checker, op, op_span, operand, span)
}

fn apply_unary(checker: &mut BodyChecker<'_, '_>, op: UnaryOp, op_span: Span, operand: Expr, span: Span) -> Expr {
    let operand = storage::computed(&checker.infer, operand);
    let ty = operand.ty.clone();
    if ty.has_error() {
        return Expr::error(span);
    }
    let (symbol, allowed, what) = match op {
        UnaryOp::Neg => ("-", Elems::numeric(), "a number"),
        UnaryOp::Not => ("!", Elems::bool(), "a `bool`"),
    };
    let is_negative_vector = op == UnaryOp::Neg && vectors::is_vector(checker, &ty);
    if is_negative_vector || ty.scalar().is_some_and(|scalar| checker.infer.vars.require(scalar, allowed)) {
        return Expr { span, ty, kind: ExprKind::Unary { op, operand: Box::new(operand) } };
    }
    let message = format!("expected {what} after `{symbol}`, found `{}`", checker.show(&ty));
    let help = match op {
        UnaryOp::Neg => "only numbers and tensors of numbers have a sign",
        UnaryOp::Not => "compare, as in `x == 0`",
    };
    checker.report(
        Diagnostic::error(codes::OPERATOR_TYPE, op_span, message).label(operand.span, "this operand").help(help),
    );
    Expr::error(span)
}
