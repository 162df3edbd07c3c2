//! The order of functions: each after those that it calls. Where there is none, a function calls itself, which is an
//! error that names the cycle.

use cotan_syntax::{Diagnostic, Span};

use crate::codes;

/// A call that stands in a function: of function number `at`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callee {
    pub(crate) at: usize,
    pub(crate) span: Span,
}

/// Functions in order.
pub(crate) struct Sorted {
    /// The numbers of the functions, each after those that it calls.
    pub(crate) order: Vec<usize>,
    /// Functions that call one another, each with the place where it calls the next; of very many cycles the first.
    pub(crate) cycles: Vec<Vec<(usize, Span)>>,
}

/// How many cycles are found at most: many may share a long path, and all are mended by breaking a few.
const MOST_CYCLES: usize = 100;

/// How many functions of a cycle a message names.
const MOST_NAMES: usize = 12;

/// How far a function has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unseen,
    /// On the path that is being followed.
    Open,
    Done,
}

/// Orders functions, given what each calls. Follows calls with a path of its own instead of recursion, so that long
/// chains of functions need no stack.
pub(crate) fn sort(callees: &[Vec<Callee>]) -> Sorted {
    let mut states = vec![State::Unseen; callees.len()];
    let mut sorted = Sorted { order: Vec::new(), cycles: Vec::new() };
    for root in 0..callees.len() {
        if states[root] != State::Unseen {
            continue;
        }
        states[root] = State::Open;
        let mut path = vec![(root, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            let Some(callee) = callees[at].get(*next).map(|callee| callee.at) else {
                states[at] = State::Done;
                sorted.order.push(at);
                path.pop();
                continue;
            };
            *next += 1;
            match states[callee] {
                State::Done => {}
                State::Open if sorted.cycles.len() >= MOST_CYCLES => {}
                State::Unseen => {
                    states[callee] = State::Open;
                    path.push((callee, 0));
                }
                State::Open => {
                    let start = path.iter().position(|(other, _)| *other == callee).unwrap_or(0);
                    let steps = path[start..].iter().map(|(from, taken)| (*from, callees[*from][*taken - 1].span));
                    sorted.cycles.push(steps.collect());
                }
            }
        }
    }
    sorted
}

/// The error of functions that call one another, named by `name`.
pub(crate) fn cycle_error(cycle: &[(usize, Span)], name: &dyn Fn(usize) -> String) -> Diagnostic {
    let name = |at: usize| name(at).trim_end_matches(".primal").to_owned();
    let is_long = cycle.len() > MOST_NAMES;
    let mut names: Vec<String> = cycle.iter().take(MOST_NAMES).map(|(at, _)| name(*at)).collect();
    names.dedup();
    if names.len() == 1 || names.last() != names.first() {
        names.extend(names.first().cloned());
    }
    let mut shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if is_long {
        shown.insert(shown.len() - 1, format!("{} others, of which the last", cycle.len() - MOST_NAMES));
    }
    let message = format!("expected functions that don't call themselves, found that {}", shown.join(" calls "));
    let span = cycle.last().map_or_else(Span::default, |(_, span)| *span);
    let mut diagnostic = Diagnostic::error(codes::RECURSION, span, message);
    for (at, span) in cycle[..cycle.len().saturating_sub(1)].iter().take(MOST_NAMES) {
        diagnostic = diagnostic.label(*span, format!("called in `{}`", name(*at)));
    }
    diagnostic.help("write a loop: `while`, `iterate` and `iterate_until` carry any state")
}
