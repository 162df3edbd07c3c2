//! Escape analysis of floats into rules: what functions read that are given to a function with a rule of its own.
//!
//! A rule gives derivatives of parameters that are values. What a function that it is given captures would lose its
//! derivative there, so floats come in as parameters, or are read where no derivative flows.

use std::collections::BTreeMap;

use cotan_syntax::Diagnostic;

use super::activity::has_float;
use crate::codes;
use crate::typed::{
    Arg, Builtin, Callable, CallableKind, Expr, ExprKind, FnId, Function, FunctionBody, Lambda, LocalId, Part, Program,
};

/// A parameter of function type, as a local of its function.
type Slot = (FnId, LocalId);

/// Reports floats that functions capture which a rule gets.
pub(super) fn check(program: &Program) -> Vec<Diagnostic> {
    let mut found = Captures { program, slots: BTreeMap::new(), at: FnId(0), diagnostics: Vec::new() };
    for (at, function) in program.functions.iter().enumerate().filter(|(_, function)| function.rules.any()) {
        for k in 0..function.params.len() {
            found.slots.insert((FnId(at as u32), LocalId(k as u32)), FnId(at as u32));
        }
    }
    if found.slots.is_empty() {
        return Vec::new();
    }
    // Which parameters of other functions are passed on to one with a rule.
    loop {
        let n_known = found.slots.len();
        found.diagnostics.clear();
        found.all();
        if found.slots.len() == n_known {
            return found.diagnostics;
        }
    }
}

struct Captures<'p> {
    program: &'p Program,
    /// Parameters of function type that a rule gets, each with the function that has it.
    slots: BTreeMap<Slot, FnId>,
    /// The function that is looked at.
    at: FnId,
    diagnostics: Vec<Diagnostic>,
}

impl<'p> Captures<'p> {
    fn all(&mut self) {
        for (at, function) in self.program.functions.iter().enumerate() {
            self.at = FnId(at as u32);
            match &function.body {
                FunctionBody::Source(body) => self.calls(Part::Expr(&body.value)),
                FunctionBody::Derivative(_) | FunctionBody::Required(_) => {}
            }
        }
    }

    /// Looks at the calls in a part of the body.
    fn calls(&mut self, part: Part<'p>) {
        match part {
            Part::Expr(e) => {
                if let ExprKind::Call { callee, args } = &e.kind {
                    self.call(callee, args);
                }
                e.each_part(&mut |part| self.calls(part));
            }
            Part::Callable(callable) => callable.each_part(&mut |part| self.calls(part)),
        }
    }

    fn call(&mut self, callee: &'p Callable, args: &'p [Arg]) {
        let Some(callee) = called(callee) else { return };
        for (k, arg) in args.iter().enumerate() {
            if let Arg::Function(given) = arg
                && let Some(ruled) = self.slots.get(&(callee, LocalId(k as u32)))
            {
                self.given(given, *ruled);
            }
        }
    }

    /// Something callable that the rule of a function gets.
    fn given(&mut self, callable: &'p Callable, ruled: FnId) {
        match &callable.kind {
            CallableKind::Function { .. } => {}
            CallableKind::Param(local) => {
                self.slots.entry((self.at, *local)).or_insert(ruled);
            }
            CallableKind::Derivative(derivative) => self.given(&derivative.base, ruled),
            CallableKind::Vmap(vmap) => self.given(&vmap.base, ruled),
            CallableKind::Lambda(lambda) => self.read(lambda, Part::Expr(&lambda.body), ruled),
        }
    }

    /// What a part of a lambda reads.
    fn read(&mut self, lambda: &'p Lambda, part: Part<'p>, ruled: FnId) {
        let e = match part {
            Part::Expr(e) => e,
            Part::Callable(callable) => {
                if let CallableKind::Param(_) = callable.kind {
                    self.given(callable, ruled);
                }
                return callable.each_part(&mut |part| self.read(lambda, part, ruled));
            }
        };
        if let ExprKind::Builtin { builtin: Builtin::StopGradient, .. } = &e.kind {
            return;
        }
        if let ExprKind::Local(local) = &e.kind
            && lambda.captures.contains(local)
            && has_float(self.program, &e.ty)
            && self.diagnostics.iter().all(|known| known.primary.span != e.span)
        {
            self.report(e, *local, ruled);
        }
        e.each_part(&mut |part| self.read(lambda, part, ruled));
    }

    fn report(&mut self, e: &Expr, local: LocalId, ruled: FnId) {
        let (function, ruled) = (self.program.function(self.at), self.program.function(ruled));
        let name = name_of(function, local);
        let message = format!(
            "expected a function that gets its floats as parameters for `{}`, which has a rule of its own, found one that \
             captures `{name}`",
            ruled.name
        );
        let help = format!(
            "pass `{name}` on as a part of a parameter, since the rule gives derivatives of nothing else, or read \
             `stop_gradient({name})`"
        );
        let diagnostic = Diagnostic::error(codes::CAPTURED_FLOAT, e.span, message);
        self.diagnostics.push(
            diagnostic
                .label(ruled.name_span, "declared here")
                .help(help)
                .repeated(format!("{:?} captures {local:?}", self.at), "and here"),
        );
    }
}

/// The function that is called, or of which a derivative is.
fn called(callable: &Callable) -> Option<FnId> {
    match &callable.kind {
        CallableKind::Function { function, .. } => Some(*function),
        CallableKind::Derivative(derivative) => called(&derivative.base),
        CallableKind::Vmap(vmap) => called(&vmap.base),
        CallableKind::Lambda(_) | CallableKind::Param(_) => None,
    }
}

fn name_of(function: &Function, local: LocalId) -> &str {
    match &function.body {
        FunctionBody::Source(body) => body.locals.get(local.0 as usize).map_or("?", |local| local.name.as_str()),
        FunctionBody::Derivative(_) | FunctionBody::Required(_) => "?",
    }
}
