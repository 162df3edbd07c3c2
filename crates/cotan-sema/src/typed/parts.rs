//! Structural traversal: what each kind of expression consists of, said once and read by every walk over the typed tree.

use super::{
    Arg, Callable, CallableKind, Expr, ExprKind, Index, Iterable, Pattern, PlaceStepKind, PrintPiece, Stmt, StmtKind,
    Target, Type,
};

/// A part of an expression, for walks that treat most kinds alike.
#[derive(Clone, Copy, Debug)]
pub enum Part<'e> {
    /// An expression.
    Expr(&'e Expr),
    /// Something that can be called.
    Callable(&'e Callable),
}

/// A part of an expression or a callable, by its role there.
pub enum Role<E, C, P, T> {
    /// Evaluated whenever the expression is, before anything that is no operand.
    Operand(E),
    /// Evaluated later, repeatedly, or not at all.
    Later(E),
    /// Something that can be called.
    Callable(C),
    /// What is bound.
    Pattern(P),
    /// A type beside that of the expression.
    Type(T),
}

type PartRef<'e> = Role<&'e Expr, &'e Callable, &'e Pattern, &'e Type>;
/// A part that is changed.
pub type PartMut<'e> = Role<&'e mut Expr, &'e mut Callable, &'e mut Pattern, &'e mut Type>;

/// Writes functions that call `f` for each part of an expression, of a callable and of the target of an assignment, in the
/// order of evaluation, not for the parts of those; with `mut`, for parts that are changed.
macro_rules! roles {
    ($of_expr:ident, $of_callable:ident, $of_target:ident: $Role:ident $(, $mut:tt)?) => {
        fn $of_expr<'e>(expr: &'e $($mut)? Expr, f: &mut dyn FnMut($Role<'e>)) {
            match &$($mut)? expr.kind {
                ExprKind::Error
                | ExprKind::Literal(_)
                | ExprKind::Local(_)
                | ExprKind::Size(_)
                | ExprKind::Break
                | ExprKind::Continue => {}
                ExprKind::Tuple(operands) | ExprKind::Array(operands) | ExprKind::Primitive { args: operands, .. } => {
                    for operand in operands {
                        f($Role::Operand(operand));
                    }
                }
                ExprKind::Logic { operands, .. } => {
                    for (at, operand) in operands.into_iter().enumerate() {
                        f(if at == 0 { $Role::Operand(operand) } else { $Role::Later(operand) });
                    }
                }
                ExprKind::Struct(fields) | ExprKind::Variant { fields, .. } => {
                    for field in fields {
                        f($Role::Operand(&$($mut)? field.value));
                    }
                }
                ExprKind::StructUpdate { fields, base } => {
                    for field in fields {
                        f($Role::Operand(&$($mut)? field.value));
                    }
                    f($Role::Operand(base));
                }
                ExprKind::Field { base: operand, .. }
                | ExprKind::Unary { operand, .. }
                | ExprKind::Cast(operand)
                | ExprKind::Fold { operand, .. }
                | ExprKind::ShapeCheck(operand)
                | ExprKind::AsTangent(operand) => f($Role::Operand(operand)),
                ExprKind::Chain(chain) => {
                    f($Role::Operand(&$($mut)? chain.first));
                    for link in &$($mut)? chain.rest {
                        f($Role::Operand(&$($mut)? link.operand));
                        f($Role::Type(&$($mut)? link.ty));
                    }
                }
                ExprKind::Range(range) => {
                    f($Role::Operand(&$($mut)? range.lo));
                    f($Role::Operand(&$($mut)? range.hi));
                }
                ExprKind::Index { base, indices } => {
                    f($Role::Operand(base));
                    roles!(@indices indices, f, $Role::Operand);
                }
                ExprKind::FoldBy { function, init, operand } => {
                    f($Role::Callable(function));
                    if let Some(init) = init {
                        f($Role::Operand(init));
                    }
                    f($Role::Operand(operand));
                }
                ExprKind::Call { callee, args } => {
                    f($Role::Callable(callee));
                    roles!(@args args, f, $Role);
                }
                ExprKind::Builtin { args, .. } => roles!(@args args, f, $Role),
                ExprKind::Print(print) => {
                    if let Some(token) = &$($mut)? print.token {
                        f($Role::Operand(token));
                    }
                    for piece in &$($mut)? print.pieces {
                        match piece {
                            PrintPiece::Text(_) => {}
                            PrintPiece::Value(value, _) => f($Role::Operand(value)),
                        }
                    }
                }
                ExprKind::Assert(assert) => {
                    f($Role::Operand(&$($mut)? assert.condition));
                    if let Some(token) = &$($mut)? assert.token {
                        f($Role::Operand(token));
                    }
                }
                ExprKind::After { value, token } => {
                    f($Role::Operand(value));
                    f($Role::Operand(token));
                }
                ExprKind::If(it) => {
                    for (at, (condition, body)) in (&$($mut)? it.arms).into_iter().enumerate() {
                        f(if at == 0 { $Role::Operand(condition) } else { $Role::Later(condition) });
                        f($Role::Later(body));
                    }
                    if let Some(otherwise) = &$($mut)? it.otherwise {
                        f($Role::Later(otherwise));
                    }
                }
                ExprKind::Match(it) => {
                    f($Role::Operand(&$($mut)? it.scrutinee));
                    for arm in &$($mut)? it.arms {
                        f($Role::Pattern(&$($mut)? arm.pattern));
                        if let Some(guard) = &$($mut)? arm.guard {
                            f($Role::Later(guard));
                        }
                        f($Role::Later(&$($mut)? arm.body));
                    }
                }
                ExprKind::Block(block) => {
                    for Stmt { kind, .. } in &$($mut)? block.statements {
                        match kind {
                            StmtKind::Let { pattern, value } => {
                                f($Role::Pattern(pattern));
                                f($Role::Later(value));
                            }
                            StmtKind::Expr(value) => f($Role::Later(value)),
                            StmtKind::Assign { target, value, .. } => {
                                f($Role::Later(value));
                                $of_target(target, f);
                            }
                        }
                    }
                    if let Some(value) = &$($mut)? block.value {
                        f($Role::Later(value));
                    }
                }
                ExprKind::For(it) => {
                    f($Role::Pattern(&$($mut)? it.pattern));
                    match &$($mut)? it.iterable {
                        Iterable::Range { range, .. } => {
                            f($Role::Operand(&$($mut)? range.lo));
                            f($Role::Operand(&$($mut)? range.hi));
                        }
                        Iterable::Tensor { tensor, .. } => f($Role::Operand(tensor)),
                    }
                    f($Role::Later(&$($mut)? it.body));
                }
                ExprKind::While(it) => {
                    f($Role::Later(&$($mut)? it.condition));
                    f($Role::Later(&$($mut)? it.body));
                }
                ExprKind::Return(value) => {
                    if let Some(value) = value {
                        f($Role::Later(value));
                    }
                }
            }
        }

        fn $of_callable<'e>(callable: &'e $($mut)? Callable, f: &mut dyn FnMut($Role<'e>)) {
            for param in &$($mut)? callable.params {
                f($Role::Type(param));
            }
            f($Role::Type(&$($mut)? callable.result));
            match &$($mut)? callable.kind {
                CallableKind::Function { .. } | CallableKind::Param(_) => {}
                CallableKind::Lambda(lambda) => {
                    for param in &$($mut)? lambda.params {
                        f($Role::Pattern(param));
                    }
                    f($Role::Later(&$($mut)? lambda.body));
                }
                CallableKind::Derivative(derivative) => f($Role::Callable(&$($mut)? derivative.base)),
                CallableKind::Vmap(vmap) => f($Role::Callable(&$($mut)? vmap.base)),
            }
        }

        fn $of_target<'e>(target: &'e $($mut)? Target, f: &mut dyn FnMut($Role<'e>)) {
            match target {
                Target::Tuple(parts) => {
                    for part in parts {
                        $of_target(part, f);
                    }
                }
                Target::Place(place) => {
                    f($Role::Type(&$($mut)? place.ty));
                    for step in &$($mut)? place.steps {
                        f($Role::Type(&$($mut)? step.ty));
                        match &$($mut)? step.kind {
                            PlaceStepKind::Field(_) => {}
                            PlaceStepKind::Index(indices) => roles!(@indices indices, f, $Role::Later),
                        }
                    }
                }
            }
        }
    };
    (@args $args:ident, $f:ident, $Role:ident) => {
        for arg in $args {
            match arg {
                Arg::Value(value) => $f($Role::Operand(value)),
                Arg::Function(function) => $f($Role::Callable(function)),
                Arg::Pack(_) => {}
            }
        }
    };
    (@indices $indices:ident, $f:ident, $Role:ident::$role:ident) => {
        for index in $indices {
            match index {
                Index::At(at) | Index::Gather(at) => $f($Role::$role(at)),
                Index::Slice { lo, hi, .. } => {
                    for end in [lo, hi].into_iter().flatten() {
                        $f($Role::$role(end));
                    }
                }
            }
        }
    };
}

roles!(roles_of_expr, roles_of_callable, roles_of_target: PartRef);
roles!(roles_of_expr_mut, roles_of_callable_mut, roles_of_target_mut: PartMut, mut);

fn part(role: PartRef<'_>) -> Option<Part<'_>> {
    match role {
        Role::Operand(expr) | Role::Later(expr) => Some(Part::Expr(expr)),
        Role::Callable(callable) => Some(Part::Callable(callable)),
        Role::Pattern(_) | Role::Type(_) => None,
    }
}

impl Expr {
    /// Calls `f` for each part that the expression itself consists of, in the order of evaluation; not for the parts of
    /// those.
    pub fn each_part<'e>(&'e self, f: &mut dyn FnMut(Part<'e>)) {
        roles_of_expr(self, &mut |role| part(role).into_iter().for_each(&mut *f));
    }

    /// Calls `f` for each part with its role, in the order of evaluation.
    pub fn each_role_mut<'e>(&'e mut self, f: &mut dyn FnMut(PartMut<'e>)) {
        roles_of_expr_mut(self, f);
    }
}

impl Callable {
    /// Calls `f` for the body of a lambda, or for what is differentiated.
    pub fn each_part<'e>(&'e self, f: &mut dyn FnMut(Part<'e>)) {
        roles_of_callable(self, &mut |role| part(role).into_iter().for_each(&mut *f));
    }

    /// Calls `f` for each part with its role, in the order of evaluation.
    pub fn each_role_mut<'e>(&'e mut self, f: &mut dyn FnMut(PartMut<'e>)) {
        roles_of_callable_mut(self, f);
    }
}

impl Target {
    /// Calls `f` for the indices in the places.
    pub fn each_index<'e>(&'e self, f: &mut dyn FnMut(Part<'e>)) {
        roles_of_target(self, &mut |role| part(role).into_iter().for_each(&mut *f));
    }

    /// Calls `f` for the indices in the places.
    pub fn each_index_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        roles_of_target_mut(self, &mut |role| match role {
            Role::Operand(index) | Role::Later(index) => f(index),
            Role::Callable(_) | Role::Pattern(_) | Role::Type(_) => {}
        });
    }
}
