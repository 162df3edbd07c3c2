//! Inspection: the checks of a nest, in front of it.
//!
//! A check whose condition follows from one counter, and from elements that the nest does not change, is asked for all
//! values of that counter in a loop over them. If all hold, none fails in the nest. Else the checks alone run in the order
//! of the nest, so that the first one ends the call.
//!
//! An element is read, and an integer divided, only where the checks before it in an iteration are known to hold. So
//! there may be several such loops: a check joins the first one over its counter that is not in front of what it needs.

use super::super::write::Writer;
use super::nest::Nest;
use crate::invariants::give_own_names;
use cotan_ir::{Elem, Monoid};
use cotan_loops::node::{
    Buffer, BufferKind, Expr, For, Independence, Local, LocalInfo, LoopFunction, Node, Operand, Target, Threads,
};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What a condition follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    Nothing,
    Outer,
    Inner,
}

impl Along {
    fn index(self, nest: &Nest, counts: [Operand; 2]) -> Option<(Local, Operand)> {
        match self {
            Along::Nothing => None,
            Along::Outer => Some((nest.indices[0], counts[0])),
            Along::Inner => Some((nest.indices[1], counts[1])),
        }
    }
}

/// The checks of a nest, as positions among the nodes of an iteration.
#[derive(Default)]
pub(super) struct Checks {
    /// Those that are asked together, with what they take.
    groups: Vec<(Along, BTreeSet<usize>)>,
    /// All of them, with what they take and report.
    all: BTreeSet<usize>,
}

impl Checks {
    /// `None` if they can't be asked before.
    pub(super) fn of(
        f: &LoopFunction,
        nest: &Nest,
        inside: &FxHashSet<Local>,
        written: &FxHashSet<Buffer>,
    ) -> Option<Checks> {
        let slicer = Slicer::new(f, nest, inside, written);
        let mut checks = Checks::default();
        let mut asked_in: Vec<(usize, usize)> = Vec::new();
        for (position, node) in nest.iteration().enumerate() {
            let Node::Check { cond, args, .. } = node else { continue };
            let mut slice = Slice { positions: BTreeSet::from([position]), follows: [false; 2] };
            slicer.add(*cond, &mut slice)?;
            let along = slice.along()?;
            let last_guarded = slice.positions.iter().rfind(|at| is_guarded(slicer.nodes[**at]));
            let needed = asked_in.iter().filter(|(check, _)| last_guarded.is_some_and(|at| check < at));
            let least = needed.map(|(_, group)| *group).max().unwrap_or(0);
            let found = (least..checks.groups.len()).find(|group| checks.groups[*group].0 == along);
            let group = found.unwrap_or(checks.groups.len());
            if found.is_none() {
                checks.groups.push((along, BTreeSet::new()));
            }
            checks.groups[group].1.extend(&slice.positions);
            asked_in.push((position, group));
            // What is reported is computed where it fails.
            args.iter().try_for_each(|arg| slicer.add(*arg, &mut slice))?;
            checks.all.extend(slice.positions);
        }
        Some(checks)
    }

    /// Writes them in front of a nest, which runs under a condition.
    pub(super) fn write(&self, w: &mut Writer, nest: &Nest, counts: [Operand; 2], runs: Operand) {
        if self.all.is_empty() {
            return;
        }
        w.f.locals.push(LocalInfo { name: "holds".into(), elem: Elem::Bool, is_mutable: true, lanes: 1 });
        let holds = Local(w.f.locals.len() as u32 - 1);
        w.push(Node::Set(holds, runs));
        let nodes: Vec<&Node> = nest.iteration().collect();
        for (along, group) in &self.groups {
            let positions: Vec<usize> = group.iter().copied().collect();
            let asked = asked(&nodes, &positions, holds);
            let mut asked = match along.index(nest, counts) {
                Some((index, count)) => vec![counted(index, count, asked)],
                None => asked,
            };
            give_own_names(w.f, &mut asked);
            let still = w.define("still", Elem::Bool, Expr::Copy(holds.into()));
            w.push(Node::If(still, asked, Vec::new()));
        }
        let all = w.define("all", Elem::Bool, Expr::Copy(holds.into()));
        let mut in_order = vec![self.in_order(nest, counts)];
        give_own_names(w.f, &mut in_order);
        w.push(Node::If(all, Vec::new(), in_order));
    }

    /// The nest with nothing in it but the checks.
    fn in_order(&self, nest: &Nest, counts: [Operand; 2]) -> Node {
        let kept = nest.iteration().enumerate().filter(|(position, _)| self.all.contains(position));
        let (before, body): (Vec<_>, Vec<_>) = kept.partition(|(position, _)| *position < nest.before.len());
        let [mut before, body]: [Vec<Node>; 2] =
            [before, body].map(|nodes| nodes.into_iter().map(|(_, node)| node.clone()).collect());
        before.push(counted(nest.indices[1], counts[1], body));
        counted(nest.indices[0], counts[0], before)
    }
}

/// Asks checks: what holds of all of them goes to a variable.
fn asked(nodes: &[&Node], positions: &[usize], holds: Local) -> Vec<Node> {
    let mut list = Vec::new();
    for (k, position) in positions.iter().enumerate() {
        let Node::Check { cond, .. } = nodes[*position] else {
            list.push(nodes[*position].clone());
            continue;
        };
        list.push(Node::Combine { monoid: Monoid::And, target: Target::Local(holds), value: *cond });
        let rest = &positions[k + 1..];
        if rest.iter().any(|at| is_guarded(nodes[*at])) {
            list.push(Node::If(*cond, asked(nodes, rest, holds), Vec::new()));
            break;
        }
    }
    list
}

fn counted(index: Local, count: Operand, body: Vec<Node>) -> Node {
    let (threads, independence) = (Threads::One, Independence::None);
    Node::For(Box::new(For { index, count, threads, independence, lanes: 1, may_flush: false, body }))
}

/// Whether a node needs what checks before it have found.
fn is_guarded(node: &Node) -> bool {
    if let Node::Let(_, Expr::Native { instruction, elem, .. }) = node {
        return !elem.is_float() && [Instruction::Div, Instruction::Rem].contains(instruction);
    }
    matches!(node, Node::Load(..))
}

/// Nodes of an iteration, and whether they follow from the outer and the inner counter.
struct Slice {
    positions: BTreeSet<usize>,
    follows: [bool; 2],
}

impl Slice {
    fn along(&self) -> Option<Along> {
        match self.follows {
            [false, false] => Some(Along::Nothing),
            [true, false] => Some(Along::Outer),
            [false, true] => Some(Along::Inner),
            [true, true] => None,
        }
    }
}

/// Finds what values take.
struct Slicer<'a> {
    f: &'a LoopFunction,
    nest: &'a Nest,
    /// What the nest defines.
    inside: &'a FxHashSet<Local>,
    /// What it changes.
    written: &'a FxHashSet<Buffer>,
    nodes: Vec<&'a Node>,
    defined_at: FxHashMap<Local, usize>,
}

impl<'a> Slicer<'a> {
    fn new(
        f: &'a LoopFunction,
        nest: &'a Nest,
        inside: &'a FxHashSet<Local>,
        written: &'a FxHashSet<Buffer>,
    ) -> Slicer<'a> {
        let nodes: Vec<&Node> = nest.iteration().collect();
        let definition = |(position, node): (usize, &&Node)| {
            let (Node::Let(local, _) | Node::Load(local, _)) = node else { return None };
            Some((*local, position))
        };
        let defined_at = nodes.iter().enumerate().filter_map(definition).collect();
        Slicer { f, nest, inside, written, nodes, defined_at }
    }

    /// Adds what an operand takes; nothing if that is not known before the nest.
    fn add(&self, operand: Operand, slice: &mut Slice) -> Option<()> {
        let Operand::Local(local) = operand else { return Some(()) };
        if let Some(counter) = self.nest.indices.iter().position(|index| *index == local) {
            slice.follows[counter] = true;
            return Some(());
        }
        if !self.inside.contains(&local) {
            return (!self.f.locals[local.index()].is_mutable).then_some(());
        }
        let position = *self.defined_at.get(&local)?;
        if !slice.positions.insert(position) {
            return Some(());
        }
        if let Node::Load(_, from) = self.nodes[position] {
            let kind = self.f.buffers[from.buffer.index()].kind;
            let is_memory = matches!(kind, BufferKind::Param(_) | BufferKind::Allocated(_));
            let is_fixed = is_memory && !self.written.contains(&from.buffer);
            return is_fixed.then(|| self.add(from.offset, slice)).flatten();
        }
        let Node::Let(_, Expr::Native { args, .. }) = self.nodes[position] else { return None };
        args.iter().try_for_each(|arg| self.add(*arg, slice))
    }
}
