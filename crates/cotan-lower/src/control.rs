//! Early exits: control that leaves a loop or function before its end.
//!
//! An expression from which control may escape is lowered together with the rest of what would run after it ([`Rest`]),
//! so that the rest goes into the arm that does not escape. Where several arms go on, the rest stands once, behind a
//! switch on whether control escaped. No value of the rest is computed, and none of its checks made, where control is
//! gone.

use cotan_ir::Atom;

use super::Result;
use super::body::{Body, Flow, Truth, Value, under};
use super::walk::{diverges, escapes, statement_escapes};
use cotan_sema::typed::{AssignOp, Block, Expr, ExprKind, If, LogicOp, Match, Pattern, Stmt, StmtKind, Target, Type};

/// The type of what gives no value.
pub(super) static UNIT: Type = Type::UNIT;

/// Whether another iteration follows.
#[derive(Clone, Copy)]
pub(super) enum Test<'p> {
    /// The number of the next iteration is below the count; of a counted loop nobody asks.
    Below { index: Atom, count: Atom },
    /// The condition of a `while`.
    Condition(&'p Expr),
}

/// What runs with the value of an expression.
pub(super) enum Rest<'r, 'p> {
    /// It is bound.
    Bind(&'p Pattern, &'r Rest<'r, 'p>),
    /// It is stored.
    Assign(&'p Target, AssignOp, &'r Rest<'r, 'p>),
    /// It is dropped; statements follow, and the value of their block.
    Statements(&'p [Stmt], Option<&'p Expr>, &'r Rest<'r, 'p>),
    /// It is returned.
    Return,
    /// It is the value of several arms, of this type, that meet.
    Join(&'p Type),
    /// It is the value of the function or lambda.
    Result,
    /// An iteration ends.
    Iteration(Test<'p>),
}

/// Arms of which one runs.
#[derive(Clone, Copy)]
pub(super) enum Choice<'c, 'p> {
    If(&'p If),
    /// With the value that is looked at.
    Match(&'p Match, &'c Value),
}

impl<'p> Choice<'_, 'p> {
    /// What the arms run; `None` stands for a missing `else`.
    fn bodies(self) -> Vec<Option<&'p Expr>> {
        match self {
            Choice::If(branch) => {
                branch.arms.iter().map(|(_, arm)| Some(arm)).chain([branch.otherwise.as_ref()]).collect()
            }
            Choice::Match(it, _) => it.arms.iter().map(|arm| Some(&arm.body)).collect(),
        }
    }
}

/// Lowers an arm of an `if`; `None` stands for a missing `else`.
type RunArm<'x, 'a, 'p> = &'x mut dyn FnMut(&mut Body<'a, 'p>, Option<&'p Expr>) -> Result<Option<Value>>;

impl<'p> Rest<'_, 'p> {
    /// The type of what lowering the rest gives.
    fn ty(&self) -> &'p Type {
        match self {
            Rest::Bind(_, next) | Rest::Assign(_, _, next) | Rest::Statements(_, _, next) => next.ty(),
            Rest::Join(ty) => ty,
            Rest::Return | Rest::Result | Rest::Iteration(_) => &UNIT,
        }
    }
}

impl<'a, 'p> Body<'a, 'p> {
    /// The value of the body of a function or lambda, returns included. `self.result` is its type.
    pub(super) fn body_value(&mut self, e: &'p Expr) -> Result<Value> {
        if !escapes(e).returns {
            return self.expr(e);
        }
        let flow = std::mem::take(&mut self.flow);
        let in_loop = std::mem::replace(&mut self.in_loop, false);
        self.run(e, &Rest::Result)?;
        self.in_loop = in_loop;
        let flow = std::mem::replace(&mut self.flow, flow);
        Ok(flow.result.unwrap_or_default())
    }

    /// An `if` or `match` from which control does not escape.
    pub(super) fn chosen_value(&mut self, choice: Choice<'_, 'p>, ty: &'p Type) -> Result<Value> {
        let value = run_arms(self, choice, 0, ty, &mut |body, arm| match arm {
            Some(arm) => body.expr(arm).map(Some),
            None => Ok(Some(Value::new())),
        })?;
        Ok(value.unwrap_or_default())
    }

    /// A block from which control does not escape.
    pub(super) fn block(&mut self, block: &'p Block) -> Result<Value> {
        let n_mutable = self.current().mutable.len();
        let outside = self.kept;
        self.kept = under(outside, block.recompute, block.mode);
        for s in &block.statements {
            self.statement(s)?;
        }
        let value = match &block.value {
            Some(value) => self.expr(value)?,
            None => Value::new(),
        };
        self.kept = outside;
        self.current_mut().mutable.truncate(n_mutable);
        Ok(value)
    }

    /// Lowers an expression and what follows it. Gives the value that arrives where arms meet, if control gets there.
    pub(super) fn run(&mut self, e: &'p Expr, rest: &Rest<'_, 'p>) -> Result<Option<Value>> {
        if !escapes(e).any() {
            let value = self.expr(e)?;
            return resume(self, value, rest);
        }
        if let ExprKind::Block(block) = &e.kind {
            return resume(self, Value::new(), &Rest::Statements(&block.statements, block.value.as_ref(), rest));
        }
        if let ExprKind::If(branch) = &e.kind {
            return run_choice(self, Choice::If(branch), &e.ty, rest);
        }
        if let ExprKind::Match(it) = &e.kind {
            let value = self.expr(&it.scrutinee)?;
            return run_choice(self, Choice::Match(it, &value), &e.ty, rest);
        }
        if let ExprKind::For(l) = &e.kind {
            let returned = self.at(e.span, |body| body.for_loop(l))?;
            return after_loop(self, returned, rest);
        }
        if let ExprKind::While(l) = &e.kind {
            let returned = self.at(e.span, |body| body.while_loop(l))?;
            return after_loop(self, returned, rest);
        }
        // Operands have no escapes: `escapes::to_statements` moved them out.
        if let ExprKind::Return(value) = &e.kind {
            return match value {
                Some(value) => self.run(value, &Rest::Return),
                None => resume(self, Value::new(), &Rest::Return),
            };
        }
        if e.kind == ExprKind::Break {
            self.flow.running = Truth::Known(false);
        }
        escape(self)
    }
}

/// The arms of an `if` or `match` from number `at` on.
fn run_arms<'a, 'p>(
    body: &mut Body<'a, 'p>,
    choice: Choice<'_, 'p>,
    at: usize,
    ty: &'p Type,
    run: RunArm<'_, 'a, 'p>,
) -> Result<Option<Value>> {
    let (selector, taken) = match choice {
        Choice::If(branch) => {
            let Some((condition, arm)) = branch.arms.get(at) else {
                return run(body, branch.otherwise.as_ref());
            };
            let selector = body.scalar(condition)?;
            (selector, body.arm(|body| run(body, Some(arm)))?)
        }
        Choice::Match(it, value) => {
            let arm = &it.arms[at];
            let mut taken = |body: &mut Body<'a, 'p>| {
                body.bind(&arm.pattern, value.clone())?;
                run(body, Some(&arm.body))
            };
            // The arms cover every value: what reaches the last one matches it.
            if at + 1 == it.arms.len() {
                return taken(body);
            }
            let matches = body.test_pattern(&arm.pattern, value);
            let selector = match &arm.guard {
                None => matches,
                Some(guard) => body.lazy(LogicOp::And, matches, &mut |body| {
                    body.bind(&arm.pattern, value.clone())?;
                    body.scalar(guard)
                })?,
            };
            (selector, body.arm(taken)?)
        }
    };
    let other = body.arm(|body| run_arms(body, choice, at + 1, ty, run))?;
    Ok(body.merge(selector, [taken, other], ty))
}

fn escape(body: &mut Body<'_, '_>) -> Result<Option<Value>> {
    body.flow.escaped = Truth::Known(true);
    Ok(None)
}

fn run_choice<'a, 'p>(
    body: &mut Body<'a, 'p>,
    choice: Choice<'_, 'p>,
    ty: &'p Type,
    rest: &Rest<'_, 'p>,
) -> Result<Option<Value>> {
    let n_going_on = choice.bodies().into_iter().filter(|arm| !arm.is_some_and(diverges)).count();
    let run_with = |body: &mut Body<'a, 'p>, rest: &Rest<'_, 'p>, ty: &'p Type| {
        run_arms(body, choice, 0, ty, &mut |body, arm| match arm {
            Some(arm) => body.run(arm, rest),
            None => resume(body, Value::new(), rest),
        })
    };
    if n_going_on <= 1 {
        return run_with(body, rest, rest.ty());
    }
    let value = run_with(body, &Rest::Join(ty), ty)?;
    let escaped = body.flow.escaped;
    unless(body, escaped, value.unwrap_or_default(), rest)
}

/// What follows a loop, which may have returned.
fn after_loop<'p>(
    body: &mut Body<'_, 'p>,
    returned: Option<(Atom, Value)>,
    rest: &Rest<'_, 'p>,
) -> Result<Option<Value>> {
    let Some((returned, result)) = returned else {
        return resume(body, Value::new(), rest);
    };
    body.flow.result = Some(result);
    if body.in_loop {
        body.flow.returned = Truth::Is(returned);
        body.flow.running = Truth::Not(returned);
    }
    unless(body, Truth::Is(returned), Value::new(), rest)
}

/// The rest, if control has not escaped.
fn unless<'p>(body: &mut Body<'_, 'p>, escaped: Truth, value: Value, rest: &Rest<'_, 'p>) -> Result<Option<Value>> {
    let selector = match escaped {
        Truth::Known(true) => return escape(body),
        Truth::Known(false) => return resume(body, value, rest),
        Truth::Is(_) | Truth::Not(_) => body.code.truth(escaped),
    };
    let gone = body.arm(|body| {
        body.flow.running = known_where(body.flow.running, escaped);
        body.flow.returned = known_where(body.flow.returned, escaped);
        escape(body)
    })?;
    let going_on = body.arm(|body| {
        body.flow = Flow::default();
        resume(body, value, rest)
    })?;
    Ok(body.merge(selector, [gone, going_on], rest.ty()))
}

/// Goes on with the value of an expression.
fn resume<'p>(body: &mut Body<'_, 'p>, value: Value, rest: &Rest<'_, 'p>) -> Result<Option<Value>> {
    match rest {
        Rest::Bind(pattern, next) => {
            body.bind(pattern, value)?;
            resume(body, Value::new(), next)
        }
        Rest::Assign(target, op, next) => {
            body.assign(target, *op, value)?;
            resume(body, Value::new(), next)
        }
        Rest::Statements(statements, last, next) => run_statements(body, statements, *last, next),
        Rest::Return => {
            body.flow.result = Some(value);
            if body.in_loop {
                body.flow.returned = Truth::Known(true);
                body.flow.running = Truth::Known(false);
            }
            escape(body)
        }
        Rest::Join(_) => Ok(Some(value)),
        Rest::Result => {
            body.flow.result = Some(value);
            escape(body)
        }
        Rest::Iteration(test) => {
            body.flow.running = body.test(*test)?;
            escape(body)
        }
    }
}

fn run_statements<'p>(
    body: &mut Body<'_, 'p>,
    statements: &'p [Stmt],
    last: Option<&'p Expr>,
    next: &Rest<'_, 'p>,
) -> Result<Option<Value>> {
    for (k, s) in statements.iter().enumerate() {
        if !statement_escapes(s) {
            body.statement(s)?;
            continue;
        }
        let rest = Rest::Statements(&statements[k + 1..], last, next);
        return match &s.kind {
            StmtKind::Let { pattern, value } => body.run(value, &Rest::Bind(pattern, &rest)),
            StmtKind::Assign { target, op, value } => body.run(value, &Rest::Assign(target, *op, &rest)),
            StmtKind::Expr(e) => body.run(e, &rest),
        };
    }
    match last {
        Some(value) => body.run(value, next),
        None => resume(body, Value::new(), next),
    }
}

/// What is known of a truth value where another one holds.
fn known_where(truth: Truth, holds: Truth) -> Truth {
    match (truth, holds) {
        (a, b) if a == b => Truth::Known(true),
        (Truth::Is(a), Truth::Not(b)) | (Truth::Not(a), Truth::Is(b)) if a == b => Truth::Known(false),
        (_, _) => truth,
    }
}
