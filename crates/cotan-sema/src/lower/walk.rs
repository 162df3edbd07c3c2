//! Walks over the typed tree: direct parts of an expression, and what follows from them.

use crate::typed::{
    Arg, Callable, CallableKind, Expr, ExprKind, Index, Iterable, Place, PlaceStepKind, Range, Stmt, StmtKind, Target,
    Type,
};

/// Calls `f` for each direct subexpression, in order of evaluation. Bodies of lambdas are no parts: they run elsewhere.
pub(super) fn each_child<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Expr)) {
    match &e.kind {
        ExprKind::Error
        | ExprKind::Literal(_)
        | ExprKind::Local(_)
        | ExprKind::Size(_)
        | ExprKind::Break
        | ExprKind::Continue => {}
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(f),
        ExprKind::Struct(fields) => fields.iter().for_each(|field| f(&field.value)),
        ExprKind::StructUpdate { fields, base } => {
            fields.iter().for_each(|field| f(&field.value));
            f(base);
        }
        ExprKind::Field { base, .. } => f(base),
        ExprKind::Unary { operand, .. }
        | ExprKind::Cast(operand)
        | ExprKind::ShapeCheck(operand)
        | ExprKind::Fold { operand, .. } => f(operand),
        ExprKind::Chain(chain) => {
            f(&chain.first);
            chain.rest.iter().for_each(|link| f(&link.operand));
        }
        ExprKind::Logic { operands, .. } => operands.iter().for_each(f),
        ExprKind::Primitive { args, .. } => args.iter().for_each(f),
        ExprKind::Range(range) => each_bound(range, f),
        ExprKind::Index { base, indices } => {
            f(base);
            indices.iter().for_each(|index| each_index(index, f));
        }
        ExprKind::FoldBy { init, operand, .. } => {
            init.iter().for_each(|init| f(init));
            f(operand);
        }
        ExprKind::Call { args, .. } | ExprKind::Builtin { args, .. } => args.iter().for_each(|arg| match arg {
            Arg::Value(e) => f(e),
            Arg::Function(_) => {}
        }),
        ExprKind::If(branch) => {
            for (condition, body) in &branch.arms {
                f(condition);
                f(body);
            }
            branch.otherwise.iter().for_each(f);
        }
        ExprKind::Block(block) => {
            block.statements.iter().for_each(|s| each_in_statement(s, f));
            block.value.iter().for_each(f);
        }
        ExprKind::For(l) => {
            match &l.iterable {
                Iterable::Range { range, .. } => each_bound(range, f),
                Iterable::Tensor { tensor, .. } => f(tensor),
            }
            f(&l.body);
        }
        ExprKind::While(l) => {
            f(&l.condition);
            f(&l.body);
        }
        ExprKind::Return(value) => value.iter().for_each(|value| f(value)),
    }
}

fn each_bound<'e>(range: &'e Range, f: &mut dyn FnMut(&'e Expr)) {
    f(&range.lo);
    f(&range.hi);
}

fn each_index<'e>(index: &'e Index, f: &mut dyn FnMut(&'e Expr)) {
    match index {
        Index::At(e) | Index::Gather(e) => f(e),
        Index::Slice { lo, hi, .. } => lo.iter().chain(hi).for_each(f),
    }
}

fn each_in_statement<'e>(s: &'e Stmt, f: &mut dyn FnMut(&'e Expr)) {
    match &s.kind {
        StmtKind::Let { value, .. } => f(value),
        StmtKind::Assign { target, value, .. } => {
            f(value);
            each_place(target, &mut |place| {
                for step in &place.steps {
                    match &step.kind {
                        PlaceStepKind::Field(_) => {}
                        PlaceStepKind::Index(indices) => indices.iter().for_each(|index| each_index(index, f)),
                    }
                }
            });
        }
        StmtKind::Expr(e) => f(e),
    }
}

/// Calls `f` for each place of a target, in order.
pub(super) fn each_place<'e>(target: &'e Target, f: &mut dyn FnMut(&'e Place)) {
    match target {
        Target::Place(place) => f(place),
        Target::Tuple(parts) => parts.iter().for_each(|part| each_place(part, f)),
    }
}

/// Calls `f` for each callable that stands directly in an expression.
pub(super) fn each_callable<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Callable)) {
    let each_arg = |args: &'e [Arg], f: &mut dyn FnMut(&'e Callable)| {
        args.iter().for_each(|arg| match arg {
            Arg::Value(_) => {}
            Arg::Function(callable) => f(callable),
        });
    };
    match &e.kind {
        ExprKind::FoldBy { function, .. } => f(function),
        ExprKind::Call { callee, args } => {
            f(callee);
            each_arg(args, f);
        }
        ExprKind::Builtin { args, .. } => each_arg(args, f),
        ExprKind::Error
        | ExprKind::Literal(_)
        | ExprKind::Local(_)
        | ExprKind::Size(_)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Struct(_)
        | ExprKind::StructUpdate { .. }
        | ExprKind::Field { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Chain(_)
        | ExprKind::Logic { .. }
        | ExprKind::Primitive { .. }
        | ExprKind::Cast(_)
        | ExprKind::Range(_)
        | ExprKind::Index { .. }
        | ExprKind::Fold { .. }
        | ExprKind::ShapeCheck(_)
        | ExprKind::If(_)
        | ExprKind::Block(_)
        | ExprKind::For(_)
        | ExprKind::While(_)
        | ExprKind::Break
        | ExprKind::Continue
        | ExprKind::Return(_) => {}
    }
}

/// Calls `f` for each function that a callable or an expression in it calls, lambdas included.
pub(super) fn each_callee(e: &Expr, f: &mut dyn FnMut(&Callable)) {
    each_callable(e, &mut |callable| each_callee_of(callable, f));
    each_child(e, &mut |child| each_callee(child, f));
}

/// Like [`each_callee`], of a callable.
pub(super) fn each_callee_of(callable: &Callable, f: &mut dyn FnMut(&Callable)) {
    match &callable.kind {
        CallableKind::Function { .. } => f(callable),
        CallableKind::Lambda(lambda) => each_callee(&lambda.body, f),
        CallableKind::Param(_) => {}
        CallableKind::Derivative(derivative) => each_callee_of(&derivative.base, f),
    }
}

/// How control may leave an expression other than at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Escapes {
    pub(super) breaks: bool,
    pub(super) continues: bool,
    pub(super) returns: bool,
}

impl Escapes {
    pub(super) fn any(self) -> bool {
        self.breaks || self.continues || self.returns
    }
}

/// How control may leave an expression.
pub(super) fn escapes(e: &Expr) -> Escapes {
    let mut found = Escapes::default();
    match &e.kind {
        ExprKind::Break => found.breaks = true,
        ExprKind::Continue => found.continues = true,
        ExprKind::Return(_) => found.returns = true,
        _ => {}
    }
    let body = loop_body(e);
    each_child(e, &mut |child| {
        let inner = escapes(child);
        found.returns |= inner.returns;
        // What leaves or goes on with a loop inside goes no further.
        if !body.is_some_and(|body| std::ptr::eq(body, child)) {
            found.breaks |= inner.breaks;
            found.continues |= inner.continues;
        }
    });
    found
}

fn loop_body(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::For(l) => Some(&l.body),
        ExprKind::While(l) => Some(&l.body),
        _ => None,
    }
}

/// How control may leave a statement.
pub(super) fn statement_escapes(s: &Stmt) -> bool {
    let mut any = false;
    each_in_statement(s, &mut |e| any |= escapes(e).any());
    any
}

/// Whether control never reaches the end of an expression.
pub(super) fn diverges(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Break | ExprKind::Continue | ExprKind::Return(_) => true,
        ExprKind::Block(block) => {
            block.value.as_ref().is_some_and(diverges)
                || block.statements.iter().any(|s| match &s.kind {
                    StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } => diverges(value),
                    StmtKind::Expr(e) => diverges(e),
                })
        }
        ExprKind::If(branch) => {
            branch.otherwise.as_ref().is_some_and(diverges) && branch.arms.iter().all(|(_, body)| diverges(body))
        }
        _ => e.ty == Type::Never,
    }
}

/// Calls `f` for each place that an expression assigns.
pub(super) fn each_assigned<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Place)) {
    if let ExprKind::Block(block) = &e.kind {
        for s in &block.statements {
            match &s.kind {
                StmtKind::Assign { target, .. } => each_place(target, f),
                StmtKind::Let { .. } | StmtKind::Expr(_) => {}
            }
        }
    }
    each_child(e, &mut |child| each_assigned(child, f));
}
