//! Folds: `+/ v`, `f/v`, `(|a, b| e)/init/v`.

use cotan_syntax::ast::{self, FoldOp};
use cotan_syntax::{Diagnostic, Span};

use super::{BodyChecker, axes, storage};
use crate::codes;
use crate::typed::{Axes, Callable, CallableKind, Expr, ExprKind};
use crate::types::Type;
use crate::unify::Elems;

/// `+/ v`, `max/[axis = 0] m`
pub(super) fn fold(checker: &mut BodyChecker<'_, '_>, fold: &ast::Fold, span: Span) -> Expr {
    let operand = checker.expr(&fold.operand);
    let operand = storage::computed(&checker.infer, operand);
    let ty = operand.ty.clone();
    if ty.has_error() {
        return Expr::error(span);
    }
    let symbol = fold.op.as_str();
    let allowed = match fold.op {
        FoldOp::Add | FoldOp::Mul | FoldOp::Sub | FoldOp::Div | FoldOp::Max | FoldOp::Min => Elems::numeric(),
        FoldOp::And | FoldOp::Or => Elems::bool(),
    };
    let rank = ty.dims().len();
    let Some(scalar) = ty.scalar().filter(|scalar| rank > 0 && checker.infer.vars.require(*scalar, allowed)) else {
        let what = if allowed == Elems::bool() { "a tensor of `bool`" } else { "a tensor of numbers" };
        let message = format!("expected {what} after `{symbol}`, found `{}`", checker.show(&ty));
        let help = if rank == 0 {
            format!(
                "a fold binds tighter than infix operators: put parentheses around its operand, as in `{symbol}(a .* b)`"
            )
        } else {
            "`and/` and `or/` fold `bool`, the others numbers".to_owned()
        };
        checker.report(
            Diagnostic::error(codes::FOLD_OPERAND, fold.op_span, message).label(operand.span, "the operand").help(help),
        );
        return Expr::error(span);
    };
    let axes = match &fold.selector {
        None => axes::last_axes(checker, &operand, 1, fold.op_span, symbol).map(|_| Axes::Last),
        Some(selector) => axes(checker, selector, &operand),
    };
    let Some(axes) = axes else { return Expr::error(span) };
    let folded = axes.of_rank(rank);
    let left = ty.dims().iter().enumerate().filter(|(axis, _)| !folded.contains(axis)).map(|(_, dim)| dim.clone());
    let ty = Type::tensor(Type::Scalar(scalar), left.collect());
    Expr { span, ty, kind: ExprKind::Fold { op: fold.op, axes, operand: Box::new(operand) } }
}

/// The axes of a selector, ascending.
fn axes(checker: &mut BodyChecker<'_, '_>, selector: &ast::Selector, operand: &Expr) -> Option<Axes> {
    let ty = &operand.ty;
    let (rank, n_known) = (ty.dims().len(), ty.front().len());
    if let [ast::Arg { name: None, value }] = selector.args.as_slice()
        && matches!(&value.kind, ast::ExprKind::Name(name) if name == "all")
    {
        return Some(Axes::All);
    }
    let mut axes = Vec::new();
    for arg in &selector.args {
        let is_named_right = arg.name.as_ref().is_none_or(|name| name.name == "axis");
        let axis = if let ast::ExprKind::Literal(ast::Literal::Int { value, .. }) = arg.value.kind {
            usize::try_from(value).ok().filter(|_| is_named_right)
        } else {
            None
        };
        match axis {
            Some(axis) if axis < n_known && !axes.contains(&axis) => axes.push(axis),
            Some(axis) if axis >= n_known && n_known < rank => {
                let shown = checker.show_value(operand);
                axes::report_axis_in_pack(checker, ty, &shown, arg.value.span, &format!("axis {axis}"));
                return None;
            }
            _ => {
                let found = axis.map_or_else(|| "something else".to_owned(), |axis| format!("`{axis}`"));
                let message = format!("expected axes from 0 to {}, each once, found {found}", rank - 1);
                checker.report(
                    Diagnostic::error(codes::AXIS, arg.value.span, message)
                        .help("write `[axis = 0]`, `[axis = 0, 1]` or `[all]`"),
                );
                return None;
            }
        }
    }
    axes.sort_unstable();
    Some(Axes::At(axes))
}

/// `(|a, b| e)/v`
pub(super) fn fold_by_lambda(checker: &mut BodyChecker<'_, '_>, fold: &ast::FoldBy, span: Span) -> Expr {
    fold_by(checker, &fold.function, fold.init.as_ref(), &fold.operand, span)
}

pub(super) fn fold_by(
    checker: &mut BodyChecker<'_, '_>,
    function: &ast::Expr,
    init: Option<&ast::Expr>,
    operand: &ast::Expr,
    span: Span,
) -> Expr {
    let init = init.map(|init| checker.expr(init));
    let operand = checker.expr(operand);
    let ty = operand.ty.clone();
    let Some((_, leading)) = ty.dims().split_last() else {
        if !ty.has_error() {
            let message = format!("expected a tensor to fold, found `{}`", checker.show(&ty));
            checker.report(
                Diagnostic::error(codes::FOLD_OPERAND, operand.span, message)
                    .label(function.span, "a function before `/` makes a fold")
                    .help("to divide, put the call in parentheses"),
            );
        }
        return Expr::error(span);
    };
    if axes::last_axes(checker, &operand, 1, operand.span, "a fold by a function").is_none() {
        return Expr::error(span);
    }
    let elem = ty.elem().clone();
    let state = init.as_ref().map_or_else(|| elem.clone(), |init| init.ty.clone());
    if state.has_error() {
        return Expr::error(span);
    }
    let Some(callable) = checker.function_arg(function, &[state.clone(), elem]) else { return Expr::error(span) };
    let Some(callable) = keeps_state(checker, callable, &state, "the result of the folded function") else {
        return Expr::error(span);
    };
    if !leading.is_empty() && !checker.require_element(&Expr { ty: state.clone(), ..Expr::error(callable.span) }) {
        return Expr::error(span);
    }
    let ty = state.stacked(leading);
    let kind = ExprKind::FoldBy { function: Box::new(callable), init: init.map(Box::new), operand: Box::new(operand) };
    Expr { span, ty, kind }
}

/// The function, whose result must be of the type of the state. What a lambda gives is checked and narrowed like any
/// other value.
pub(super) fn keeps_state(
    checker: &mut BodyChecker<'_, '_>,
    mut callable: Callable,
    state: &Type,
    subject: &str,
) -> Option<Callable> {
    if let CallableKind::Lambda(lambda) = &mut callable.kind {
        let body = std::mem::replace(&mut lambda.body, Expr::error(callable.span));
        lambda.body = checker.fit(body, state, subject);
        callable.result = state.clone();
        return (!lambda.body.ty.has_error()).then_some(callable);
    }
    let result = Expr { ty: callable.result.clone(), ..Expr::error(callable.span) };
    let fitted = checker.fit(result, state, subject);
    if let ExprKind::Cast(_) = fitted.kind {
        let (wanted, found) = (checker.show(state), checker.show(&callable.result));
        let message = format!("expected `{wanted}` for {subject}, found `{found}`");
        let help = "only a lambda narrows what it gives: write one around the function";
        checker.report(Diagnostic::error(codes::MISMATCH, callable.span, message).help(help));
        return None;
    }
    callable.result = state.clone();
    (!fitted.ty.has_error()).then_some(callable)
}
