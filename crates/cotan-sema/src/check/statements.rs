//! Blocks and statements.

use cotan_syntax::{Diagnostic, Span, ast};

use super::infer::Strictness;
use super::loop_attributes::Hints;
use super::new_variables::{self, Rest};
use super::{BodyChecker, effect_maps, effects, loop_attributes, places, sizes, unbound_derivatives};
use crate::codes;
use crate::typed::{Block, Expr, ExprKind, PatternKind, Stmt, StmtKind};
use crate::types::Type;

impl BodyChecker<'_, '_> {
    /// `{ ... }`
    pub(super) fn block(&mut self, block: &ast::Block) -> Expr {
        let hints = loop_attributes::block_hints(self.module, &block.attrs);
        let value = self.scoped(|this| block_inside(this, block, hints));
        if hints.mode.is_some() {
            loop_attributes::warn_of_idle_mode(self.module, &block.attrs, &value);
        }
        self.node_types.push((block.id, value.ty.clone()));
        value
    }
}

fn block_inside(checker: &mut BodyChecker<'_, '_>, block: &ast::Block, hints: Hints) -> Expr {
    let mut statements = Vec::with_capacity(block.statements.len());
    let mut ends = false;
    for (at, statement) in block.statements.iter().enumerate() {
        let next = block.statements.get(at + 1).map(starting_operator);
        let next = next.unwrap_or_else(|| block.value.as_deref().and_then(prefix_operator));
        let rest = Rest { statement: statement.span, block: block.span, next: following(block, at) };
        if let Some(checked) = checked_statement(checker, statement, &rest, next) {
            ends |= matches!(&checked.kind, StmtKind::Expr(expr) if expr.ty == Type::Never);
            statements.push(checked);
        }
    }
    let value = block.value.as_ref().map(|value| checker.expr(value));
    let ty = match &value {
        Some(value) => value.ty.clone(),
        None if ends => Type::Never,
        None => Type::UNIT,
    };
    let Hints { recompute, mode } = hints;
    Expr { span: block.span, ty, kind: ExprKind::Block(Box::new(Block { statements, value, recompute, mode })) }
}

/// The place of what follows a statement in its block.
fn following(block: &ast::Block, at: usize) -> Option<Span> {
    let next = block.statements.get(at + 1).map(|statement| statement.span);
    next.or_else(|| block.value.as_ref().map(|value| value.span))
}

/// A statement; `next` is the operator that the next line begins with.
fn checked_statement(
    checker: &mut BodyChecker<'_, '_>,
    statement: &ast::Stmt,
    rest: &Rest,
    next: Option<&'static str>,
) -> Option<Stmt> {
    let kind = match &statement.kind {
        ast::StmtKind::Let(binding) => {
            if let Some(derivative) = unbound_derivatives::bound(checker, binding) {
                unbound_derivatives::report_bound(checker, &derivative, rest);
                let unknown = Expr::error(binding.value.span);
                let pattern = checker.irrefutable(&binding.pattern, &unknown.ty, "`let`");
                StmtKind::Let { pattern, value: unknown }
            } else {
                let_statement(checker, binding)
            }
        }
        ast::StmtKind::Assign(assign) => match new_variables::undeclared(checker, assign) {
            Some(name) => new_variables::declare(checker, assign, name, rest),
            None => places::assign(checker, assign)?,
        },
        ast::StmtKind::Expr(expr) if effect_maps::is_reported(checker, expr) => return None,
        ast::StmtKind::Expr(expr) => {
            let mut value = checker.expr(expr);
            let has_value = !value.ty.has_error() && value.ty != Type::Never && !value.ty.is_unit();
            if has_value && !effects::forget_debugged(&mut value) {
                report_unused(checker, &value, prefix_operator(expr), next);
            }
            StmtKind::Expr(value)
        }
        ast::StmtKind::Error => return None,
    };
    Some(Stmt { span: statement.span, kind })
}

fn report_unused(
    checker: &mut BodyChecker<'_, '_>,
    value: &Expr,
    own: Option<&'static str>,
    next: Option<&'static str>,
) {
    let message = format!("expected a use of this value, found none for {}", checker.show_value(value));
    let help = match (own, next) {
        (Some(operator), _) => format!(
            "a line that begins with `{operator}` is a new statement: to continue the line before, end that one with `{operator}`"
        ),
        (None, Some(operator)) => {
            format!("the next line is a new statement: to continue this one, end it with `{operator}`")
        }
        (None, None) => "bind it with `let`, or leave it out".to_owned(),
    };
    checker.report(Diagnostic::error(codes::UNUSED_VALUE, value.span, message).help(help));
}

fn let_statement(checker: &mut BodyChecker<'_, '_>, binding: &ast::Let) -> StmtKind {
    let value = checker.expr(&binding.value);
    let value = match &binding.ty {
        None => value,
        Some(written) => {
            let ty = checker.written_type(written, Some(&value.ty));
            let origin = Some((written.span, "the declared type"));
            let fitted = checker.fit_as(value, &ty, "the variable", Strictness::Ascribed, origin);
            // After a mistake the declared type is the better guess.
            if fitted.ty.has_error() { Expr { ty, ..fitted } } else { fitted }
        }
    };
    let ty = value.ty.clone();
    let pattern = checker.irrefutable(&binding.pattern, &ty, "`let`");
    if let PatternKind::Local(local) = pattern.kind
        && !checker.locals.get(local).mutable
        && checker.is_i64(&ty)
    {
        let size = checker.size_of(&value);
        checker.locals.set_known(local, size);
    }
    StmtKind::Let { pattern, value }
}

/// `let x = e in b`
pub(super) fn let_in(checker: &mut BodyChecker<'_, '_>, it: &ast::LetIn, span: Span) -> Expr {
    checker.scoped(|this| {
        let kind = let_statement(this, &it.binding);
        let statements = vec![Stmt { span: it.binding.pattern.span.to(it.binding.value.span), kind }];
        let value = this.expr(&it.body);
        let ty = value.ty.clone();
        Expr {
            span,
            ty,
            kind: ExprKind::Block(Box::new(Block { statements, value: Some(value), recompute: false, mode: None })),
        }
    })
}

/// `return e`
pub(super) fn return_expr(checker: &mut BodyChecker<'_, '_>, value: Option<&ast::Expr>, span: Span) -> Expr {
    let value = match value {
        Some(value) => checker.expr(value),
        None => Expr { span, ty: Type::UNIT, kind: ExprKind::Tuple(Vec::new()) },
    };
    let n_open = checker.n_open_sizes;
    let is_function = checker.locals.frames.len() == 1;
    let Some(frame) = checker.locals.frames.last() else { return Expr::error(span) };
    let value = match frame.result.clone() {
        Some(result) => {
            let n_open = if is_function { n_open } else { 0 };
            let wanted = sizes::without_holes(&mut checker.infer, &result, &value.ty, n_open);
            checker.fit(value, &wanted, "the returned value")
        }
        None => {
            let ty = value.ty.clone();
            if let Some(frame) = checker.locals.frames.last_mut() {
                frame.result = Some(ty);
            }
            value
        }
    };
    Expr { span, ty: Type::Never, kind: ExprKind::Return(Some(Box::new(value))) }
}

/// The operator that a statement begins with, if it could continue the line before.
fn starting_operator(statement: &ast::Stmt) -> Option<&'static str> {
    match &statement.kind {
        ast::StmtKind::Expr(expr) => prefix_operator(expr),
        ast::StmtKind::Let(_) | ast::StmtKind::Assign(_) | ast::StmtKind::Error => None,
    }
}

/// The infix operator that an expression seems to begin with.
fn prefix_operator(expr: &ast::Expr) -> Option<&'static str> {
    if let ast::ExprKind::Binary(chain) = &expr.kind {
        return prefix_operator(&chain.first);
    }
    if matches!(expr.kind, ast::ExprKind::Unary { op: ast::UnaryOp::Neg, .. }) {
        return Some("-");
    }
    let ast::ExprKind::Fold(fold) = &expr.kind else { return None };
    match fold.op {
        ast::FoldOp::Add => Some("+"),
        ast::FoldOp::Mul => Some("*"),
        ast::FoldOp::Sub => Some("-"),
        ast::FoldOp::Div => Some("/"),
        ast::FoldOp::Max | ast::FoldOp::Min | ast::FoldOp::And | ast::FoldOp::Or => None,
    }
}
