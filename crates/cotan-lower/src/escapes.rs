//! Sequencing of escapes: `break`, `continue` and `return` are moved out of operands.
//!
//! Control may escape anywhere in an expression: `f(a, if c { return 0.0 } else { b })`. The lowering handles escapes
//! where nothing is left half computed: in statements, in arms, and in the values of `let`, of assignments and of
//! blocks. Everything else is rewritten to that here, operands before the escape being bound first:
//! `{ let $1 = a; let $2 = if c { return 0.0 } else { b }; f($1, $2) }`. Conditions and lazy operands that assign become
//! branches. Programs that need it are rare; the others are
//! left as they are.

use std::borrow::Cow;

use cotan_ir::Elem;
use cotan_syntax::Span;

use super::walk::{each_assigned, each_child, escapes};
use cotan_sema::typed::{
    Block, Callable, CallableKind, Expr, ExprKind, FunctionBody, If, Iterable, Literal, Local, LocalId, LogicOp, Match,
    MatchArm, Part, Pattern, PatternKind, Program, Role, Stmt, StmtKind, Target, Type, While,
};

/// The program, in which control escapes from statements, arms and the values of blocks only.
pub(super) fn to_statements(program: &Program) -> Cow<'_, Program> {
    let mut program = Cow::Borrowed(program);
    for k in 0..program.functions.len() {
        let needs_it = match &program.functions[k].body {
            FunctionBody::Source(body) => needs_rewriting(&body.value),
            FunctionBody::Derivative(derivative) => callable_needs_rewriting(&derivative.base),
            FunctionBody::Required(_) => false,
        };
        if !needs_it {
            continue;
        }
        match &mut program.to_mut().functions[k].body {
            FunctionBody::Source(body) => Rewriter { locals: &mut body.locals }.expr(&mut body.value),
            FunctionBody::Derivative(derivative) => {
                Rewriter { locals: &mut Vec::new() }.callable(&mut derivative.base);
            }
            FunctionBody::Required(_) => {}
        }
    }
    program
}

fn callable_needs_rewriting(callable: &Callable) -> bool {
    match &callable.kind {
        CallableKind::Lambda(lambda) => needs_rewriting(&lambda.body),
        CallableKind::Derivative(derivative) => callable_needs_rewriting(&derivative.base),
        CallableKind::Vmap(vmap) => callable_needs_rewriting(&vmap.base),
        CallableKind::Function { .. } | CallableKind::Param(_) => false,
    }
}

/// Whether control escapes from an operand somewhere in an expression.
fn needs_rewriting(e: &Expr) -> bool {
    let mut found = has_escaping_operand(e);
    e.each_part(&mut |part| {
        found = found
            || match part {
                Part::Expr(child) => needs_rewriting(child),
                Part::Callable(callable) => callable_needs_rewriting(callable),
            };
    });
    found
}

/// Whether control escapes from an operand of this very expression.
fn has_escaping_operand(e: &Expr) -> bool {
    let escaping = |e: &Expr| escapes(e).any();
    if let ExprKind::Block(block) = &e.kind {
        return block.statements.iter().any(|s| match &s.kind {
            StmtKind::Assign { target, .. } => has_escaping_index(target),
            StmtKind::Let { .. } | StmtKind::Expr(_) => false,
        });
    }
    if let ExprKind::If(branch) = &e.kind {
        let is_later = |(at, (condition, _)): (usize, &(Expr, Expr))| at > 0 && assigns(condition);
        return branch.arms.iter().any(|(condition, _)| escaping(condition))
            || branch.arms.iter().enumerate().any(is_later);
    }
    if let ExprKind::Logic { operands, .. } = &e.kind {
        return operands.iter().any(escaping) || operands.iter().skip(1).any(assigns);
    }
    if let ExprKind::Match(it) = &e.kind {
        return escaping(&it.scrutinee) || has_escaping_guard(it);
    }
    if let ExprKind::For(l) = &e.kind {
        return match &l.iterable {
            Iterable::Range { range, .. } => escaping(&range.lo) || escaping(&range.hi),
            Iterable::Tensor { tensor, .. } => escaping(tensor),
        };
    }
    if let ExprKind::While(l) = &e.kind {
        return escaping(&l.condition) || assigns(&l.condition);
    }
    let mut found = false;
    each_child(e, &mut |child| found = found || escaping(child));
    found && !matches!(e.kind, ExprKind::Return(_))
}

fn has_escaping_guard(it: &Match) -> bool {
    it.arms.iter().any(|arm| arm.guard.as_ref().is_some_and(|guard| escapes(guard).any() || assigns(guard)))
}

/// Whether an expression changes a variable. Where it runs only sometimes, that must be a branch, whose ends meet.
fn assigns(e: &Expr) -> bool {
    let mut found = false;
    each_assigned(e, &mut |_| found = true);
    found
}

fn has_escaping_index(target: &Target) -> bool {
    let mut found = false;
    target.each_index(&mut |part| match part {
        Part::Expr(index) => found = found || escapes(index).any(),
        Part::Callable(_) => {}
    });
    found
}

/// Rewrites one body.
struct Rewriter<'x> {
    locals: &'x mut Vec<Local>,
}

impl Rewriter<'_> {
    fn callable(&mut self, callable: &mut Callable) {
        match &mut callable.kind {
            CallableKind::Lambda(lambda) => self.expr(&mut lambda.body),
            CallableKind::Derivative(derivative) => self.callable(&mut derivative.base),
            CallableKind::Vmap(vmap) => self.callable(&mut vmap.base),
            CallableKind::Function { .. } | CallableKind::Param(_) => {}
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        let is_loop = matches!(e.kind, ExprKind::While(_));
        if is_loop && has_escaping_operand(e) {
            condition_into_body(e);
        }
        self.guards_into_conditions(e);
        e.each_role_mut(&mut |role| match role {
            Role::Operand(part) | Role::Later(part) => self.expr(part),
            Role::Callable(callable) => self.callable(callable),
            Role::Pattern(_) | Role::Type(_) => {}
        });
        if let ExprKind::Block(block) = &mut e.kind {
            self.assignments(block);
        }
        if !has_escaping_operand(e) {
            return;
        }
        if let ExprKind::Logic { op, operands } = &mut e.kind {
            let (op, operands) = (*op, std::mem::take(operands));
            *e = branches_of(op, operands, e.span);
            self.expr(e);
        } else if let ExprKind::If(branch) = &mut e.kind
            && !escapes(&branch.arms[0].0).any()
        {
            // A later condition runs in the `else` of the arms before it.
            let at = branch.arms.iter().position(|(condition, _)| escapes(condition).any()).unwrap_or(1);
            let later = If { arms: branch.arms.split_off(at), otherwise: branch.otherwise.take() };
            let mut otherwise = Expr { span: e.span, ty: e.ty.clone(), kind: ExprKind::If(Box::new(later)) };
            self.expr(&mut otherwise);
            branch.otherwise = Some(otherwise);
        } else {
            self.bind_operands(e);
        }
    }

    /// A `match` whose guards assign or let control escape, as a chain of `if`s whose conditions are matches:
    /// `let v = e; if (match v { p => g, _ => false }) { match v { p => a } } else { ... }`.
    fn guards_into_conditions(&mut self, e: &mut Expr) {
        let (span, ty) = (e.span, e.ty.clone());
        let ExprKind::Match(it) = &mut e.kind else { return };
        if !has_escaping_guard(it) {
            return;
        }
        let bound = self.bind(&mut it.scrutinee);
        let value = it.scrutinee.clone();
        let of_value = |ty: &Type, arms: Vec<MatchArm>| Expr {
            span,
            ty: ty.clone(),
            kind: ExprKind::Match(Box::new(Match { scrutinee: value.clone(), arms })),
        };
        let bool_ty = Type::of(Elem::Bool);
        let truth = |value| Expr { span, ty: bool_ty.clone(), kind: ExprKind::Literal(Literal::Bool(value)) };
        let mut arms = Vec::new();
        for arm in std::mem::take(&mut it.arms) {
            let anything = Pattern { kind: PatternKind::Wildcard, ..arm.pattern.clone() };
            let otherwise = MatchArm { span: arm.span, pattern: anything, guard: None, body: truth(false) };
            let guard = arm.guard.clone().unwrap_or_else(|| truth(true));
            let condition = MatchArm { guard: None, body: guard, ..arm.clone() };
            let body = MatchArm { guard: None, ..arm };
            arms.push((of_value(&bool_ty, vec![condition, otherwise]), of_value(&ty, vec![body])));
        }
        let otherwise = arms.pop().map(|(_, body)| body);
        let branch = Expr { span, ty, kind: ExprKind::If(Box::new(If { arms, otherwise })) };
        e.kind = ExprKind::Block(Box::new(Block {
            statements: vec![bound],
            value: Some(branch),
            recompute: false,
            mode: None,
        }));
    }

    /// Binds the operands up to the last from which control escapes.
    fn bind_operands(&mut self, e: &mut Expr) {
        let mut n_bound = 0;
        let mut n = 0;
        e.each_role_mut(&mut |role| {
            if let Role::Operand(operand) = role {
                n += 1;
                if escapes(operand).any() {
                    n_bound = n;
                }
            }
        });
        let mut statements = Vec::new();
        e.each_role_mut(&mut |role| {
            if let Role::Operand(operand) = role
                && statements.len() < n_bound
            {
                statements.push(self.bind(operand));
            }
        });
        let value = std::mem::replace(e, Expr { span: e.span, ty: e.ty.clone(), kind: ExprKind::Error });
        e.kind = ExprKind::Block(Box::new(Block { statements, value: Some(value), recompute: false, mode: None }));
    }

    /// Replaces an operand by a new local; gives the statement that binds it.
    fn bind(&mut self, operand: &mut Expr) -> Stmt {
        let (span, ty) = (operand.span, operand.ty.clone());
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name: "$operand".to_owned(), span, ty: ty.clone(), mutable: false });
        let local = Expr { span, ty: ty.clone(), kind: ExprKind::Local(id) };
        let value = std::mem::replace(operand, local);
        let pattern = Pattern { span, ty, kind: PatternKind::Local(id) };
        Stmt { span, kind: StmtKind::Let { pattern, value } }
    }

    /// Binds the value and the indices of assignments from whose indices control escapes.
    fn assignments(&mut self, block: &mut Block) {
        let mut statements = Vec::new();
        for mut s in std::mem::take(&mut block.statements) {
            if let StmtKind::Assign { target, value, .. } = &mut s.kind
                && has_escaping_index(target)
            {
                statements.push(self.bind(value));
                target.each_index_mut(&mut |e| statements.push(self.bind(e)));
            }
            statements.push(s);
        }
        block.statements = statements;
    }
}

/// `while c { b }` as `while true { if c { b } else { break } }`.
fn condition_into_body(e: &mut Expr) {
    let ExprKind::While(l) = &mut e.kind else { return };
    let span = l.condition.span;
    let forever = Expr { span, ty: Type::of(Elem::Bool), kind: ExprKind::Literal(Literal::Bool(true)) };
    let condition = std::mem::replace(&mut l.condition, forever);
    let nothing = Expr { span, ty: Type::UNIT, kind: ExprKind::Tuple(Vec::new()) };
    let body = std::mem::replace(&mut l.body, nothing);
    let leave = Expr { span, ty: Type::Never, kind: ExprKind::Break };
    let branch = If { arms: vec![(condition, body)], otherwise: Some(leave) };
    let body = Expr { span: e.span, ty: Type::UNIT, kind: ExprKind::If(Box::new(branch)) };
    let condition = std::mem::replace(&mut l.condition, Expr { span, ty: Type::Error, kind: ExprKind::Error });
    **l = While { condition, body, checkpoint: l.checkpoint };
}

/// `a && b && c` as `if a { if b { c } else { false } } else { false }`.
fn branches_of(op: LogicOp, operands: Vec<Expr>, span: Span) -> Expr {
    let bool_expr = |kind| Expr { span, ty: Type::of(Elem::Bool), kind };
    let known = || bool_expr(ExprKind::Literal(Literal::Bool(op == LogicOp::Or)));
    let nest = |rest: Expr, operand: Expr| {
        let (taken, otherwise) = match op {
            LogicOp::And => (rest, known()),
            LogicOp::Or => (known(), rest),
        };
        bool_expr(ExprKind::If(Box::new(If { arms: vec![(operand, taken)], otherwise: Some(otherwise) })))
    };
    operands.into_iter().rev().reduce(nest).unwrap_or_else(known)
}
