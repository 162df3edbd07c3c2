//! Loops whose iterations do nothing: those around loops and copies that have no iterations, whose numbers are known before.
//! They would walk all the same, for years where the outer number is large and nothing is there to be filled.

use super::function::FunctionEmitter;
use super::instruction::Form;
use super::pieces::is_split_off;
use cotan_ir::Elem;
use cotan_loops::node::{Expr, For, Local, Node, Operand, Target, walk};
use cotan_ops::Instruction;
use std::collections::BTreeMap;

/// What must hold for something to happen.
#[derive(Clone, Copy)]
enum Need {
    /// The number is positive.
    Positive(Operand),
    /// The condition is true.
    True(Operand),
}

impl Need {
    fn operand(self) -> Operand {
        match self {
            Need::Positive(operand) | Need::True(operand) => operand,
        }
    }

    /// Whether it is known to hold.
    fn holds(self) -> bool {
        match self {
            Need::Positive(n) => n.as_i64().is_some_and(|n| n > 0),
            Need::True(cond) => matches!(cond, Operand::Const(c) if c.as_bool() == Some(true)),
        }
    }
}

/// What must hold together.
type Guard = Vec<Need>;

/// A loop around more of them than this is not looked at: what is computed in front of it should not be felt.
const MOST_GUARDS: usize = 4;

/// A number is computed in front of a loop in so many steps at most. Whether whole strips leave a rest takes eight.
const MOST_STEPS: usize = 16;

/// What the body of a loop defines; other locals are there before it. `None` stands for what can't be computed before.
type Inside<'n> = BTreeMap<Local, Option<&'n Expr>>;

impl FunctionEmitter<'_> {
    /// Whether a loop with iterations does something, as a value in front of it; none where that is not known there.
    pub(super) fn does_something(&mut self, l: &For) -> Option<String> {
        let mut inside = Inside::new();
        inside.insert(l.index, None);
        definitions(&l.body, &mut inside);
        let mut guards = guards(&l.body)?;
        // A guard without some of its numbers holds where the whole one does.
        let is_known = |need: &Need| {
            let mut left = MOST_STEPS;
            is_known_before(need.operand(), &inside, &mut left)
        };
        guards.iter_mut().for_each(|guard| guard.retain(is_known));
        if guards.len() > MOST_GUARDS || guards.iter().any(Vec::is_empty) {
            return None;
        }
        let mut any: Option<String> = None;
        for guard in guards {
            let mut all: Option<String> = None;
            for need in guard {
                let operand = before(self, need.operand(), &inside);
                let runs = match need {
                    Need::Positive(_) => self.out.define(&format!("icmp slt i64 0, {operand}")),
                    Need::True(_) => operand,
                };
                all = Some(match all {
                    Some(all) => self.out.define(&format!("and i1 {all}, {runs}")),
                    None => runs,
                });
            }
            let all = all?;
            any = Some(match any {
                Some(any) => self.out.define(&format!("or i1 {any}, {all}")),
                None => all,
            });
        }
        any
    }
}

/// A number in front of the loop, where [`is_known_before`] says that it can be computed.
fn before(emitter: &mut FunctionEmitter<'_>, n: Operand, inside: &Inside<'_>) -> String {
    let definition = if let Operand::Local(local) = n { inside.get(&local).copied().flatten() } else { None };
    match definition {
        Some(Expr::Copy(from)) => before(emitter, *from, inside),
        Some(Expr::Native { instruction, elem, args }) => {
            let args: Vec<String> = args.iter().map(|a| before(emitter, *a, inside)).collect();
            let to = emitter.out.temporary();
            emitter.out.native(&to, *instruction, Form { elem: *elem, lanes: 1 }, &args);
            to
        }
        Some(Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_))
        | None => emitter.operand(n),
    }
}

/// When nodes do something: where some guard holds. None if that depends on more.
fn guards(nodes: &[Node]) -> Option<Vec<Guard>> {
    let mut found = Vec::new();
    for node in nodes {
        if let Node::Copy { count, .. } = node {
            found.push(vec![Need::Positive(*count)]);
        } else if let Node::PartialSums(sums) = node {
            found.push(vec![Need::Positive(sums.size)]);
        } else if let Node::For(l) = node {
            let runs = Need::Positive(l.count);
            found.extend(if is_split_off(l) { vec![vec![runs]] } else { under(runs, &l.body) });
        } else if let Node::Scope(body) = node {
            found.extend(guards(body)?);
        } else if let Node::If(cond, yes, no) = node {
            // The iterations that whole strips leave, for one.
            let guards =
                if no.is_empty() { under(Need::True(*cond), yes) } else { [guards(yes)?, guards(no)?].concat() };
            found.extend(guards);
        } else if !node.only_defines() {
            return None;
        }
        // Of the others what is computed is seen by nobody else, and memory that is asked for is given back.
    }
    // Nobody waits for a loop that is known to run.
    if found.iter().any(|guard| guard.iter().all(|need| need.holds())) {
        return None;
    }
    Some(found)
}

/// When nodes that run only where something holds do something.
fn under(need: Need, nodes: &[Node]) -> Vec<Guard> {
    match guards(nodes) {
        // Of more, for instance of the lanes of a strip one by one, it is enough to know what they have in common.
        Some(inner) if inner.len() <= MOST_GUARDS / 2 => {
            inner.into_iter().map(|guard| [vec![need], guard].concat()).collect()
        }
        Some(_) | None => vec![vec![need]],
    }
}

/// Notes what nodes define or assign to, at any depth.
fn definitions<'n>(nodes: &'n [Node], inside: &mut Inside<'n>) {
    walk(nodes, &mut |node| {
        node.each_definition(&mut |local, expr| {
            inside.insert(local, expr);
        });
        if let Node::Set(local, _) | Node::Combine { target: Target::Local(local), .. } = node {
            inside.insert(*local, None);
        }
    });
}

/// Whether a number is there in front of the loop, or can be computed there in a few steps that cannot fail.
fn is_known_before(n: Operand, inside: &Inside<'_>, left: &mut usize) -> bool {
    let Operand::Local(local) = n else { return true };
    let Some(definition) = inside.get(&local) else { return true };
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match definition {
        Some(Expr::Copy(from)) => is_known_before(*from, inside, left),
        Some(Expr::Native { instruction, elem: Elem::I64, args }) => {
            let cannot_fail = matches!(
                instruction,
                Instruction::Add
                    | Instruction::Sub
                    | Instruction::Mul
                    | Instruction::Min
                    | Instruction::Max
                    | Instruction::Lt
            );
            let divides = matches!(instruction, Instruction::Div | Instruction::Rem);
            let divisor_is_known = || args.get(1).and_then(|n| n.as_i64()).is_some_and(|n| n > 0);
            let shifts = matches!(instruction, Instruction::Shl | Instruction::Shr);
            let width_is_known = || args.get(1).and_then(|n| n.as_i64()).is_some_and(|n| (0..64).contains(&n));
            (cannot_fail || divides && divisor_is_known() || shifts && width_is_known())
                && args.iter().all(|a| is_known_before(*a, inside, left))
        }
        Some(
            Expr::Native { .. }
            | Expr::Host { .. }
            | Expr::Iota(_)
            | Expr::Any(_)
            | Expr::First(_)
            | Expr::Fold(..)
            | Expr::Lane(_),
        )
        | None => false,
    }
}
