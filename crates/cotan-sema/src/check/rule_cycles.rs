//! Rules that need themselves: a rule that differentiates the function that it is for, directly or through others.

use std::collections::BTreeSet;

use cotan_syntax::{Diagnostic, Span};

use crate::codes;
use crate::typed::{
    Callable, CallableKind, Derivative, DerivativeForm, DerivativeMode, Expr, FnId, FunctionBody, Part, Program,
};

/// A function that is needed, and the mode in which it is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    function: FnId,
    mode: Option<Mode>,
}

/// A mode with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Forward,
    Reverse,
}

/// Reports the rules of a program that have no end.
pub(super) fn check(program: &Program) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for at in 0..program.functions.len() {
        let of = FnId(at as u32);
        for mode in [Mode::Forward, Mode::Reverse] {
            let Some(rule) = rule_of(program, of, mode) else { continue };
            if let Some(span) = needed(program, rule, Need { function: of, mode: Some(mode) }) {
                diagnostics.push(report(program, of, rule, span));
            }
        }
    }
    diagnostics
}

fn rule_of(program: &Program, of: FnId, mode: Mode) -> Option<FnId> {
    let rules = &program.function(of).rules;
    let rule = match mode {
        Mode::Forward => rules.jvp.as_ref(),
        Mode::Reverse => rules.vjp.as_ref(),
    };
    match rule?.kind {
        CallableKind::Function { function, .. } => Some(function),
        CallableKind::Lambda(_) | CallableKind::Param(_) | CallableKind::Derivative(_) | CallableKind::Vmap(_) => None,
    }
}

fn report(program: &Program, of: FnId, rule: FnId, span: Span) -> Diagnostic {
    let (of, rule) = (program.function(of), program.function(rule));
    let message = format!("expected a rule that has an end, found that `{}` differentiates `{}`", rule.name, of.name);
    Diagnostic::error(codes::RULE_CYCLE, span, message)
        .label(rule.name_span, format!("this is the rule for the derivative of `{}`", of.name))
        .help("write the derivative out, or differentiate in the other mode")
}

/// Where something that a rule runs needs `wanted`.
fn needed(program: &Program, rule: FnId, wanted: Need) -> Option<Span> {
    let first = Need { function: rule, mode: None };
    let mut seen = BTreeSet::from([first]);
    // Each with the derivative in the body of the rule that leads to it.
    let mut open: Vec<(Need, Option<Span>)> = vec![(first, None)];
    while let Some((need, from)) = open.pop() {
        let mut note = |function: FnId, mode: Option<Mode>, span: Span| {
            let next = Need { function, mode };
            let from = from.unwrap_or(span);
            if seen.insert(next) {
                open.push((next, Some(from)));
            }
        };
        match &program.function(need.function).body {
            FunctionBody::Source(body) => each_need(&body.value, need.mode, &mut note),
            FunctionBody::Derivative(derivative) => derivative_needs(derivative, need.mode, &mut note),
            FunctionBody::Required(_) => {}
        }
        if let Some(rule) = need.mode.and_then(|mode| rule_of(program, need.function, mode)) {
            note(rule, None, from.unwrap_or_default());
        }
        if let Some((_, found)) = open.iter().find(|(need, _)| *need == wanted) {
            return *found;
        }
    }
    None
}

/// Calls `note` for every function that an expression needs.
fn each_need(e: &Expr, mode: Option<Mode>, note: &mut dyn FnMut(FnId, Option<Mode>, Span)) {
    e.each_part(&mut |part| match part {
        Part::Expr(child) => each_need(child, mode, note),
        Part::Callable(callable) => callable_needs(callable, mode, note),
    });
}

fn callable_needs(callable: &Callable, mode: Option<Mode>, note: &mut dyn FnMut(FnId, Option<Mode>, Span)) {
    match &callable.kind {
        CallableKind::Function { function, .. } => note(*function, mode, callable.span),
        CallableKind::Lambda(lambda) => each_need(&lambda.body, mode, note),
        CallableKind::Param(_) => {}
        CallableKind::Derivative(derivative) => derivative_needs(derivative, mode, note),
        CallableKind::Vmap(vmap) => callable_needs(&vmap.base, mode, note),
    }
}

fn derivative_needs(derivative: &Derivative, mode: Option<Mode>, note: &mut dyn FnMut(FnId, Option<Mode>, Span)) {
    for inner in modes(derivative).into_iter().map(Some).chain(mode.map(Some)) {
        callable_needs(&derivative.base, inner, &mut |function, mode, _| note(function, mode, derivative.span));
    }
}

/// The modes in which a form may differentiate its base.
fn modes(derivative: &Derivative) -> Vec<Mode> {
    let given = derivative.mode.map(|mode| match mode {
        DerivativeMode::Forward => Mode::Forward,
        DerivativeMode::Reverse => Mode::Reverse,
    });
    match derivative.form {
        DerivativeForm::Jvp => vec![Mode::Forward],
        DerivativeForm::Vjp => vec![Mode::Reverse],
        DerivativeForm::Grad | DerivativeForm::ValueAndGrad => vec![given.unwrap_or(Mode::Reverse)],
        DerivativeForm::Jacobian => given.map_or(vec![Mode::Forward, Mode::Reverse], |mode| vec![mode]),
        DerivativeForm::Hessian | DerivativeForm::Hvp => vec![Mode::Reverse, given.unwrap_or(Mode::Forward)],
    }
}
