//! Walks over the typed tree: who is called, where control may go, what is assigned.

use cotan_sema::typed::{Callable, CallableKind, Expr, ExprKind, Part, Place, Stmt, StmtKind, Target, Type};

/// Calls `f` for each direct subexpression, in order of evaluation. Bodies of lambdas are no parts: they run elsewhere.
pub(super) fn each_child<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Expr)) {
    e.each_part(&mut |part| match part {
        Part::Expr(child) => f(child),
        Part::Callable(_) => {}
    });
}

/// Calls `f` for each place of a target, in order.
pub(super) fn each_place<'e>(target: &'e Target, f: &mut dyn FnMut(&'e Place)) {
    match target {
        Target::Place(place) => f(place),
        Target::Tuple(parts) => parts.iter().for_each(|part| each_place(part, f)),
    }
}

/// Calls `f` for each callable of an expression, those in lambdas included.
pub(super) fn each_callee(e: &Expr, f: &mut dyn FnMut(&Callable)) {
    e.each_part(&mut |part| match part {
        Part::Expr(child) => each_callee(child, f),
        Part::Callable(callable) => each_callee_of(callable, f),
    });
}

/// Like [`each_callee`], of a callable.
pub(super) fn each_callee_of(callable: &Callable, f: &mut dyn FnMut(&Callable)) {
    f(callable);
    match &callable.kind {
        CallableKind::Function { .. } | CallableKind::Param(_) => {}
        CallableKind::Lambda(lambda) => each_callee(&lambda.body, f),
        CallableKind::Derivative(derivative) => each_callee_of(&derivative.base, f),
        CallableKind::Vmap(vmap) => each_callee_of(&vmap.base, f),
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
    let mut found = Escapes {
        breaks: matches!(e.kind, ExprKind::Break),
        continues: matches!(e.kind, ExprKind::Continue),
        returns: matches!(e.kind, ExprKind::Return(_)),
    };
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
    if let ExprKind::For(l) = &e.kind {
        Some(&l.body)
    } else if let ExprKind::While(l) = &e.kind {
        Some(&l.body)
    } else {
        None
    }
}

/// How control may leave a statement.
pub(super) fn statement_escapes(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } | StmtKind::Expr(value) => escapes(value).any(),
    }
}

/// Whether control never reaches the end of an expression.
pub(super) fn diverges(e: &Expr) -> bool {
    if let ExprKind::Block(block) = &e.kind {
        let ends = |s: &Stmt| match &s.kind {
            StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } | StmtKind::Expr(value) => diverges(value),
        };
        return block.statements.iter().any(ends) || block.value.as_ref().is_some_and(diverges);
    }
    if let ExprKind::If(branch) = &e.kind {
        let otherwise = branch.otherwise.as_ref().is_some_and(diverges);
        return otherwise && branch.arms.iter().all(|(_, body)| diverges(body));
    }
    if let ExprKind::Match(it) = &e.kind {
        return diverges(&it.scrutinee) || it.arms.iter().all(|arm| diverges(&arm.body));
    }
    matches!(e.kind, ExprKind::Break | ExprKind::Continue | ExprKind::Return(_)) || e.ty == Type::Never
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
