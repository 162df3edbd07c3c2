//! Bodies, blocks, statements.

use cotan_ir::Elem;
use cotan_syntax::{Diagnostic, Span, ast};

use super::declarations::Plan;
use super::fit::Strictness;
use super::loop_attributes::Hints;
use super::{BodyChecker, Frame};
use crate::codes;
use crate::typed::{Block, Body, Expr, ExprKind, PatternKind, Stmt, StmtKind};
use crate::types::Type;

impl BodyChecker<'_, '_> {
    /// Checks a whole body. Gives it with the type of its result.
    pub(super) fn function_body(mut self, plan: Plan<'_>) -> (Body, Type) {
        let signature = self.module.signature(plan.function).clone();
        self.is_kernel = plan.item.form == ast::FunctionForm::Kernel;
        for param in &signature.params {
            self.bind(&param.name, param.span, param.ty.clone(), param.mutable);
        }
        if signature.prints {
            let token = self.bind("", signature.name_span, Type::of(Elem::I64), true);
            self.locals[token.0 as usize].name = "$output".to_owned();
        }
        for _ in 0..signature.n_open_sizes {
            self.new_size(signature.span);
        }
        let declared = plan.inferred_for.is_none().then(|| signature.result.clone());
        self.frames = vec![Frame { result: declared.clone(), may_print: signature.prints, ..Frame::default() }];
        let value = self.expr(&plan.item.body);
        let (value, result) = match (declared, plan.inferred_for) {
            (Some(declared), _) => {
                let origin = plan.item.signature.result.as_ref().map(|ty| (ty.span, "the declared result"));
                let subject = format!("the result of `{}`", signature.name.trim_end_matches(".primal"));
                let wanted = self.without_holes(&declared, &value.ty, signature.n_open_sizes);
                (self.fit_as(value, &wanted, &subject, Strictness::Exact, origin), declared)
            }
            (None, attr) => {
                let value = match self.frames.first().and_then(|frame| frame.result.clone()) {
                    // The values of `return` decide; the end of the body must agree.
                    Some(returned) => self.fit(value, &returned, "the end of the body"),
                    None => value,
                };
                let value = self.loss(value, &signature, plan.item, attr);
                let mut result = self.vars.resolve_type(&value.ty);
                if let (Type::Tuple(found), Type::Tuple(declared)) = (&mut result, &signature.result) {
                    found[1..].clone_from_slice(&declared[1..]);
                }
                (value, result)
            }
        };
        let mut result = result;
        let vars = &self.vars;
        result.each_scalar_mut(&mut |scalar| *scalar = vars.decide(*scalar).unwrap_or(*scalar));
        (self.finish(value), result)
    }

    /// A declared result whose `_` are the sizes that were found.
    pub(super) fn without_holes(&mut self, declared: &Type, found: &Type, n_open: u32) -> Type {
        if n_open > 0 {
            self.leave_open(found);
        }
        let mut found_dims = Vec::new();
        found.clone().each_dim_mut(&mut |dim| found_dims.push(dim.clone()));
        let mut wanted = declared.clone();
        let mut at = 0;
        wanted.each_dim_mut(&mut |dim| {
            let is_open = matches!(dim.as_atom(), Some(crate::dims::Atom::Runtime(size)) if size.0 < n_open);
            if let (true, Some(found)) = (is_open, found_dims.get(at)) {
                *dim = found.clone();
            }
            at += 1;
        });
        wanted
    }

    /// `{ ... }`
    pub(super) fn block(&mut self, block: &ast::Block) -> Expr {
        let hints = self.module.block_hints(&block.attrs);
        let value = self.scoped(|this| this.block_inside(block, hints));
        if hints.mode.is_some() {
            self.module.warn_of_idle_mode(&block.attrs, &value);
        }
        self.node_types.push((block.id, value.ty.clone()));
        value
    }

    fn block_inside(&mut self, block: &ast::Block, hints: Hints) -> Expr {
        let mut statements = Vec::with_capacity(block.statements.len());
        let mut ends = false;
        for (at, statement) in block.statements.iter().enumerate() {
            let next = block.statements.get(at + 1).map(starting_operator);
            let next = next.unwrap_or_else(|| block.value.as_deref().and_then(prefix_operator));
            if let Some(checked) = self.statement(statement, next) {
                ends |= matches!(&checked.kind, StmtKind::Expr(expr) if expr.ty == Type::Never);
                statements.push(checked);
            }
        }
        let value = block.value.as_ref().map(|value| self.expr(value));
        let ty = match &value {
            Some(value) => value.ty.clone(),
            None if ends => Type::Never,
            None => Type::UNIT,
        };
        let Hints { recompute, mode } = hints;
        Expr { span: block.span, ty, kind: ExprKind::Block(Box::new(Block { statements, value, recompute, mode })) }
    }

    /// A statement; `next` is the operator that the next line begins with.
    fn statement(&mut self, statement: &ast::Stmt, next: Option<&'static str>) -> Option<Stmt> {
        let kind = match &statement.kind {
            ast::StmtKind::Let(binding) => self.let_statement(binding),
            ast::StmtKind::Assign(assign) => self.assign(assign)?,
            ast::StmtKind::Expr(expr) => {
                let value = self.expr(expr);
                if !value.ty.has_error() && value.ty != Type::Never && !value.ty.is_unit() {
                    self.report_unused(&value, prefix_operator(expr), next);
                }
                StmtKind::Expr(value)
            }
            ast::StmtKind::Error => return None,
        };
        Some(Stmt { span: statement.span, kind })
    }

    fn report_unused(&mut self, value: &Expr, own: Option<&'static str>, next: Option<&'static str>) {
        let message = format!("expected a use of this value, found none for {}", self.show_value(value));
        let help = match (own, next) {
            (Some(operator), _) => format!(
                "a line that begins with `{operator}` is a new statement: to continue the line before, end that one with `{operator}`"
            ),
            (None, Some(operator)) => {
                format!("the next line is a new statement: to continue this one, end it with `{operator}`")
            }
            (None, None) => "bind it with `let`, or leave it out".to_owned(),
        };
        self.report(Diagnostic::error(codes::UNUSED_VALUE, value.span, message).help(help));
    }

    fn let_statement(&mut self, binding: &ast::Let) -> StmtKind {
        let value = self.expr(&binding.value);
        let value = match &binding.ty {
            None => value,
            Some(written) => {
                let ty = self.written_type(written, Some(&value.ty));
                let origin = Some((written.span, "the declared type"));
                let fitted = self.fit_as(value, &ty, "the variable", Strictness::Ascribed, origin);
                // After a mistake the declared type is the better guess.
                if fitted.ty.has_error() { Expr { ty, ..fitted } } else { fitted }
            }
        };
        let ty = value.ty.clone();
        let pattern = self.irrefutable(&binding.pattern, &ty, "`let`");
        if let PatternKind::Local(local) = pattern.kind
            && !self.locals[local.0 as usize].mutable
            && self.is_i64(&ty)
        {
            self.local_facts[local.0 as usize].known = self.size_of(&value);
        }
        StmtKind::Let { pattern, value }
    }

    /// `let x = e in b`
    pub(super) fn let_in(&mut self, it: &ast::LetIn, span: Span) -> Expr {
        self.scoped(|this| {
            let kind = this.let_statement(&it.binding);
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
    pub(super) fn return_expr(&mut self, value: Option<&ast::Expr>, span: Span) -> Expr {
        let value = match value {
            Some(value) => self.expr(value),
            None => Expr { span, ty: Type::UNIT, kind: ExprKind::Tuple(Vec::new()) },
        };
        let n_open = self.n_open_sizes;
        let is_function = self.frames.len() == 1;
        let Some(frame) = self.frames.last() else { return Expr::error(span) };
        let value = match frame.result.clone() {
            Some(result) => {
                let n_open = if is_function { n_open } else { 0 };
                let wanted = self.without_holes(&result, &value.ty, n_open);
                self.fit(value, &wanted, "the returned value")
            }
            None => {
                let ty = value.ty.clone();
                if let Some(frame) = self.frames.last_mut() {
                    frame.result = Some(ty);
                }
                value
            }
        };
        Expr { span, ty: Type::Never, kind: ExprKind::Return(Some(Box::new(value))) }
    }
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
