//! Activity analysis: which parameters a value depends on, and whether a derivative flows along the way.
//!
//! One pass over a body after another until nothing changes: what a variable depends on only
//! grows. Functions are looked at after those that they call, so a call is a look into a table.

mod contents;
mod control;
mod dependence;
mod roles;

use std::collections::BTreeMap;

use cotan_syntax::Span;

use crate::typed::{
    Arg, Body, Builtin, Callable, CallableKind, Expr, ExprKind, FnId, FunctionBody, Lambda, LocalId, Part, Pattern,
    PatternKind, Program, StmtKind, Target,
};
use crate::types::Type;
use contents::contents;
pub(super) use contents::has_float;
use cotan_ops::{Partial, PrimRow};
pub(super) use dependence::{Cast, Dependence, LoopDependence, Summary, bit};
use dependence::{Casts, Params, select};
use roles::{Role, role};

/// Passes over one body; real programs need three or four.
const MAX_PASSES: usize = 16;

/// Loops that a function passes on to its callers; enough for any warning that is read.
const MAX_LOOPS: usize = 16;

/// The summaries of all functions.
pub(super) fn summaries(program: &Program) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = vec![Summary::default(); program.functions.len()];
    for id in &program.order {
        let function = program.function(*id);
        let n_params = function.params.len();
        let all = (0..n_params).fold(0, |bits, at| bits | bit(at));
        // What a rule says is the derivative, whatever the body is.
        if function.rules.vjp.is_some() || function.rules.jvp.is_some() {
            summaries[id.0 as usize] = Summary::smoothly(all);
            continue;
        }
        summaries[id.0 as usize] = match &function.body {
            FunctionBody::Source(body) => {
                let params = (0..n_params).map(|at| LocalId(at as u32));
                Activity::new(program, &summaries, body).run(&mut |activity| {
                    params.clone().enumerate().for_each(|(at, local)| activity.seed(at, local));
                    activity.expr(&body.value)
                })
            }
            // A derivative, or the function of an impl.
            FunctionBody::Derivative(_) | FunctionBody::Required(_) => Summary::smoothly(all),
        };
    }
    summaries
}

/// What the result of a lambda of a body depends on, its parameters being those of the summary. What it reads from its
/// surroundings is constant.
pub(super) fn of_lambda(program: &Program, summaries: &[Summary], body: &Body, lambda: &Lambda) -> Summary {
    Activity::new(program, summaries, body).run(&mut |activity| {
        for (at, param) in lambda.params.iter().enumerate() {
            param.each(&mut |part| {
                if let PatternKind::Local(local) = part.kind {
                    activity.seed(at, local);
                }
            });
        }
        activity.expr(&lambda.body)
    })
}

struct Activity<'p> {
    program: &'p Program,
    summaries: &'p [Summary],
    body: &'p Body,
    locals: Vec<Dependence>,
    /// What the branches around the current place depend on.
    control: Dependence,
    /// What `return` gives, innermost function last.
    returns: Vec<Dependence>,
    loops: BTreeMap<Span, LoopDependence>,
    casts: Vec<Cast>,
    /// The locals that hold parameters.
    params: Vec<LocalId>,
    is_first_pass: bool,
    changed: bool,
}

impl<'p> Activity<'p> {
    fn new(program: &'p Program, summaries: &'p [Summary], body: &'p Body) -> Self {
        Self {
            program,
            summaries,
            body,
            locals: vec![Dependence::default(); body.locals.len()],
            control: Dependence::default(),
            returns: vec![Dependence::default()],
            loops: BTreeMap::new(),
            casts: Vec::new(),
            params: Vec::new(),
            is_first_pass: true,
            changed: false,
        }
    }

    /// A local that holds the parameter at a position, or a part of it.
    fn seed(&mut self, at: usize, local: LocalId) {
        if !self.params.contains(&local) {
            self.params.push(local);
        }
        self.learn(local, Dependence::smoothly(bit(at)));
    }

    /// Goes over a value until nothing changes.
    fn run(mut self, value: &mut dyn FnMut(&mut Self) -> Dependence) -> Summary {
        let mut result = Dependence::default();
        for _ in 0..MAX_PASSES {
            self.changed = false;
            let value = value(&mut self);
            result = value.and(self.returns[0]);
            self.is_first_pass = false;
            if !self.changed {
                let loops = self.loops.into_values().take(MAX_LOOPS).collect();
                let casts = self.casts.iter().enumerate();
                let casts = casts.filter(|(at, _)| result.casts & bit(*at) != 0).map(|(_, cast)| *cast).collect();
                return Summary { result, loops, casts };
            }
        }
        // Given up: nothing is said about this function.
        Summary::smoothly(result.any)
    }

    fn expr(&mut self, expr: &'p Expr) -> Dependence {
        let mut found = self.expr_kind(expr);
        if expr.ty == Type::Never || found.smooth == 0 && found.value == 0 {
            return found;
        }
        let of = contents(self.program, &expr.ty);
        if !of.floats {
            if matches!(expr.kind, ExprKind::Cast(_)) && of.integers {
                found.casts |= self.cast(expr.span, found.smooth);
            }
            found = found.cut_at(expr.span);
        }
        if of.floats || of.integers { found } else { found.decided_at(expr.span) }
    }

    /// The bit of a cast that ends the derivative of parameters.
    fn cast(&mut self, span: Span, of: Params) -> Casts {
        if of == 0 {
            return 0;
        }
        let known = self.casts.iter().position(|cast| cast.span == span);
        let at = known.unwrap_or_else(|| {
            self.casts.push(Cast { span, of: 0 });
            self.casts.len() - 1
        });
        self.changed |= self.casts[at].of & of != of;
        self.casts[at].of |= of;
        bit(at)
    }

    fn expr_kind(&mut self, expr: &'p Expr) -> Dependence {
        match &expr.kind {
            ExprKind::Local(local) => self.locals[local.0 as usize],
            ExprKind::Field { base, .. } if self.is_given(base) && !has_float(self.program, &expr.ty) => {
                Dependence::default()
            }
            ExprKind::Primitive { row, args, .. } => self.primitive(row, args, expr.span),
            ExprKind::Index { base, .. } => self.index(expr, base),
            ExprKind::FoldBy { function, init, operand } => {
                let values = init.iter().map(|init| &**init).chain([&**operand]);
                let found = values.fold(Dependence::default(), |found, value| found.and(self.expr(value)));
                self.apply(function, &[found, found], true)
            }
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Builtin { builtin, args } => self.builtin(*builtin, args),
            ExprKind::If(it) => self.if_arms(it),
            ExprKind::Match(it) => self.match_arms(it),
            ExprKind::Block(block) => {
                for statement in &block.statements {
                    self.statement(&statement.kind);
                }
                block.value.as_ref().map_or_else(Dependence::default, |value| self.expr(value))
            }
            ExprKind::For(it) => self.for_loop(it),
            ExprKind::While(it) => self.while_loop(it),
            ExprKind::Range(range) => self.range(range),
            ExprKind::Return(value) => self.return_value(value.as_deref()),
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
            | ExprKind::Logic { .. }
            | ExprKind::Cast(_)
            | ExprKind::Fold { .. }
            | ExprKind::ShapeCheck(_)
            | ExprKind::AsTangent(_)
            | ExprKind::Print(_)
            | ExprKind::Assert(_)
            | ExprKind::After { .. }
            | ExprKind::Break
            | ExprKind::Continue => {
                let mut found = Dependence::default();
                expr.each_part(&mut |part| {
                    if let Part::Expr(part) = part {
                        found = found.and(self.expr(part));
                    }
                });
                found
            }
        }
    }

    /// Whether it is a parameter, or a field of one, as it was given: what has no float in it is not differentiated then.
    fn is_given(&self, expr: &Expr) -> bool {
        if let ExprKind::Field { base, .. } = &expr.kind {
            return self.is_given(base);
        }
        let ExprKind::Local(local) = expr.kind else { return false };
        self.params.contains(&local) && !self.body.locals[local.0 as usize].mutable
    }

    /// A scalar function: where a partial is zero by rule, what its argument depends on ends.
    fn primitive(&mut self, row: &PrimRow, args: &'p [Expr], span: Span) -> Dependence {
        let mut found = Dependence::default();
        for (at, arg) in args.iter().enumerate() {
            let of_arg = self.expr(arg);
            let is_flat = matches!(row.partials[at], Partial::Zero { .. });
            found = found.and(if is_flat { of_arg.cut_at(span) } else { of_arg });
        }
        found
    }

    /// An index decides which element is read.
    fn index(&mut self, expr: &'p Expr, base: &'p Expr) -> Dependence {
        let mut found = Dependence::default();
        expr.each_part(&mut |part| {
            if let Part::Expr(index) = part
                && !std::ptr::eq(index, base)
            {
                found = found.and(self.expr(index).decided_at(index.span));
            }
        });
        found.and(self.expr(base))
    }

    fn statement(&mut self, statement: &'p StmtKind) {
        match statement {
            StmtKind::Let { pattern, value } => {
                let found = self.expr(value);
                self.bind(pattern, found);
            }
            StmtKind::Assign { target, value, .. } => {
                let mut found = self.expr(value);
                target.each_index(&mut |part| {
                    if let Part::Expr(index) = part {
                        found = found.and(self.expr(index).decided_at(index.span));
                    }
                });
                self.store(target, found.and(self.control));
            }
            StmtKind::Expr(value) => {
                self.expr(value);
            }
        }
    }

    fn store(&mut self, target: &Target, found: Dependence) {
        match target {
            Target::Place(place) => self.learn(place.root, found),
            Target::Tuple(parts) => parts.iter().for_each(|part| self.store(part, found)),
        }
    }

    fn bind(&mut self, pattern: &Pattern, found: Dependence) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Range(_) => {}
            PatternKind::Local(local) => self.learn(*local, found),
            PatternKind::Fields(fields) | PatternKind::Variant { fields, .. } => {
                fields.iter().for_each(|(_, field)| self.bind(field, found));
            }
            PatternKind::Or(alternatives) => alternatives.iter().for_each(|it| self.bind(it, found)),
        }
    }

    fn learn(&mut self, local: LocalId, found: Dependence) {
        let is_float = has_float(self.program, &self.body.locals[local.0 as usize].ty);
        let old = self.locals[local.0 as usize];
        let mut new = old.and(found);
        if !is_float {
            new.smooth = 0;
        }
        // Where it was cut first is enough.
        if (Dependence { cut: None, ..new }) != (Dependence { cut: None, ..old }) {
            self.locals[local.0 as usize] = new;
            self.changed = true;
        }
    }

    fn call(&mut self, callee: &'p Callable, args: &'p [Arg]) -> Dependence {
        let mut values = Vec::new();
        for arg in args {
            match arg {
                Arg::Value(value) => values.push(self.expr(value)),
                Arg::Function(function) => {
                    // What the callee does with it is not known: all arguments may reach it.
                    let all = values.iter().fold(Dependence::default(), |all, value: &Dependence| all.and(*value));
                    let params = vec![all; function.params.len()];
                    values.push(self.apply(function, &params, true));
                }
                Arg::Pack(_) => {}
            }
        }
        self.apply(callee, &values, false)
    }

    /// The result of something that is called with these arguments; of a state that comes round,
    /// the result is an argument too.
    fn apply(&mut self, callable: &'p Callable, args: &[Dependence], comes_round: bool) -> Dependence {
        let all = args.iter().fold(Dependence::default(), |all, arg| all.and(*arg));
        match &callable.kind {
            CallableKind::Function { function, .. } => self.call_function(*function, args),
            CallableKind::Lambda(lambda) => self.call_lambda(lambda, args, comes_round),
            CallableKind::Param(_) => all,
            CallableKind::Vmap(vmap) => self.apply(&vmap.base, args, comes_round),
            CallableKind::Derivative(derivative) => {
                let captured = self.captured(&derivative.base);
                all.and(captured)
            }
        }
    }

    fn captured(&self, callable: &Callable) -> Dependence {
        match &callable.kind {
            CallableKind::Lambda(lambda) => {
                let locals = lambda.captures.iter().map(|local| self.locals[local.0 as usize]);
                locals.fold(Dependence::default(), Dependence::and)
            }
            CallableKind::Derivative(derivative) => self.captured(&derivative.base),
            CallableKind::Vmap(vmap) => self.captured(&vmap.base),
            CallableKind::Function { .. } | CallableKind::Param(_) => Dependence::default(),
        }
    }

    fn call_lambda(&mut self, lambda: &'p Lambda, args: &[Dependence], comes_round: bool) -> Dependence {
        for (param, arg) in lambda.params.iter().zip(args) {
            self.bind(param, *arg);
        }
        self.returns.push(Dependence::default());
        let value = self.expr(&lambda.body);
        let result = value.and(self.returns.pop().unwrap_or_default());
        if comes_round {
            for param in &lambda.params {
                self.bind(param, result);
            }
        }
        result
    }

    fn call_function(&mut self, function: FnId, args: &[Dependence]) -> Dependence {
        let summary = &self.summaries[function.0 as usize];
        let loops: Vec<LoopDependence> = summary
            .loops
            .iter()
            .map(|it| LoopDependence {
                span: it.span,
                deciders: it.deciders.iter().map(|params| select(*params, args).any).collect(),
            })
            .collect();
        let smooth = select(summary.result.smooth, args);
        let value = select(summary.result.value, args);
        let any = select(summary.result.any, args);
        let cut = match summary.result.cut {
            Some(span) => any.cut_at(span).cut,
            None => any.cut,
        };
        let inside: Vec<Cast> =
            summary.casts.iter().map(|cast| Cast { of: select(cast.of, args).smooth, ..*cast }).collect();
        for it in loops {
            self.note_loop(it.span, it.deciders);
        }
        let casts = inside.into_iter().fold(value.casts, |casts, cast| casts | self.cast(cast.span, cast.of));
        Dependence { smooth: smooth.smooth, value: value.value, any: any.any, casts, cut }
    }

    fn builtin(&mut self, builtin: Builtin, args: &'p [Arg]) -> Dependence {
        let mut found = Dependence::default();
        for (at, arg) in args.iter().enumerate() {
            if let Arg::Value(value) = arg {
                let of_arg = self.expr(value);
                found = found.and(match role(builtin, at, args) {
                    Role::Value => of_arg,
                    Role::Flat => of_arg.cut_at(value.span),
                    Role::Decides => of_arg.decided_at(value.span),
                });
            }
        }
        let comes_round = matches!(builtin, Builtin::Scan | Builtin::Fold | Builtin::Iterate | Builtin::IterateUntil);
        for arg in args {
            if let Arg::Function(function) = arg {
                let params = vec![found; function.params.len()];
                let result = self.apply(function, &params, comes_round);
                // The elements of a map reach the result through its function alone.
                let is_map = matches!(builtin, Builtin::Tabulate | Builtin::Map | Builtin::MapLeaves);
                found = if is_map { result } else { found.and(result) };
            }
        }
        // Nothing flows through these, on purpose.
        let is_stopped = matches!(builtin, Builtin::StopGradient | Builtin::ZerosLike);
        if is_stopped { Dependence::default() } else { found }
    }
}
