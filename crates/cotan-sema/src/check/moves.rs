//! Moves: what is given for a `mut` parameter is given up until the name is assigned again.
//!
//! A walk over each body in the order of evaluation, with the names that have been given up so far as its state. Where
//! ways of control meet, a name is given up if it is on any of them. A loop is walked once: what one iteration gives up
//! and does not assign again is an error, so a second one would start like the first.

use std::collections::BTreeMap;

use cotan_syntax::{Diagnostic, Span};

use crate::codes;
use crate::dims::LocalId;
use crate::typed::{
    Arg, AssignOp, Body, Callable, CallableKind, Expr, ExprKind, For, FunctionBody, If, Iterable, Lambda, Match, Part,
    Pattern, PatternKind, Place, Program, Stmt, StmtKind, Target, While,
};

/// Checks the moves of all functions.
pub(super) fn check(program: &Program) -> Vec<Diagnostic> {
    let takes_moves = program.functions.iter().any(|function| function.params.iter().any(|param| param.mutable));
    if !takes_moves {
        return Vec::new();
    }
    let mut diagnostics = Vec::new();
    for function in &program.functions {
        if let FunctionBody::Source(body) = &function.body {
            let mut walk = Walk {
                program,
                body,
                state: Some(Moved::new()),
                loops: Vec::new(),
                borders: Vec::new(),
                piped: BTreeMap::new(),
                diagnostics: Vec::new(),
            };
            walk.expr(&body.value);
            diagnostics.append(&mut walk.diagnostics);
        }
    }
    diagnostics
}

/// Where a value was given up.
#[derive(Clone, Debug)]
struct Move {
    span: Span,
    /// What took it.
    callee: String,
}

/// The names that have been given up.
type Moved = BTreeMap<LocalId, Move>;

/// The ways out of the body of a loop.
#[derive(Default)]
struct Exits {
    breaks: Option<Moved>,
    /// Also the end of the body.
    iterations: Option<Moved>,
}

/// What runs any number of times, in any order, and so gives up nothing from outside.
struct Border {
    span: Span,
    what: &'static str,
}

struct Walk<'p> {
    program: &'p Program,
    body: &'p Body,
    /// `None` where control does not get.
    state: Option<Moved>,
    loops: Vec<Exits>,
    borders: Vec<Border>,
    /// The locals that pipes bind, with the named ones that they pass on.
    piped: BTreeMap<LocalId, LocalId>,
    diagnostics: Vec<Diagnostic>,
}

impl<'p> Walk<'p> {
    fn name(&self, local: LocalId) -> &'p str {
        &self.body.locals[local.0 as usize].name
    }

    fn declaration(&self, local: LocalId) -> Span {
        self.body.locals[local.0 as usize].span
    }

    fn expr(&mut self, e: &'p Expr) {
        match &e.kind {
            ExprKind::Local(local) => self.read(self.piped.get(local).copied().unwrap_or(*local), e.span),
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Logic { operands, .. } => self.lazily(operands),
            ExprKind::If(it) => self.branches(it),
            ExprKind::Match(it) => self.match_arms(it),
            ExprKind::Block(block) => {
                block.statements.iter().for_each(|statement| self.statement(statement));
                block.value.iter().for_each(|value| self.expr(value));
            }
            ExprKind::For(it) => self.for_loop(it, e.span),
            ExprKind::While(it) => self.while_loop(it, e.span),
            ExprKind::Break => {
                let state = self.state.take();
                if let Some(exits) = self.loops.last_mut() {
                    exits.breaks = join(exits.breaks.take(), state);
                }
            }
            ExprKind::Continue => self.end_iteration(),
            ExprKind::Return(value) => {
                value.iter().for_each(|value| self.expr(value));
                self.state = None;
            }
            ExprKind::Error
            | ExprKind::Literal(_)
            | ExprKind::Size(_)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Struct(_)
            | ExprKind::StructUpdate { .. }
            | ExprKind::Variant { .. }
            | ExprKind::Field { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Chain(_)
            | ExprKind::Primitive { .. }
            | ExprKind::Cast(_)
            | ExprKind::Range(_)
            | ExprKind::Index { .. }
            | ExprKind::Fold { .. }
            | ExprKind::FoldBy { .. }
            | ExprKind::Builtin { .. }
            | ExprKind::ShapeCheck(_)
            | ExprKind::Print(_)
            | ExprKind::Assert(_)
            | ExprKind::After { .. }
            | ExprKind::AsTangent(_) => e.each_part(&mut |part| self.part(part)),
        }
    }

    fn part(&mut self, part: Part<'p>) {
        match part {
            Part::Expr(e) => self.expr(e),
            Part::Callable(callable) => self.callable(callable),
        }
    }

    fn callable(&mut self, callable: &'p Callable) {
        match &callable.kind {
            CallableKind::Function { .. } | CallableKind::Param(_) => {}
            CallableKind::Lambda(lambda) => self.lambda(lambda, callable.span),
            CallableKind::Derivative(derivative) => self.callable(&derivative.base),
            CallableKind::Vmap(vmap) => self.callable(&vmap.base),
        }
    }

    /// The body of a lambda; it leaves nothing given up behind.
    fn lambda(&mut self, lambda: &'p Lambda, span: Span) {
        let state = self.state.clone();
        let loops = std::mem::take(&mut self.loops);
        self.borders.push(Border { span, what: "lambda" });
        self.expr(&lambda.body);
        self.borders.pop();
        self.loops = loops;
        self.state = state;
    }

    // ---- moves and uses

    fn read(&mut self, local: LocalId, span: Span) {
        let Some(given_up) = self.state.as_ref().and_then(|moved| moved.get(&local)).cloned() else { return };
        let name = self.name(local);
        let message = format!("expected a value in `{name}`, found that it has been given up");
        self.diagnostics.push(
            Diagnostic::error(codes::USED_AFTER_MOVE, span, message)
                .label(given_up.span, format!("moved here: `{}` takes it as `mut`", given_up.callee))
                .help(format!(
                    "assign the result, `{name} = {}(...)`, or copy `{name}` into another variable first",
                    given_up.callee
                )),
        );
        // Once is enough.
        if let Some(moved) = &mut self.state {
            moved.remove(&local);
        }
    }

    /// The arguments of a call. Those for `mut` parameters of a function that is called by name are moved.
    fn call(&mut self, callee: &'p Callable, args: &'p [Arg]) {
        self.callable(callee);
        let moved = self.moved_by(callee, args);
        for arg in args {
            match arg {
                Arg::Value(value) => self.expr(value),
                Arg::Function(function) => self.callable(function),
                Arg::Pack(_) => {}
            }
        }
        for (at, local, given_up) in moved {
            self.check_used_once(at, local, &given_up, args);
            if self.is_own(local, &given_up)
                && let Some(state) = &mut self.state
            {
                state.insert(local, given_up);
            }
        }
    }

    /// Which arguments are moved, with their names.
    fn moved_by(&self, callee: &'p Callable, args: &'p [Arg]) -> Vec<(usize, LocalId, Move)> {
        let CallableKind::Function { function, .. } = &callee.kind else { return Vec::new() };
        let function = self.program.function(*function);
        let moved = |(at, (param, arg)): (usize, (&crate::typed::Param, &'p Arg))| match arg {
            Arg::Value(value) if param.mutable && !param.ty.is_scalar() => {
                let given_up = Move { span: value.span, callee: function.name.clone() };
                self.named(value).map(|local| (at, local, given_up))
            }
            Arg::Value(_) | Arg::Function(_) | Arg::Pack(_) => None,
        };
        function.params.iter().zip(args).enumerate().filter_map(moved).collect()
    }

    /// The variable that an expression names, or a field of which it names.
    fn named(&self, e: &Expr) -> Option<LocalId> {
        let mut e = e;
        while let ExprKind::Field { base: inner, .. } | ExprKind::ShapeCheck(inner) | ExprKind::AsTangent(inner) =
            &e.kind
        {
            e = inner;
        }
        let ExprKind::Local(local) = &e.kind else { return None };
        Some(self.piped.get(local).copied().unwrap_or(*local))
    }

    fn check_used_once(&mut self, at: usize, local: LocalId, given_up: &Move, args: &'p [Arg]) {
        let others = args.iter().enumerate().filter(|(other, _)| *other != at);
        let Some(other) = others.filter_map(|(_, arg)| self.use_in_arg(arg, local)).next() else { return };
        let name = self.name(local);
        let message = format!("expected one use of `{name}` in an argument list that moves it, found another");
        self.diagnostics.push(
            Diagnostic::error(codes::MOVED_AND_USED, other, message)
                .label(given_up.span, format!("moved here: `{}` takes it as `mut`", given_up.callee))
                .help(format!("copy it into another variable first: `let copy = {name}`")),
        );
    }

    fn use_in_arg(&self, arg: &'p Arg, local: LocalId) -> Option<Span> {
        match arg {
            Arg::Value(value) => self.use_in(value, local),
            Arg::Function(function) => self.use_in_callable(function, local),
            Arg::Pack(_) => None,
        }
    }

    fn use_in(&self, e: &'p Expr, local: LocalId) -> Option<Span> {
        if let ExprKind::Local(used) = &e.kind {
            return (self.piped.get(used).unwrap_or(used) == &local).then_some(e.span);
        }
        let mut found = None;
        e.each_part(&mut |part| {
            found = found.or_else(|| match part {
                Part::Expr(e) => self.use_in(e, local),
                Part::Callable(callable) => self.use_in_callable(callable, local),
            });
        });
        found
    }

    fn use_in_callable(&self, callable: &'p Callable, local: LocalId) -> Option<Span> {
        match &callable.kind {
            CallableKind::Function { .. } | CallableKind::Param(_) => None,
            CallableKind::Lambda(lambda) => self.use_in(&lambda.body, local),
            CallableKind::Derivative(derivative) => self.use_in_callable(&derivative.base, local),
            CallableKind::Vmap(vmap) => self.use_in_callable(&vmap.base, local),
        }
    }

    /// Whether a lambda or an iteration of a parallel loop gives up what is its own; reports it otherwise.
    fn is_own(&mut self, local: LocalId, given_up: &Move) -> bool {
        let declaration = self.declaration(local);
        let border = self.borders.iter().rev().find(|border| !encloses(border.span, declaration));
        let Some(border) = border else { return true };
        let (name, what) = (self.name(local), border.what);
        let message = format!("expected a value of the {what} itself, found `{name}`, which it captures");
        self.diagnostics.push(
            Diagnostic::error(codes::MOVED_CAPTURE, given_up.span, message)
                .label(declaration, format!("declared outside of the {what}"))
                .help(format!("copy it first, inside of the {what}: `let copy = {name}`")),
        );
        false
    }

    // ---- control

    fn lazily(&mut self, operands: &'p [Expr]) {
        let Some((first, others)) = operands.split_first() else { return };
        self.expr(first);
        for operand in others {
            let skipped = self.state.clone();
            self.expr(operand);
            self.state = join(self.state.take(), skipped);
        }
    }

    fn branches(&mut self, it: &'p If) {
        let mut after = None;
        for (condition, body) in &it.arms {
            self.expr(condition);
            let otherwise = self.state.clone();
            self.expr(body);
            after = join(after, std::mem::replace(&mut self.state, otherwise));
        }
        it.otherwise.iter().for_each(|body| self.expr(body));
        self.state = join(after, self.state.take());
    }

    fn match_arms(&mut self, it: &'p Match) {
        self.expr(&it.scrutinee);
        let mut after = None;
        for arm in &it.arms {
            arm.guard.iter().for_each(|guard| self.expr(guard));
            let otherwise = self.state.clone();
            self.expr(&arm.body);
            after = join(after, std::mem::replace(&mut self.state, otherwise));
        }
        self.state = after;
    }

    fn for_loop(&mut self, it: &'p For, span: Span) {
        match &it.iterable {
            Iterable::Range { range, .. } => {
                self.expr(&range.lo);
                self.expr(&range.hi);
            }
            Iterable::Tensor { tensor, .. } => self.expr(tensor),
        }
        if it.parallel.is_some() {
            self.borders.push(Border { span, what: "iteration" });
        }
        self.iterations(span, |walk| walk.expr(&it.body));
        if it.parallel.is_some() {
            self.borders.pop();
        }
    }

    fn while_loop(&mut self, it: &'p While, span: Span) {
        self.expr(&it.condition);
        self.iterations(span, |walk| {
            walk.expr(&it.body);
            walk.expr(&it.condition);
        });
    }

    /// Any number of iterations.
    fn iterations(&mut self, span: Span, iteration: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        self.loops.push(Exits::default());
        iteration(self);
        self.end_iteration();
        let exits = self.loops.pop().unwrap_or_default();
        let mut after = exits.iterations.unwrap_or_default();
        after.retain(|local, given_up| self.is_before(*local, given_up, &before, span));
        self.state = join(join(before, Some(after)), exits.breaks);
    }

    fn end_iteration(&mut self) {
        let state = self.state.take();
        if let Some(exits) = self.loops.last_mut() {
            exits.iterations = join(exits.iterations.take(), state);
        }
    }

    /// Whether a name was given up before the loop already. Reports one that the loop gives up, unless each iteration
    /// has its own.
    fn is_before(&mut self, local: LocalId, given_up: &Move, before: &Option<Moved>, span: Span) -> bool {
        if before.as_ref().is_none_or(|before| before.contains_key(&local)) {
            return true;
        }
        let declaration = self.declaration(local);
        if !encloses(span, declaration) {
            let name = self.name(local);
            let message = format!(
                "expected `{name}` to be assigned again before the iteration ends, found that it is only given up"
            );
            self.diagnostics.push(
                Diagnostic::error(codes::MOVED_IN_LOOP, given_up.span, message)
                    .label(declaration, "declared outside of the loop")
                    .help(format!(
                        "assign the result, `{name} = {}(...)`, or copy `{name}` in each iteration",
                        given_up.callee
                    )),
            );
        }
        false
    }

    // ---- statements

    fn statement(&mut self, statement: &'p Stmt) {
        match &statement.kind {
            StmtKind::Let { pattern, value } => {
                self.pass_on(pattern, value);
                if !matches!(pattern.kind, PatternKind::Local(local) if self.piped.contains_key(&local)) {
                    self.expr(value);
                }
            }
            StmtKind::Assign { target, op, value } => {
                self.expr(value);
                target.each_index(&mut |part| self.part(part));
                self.assign(target, *op);
            }
            StmtKind::Expr(e) => self.expr(e),
        }
    }

    /// A pipe binds what it passes on to a nameless local: using that is using the name.
    fn pass_on(&mut self, pattern: &Pattern, value: &Expr) {
        if let PatternKind::Local(local) = pattern.kind
            && self.name(local).starts_with('$')
            && let Some(named) = self.named(value)
        {
            self.piped.insert(local, named);
        }
    }

    fn assign(&mut self, target: &'p Target, op: AssignOp) {
        match target {
            Target::Tuple(parts) => parts.iter().for_each(|part| self.assign(part, op)),
            Target::Place(place) => self.assign_place(place, op),
        }
    }

    fn assign_place(&mut self, place: &'p Place, op: AssignOp) {
        if place.steps.is_empty() && op == AssignOp::Set {
            if let Some(moved) = &mut self.state {
                moved.remove(&place.root);
            }
        } else {
            self.read(place.root, place.span);
        }
    }
}

/// The names that are given up on one of two ways.
fn join(a: Option<Moved>, b: Option<Moved>) -> Option<Moved> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            for (local, given_up) in b {
                a.entry(local).or_insert(given_up);
            }
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

/// Whether a place of the source lies in another.
fn encloses(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
