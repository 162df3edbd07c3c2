//! The dependence graph of an iteration, and the groups of nodes that may run one group after the other.
//!
//! Nodes that touch one thing which iterations hand on, a mutable local or memory that the loop changes, stay together and in
//! order, with all that lies on a path between them (a strongly connected component). Everything else depends on nodes of
//! its own iteration alone. Groups follow from that by typed fusion: a node joins the first group of its kind that is not
//! in front of what it needs.

use crate::invariants::{Steps, defined_in};
use cotan_loops::node::{
    Buffer, BufferUse, Effect, Expr, For, Local, LocalUse, LoopFunction, Mentions, Node, Operand, OperandUse, Part,
    definitions_of, walk,
};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// More groups than this go through memory more often than lanes give back.
const MOST_GROUPS: usize = 4;

/// Nodes of a list that are looked at, at most.
const MOST_NODES: usize = 256;

/// Nodes of a body, by position, that run for a whole strip before those of the next group do.
pub(super) struct Group {
    /// Whether its iterations depend on each other.
    pub(super) is_ordered: bool,
    pub(super) nodes: Vec<usize>,
}

/// What a node and the lists in it touch.
#[derive(Default)]
pub(super) struct Touched {
    pub(super) defined: FxHashSet<Local>,
    pub(super) read: FxHashSet<Local>,
    /// Mutable locals.
    mutable: BTreeSet<Local>,
    /// Whether each buffer is changed.
    buffers: BTreeMap<Buffer, bool>,
    pub(super) fails: bool,
    /// Whether it does what a strip can't do in another order.
    is_fixed: bool,
}

impl Touched {
    pub(super) fn by(node: &Node, f: &LoopFunction) -> Touched {
        let mut touched = Touched::default();
        walk(std::slice::from_ref(node), &mut |node| {
            node.each_part(&mut |part| match part {
                Part::Local(local, LocalUse::Define) => {
                    touched.defined.insert(*local);
                }
                Part::Local(local, LocalUse::Assign | LocalUse::Combine | LocalUse::Test) => {
                    touched.mutable.insert(*local);
                }
                Part::Operand(Operand::Local(local), OperandUse::Read) => {
                    let is_mutable = f.locals[local.index()].is_mutable;
                    if is_mutable {
                        touched.mutable.insert(*local)
                    } else {
                        touched.read.insert(*local)
                    };
                }
                Part::Buffer(buffer, BufferUse::Read) => {
                    touched.buffers.entry(*buffer).or_default();
                }
                Part::Buffer(buffer, BufferUse::Write | BufferUse::Update) => {
                    touched.buffers.insert(*buffer, true);
                }
                Part::Buffer(_, _) | Part::Local(_, LocalUse::Note) => touched.is_fixed = true,
                Part::Effect(Effect::Fails) => touched.fails = true,
                Part::Effect(Effect::Prints | Effect::Calls | Effect::UsesLibrary | Effect::CountsRecord) => {
                    touched.is_fixed = true;
                }
                Part::Operand(..) | Part::List(_) => {}
            });
        });
        touched
    }

    /// The buffers that are changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = Buffer> + '_ {
        self.buffers.iter().filter(|(_, is_changed)| **is_changed).map(|(buffer, _)| *buffer)
    }
}

/// The groups of a loop, two or more, in order. `None` if the loop stays whole.
pub(super) fn groups(f: &LoopFunction, l: &For, touched: &[Touched], mentions: &Mentions) -> Option<Vec<Group>> {
    if l.body.len() > MOST_NODES || touched.iter().any(|t| t.is_fixed) {
        return None;
    }
    let mut graph = Graph::new(l.body.len());
    graph.add_flow(touched);
    graph.join_contracted(&l.body);
    graph.join_mutable(f, l, touched, mentions);
    graph.join_memory(l, touched);
    graph.join_cycles();
    let groups = graph.groups()?;
    // The first error stays the first, and what is read behind a check may be there only because the check has passed.
    let fails = |group: &Group| group.nodes.iter().any(|k| touched[*k].fails);
    (!groups.iter().skip(1).any(fails)).then_some(groups)
}

struct Graph {
    /// A node that stands for those that stay together with each.
    leader: Vec<usize>,
    is_ordered: Vec<bool>,
    /// Stores to elements that no other iteration touches, and nothing in the loop reads: they go with what they store.
    is_sink: Vec<bool>,
    /// For each node those that need it.
    needed_by: Vec<Vec<usize>>,
}

impl Graph {
    fn new(n: usize) -> Graph {
        Graph {
            leader: (0..n).collect(),
            is_ordered: vec![false; n],
            is_sink: vec![false; n],
            needed_by: vec![Vec::new(); n],
        }
    }

    fn leader(&self, mut node: usize) -> usize {
        while self.leader[node] != node {
            node = self.leader[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.leader(a), self.leader(b));
        let (first, second) = (a.min(b), a.max(b));
        self.leader[second] = first;
        self.is_ordered[first] |= self.is_ordered[second];
    }

    fn join_all(&mut self, nodes: &[usize], is_ordered: bool) {
        let Some((first, others)) = nodes.split_first() else { return };
        others.iter().for_each(|other| self.join(*first, *other));
        let leader = self.leader(*first);
        self.is_ordered[leader] |= is_ordered;
    }

    /// A local goes from where it is defined to where it is read.
    fn add_flow(&mut self, touched: &[Touched]) {
        let mut defined_by: FxHashMap<Local, usize> = FxHashMap::default();
        for (k, node) in touched.iter().enumerate() {
            let needed = node.read.iter().filter_map(|local| defined_by.get(local));
            needed.for_each(|from| self.needed_by[*from].push(k));
            defined_by.extend(node.defined.iter().map(|local| (*local, k)));
        }
    }

    /// A product of a derivative stays with the sum that takes it up before it is rounded.
    fn join_contracted(&mut self, body: &[Node]) {
        let mut uses: FxHashMap<Local, usize> = FxHashMap::default();
        walk(body, &mut |node| {
            node.each_operand(&mut |operand| {
                if let Operand::Local(local) = operand {
                    *uses.entry(local).or_default() += 1;
                }
            });
        });
        for from in 0..body.len() {
            if let Node::Let(local, Expr::Native { instruction: Instruction::Mulc, .. }) = &body[from]
                && uses.get(local) == Some(&1)
            {
                let sums = self.needed_by[from].iter().copied().filter(|to| is_sum(&body[*to]));
                sums.collect::<Vec<_>>().into_iter().for_each(|to| self.join(from, to));
            }
        }
    }

    /// What touches a mutable local stays together. Iterations hand it on unless each sets it first.
    fn join_mutable(&mut self, f: &LoopFunction, l: &For, touched: &[Touched], mentions: &Mentions) {
        let mut nodes_of: BTreeMap<Local, Vec<usize>> = BTreeMap::new();
        for (k, node) in touched.iter().enumerate() {
            node.mutable.iter().for_each(|local| nodes_of.entry(*local).or_default().push(k));
        }
        for (local, nodes) in nodes_of {
            self.join_all(&nodes, !is_private(f, l, local, mentions));
        }
    }

    /// What touches memory that the loop changes stays together, but for a store that has an element for each iteration.
    fn join_memory(&mut self, l: &For, touched: &[Touched]) {
        let mut nodes_of: BTreeMap<Buffer, (Vec<usize>, bool)> = BTreeMap::new();
        for (k, node) in touched.iter().enumerate() {
            for (buffer, is_changed) in &node.buffers {
                let (nodes, any_changed) = nodes_of.entry(*buffer).or_default();
                nodes.push(k);
                *any_changed |= is_changed;
            }
        }
        let (definitions, defined) = (definitions_of(&l.body), defined_in(&l.body));
        let steps = Steps { index: l.index, defined: &defined, definitions: &definitions };
        for (nodes, is_changed) in nodes_of.into_values() {
            let has_own_elements = |k: &usize| {
                let Node::Store(place, _) = &l.body[*k] else { return false };
                steps.of(place.offset).is_some_and(|step| step != 0)
            };
            if is_changed && nodes.len() == 1 && has_own_elements(&nodes[0]) {
                self.is_sink[nodes[0]] = true;
            } else if is_changed {
                self.join_all(&nodes, true);
            }
        }
    }

    /// Joins what lies on paths between nodes that stay together.
    fn join_cycles(&mut self) {
        let n = self.leader.len();
        let mut reached = vec![FxHashSet::default(); n];
        for k in (0..n).rev() {
            let leader = self.leader(k);
            reached[leader].extend(self.needed_by[k].iter().map(|to| self.leader(*to)));
        }
        // Whom a node reaches, closed: few rounds, as positions mostly rise along edges.
        loop {
            let mut grows = false;
            for k in (0..n).rev().filter(|k| self.leader[*k] == *k) {
                let mut all = reached[k].clone();
                reached[k].iter().for_each(|to| all.extend(reached[*to].iter().copied()));
                grows |= all.len() > reached[k].len();
                reached[k] = all;
            }
            if !grows {
                break;
            }
        }
        for a in 0..n {
            for b in 0..a {
                if reached[a].contains(&b) && reached[b].contains(&a) {
                    self.join(a, b);
                }
            }
        }
    }

    fn groups(&self) -> Option<Vec<Group>> {
        let n = self.leader.len();
        // Groups without an order have even numbers, the others odd ones.
        let mut number: Vec<usize> = (0..n).map(|k| usize::from(self.is_ordered[self.leader(k)])).collect();
        loop {
            let mut rises = false;
            for from in 0..n {
                for to in &self.needed_by[from] {
                    let (from, to) = (self.leader(from), self.leader(*to));
                    if from != to {
                        let is_later = !self.is_sink[to] && self.is_ordered[from] != self.is_ordered[to];
                        let least = number[from] + usize::from(is_later);
                        rises |= number[to] < least;
                        number[to] = number[to].max(least);
                    }
                }
            }
            if number.iter().any(|number| *number >= 2 * MOST_GROUPS) {
                return None;
            }
            if !rises {
                break;
            }
        }
        let mut groups: Vec<Group> = Vec::new();
        for number_of_group in 0..2 * MOST_GROUPS {
            let nodes: Vec<usize> = (0..n).filter(|k| number[self.leader(*k)] == number_of_group).collect();
            if !nodes.is_empty() {
                groups.push(Group { is_ordered: number_of_group % 2 == 1, nodes });
            }
        }
        let is_split = (2..=MOST_GROUPS).contains(&groups.len());
        is_split.then_some(groups)
    }
}

/// Whether a node may add a product up without rounding it.
fn is_sum(node: &Node) -> bool {
    let is_addition =
        |instruction: &Instruction| [Instruction::Add, Instruction::Sub, Instruction::Neg].contains(instruction);
    matches!(node, Node::Combine { .. })
        || matches!(node, Node::Let(_, Expr::Native { instruction, .. }) if is_addition(instruction))
}

/// Whether each iteration sets a mutable local before anything else is done with it, and nothing behind the loop reads it.
pub(super) fn is_private(f: &LoopFunction, l: &For, local: Local, mentions: &Mentions) -> bool {
    let first = l.body.iter().find(|node| Touched::by(node, f).mutable.contains(&local));
    matches!(first, Some(Node::Set(..))) && Mentions::of(&l.body).has_all_of_local(local, mentions)
}
