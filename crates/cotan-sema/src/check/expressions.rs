//! Expressions: the kinds that are no operators, calls or control flow.

use cotan_ir::Elem;
use cotan_syntax::ast;
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::fit::Strictness;
use crate::codes;
use crate::dims::Dim;
use crate::typed::{Expr, ExprKind, Literal};
use crate::types::{Scalar, Type};

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
        let mut value = self.expr_kind(expr);
        self.depth -= 1;
        let is_small = self.module.has_few_leaves(&value.ty, "a value", expr.span);
        if !is_small || !self.module.add_type_parts(&value.ty, expr.span) {
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

    pub(super) fn expr_kind(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Error => Expr::error(span),
            ast::ExprKind::Literal(literal) => self.literal(literal, false, span),
            ast::ExprKind::Name(name) => self.name(name, span, &[]).0,
            ast::ExprKind::Hole => {
                self.report(
                    Diagnostic::error(codes::OPEN_SIZE, span, "expected a value, found `_`")
                        .help("`_` leaves a size open in a type; here a value is needed"),
                );
                Expr::error(span)
            }
            ast::ExprKind::Tuple(parts) => {
                let parts: Vec<Expr> = parts.iter().map(|part| self.expr(part)).collect();
                let ty = Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
                Expr { span, ty, kind: ExprKind::Tuple(parts) }
            }
            ast::ExprKind::Array(parts) => self.array(parts, span),
            ast::ExprKind::Struct(literal) => self.struct_literal(literal, span),
            ast::ExprKind::Unary { op, op_span, operand } => self.unary(*op, *op_span, operand, span),
            ast::ExprKind::Binary(chain) => self.chain(chain, span),
            ast::ExprKind::Pipe(pipe) => self.pipe(pipe, span),
            ast::ExprKind::Range(range) => self.range_value(range, span),
            ast::ExprKind::Fold(fold) => self.fold(fold, span),
            ast::ExprKind::FoldBy(fold) => self.fold_by_lambda(fold, span),
            ast::ExprKind::Postfix(postfix) => self.postfix(postfix, span),
            ast::ExprKind::Ascription { operand, ty } => self.ascription(operand, ty),
            ast::ExprKind::Lambda(_) => self.function_as_value(span, "a lambda"),
            ast::ExprKind::LetIn(it) => self.let_in(it, span),
            ast::ExprKind::If(it) => self.if_expr(it, span),
            ast::ExprKind::Match(it) => self.match_expr(it, span),
            ast::ExprKind::Block(block) => self.block(block),
            ast::ExprKind::For(it) => self.for_loop(it, span),
            ast::ExprKind::While(it) => self.while_loop(it, span),
            ast::ExprKind::Break => self.jump(ExprKind::Break, "break", span),
            ast::ExprKind::Continue => self.jump(ExprKind::Continue, "continue", span),
            ast::ExprKind::Return(value) => self.return_expr(value.as_deref(), span),
        }
    }

    /// A literal, with the minus sign that stands before it.
    pub(super) fn literal(&mut self, literal: &ast::Literal, negative: bool, span: Span) -> Expr {
        let (scalar, kind) = match literal {
            ast::Literal::Int { value, suffix } => {
                let value = if negative { -i128::from(*value) } else { i128::from(*value) };
                (self.literal_type(*suffix, true), Literal::Int(value))
            }
            ast::Literal::Float { digits, suffix } => {
                let scalar = self.literal_type(*suffix, false);
                (scalar, Literal::Float(if negative { format!("-{digits}") } else { digits.clone() }))
            }
            ast::Literal::Bool(value) => (Scalar::Of(Elem::Bool), Literal::Bool(*value)),
            ast::Literal::Char(value) => (Scalar::Of(Elem::I32), Literal::Int(i128::from(u32::from(*value)))),
            ast::Literal::Str(_) => {
                return self.report_string(span);
            }
        };
        Expr { span, ty: Type::Scalar(scalar), kind: ExprKind::Literal(kind) }
    }

    fn literal_type(&mut self, suffix: Option<ast::Suffix>, is_integer: bool) -> Scalar {
        match suffix.and_then(|suffix| Elem::from_name(suffix.as_str())) {
            Some(elem) => Scalar::Of(elem),
            None if is_integer => self.vars.integer_literal(),
            None => self.vars.float_literal(),
        }
    }

    pub(super) fn array(&mut self, parts: &[ast::Expr], span: Span) -> Expr {
        let mut values: Vec<Expr> = parts.iter().map(|part| self.expr(part)).collect();
        let Some(first) = values.first() else {
            self.report(
                Diagnostic::error(codes::EMPTY_ARRAY, span, "expected at least one element, found `[]`")
                    .help("an empty tensor needs a type: write `zeros[f64](0)`"),
            );
            return Expr::error(span);
        };
        let elem = first.ty.clone();
        let first_span = first.span;
        if !self.require_element(first) {
            return Expr::error(span);
        }
        let rest = values.split_off(1);
        for value in rest {
            let origin = Some((first_span, "the first element decides the type"));
            let value = self.fit_as(value, &elem, "an element of the array", Strictness::Exact, origin);
            values.push(value);
        }
        let ty = elem.stacked(&[Dim::constant(values.len() as i64)]);
        Expr { span, ty, kind: ExprKind::Array(values) }
    }

    pub(super) fn ascription(&mut self, operand: &ast::Expr, ty: &ast::TypeExpr) -> Expr {
        if let Some(args) = self.operation_args(operand) {
            return self.operation(args, operand.span, ty);
        }
        let value = self.expr(operand);
        let wanted = self.written_type(ty, Some(&value.ty));
        let origin = Some((ty.span, "this type is asked for"));
        self.fit_as(value, &wanted, "", Strictness::Ascribed, origin)
    }
}
