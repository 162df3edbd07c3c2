//! Branches and loops.

use cotan_syntax::{Diagnostic, Span, ast};

use super::conversions::Advice;
use super::infer::Misfit;
use super::{BodyChecker, axes, effects, fit, foreign_ranges, loop_attributes, operators, ranges, tile_shapes};
use crate::codes;
use crate::typed::{Expr, ExprKind, For, If, Iterable, Range, Sharing, While};
use crate::types::Type;
use crate::unify::Elems;

/// What to do about a value of an `if` that has no `else`.
const NO_ELSE: &str = "add an `else` with a value, bind the value with `let`, or leave it out";
/// What to do about a value at the end of the body of a loop.
const VALUE_OF_A_LOOP: &str = "add it to a variable in front of the loop, bind it with `let`, or leave it out";

/// `if c { } else if d { } else { }`
pub(super) fn if_expr(checker: &mut BodyChecker<'_, '_>, it: &ast::If, span: Span) -> Expr {
    let first_local = checker.locals.len();
    let first_size = checker.infer.sizes.len();
    let mut arms = Vec::new();
    for arm in &it.arms {
        let condition = checker.expr(&arm.condition);
        let condition = operators::condition(checker, condition, "the condition of `if`");
        let body = checker.block(&arm.block);
        arms.push((condition, body));
    }
    let otherwise = it.otherwise.as_ref().map(|block| checker.block(block));
    let ty = match &otherwise {
        Some(otherwise) => {
            let bodies = arms.iter().map(|(_, body)| body).chain([otherwise]);
            let bodies: Vec<(Type, Span)> = bodies.map(|body| (body.ty.clone(), value_of(body).span)).collect();
            join_arms(checker, &bodies, first_local, first_size, span)
        }
        None => {
            let is_statement =
                arms.iter_mut().fold(true, |fine, (_, body)| require_unit(checker, body, NO_ELSE) && fine);
            if is_statement { Type::UNIT } else { Type::Error }
        }
    };
    Expr { span, ty, kind: ExprKind::If(Box::new(If { arms, otherwise })) }
}

pub(super) fn join_arms(
    checker: &mut BodyChecker<'_, '_>,
    bodies: &[(Type, Span)],
    first_local: u32,
    first_size: u32,
    span: Span,
) -> Type {
    let mut joined = Type::Never;
    let mut first_span = span;
    for (ty, body_span) in bodies {
        let ty = checker.infer.sizes.escape(ty, first_local, first_size, span);
        if joined == Type::Never {
            first_span = *body_span;
        }
        match checker.infer.join(&joined, &ty, span) {
            Ok(next) => joined = next,
            Err(misfit) => {
                report_arms(checker, &joined, &ty, first_span, *body_span, &misfit);
                return Type::Error;
            }
        }
    }
    joined
}

fn report_arms(
    checker: &mut BodyChecker<'_, '_>,
    first: &Type,
    second: &Type,
    first_span: Span,
    span: Span,
    misfit: &Misfit,
) {
    let (wanted, found) = (checker.show(first), checker.show(second));
    let code = match misfit {
        Misfit::Type => codes::MISMATCH,
        Misfit::Rank => codes::RANK_MISMATCH,
        Misfit::Size(..) => codes::SHAPE_MISMATCH,
    };
    let message = format!("expected arms of one type, found `{wanted}` and `{found}`");
    let is_integer =
        |ty: &Type| ty.scalar().is_some_and(|scalar| checker.infer.vars.is_within(scalar, Elems::integer()));
    // Between an integer and a float it is the integer that should change.
    let swapped = is_integer(first) && !is_integer(second);
    let (value, other) = if swapped { (first, second) } else { (second, first) };
    let value = Expr { ty: value.clone(), ..Expr::error(if swapped { first_span } else { span }) };
    let advice = match misfit {
        Misfit::Size(..) => Advice::new("give all arms one length, or take what is done with them into the arms"),
        Misfit::Type | Misfit::Rank => fit::misfit_advice(checker, &value, other, misfit),
    };
    checker.report(advice.on(Diagnostic::error(code, span, message).label(first_span, format!("this is `{wanted}`"))));
}

/// Whether a block whose value nobody takes has none; reports one that has, with what to do about it.
fn require_unit(checker: &mut BodyChecker<'_, '_>, body: &mut Expr, help: &str) -> bool {
    let has_none = body.ty.is_unit() || body.ty == Type::Never || body.ty.has_error();
    if has_none || effects::forget_debugged(body) {
        return true;
    }
    let value = value_of(body);
    let message = format!("expected a statement, found the value {}", checker.show_value(value));
    checker.report(Diagnostic::error(codes::UNUSED_VALUE, value.span, message).help(help));
    false
}

/// `for p in e { ... }`
pub(super) fn for_loop(checker: &mut BodyChecker<'_, '_>, it: &ast::For, span: Span) -> Expr {
    let checkpoint = loop_attributes::loop_attributes(checker.module, &it.attrs);
    let iterable = iterable(checker, &it.iterable);
    let elem = match &iterable {
        Some(Iterable::Range { range, .. }) => range.lo.ty.clone(),
        Some(Iterable::Tensor { tensor, .. }) => element_type(&tensor.ty),
        None => Type::Error,
    };
    let is_parallel = checker.is_kernel && checker.locals.frames.len() == 1 && !checker.in_for_loop;
    let in_for_loop = std::mem::replace(&mut checker.in_for_loop, true);
    let (pattern, body) = checker.scoped(|this| {
        let pattern = this.irrefutable(&it.pattern, &elem, "`for`");
        (pattern, loop_body(this, &it.body))
    });
    checker.in_for_loop = in_for_loop;
    match iterable {
        Some(iterable) => {
            let parallel = is_parallel.then(Sharing::default);
            let it = For { pattern, iterable, body, parallel, checkpoint };
            Expr { span, ty: Type::UNIT, kind: ExprKind::For(Box::new(it)) }
        }
        None => Expr { ty: Type::UNIT, ..Expr::error(span) },
    }
}

fn iterable(checker: &mut BodyChecker<'_, '_>, iterable: &ast::Expr) -> Option<Iterable> {
    if let ast::ExprKind::Range(range) = &iterable.kind {
        return loop_range(checker, range, iterable.span, false);
    }
    if let ast::ExprKind::Postfix(postfix) = &iterable.kind
        && let [field, call] = postfix.ops.as_slice()
        && matches!(&field.kind, ast::PostfixKind::Field(name) if name.name == "rev")
        && matches!(&call.kind, ast::PostfixKind::Call(args) if args.is_empty())
    {
        if let ast::ExprKind::Range(range) = &postfix.base.kind {
            return loop_range(checker, range, iterable.span, true);
        }
        let tensor = checker.expr(&postfix.base);
        return loop_tensor(checker, tensor, true);
    }
    if let Some(range) = foreign_ranges::reported(checker, iterable) {
        return loop_range(checker, &range, iterable.span, false);
    }
    if let Some(args) = tile_shapes::tile_args(checker, iterable) {
        let range = tile_shapes::tile_range(checker, args, iterable.span)?;
        return Some(Iterable::Range { range, reversed: false });
    }
    let tensor = checker.expr(iterable);
    loop_tensor(checker, tensor, false)
}

fn loop_range(checker: &mut BodyChecker<'_, '_>, range: &ast::Range, span: Span, reversed: bool) -> Option<Iterable> {
    let range: Range = ranges::checked_range(checker, range, span)?;
    Some(Iterable::Range { range, reversed })
}

fn loop_tensor(checker: &mut BodyChecker<'_, '_>, tensor: Expr, reversed: bool) -> Option<Iterable> {
    if tensor.ty.has_error() {
        return None;
    }
    if !tensor.ty.dims().is_empty() {
        axes::first_axis(checker, &tensor, "the loop")?;
        return Some(Iterable::Tensor { tensor, reversed });
    }
    let message = format!("expected a range or a tensor after `in`, found {}", checker.show_value(&tensor));
    let help = match tensor.ty.concrete() {
        Some(elem) if elem.is_integer() => "write a range, as in `0..n`",
        _ => "loops run over ranges and over the first axis of tensors",
    };
    checker.report(Diagnostic::error(codes::NOT_ITERABLE, tensor.span, message).help(help));
    None
}

fn loop_body(checker: &mut BodyChecker<'_, '_>, body: &ast::Block) -> Expr {
    if let Some(frame) = checker.locals.frames.last_mut() {
        frame.n_loops += 1;
    }
    let mut body = checker.block(body);
    if let Some(frame) = checker.locals.frames.last_mut() {
        frame.n_loops -= 1;
    }
    require_unit(checker, &mut body, VALUE_OF_A_LOOP);
    body
}

/// `while c { ... }`
pub(super) fn while_loop(checker: &mut BodyChecker<'_, '_>, it: &ast::While, span: Span) -> Expr {
    let checkpoint = loop_attributes::loop_attributes(checker.module, &it.attrs);
    let condition = checker.expr(&it.condition);
    let condition = operators::condition(checker, condition, "the condition of `while`");
    let body = loop_body(checker, &it.body);
    let kind = ExprKind::While(Box::new(While { condition, body, checkpoint }));
    Expr { span, ty: Type::UNIT, kind }
}

/// `break` and `continue`
pub(super) fn jump(checker: &mut BodyChecker<'_, '_>, kind: ExprKind, name: &str, span: Span) -> Expr {
    if checker.locals.frames.last().is_some_and(|frame| frame.n_loops > 0) {
        return Expr { span, ty: Type::Never, kind };
    }
    let message = format!("expected a loop around `{name}`, found none");
    let help = if checker.locals.frames.len() > 1 {
        "a lambda is no loop: use `return` to leave it"
    } else {
        "use `return` to leave the function"
    };
    checker.report(Diagnostic::error(codes::OUTSIDE_LOOP, span, message).help(help));
    Expr { ty: Type::Never, ..Expr::error(span) }
}

/// What one element, or row, of a tensor is.
pub(super) fn element_type(ty: &Type) -> Type {
    match ty {
        Type::Tensor { elem, dims } => Type::tensor((**elem).clone(), dims[1..].to_vec()),
        Type::Error
        | Type::Never
        | Type::Scalar(_)
        | Type::Tuple(_)
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Function(_)
        | Type::Param(_) => Type::Error,
    }
}

/// The value of a block, which says where the block is wrong.
pub(super) fn value_of(body: &Expr) -> &Expr {
    if let ExprKind::Block(block) = &body.kind { block.value.as_ref().unwrap_or(body) } else { body }
}
