//! The parts of an expression, for walks that treat most kinds alike.

use super::{Arg, Callable, CallableKind, Expr, ExprKind, Index, Iterable, PlaceStepKind, StmtKind, Target};

/// A part of an expression.
#[derive(Clone, Copy, Debug)]
pub enum Part<'e> {
    /// An expression.
    Expr(&'e Expr),
    /// Something that can be called.
    Callable(&'e Callable),
}

impl Expr {
    /// Calls `f` for each part that the expression itself consists of, in the order of
    /// evaluation; not for the parts of those.
    pub fn each_part<'e>(&'e self, f: &mut dyn FnMut(Part<'e>)) {
        match &self.kind {
            ExprKind::Error
            | ExprKind::Literal(_)
            | ExprKind::Local(_)
            | ExprKind::Size(_)
            | ExprKind::Break
            | ExprKind::Continue
            | ExprKind::Return(None) => {}
            ExprKind::Tuple(parts)
            | ExprKind::Array(parts)
            | ExprKind::Logic { operands: parts, .. }
            | ExprKind::Primitive { args: parts, .. } => parts.iter().for_each(|part| f(Part::Expr(part))),
            ExprKind::Struct(fields) | ExprKind::Variant { fields, .. } => {
                fields.iter().for_each(|field| f(Part::Expr(&field.value)))
            }
            ExprKind::StructUpdate { fields, base } => {
                fields.iter().for_each(|field| f(Part::Expr(&field.value)));
                f(Part::Expr(base));
            }
            ExprKind::Field { base: operand, .. }
            | ExprKind::Unary { operand, .. }
            | ExprKind::Cast(operand)
            | ExprKind::Fold { operand, .. }
            | ExprKind::ShapeCheck(operand)
            | ExprKind::AsTangent(operand)
            | ExprKind::Return(Some(operand)) => f(Part::Expr(operand)),
            ExprKind::Chain(chain) => {
                f(Part::Expr(&chain.first));
                chain.rest.iter().for_each(|link| f(Part::Expr(&link.operand)));
            }
            ExprKind::Range(range) => [&range.lo, &range.hi].into_iter().for_each(|end| f(Part::Expr(end))),
            ExprKind::Index { base, indices } => {
                f(Part::Expr(base));
                index_parts(indices, f);
            }
            ExprKind::FoldBy { function, init, operand } => {
                f(Part::Callable(function));
                init.iter().for_each(|init| f(Part::Expr(init)));
                f(Part::Expr(operand));
            }
            ExprKind::Call { callee, args } => {
                f(Part::Callable(callee));
                arg_parts(args, f);
            }
            ExprKind::Builtin { args, .. } => arg_parts(args, f),
            ExprKind::Print(print) => print.values().for_each(|value| f(Part::Expr(value))),
            ExprKind::If(it) => {
                for (condition, body) in &it.arms {
                    f(Part::Expr(condition));
                    f(Part::Expr(body));
                }
                it.otherwise.iter().for_each(|body| f(Part::Expr(body)));
            }
            ExprKind::Match(it) => {
                f(Part::Expr(&it.scrutinee));
                for arm in &it.arms {
                    arm.guard.iter().for_each(|guard| f(Part::Expr(guard)));
                    f(Part::Expr(&arm.body));
                }
            }
            ExprKind::Block(block) => {
                block.statements.iter().for_each(|statement| statement_parts(&statement.kind, f));
                block.value.iter().for_each(|value| f(Part::Expr(value)));
            }
            ExprKind::For(it) => {
                match &it.iterable {
                    Iterable::Range { range, .. } => {
                        f(Part::Expr(&range.lo));
                        f(Part::Expr(&range.hi));
                    }
                    Iterable::Tensor { tensor, .. } => f(Part::Expr(tensor)),
                }
                f(Part::Expr(&it.body));
            }
            ExprKind::While(it) => {
                f(Part::Expr(&it.condition));
                f(Part::Expr(&it.body));
            }
        }
    }
}

impl Callable {
    /// Calls `f` for the body of a lambda, or for what is differentiated.
    pub fn each_part<'e>(&'e self, f: &mut dyn FnMut(Part<'e>)) {
        match &self.kind {
            CallableKind::Function { .. } | CallableKind::Param(_) => {}
            CallableKind::Lambda(lambda) => f(Part::Expr(&lambda.body)),
            CallableKind::Derivative(derivative) => f(Part::Callable(&derivative.base)),
            CallableKind::Vmap(vmap) => f(Part::Callable(&vmap.base)),
        }
    }
}

fn arg_parts<'e>(args: &'e [Arg], f: &mut dyn FnMut(Part<'e>)) {
    for arg in args {
        match arg {
            Arg::Value(value) => f(Part::Expr(value)),
            Arg::Function(function) => f(Part::Callable(function)),
            Arg::Pack(_) => {}
        }
    }
}

fn index_parts<'e>(indices: &'e [Index], f: &mut dyn FnMut(Part<'e>)) {
    for index in indices {
        match index {
            Index::At(at) | Index::Gather(at) => f(Part::Expr(at)),
            Index::Slice { lo, hi, .. } => lo.iter().chain(hi).for_each(|end| f(Part::Expr(end))),
        }
    }
}

fn statement_parts<'e>(statement: &'e StmtKind, f: &mut dyn FnMut(Part<'e>)) {
    match statement {
        StmtKind::Let { value, .. } | StmtKind::Expr(value) => f(Part::Expr(value)),
        StmtKind::Assign { target, value, .. } => {
            f(Part::Expr(value));
            target.each_index(f);
        }
    }
}

impl Target {
    /// Calls `f` for the indices in the places.
    pub fn each_index<'e>(&'e self, f: &mut dyn FnMut(Part<'e>)) {
        match self {
            Self::Tuple(parts) => parts.iter().for_each(|part| part.each_index(f)),
            Self::Place(place) => {
                for step in &place.steps {
                    match &step.kind {
                        PlaceStepKind::Field(_) => {}
                        PlaceStepKind::Index(indices) => index_parts(indices, f),
                    }
                }
            }
        }
    }
}
