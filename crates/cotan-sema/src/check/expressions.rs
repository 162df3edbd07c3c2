//! Expressions: the kinds that are no operators, calls or control flow.

use cotan_syntax::ast;
use cotan_syntax::{Diagnostic, Span};

use super::infer::Strictness;
use super::{
    BodyChecker, control, folds, large_types, literals, matches, names, operations, operators, pipes, postfix, ranges,
    statements, structs,
};
use crate::codes;
use crate::dims::Dim;
use crate::typed::{Expr, ExprKind};
use crate::types::Type;
use crate::unify::Elems;

impl BodyChecker<'_, '_> {
    /// Checks an expression. Nesting beyond the limit is reported and cut off.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        if self.module.is_full() {
            return Expr::error(expr.span);
        }
        if self.depth >= self.module.limits.nesting {
            return self.too_deep(expr.span);
        }
        self.depth += 1;
        let mut value = expr_kind(self, expr);
        self.depth -= 1;
        let is_small = large_types::has_few_leaves(self.module, &value.ty, "a value", expr.span);
        if !is_small || !large_types::add_type_parts(self.module, &value.ty, expr.span) {
            value = Expr::error(expr.span);
        }
        self.node_types.push((expr.id, value.ty.clone()));
        value
    }

    pub(super) fn too_deep(&mut self, span: Span) -> Expr {
        let message = format!("expected at most {} nested steps, found more", self.module.limits.nesting);
        self.report(Diagnostic::error(codes::TOO_DEEP, span, message).help("bind parts of the expression with `let`"));
        Expr::error(span)
    }
}

fn expr_kind(checker: &mut BodyChecker<'_, '_>, expr: &ast::Expr) -> Expr {
    let span = expr.span;
    match &expr.kind {
        ast::ExprKind::Error => Expr::error(span),
        ast::ExprKind::Literal(literal) => literals::literal(checker, literal, false, span),
        ast::ExprKind::Name(name) => names::name(checker, name, span, &[]).0,
        ast::ExprKind::Hole => {
            checker.report(
                Diagnostic::error(codes::OPEN_SIZE, span, "expected a value, found `_`")
                    .help("`_` leaves a size open in a type; here a value is needed"),
            );
            Expr::error(span)
        }
        ast::ExprKind::Tuple(parts) => {
            let parts: Vec<Expr> = parts.iter().map(|part| checker.expr(part)).collect();
            let ty = Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
            Expr { span, ty, kind: ExprKind::Tuple(parts) }
        }
        ast::ExprKind::Array(parts) => array(checker, parts, span),
        ast::ExprKind::Struct(literal) => structs::struct_literal(checker, literal, span),
        ast::ExprKind::Unary { op, op_span, operand } => operators::unary(checker, *op, *op_span, operand, span),
        ast::ExprKind::Binary(chain) => operators::chain(checker, chain, span),
        ast::ExprKind::Pipe(pipe) => pipes::pipe(checker, pipe, span),
        ast::ExprKind::Range(range) => ranges::range_value(checker, range, span),
        ast::ExprKind::Fold(fold) => folds::fold(checker, fold, span),
        ast::ExprKind::FoldBy(fold) => folds::fold_by_lambda(checker, fold, span),
        ast::ExprKind::Postfix(postfix) => postfix::postfix(checker, postfix, span),
        ast::ExprKind::Ascription { operand, ty } => ascription(checker, operand, ty),
        ast::ExprKind::Lambda(_) => checker.function_as_value(span, "a lambda"),
        ast::ExprKind::LetIn(it) => statements::let_in(checker, it, span),
        ast::ExprKind::If(it) => control::if_expr(checker, it, span),
        ast::ExprKind::Match(it) => matches::match_expr(checker, it, span),
        ast::ExprKind::Block(block) => checker.block(block),
        ast::ExprKind::For(it) => control::for_loop(checker, it, span),
        ast::ExprKind::While(it) => control::while_loop(checker, it, span),
        ast::ExprKind::Break => control::jump(checker, ExprKind::Break, "break", span),
        ast::ExprKind::Continue => control::jump(checker, ExprKind::Continue, "continue", span),
        ast::ExprKind::Return(value) => statements::return_expr(checker, value.as_deref(), span),
    }
}

fn array(checker: &mut BodyChecker<'_, '_>, parts: &[ast::Expr], span: Span) -> Expr {
    let values: Vec<Expr> = parts.iter().map(|part| checker.expr(part)).collect();
    let Some(first) = values.first() else {
        checker.report(Diagnostic::error(codes::EMPTY_ARRAY, span, "expected at least one element, found `[]`").help(
            "tensors do not grow: write `tabulate(n, |i| ...)`, or `zeros[f64](n)` and then `v[i] = ...`; an \
                     empty one is `zeros[f64](0)`",
        ));
        return Expr::error(span);
    };
    // Among integers a float decides, as it is never what is converted.
    let is_of =
        |value: &Expr, elems| value.ty.scalar().is_some_and(|scalar| checker.infer.vars.is_within(scalar, elems));
    let float = values.iter().find(|value| is_of(value, Elems::any_float())).filter(|_| is_of(first, Elems::integer()));
    let (decider, why) = match float {
        Some(float) => (float, "this element decides the type"),
        None => (first, "the first element decides the type"),
    };
    let (elem, origin) = (decider.ty.clone(), Some((decider.span, why)));
    if !checker.require_element(first) {
        return Expr::error(span);
    }
    let fit = |value| checker.fit_as(value, &elem, "an element of the array", Strictness::Exact, origin);
    let values: Vec<Expr> = values.into_iter().map(fit).collect();
    if values.iter().any(|value| value.ty.has_error()) {
        return Expr::error(span);
    }
    let ty = elem.stacked(&[Dim::constant(values.len() as i64)]);
    Expr { span, ty, kind: ExprKind::Array(values) }
}

fn ascription(checker: &mut BodyChecker<'_, '_>, operand: &ast::Expr, ty: &ast::TypeExpr) -> Expr {
    if let Some(args) = operations::operation_args(checker.module, operand) {
        return operations::operation(checker, args, operand.span, ty);
    }
    let value = checker.expr(operand);
    let wanted = checker.written_type(ty, Some(&value.ty));
    let origin = Some((ty.span, "this type is asked for"));
    checker.fit_as(value, &wanted, "", Strictness::Ascribed, origin)
}
