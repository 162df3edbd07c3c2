//! The order of functions: each after those that it calls. Where there is none, a function calls
//! itself, which is an error that names the cycle.

use cotan_syntax::{Diagnostic, Span};

use super::ModuleChecker;
use crate::codes;
use crate::typed::{CallableKind, FnId, FunctionBody};

/// How far a function has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unseen,
    /// On the path that is being followed.
    Open,
    Done,
}

impl ModuleChecker<'_> {
    /// Orders the functions and reports cycles. Follows calls with a path of its own instead of
    /// recursion, so that long chains of functions need no stack.
    pub(super) fn order_functions(&mut self) -> Vec<FnId> {
        let callees = self.callees();
        let mut states = vec![State::Unseen; callees.len()];
        let mut order = Vec::new();
        for root in 0..callees.len() {
            if states[root] != State::Unseen {
                continue;
            }
            states[root] = State::Open;
            let mut path = vec![(root, 0)];
            while let Some((at, next)) = path.last_mut() {
                let at = *at;
                let Some((callee, _)) = callees[at].get(*next).copied() else {
                    states[at] = State::Done;
                    order.push(FnId(at as u32));
                    path.pop();
                    continue;
                };
                *next += 1;
                match states[callee] {
                    State::Done => {}
                    State::Unseen => {
                        states[callee] = State::Open;
                        path.push((callee, 0));
                    }
                    State::Open => {
                        let start = path.iter().position(|(other, _)| *other == callee).unwrap_or(0);
                        let cycle: Vec<(usize, Span)> =
                            path[start..].iter().map(|(from, taken)| (*from, callees[*from][*taken - 1].1)).collect();
                        self.report_cycle(&cycle);
                    }
                }
            }
        }
        order
    }

    /// For each function those that it calls or differentiates, with the place.
    fn callees(&self) -> Vec<Vec<(usize, Span)>> {
        let mut callees = vec![Vec::new(); self.signatures.len()];
        for edge in &self.edges {
            callees[edge.caller.0 as usize].push((edge.callee.0 as usize, edge.span));
        }
        for (at, body) in self.bodies.iter().enumerate() {
            if let Some(FunctionBody::Derivative(derivative)) = body
                && let CallableKind::Function { function, .. } = derivative.base.kind
            {
                callees[at].push((function.0 as usize, derivative.span));
            }
        }
        callees
    }

    fn report_cycle(&mut self, cycle: &[(usize, Span)]) {
        let Some((_, span)) = cycle.last() else { return };
        let name = |at: usize| self.signatures[at].name.trim_end_matches(".primal").to_owned();
        let mut names: Vec<String> = cycle.iter().map(|(at, _)| name(*at)).collect();
        names.dedup();
        let first = names[0].clone();
        if names.len() == 1 || names.last() != Some(&first) {
            names.push(first.clone());
        }
        let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("expected functions that don't call themselves, found that {}", shown.join(" calls "));
        let mut diagnostic = Diagnostic::error(codes::RECURSION, *span, message);
        for (at, span) in &cycle[..cycle.len() - 1] {
            diagnostic = diagnostic.label(*span, format!("called in `{}`", name(*at)));
        }
        self.report(diagnostic.help("write a loop: `while`, `iterate` and `iterate_until` carry any state"));
    }
}
