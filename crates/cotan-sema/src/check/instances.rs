//! How many specialisations a program needs: a function with parameters of function type is
//! specialised for each set of functions that it is called with.

use std::collections::HashSet;

use cotan_syntax::{Diagnostic, Span};

use crate::limits::Limits;
use crate::typed::{Arg, Callable, CallableKind, Expr, ExprKind, FnId, FunctionBody, LocalId, Part, Program};
use crate::types::Type;

/// A function that is passed on: where it stands in the tree, and in which instance.
type Passed = (*const Callable, usize);

/// A function with what its parameters of function type stand for.
struct Instance {
    function: FnId,
    passed: Vec<(LocalId, Passed)>,
    /// The instance that needs this one.
    parent: Option<usize>,
    depth: usize,
    span: Span,
}

/// Reports a program that needs too many specialisations, or too long a chain of them.
pub(super) fn check(program: &Program, limits: &Limits) -> Option<Diagnostic> {
    let is_root = |at: &usize| {
        let params = &program.functions[*at].params;
        !params.iter().any(|param| matches!(param.ty, Type::Function(_)))
    };
    let root = |at: usize| {
        let span = program.functions[at].name_span;
        Instance { function: FnId(at as u32), passed: Vec::new(), parent: None, depth: 0, span }
    };
    let mut instances: Vec<Instance> = (0..program.functions.len()).filter(is_root).map(root).collect();
    let n_roots = instances.len();
    let mut seen: HashSet<(FnId, Vec<Passed>)> = HashSet::new();
    let mut at = 0;
    while at < instances.len() {
        for instance in needed_by(program, &instances, at) {
            let key = (instance.function, instance.passed.iter().map(|(_, passed)| *passed).collect());
            if !seen.insert(key) {
                continue;
            }
            let is_too_deep = instance.depth > limits.instance_depth;
            instances.push(instance);
            if is_too_deep || instances.len() - n_roots > limits.instances {
                return Some(too_many(program, &instances, is_too_deep, limits));
            }
        }
        at += 1;
    }
    None
}

/// The instances that the body of an instance calls.
fn needed_by(program: &Program, instances: &[Instance], at: usize) -> Vec<Instance> {
    let instance = &instances[at];
    let FunctionBody::Source(body) = &program.function(instance.function).body else { return Vec::new() };
    let mut needed = Vec::new();
    let mut open = vec![Part::Expr(&body.value)];
    while let Some(part) = open.pop() {
        match part {
            Part::Callable(callable) => callable.each_part(&mut |part| open.push(part)),
            Part::Expr(expr) => {
                expr.each_part(&mut |part| open.push(part));
                needed.extend(called(expr, instance, at));
            }
        }
    }
    needed
}

fn called(expr: &Expr, instance: &Instance, at: usize) -> Option<Instance> {
    let ExprKind::Call { callee, args } = &expr.kind else { return None };
    let CallableKind::Function { function, .. } = callee.kind else { return None };
    let mut passed = Vec::new();
    for (param, arg) in args.iter().enumerate() {
        let Arg::Function(callable) = arg else { continue };
        // A parameter that is passed on stands for what it stands for here.
        let origin = match callable.kind {
            CallableKind::Param(local) => {
                instance.passed.iter().find(|(own, _)| *own == local).map(|(_, passed)| *passed)
            }
            CallableKind::Function { .. }
            | CallableKind::Lambda(_)
            | CallableKind::Derivative(_)
            | CallableKind::Vmap(_) => None,
        };
        passed.push((LocalId(param as u32), origin.unwrap_or((std::ptr::from_ref(callable), at))));
    }
    let is_special = !passed.is_empty();
    is_special.then(|| Instance { function, passed, parent: Some(at), depth: instance.depth + 1, span: expr.span })
}

fn too_many(program: &Program, instances: &[Instance], is_too_deep: bool, limits: &Limits) -> Diagnostic {
    let mut chain = Vec::new();
    let mut next = instances.len().checked_sub(1);
    while let Some(at) = next {
        chain.push(&instances[at]);
        next = instances[at].parent;
    }
    chain.reverse();
    let name = |instance: &&Instance| format!("`{}`", program.function(instance.function).name);
    let names: Vec<String> = chain.iter().map(name).collect();
    let span = chain.last().map_or_else(Span::default, |last| last.span);
    limits.exceeded(&names, is_too_deep, span)
}
