//! A walk over all types of a typed tree, to fill in what inference found out.

use super::{
    Arg, Block, Body, Callable, CallableKind, Chain, Expr, ExprKind, For, If, Index, Iterable, Lambda, Match, Pattern,
    PatternKind, Place, PlaceStepKind, Range, StmtKind, Target, Type,
};

/// Something that changes types.
pub struct TypeVisitor<'f> {
    /// Called for every type.
    pub ty: &'f mut dyn FnMut(&mut Type),
    /// Called for everything that is called or passed on, after its parts.
    pub callable: &'f mut dyn FnMut(&mut Callable),
    /// Called for every expression, after its parts.
    pub expr: &'f mut dyn FnMut(&mut Expr),
}

impl TypeVisitor<'_> {
    /// Visits a body: its locals, then its value.
    pub fn body(&mut self, body: &mut Body) {
        body.locals.iter_mut().for_each(|local| (self.ty)(&mut local.ty));
        self.expr(&mut body.value);
    }

    fn expr(&mut self, expr: &mut Expr) {
        (self.ty)(&mut expr.ty);
        match &mut expr.kind {
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
            | ExprKind::Primitive { args: parts, .. } => self.exprs(parts),
            ExprKind::Struct(fields) | ExprKind::Variant { fields, .. } => {
                fields.iter_mut().for_each(|field| self.expr(&mut field.value))
            }
            ExprKind::StructUpdate { fields, base } => {
                fields.iter_mut().for_each(|field| self.expr(&mut field.value));
                self.expr(base);
            }
            ExprKind::Field { base: operand, .. }
            | ExprKind::Unary { operand, .. }
            | ExprKind::Cast(operand)
            | ExprKind::Fold { operand, .. }
            | ExprKind::ShapeCheck(operand)
            | ExprKind::AsTangent(operand)
            | ExprKind::Return(Some(operand)) => self.expr(operand),
            ExprKind::Chain(chain) => self.chain(chain),
            ExprKind::Range(range) => self.range(range),
            ExprKind::Index { base, indices } => {
                self.expr(base);
                self.indices(indices);
            }
            ExprKind::FoldBy { function, init, operand } => {
                self.callable(function);
                if let Some(init) = init {
                    self.expr(init);
                }
                self.expr(operand);
            }
            ExprKind::Call { callee, args } => {
                self.callable(callee);
                self.args(args);
            }
            ExprKind::Builtin { args, .. } => self.args(args),
            ExprKind::Print(print) => print.values_mut().for_each(|value| self.expr(value)),
            ExprKind::If(branches) => self.branches(branches),
            ExprKind::Match(it) => self.match_arms(it),
            ExprKind::Block(block) => self.block(block),
            ExprKind::For(it) => self.for_loop(it),
            ExprKind::While(it) => {
                self.expr(&mut it.condition);
                self.expr(&mut it.body);
            }
        }
        (self.expr)(expr);
    }

    fn exprs(&mut self, exprs: &mut [Expr]) {
        exprs.iter_mut().for_each(|expr| self.expr(expr));
    }

    fn chain(&mut self, chain: &mut Chain) {
        self.expr(&mut chain.first);
        for link in &mut chain.rest {
            self.expr(&mut link.operand);
            (self.ty)(&mut link.ty);
        }
    }

    fn range(&mut self, range: &mut Range) {
        self.expr(&mut range.lo);
        self.expr(&mut range.hi);
    }

    fn indices(&mut self, indices: &mut [Index]) {
        for index in indices {
            match index {
                Index::At(at) | Index::Gather(at) => self.expr(at),
                Index::Slice { lo, hi, .. } => lo.iter_mut().chain(hi).for_each(|end| self.expr(end)),
            }
        }
    }

    fn args(&mut self, args: &mut [Arg]) {
        for arg in args {
            match arg {
                Arg::Value(value) => self.expr(value),
                Arg::Function(function) => self.callable(function),
                Arg::Pack(_) => {}
            }
        }
    }

    /// Visits a callable.
    pub fn callable(&mut self, callable: &mut Callable) {
        callable.params.iter_mut().for_each(|param| (self.ty)(param));
        (self.ty)(&mut callable.result);
        match &mut callable.kind {
            CallableKind::Function { .. } | CallableKind::Param(_) => {}
            CallableKind::Lambda(lambda) => self.lambda(lambda),
            CallableKind::Derivative(derivative) => self.callable(&mut derivative.base),
            CallableKind::Vmap(vmap) => self.callable(&mut vmap.base),
        }
        (self.callable)(callable);
    }

    fn lambda(&mut self, lambda: &mut Lambda) {
        lambda.params.iter_mut().for_each(|param| self.pattern(param));
        self.expr(&mut lambda.body);
    }

    /// Visits a pattern and all patterns in it.
    pub fn pattern(&mut self, pattern: &mut Pattern) {
        (self.ty)(&mut pattern.ty);
        match &mut pattern.kind {
            PatternKind::Wildcard | PatternKind::Local(_) | PatternKind::Literal(_) | PatternKind::Range(_) => {}
            PatternKind::Fields(fields) | PatternKind::Variant { fields, .. } => {
                fields.iter_mut().for_each(|(_, field)| self.pattern(field));
            }
            PatternKind::Or(alternatives) => {
                alternatives.iter_mut().for_each(|alternative| self.pattern(alternative));
            }
        }
    }

    fn branches(&mut self, branches: &mut If) {
        for (condition, body) in &mut branches.arms {
            self.expr(condition);
            self.expr(body);
        }
        if let Some(otherwise) = &mut branches.otherwise {
            self.expr(otherwise);
        }
    }

    fn match_arms(&mut self, it: &mut Match) {
        self.expr(&mut it.scrutinee);
        for arm in &mut it.arms {
            self.pattern(&mut arm.pattern);
            if let Some(guard) = &mut arm.guard {
                self.expr(guard);
            }
            self.expr(&mut arm.body);
        }
    }

    fn for_loop(&mut self, it: &mut For) {
        self.pattern(&mut it.pattern);
        match &mut it.iterable {
            Iterable::Range { range, .. } => self.range(range),
            Iterable::Tensor { tensor, .. } => self.expr(tensor),
        }
        self.expr(&mut it.body);
    }

    fn block(&mut self, block: &mut Block) {
        for statement in &mut block.statements {
            match &mut statement.kind {
                StmtKind::Let { pattern, value } => {
                    self.pattern(pattern);
                    self.expr(value);
                }
                StmtKind::Assign { target, value, .. } => {
                    self.target(target);
                    self.expr(value);
                }
                StmtKind::Expr(expr) => self.expr(expr),
            }
        }
        if let Some(value) = &mut block.value {
            self.expr(value);
        }
    }

    fn target(&mut self, target: &mut Target) {
        match target {
            Target::Place(place) => self.place(place),
            Target::Tuple(parts) => parts.iter_mut().for_each(|part| self.target(part)),
        }
    }

    fn place(&mut self, place: &mut Place) {
        (self.ty)(&mut place.ty);
        for step in &mut place.steps {
            (self.ty)(&mut step.ty);
            match &mut step.kind {
                PlaceStepKind::Field(_) => {}
                PlaceStepKind::Index(indices) => self.indices(indices),
            }
        }
    }
}
