//! Loop fusion with recomputation: an array that a short parallel loop fills, and that other parallel loops read at few places,
//! is not kept. Its elements are computed where they are read, so that a launch and the traffic of an array are saved.

use super::writer::{Writer, renamed};
use crate::cost::cost;
use crate::parallel::{Role, is_wide};
use cotan_loops::node::{BufferUse, OperandUse, Part, walk};
use cotan_loops::{Argument, Buffer, BufferKind, Expr, Home, Independence, Local, LoopFunction, Node, Operand, Place};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most that an element costs which is computed anew.
const CHEAP: usize = 1_000;

/// The places at which the array is read, at most.
const PLACES: usize = 2;

/// Fuses the parallel loops of a function.
pub(super) fn recompute_elements(f: &mut LoopFunction) {
    let mut memory = Memory::of(f);
    let mut body = std::mem::take(&mut f.body);
    list(f, &mut memory, &mut body);
    f.body = body;
}

fn list(f: &mut LoopFunction, memory: &mut Memory, nodes: &mut Vec<Node>) {
    for node in nodes.iter_mut() {
        if Role::of(f, node) == Role::Control {
            node.lists_mut().into_iter().for_each(|inner| list(f, memory, inner));
        }
    }
    let mut at = 0;
    while at < nodes.len() {
        let producer = Producer::of(f, &nodes[at]);
        match producer.filter(|producer| producer.can_be_fused(f, memory, &nodes[at + 1..])) {
            Some(producer) => {
                nodes.remove(at);
                producer.fuse(f, memory, &mut nodes[at..]);
                nodes.retain(|node| !matches!(node, Node::Alloc { buffer, .. } if *buffer == producer.array));
                at = 0;
            }
            None => at += 1,
        }
    }
}

/// What is known of the memory of a function.
struct Memory {
    /// How often elements of each buffer are loaded.
    loads: FxHashMap<Buffer, usize>,
    /// How often each buffer is mentioned otherwise.
    others: FxHashMap<Buffer, usize>,
    /// What each name is bound to, if it is only bound once.
    bound: FxHashMap<Buffer, Option<Buffer>>,
}

impl Memory {
    fn of(f: &LoopFunction) -> Memory {
        let (mut loads, mut others, mut bound) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        walk(&f.body, &mut |node| {
            if let Node::Load(_, place) = node {
                *loads.entry(place.buffer).or_default() += 1;
                return;
            }
            if let Node::Bind { buffer, to } = node {
                bound.entry(*buffer).and_modify(|other| *other = None).or_insert(Some(to.buffer));
            }
            node.each_buffer(&mut |buffer, _| *others.entry(buffer).or_default() += 1);
        });
        for result in &f.results {
            if let Argument::Tensor(tensor) = result {
                *others.entry(tensor.place.buffer).or_default() += 1;
            }
        }
        Memory { loads, others, bound }
    }

    /// The array behind a name, if it is known.
    fn root(&self, f: &LoopFunction, buffer: Buffer) -> Option<Buffer> {
        match f.buffers[buffer.index()].kind {
            BufferKind::Param(_) | BufferKind::Allocated(_) => Some(buffer),
            BufferKind::Bound => self.root(f, (*self.bound.get(&buffer)?)?),
            BufferKind::Stack => None,
        }
    }
}

/// A loop that fills an array: a store of each iteration at its index, and what computes the value.
struct Producer {
    index: Local,
    array: Buffer,
    /// What computes the value, in a straight line.
    body: Vec<Node>,
    value: Operand,
}

impl Producer {
    fn of(f: &LoopFunction, node: &Node) -> Option<Producer> {
        let Node::For(l) = node else { return None };
        let [body @ .., Node::Store(Place { buffer: array, offset }, value)] = &l.body[..] else { return None };
        let is_array = f.buffers[array.index()].kind == BufferKind::Allocated(Home::Arena);
        let is_pure = |node: &Node| matches!(node, Node::Load(..) | Node::Let(_, Expr::Native { .. } | Expr::Copy(_)));
        let is_cheap = body.iter().map(cost).sum::<usize>() <= CHEAP;
        let is_producer = l.independence == Independence::All
            && is_wide(node)
            && *offset == l.index.into()
            && is_array
            && is_cheap
            && body.iter().all(is_pure)
            && !reads_variables(f, &l.body);
        is_producer.then(|| Producer { index: l.index, array: *array, body: body.to_vec(), value: *value })
    }

    /// Whether a loop in front of these nodes can be fused with those that read its array.
    fn can_be_fused(&self, f: &LoopFunction, memory: &Memory, nodes: &[Node]) -> bool {
        let n_loads = memory.loads.get(&self.array).copied().unwrap_or_default();
        // Other than loaded from, the array is allocated and stored to.
        if !(1..=PLACES).contains(&n_loads) || memory.others.get(&self.array) != Some(&2) {
            return false;
        }
        let mut n_found = 0;
        let Some(last) = nodes.iter().position(|node| {
            n_found += self.loads_of_threads(node);
            n_found == n_loads
        }) else {
            return false;
        };
        !self.may_change(f, memory, &nodes[..=last])
    }

    /// How often iterations of a parallel loop load an element, outside of loops in them.
    fn loads_of_threads(&self, node: &Node) -> usize {
        if let Node::For(l) = node
            && is_wide(node)
        {
            self.loads(&l.body)
        } else if let Node::Reduce(reduction) = node
            && is_wide(node)
        {
            self.loads(&reduction.body)
        } else {
            0
        }
    }

    fn loads(&self, nodes: &[Node]) -> usize {
        let loads_of = |node: &Node| {
            if let Node::Load(_, place) = node {
                usize::from(place.buffer == self.array)
            } else if node.has_loop() || matches!(node, Node::While(..)) {
                0
            } else {
                node.lists().into_iter().map(|list| self.loads(list)).sum()
            }
        };
        nodes.iter().map(loads_of).sum()
    }

    /// Whether nodes may change what the value is computed from.
    fn may_change(&self, f: &LoopFunction, memory: &Memory, nodes: &[Node]) -> bool {
        let mut inputs = FxHashSet::default();
        for node in &self.body {
            node.each_buffer(&mut |buffer, _| {
                inputs.insert(memory.root(f, buffer));
            });
        }
        let is_constant = |root: &Option<Buffer>| {
            root.is_some_and(|root| matches!(f.buffers[root.index()].kind, BufferKind::Param(_)))
        };
        inputs.retain(|root| !is_constant(root));
        let mut may_change = false;
        walk(nodes, &mut |node| {
            node.each_buffer(&mut |buffer, usage| {
                let is_read = matches!(usage, BufferUse::Read | BufferUse::Alias | BufferUse::Note);
                let root = memory.root(f, buffer);
                may_change |= !is_read && (inputs.contains(&root) || inputs.contains(&None) || root.is_none());
            });
        });
        may_change && !inputs.is_empty()
    }

    // ---- fusion

    /// Computes the elements where they are loaded.
    fn fuse(&self, f: &mut LoopFunction, memory: &mut Memory, nodes: &mut [Node]) {
        for node in nodes {
            for inner in node.lists_mut() {
                if inner.iter().any(|node| matches!(node, Node::Load(_, place) if place.buffer == self.array)) {
                    *inner = self.instead_of_loads(f, memory, std::mem::take(inner));
                }
                self.fuse(f, memory, inner);
            }
        }
    }

    fn instead_of_loads(&self, f: &mut LoopFunction, memory: &mut Memory, nodes: Vec<Node>) -> Vec<Node> {
        let mut out = Vec::with_capacity(nodes.len() + self.body.len());
        for node in nodes {
            if let Node::Load(to, Place { buffer, offset }) = node
                && buffer == self.array
            {
                self.element(f, memory, to, offset, &mut out);
            } else {
                out.push(node);
            }
        }
        out
    }

    /// An element, computed in locals of its own.
    fn element(&self, f: &mut LoopFunction, memory: &mut Memory, to: Local, offset: Operand, out: &mut Vec<Node>) {
        let mut body = self.body.clone();
        for node in &body {
            node.each_buffer(&mut |buffer, _| *memory.loads.entry(buffer).or_default() += 1);
        }
        let mut names = FxHashMap::from_iter([(self.index, offset)]);
        Writer { f }.rename_locals(&mut body, &mut names);
        out.extend(body);
        out.push(Node::Let(to, Expr::Copy(renamed(&names, self.value))));
    }
}

/// Whether nodes read what may be assigned to behind them.
fn reads_variables(f: &LoopFunction, nodes: &[Node]) -> bool {
    let mut found = false;
    walk(nodes, &mut |node| {
        node.each_part(&mut |part| {
            if let Part::Operand(Operand::Local(local), OperandUse::Read) = part {
                found |= f.locals[local.index()].is_mutable;
            }
        });
    });
    found
}
