//! Branches and loops.

use cotan_syntax::{Diagnostic, Span, ast};

use super::BodyChecker;
use super::fit::Misfit;
use crate::codes;
use crate::typed::{Expr, ExprKind, For, If, Iterable, Range, Sharing, While};
use crate::types::Type;
use crate::unify::Elems;

/// What to do about a value of an `if` that has no `else`.
const NO_ELSE: &str = "add an `else` with a value, bind the value with `let`, or leave it out";
/// What to do about a value at the end of the body of a loop.
const VALUE_OF_A_LOOP: &str = "add it to a variable in front of the loop, bind it with `let`, or leave it out";

impl BodyChecker<'_, '_> {
    /// `if c { } else if d { } else { }`
    pub(super) fn if_expr(&mut self, it: &ast::If, span: Span) -> Expr {
        let first_local = self.locals.len() as u32;
        let first_size = self.sizes.len() as u32;
        let mut arms = Vec::new();
        for arm in &it.arms {
            let condition = self.expr(&arm.condition);
            let condition = self.condition(condition, "the condition of `if`");
            let body = self.block(&arm.block);
            arms.push((condition, body));
        }
        let otherwise = it.otherwise.as_ref().map(|block| self.block(block));
        let ty = match &otherwise {
            Some(otherwise) => {
                let bodies = arms.iter().map(|(_, body)| body).chain([otherwise]);
                let bodies: Vec<(Type, Span)> = bodies.map(|body| (body.ty.clone(), value_of(body).span)).collect();
                self.join_arms(&bodies, first_local, first_size, span)
            }
            None => {
                let is_statement = arms.iter().fold(true, |fine, (_, body)| self.require_unit(body, NO_ELSE) && fine);
                if is_statement { Type::UNIT } else { Type::Error }
            }
        };
        Expr { span, ty, kind: ExprKind::If(Box::new(If { arms, otherwise })) }
    }

    pub(super) fn join_arms(&mut self, bodies: &[(Type, Span)], first_local: u32, first_size: u32, span: Span) -> Type {
        let mut joined = Type::Never;
        let mut first_span = span;
        for (ty, body_span) in bodies {
            let ty = self.escape(ty, first_local, first_size, span);
            if joined == Type::Never {
                first_span = *body_span;
            }
            match self.join(&joined, &ty, span) {
                Ok(next) => joined = next,
                Err(misfit) => {
                    self.report_arms(&joined, &ty, first_span, *body_span, &misfit);
                    return Type::Error;
                }
            }
        }
        joined
    }

    fn report_arms(&mut self, first: &Type, second: &Type, first_span: Span, span: Span, misfit: &Misfit) {
        let (wanted, found) = (self.show(first), self.show(second));
        let code = match misfit {
            Misfit::Type => codes::MISMATCH,
            Misfit::Rank => codes::RANK_MISMATCH,
            Misfit::Size(..) => codes::SHAPE_MISMATCH,
        };
        let message = format!("expected arms of one type, found `{wanted}` and `{found}`");
        let is_integer = |ty: &Type| ty.scalar().is_some_and(|scalar| self.vars.is_within(scalar, Elems::integer()));
        // Between an integer and a float it is the integer that should change.
        let swapped = is_integer(first) && !is_integer(second);
        let (value, other) = if swapped { (first, second) } else { (second, first) };
        let value = Expr { ty: value.clone(), ..Expr::error(span) };
        let help = self.misfit_help(&value, other, misfit);
        self.report(Diagnostic::error(code, span, message).label(first_span, format!("this is `{wanted}`")).help(help));
    }

    /// Whether a block whose value nobody takes has none; reports one that has, with what to do about it.
    fn require_unit(&mut self, body: &Expr, help: &str) -> bool {
        if body.ty.is_unit() || body.ty == Type::Never || body.ty.has_error() {
            return true;
        }
        let value = value_of(body);
        let message = format!("expected a statement, found the value {}", self.show_value(value));
        self.report(Diagnostic::error(codes::UNUSED_VALUE, value.span, message).help(help));
        false
    }

    /// `for p in e { ... }`
    pub(super) fn for_loop(&mut self, it: &ast::For, span: Span) -> Expr {
        let checkpoint = self.module.loop_attributes(&it.attrs);
        let iterable = self.iterable(&it.iterable);
        let elem = match &iterable {
            Some(Iterable::Range { range, .. }) => range.lo.ty.clone(),
            Some(Iterable::Tensor { tensor, .. }) => element_type(&tensor.ty),
            None => Type::Error,
        };
        let is_parallel = self.is_kernel && self.frames.len() == 1 && !self.in_for_loop;
        let in_for_loop = std::mem::replace(&mut self.in_for_loop, true);
        let (pattern, body) = self.scoped(|this| {
            let pattern = this.irrefutable(&it.pattern, &elem, "`for`");
            (pattern, this.loop_body(&it.body))
        });
        self.in_for_loop = in_for_loop;
        match iterable {
            Some(iterable) => {
                let parallel = is_parallel.then(Sharing::default);
                let it = For { pattern, iterable, body, parallel, checkpoint };
                Expr { span, ty: Type::UNIT, kind: ExprKind::For(Box::new(it)) }
            }
            None => Expr { ty: Type::UNIT, ..Expr::error(span) },
        }
    }

    fn iterable(&mut self, iterable: &ast::Expr) -> Option<Iterable> {
        if let ast::ExprKind::Range(range) = &iterable.kind {
            return self.loop_range(range, iterable.span, false);
        }
        if let ast::ExprKind::Postfix(postfix) = &iterable.kind
            && let [field, call] = postfix.ops.as_slice()
            && matches!(&field.kind, ast::PostfixKind::Field(name) if name.name == "rev")
            && matches!(&call.kind, ast::PostfixKind::Call(args) if args.is_empty())
        {
            if let ast::ExprKind::Range(range) = &postfix.base.kind {
                return self.loop_range(range, iterable.span, true);
            }
            let tensor = self.expr(&postfix.base);
            return self.loop_tensor(tensor, true);
        }
        if let Some(args) = self.tile_args(iterable) {
            let range = self.tile_range(args, iterable.span)?;
            return Some(Iterable::Range { range, reversed: false });
        }
        let tensor = self.expr(iterable);
        self.loop_tensor(tensor, false)
    }

    fn loop_range(&mut self, range: &ast::Range, span: Span, reversed: bool) -> Option<Iterable> {
        let range: Range = self.range(range, span)?;
        Some(Iterable::Range { range, reversed })
    }

    fn loop_tensor(&mut self, tensor: Expr, reversed: bool) -> Option<Iterable> {
        if tensor.ty.has_error() {
            return None;
        }
        if !tensor.ty.dims().is_empty() {
            self.first_axis(&tensor, "the loop")?;
            return Some(Iterable::Tensor { tensor, reversed });
        }
        let message = format!("expected a range or a tensor after `in`, found {}", self.show_value(&tensor));
        let help = match tensor.ty.concrete() {
            Some(elem) if elem.is_integer() => "write a range, as in `0..n`",
            _ => "loops run over ranges and over the first axis of tensors",
        };
        self.report(Diagnostic::error(codes::NOT_ITERABLE, tensor.span, message).help(help));
        None
    }

    fn loop_body(&mut self, body: &ast::Block) -> Expr {
        if let Some(frame) = self.frames.last_mut() {
            frame.n_loops += 1;
        }
        let body = self.block(body);
        if let Some(frame) = self.frames.last_mut() {
            frame.n_loops -= 1;
        }
        self.require_unit(&body, VALUE_OF_A_LOOP);
        body
    }

    /// `while c { ... }`
    pub(super) fn while_loop(&mut self, it: &ast::While, span: Span) -> Expr {
        let checkpoint = self.module.loop_attributes(&it.attrs);
        let condition = self.expr(&it.condition);
        let condition = self.condition(condition, "the condition of `while`");
        let body = self.loop_body(&it.body);
        let kind = ExprKind::While(Box::new(While { condition, body, checkpoint }));
        Expr { span, ty: Type::UNIT, kind }
    }

    /// `break` and `continue`
    pub(super) fn jump(&mut self, kind: ExprKind, name: &str, span: Span) -> Expr {
        if self.frames.last().is_some_and(|frame| frame.n_loops > 0) {
            return Expr { span, ty: Type::Never, kind };
        }
        let message = format!("expected a loop around `{name}`, found none");
        let help = if self.frames.len() > 1 {
            "a lambda is no loop: use `return` to leave it"
        } else {
            "use `return` to leave the function"
        };
        self.report(Diagnostic::error(codes::OUTSIDE_LOOP, span, message).help(help));
        Expr { ty: Type::Never, ..Expr::error(span) }
    }
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
