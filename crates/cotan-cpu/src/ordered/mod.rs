//! Loops with an ordered region: their iterations share nothing but elements that each changes in its turn.
//!
//! In a sweep over directions, samples or sources each iteration has arrays of its own (array privatization) and adds to
//! elements that all have, as `flux[i, j] += u`. Everything but these sums may run side by side. So such a loop is marked as
//! one of independent iterations that keep their order there, and gets lanes as others do: the lanes of a strip add to an element
//! one after the other, the first one first. Each element takes the same values in the same order, so no bit changes.
//!
//! That asks that an iteration changes an element once. Offsets are polynomials in the counters of the loops inside, and have to
//! differ for any two iterations of these (`sums.rs`). Where lanes don't pay by sizes, the loop stands as it was.

mod sums;

use crate::invariants::{Renamed, give_own_names};
use crate::vector;
use crate::wavefront::plan::is_sequential;
use cotan_loops::node::{
    Buffer, BufferUse, Definitions, Effect, For, Independence, Local, LocalUse, LoopFunction, Mentions, Node, Part,
    Threads, any, count, definitions_of, each_definition, rename_buffers, walk,
};
use cotan_loops::{NestPass, TaskSizes};
use rustc_hash::{FxHashMap, FxHashSet};
use sums::Sums;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "keep_order_of_sums",
    doc: "Marks ordered loops whose iterations share nothing but elements that they change in turn.",
    run: |f, context| keep_order_of_sums(f, &context.tasks),
};

/// Bodies with more nodes than this stay as they are: they are written twice.
const MOST_NODES: usize = 1000;

/// Marks the loops of a function whose iterations may have lanes but for sums, where that is estimated to pay.
pub fn keep_order_of_sums(f: &mut LoopFunction, sizes: &TaskSizes) {
    let body = std::mem::take(&mut f.body);
    let (definitions, mentions, renamed) = (definitions_of(&body), Mentions::of(&body), Renamed::of(&body));
    f.body = Marking { f, definitions, mentions, renamed, sizes }.list(body);
}

struct Marking<'a> {
    f: &'a mut LoopFunction,
    definitions: Definitions,
    mentions: Mentions,
    /// The buffers whose memory has other names.
    renamed: Renamed,
    sizes: &'a TaskSizes,
}

impl Marking<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        if let Node::For(l) = &node {
            if !is_sequential(l) {
                return vec![node];
            }
            let (n_locals, n_buffers) = (self.f.locals.len(), self.f.buffers.len());
            if let Some(marked) = self.marked(l)
                && let Some((mut nodes, pays)) = vector::where_lanes_pay(self.f, &marked, self.sizes.worth)
            {
                nodes.push(Node::If(pays, vec![Node::For(Box::new(marked))], vec![node]));
                return nodes;
            }
            self.f.locals.truncate(n_locals);
            self.f.buffers.truncate(n_buffers);
        }
        node.map_lists(|list| self.list(list));
        vec![node]
    }

    /// The loop as one whose iterations keep their order in sums alone, with names of its own.
    fn marked(&mut self, l: &For) -> Option<For> {
        let is_candidate = l.body.iter().any(Node::has_loop) && l.count.as_i64().is_none_or(|n| n > 2);
        if !is_candidate || count(&l.body) > MOST_NODES || !is_alone(&l.body) || !self.has_own_variables(&l.body) {
            return None;
        }
        let body = self.nests(l.body.clone());
        let mut definitions = self.definitions.clone();
        each_definition(&body, &mut |local, expr| match expr {
            Some(expr) => drop(definitions.insert(local, expr.clone())),
            // Counters that were quotients and remainders are those of loops.
            None => drop(definitions.remove(&local)),
        });
        let body = Sums::of(self.f, &definitions, &self.renamed, (l.index, &body))?.in_rows(body);
        let mut marked = vec![Node::For(Box::new(For { independence: Independence::Ordered, body, ..l.clone() }))];
        give_own_names(self.f, &mut marked);
        self.give_own_buffers(&mut marked);
        let Some(Node::For(marked)) = marked.pop() else { return None };
        Some(*marked)
    }

    /// Nodes in which loops over all iterations of a nest are nests.
    fn nests(&mut self, mut nodes: Vec<Node>) -> Vec<Node> {
        for node in &mut nodes {
            if let Node::For(l) = node
                && let Some(nest) = crate::delinearize::nest_of(self.f, &self.definitions, l)
            {
                **l = nest;
            }
            node.map_lists(|list| self.nests(list));
        }
        nodes
    }

    /// Whether the mutable locals that an iteration changes are its own.
    fn has_own_variables(&self, body: &[Node]) -> bool {
        let mut changed: FxHashSet<Local> = FxHashSet::default();
        walk(body, &mut |node| {
            node.each_part(&mut |part| {
                if let Part::Local(local, LocalUse::Assign | LocalUse::Combine) = part {
                    changed.insert(*local);
                }
            });
        });
        let inside = Mentions::of(body);
        changed.into_iter().all(|local| inside.has_all_of_local(local, &self.mentions))
    }

    /// Gives the arrays that nodes allocate buffers of their own.
    fn give_own_buffers(&mut self, nodes: &mut [Node]) {
        let mut names = FxHashMap::default();
        walk(nodes, &mut |node| {
            if let Node::Alloc { buffer, .. } = node {
                self.f.buffers.push(self.f.buffers[buffer.index()].clone());
                names.insert(*buffer, Buffer(self.f.buffers.len() as u32 - 1));
            }
        });
        rename_buffers(nodes, &mut |buffer| names.get(&buffer).copied().unwrap_or(buffer));
    }
}

/// Whether nodes run on one thread, call and print nothing, and give no memory a name.
fn is_alone(nodes: &[Node]) -> bool {
    !any(nodes, &mut |node| {
        let mut is_shared = false;
        node.each_part(&mut |part| {
            is_shared |= match part {
                Part::Effect(effect) => matches!(effect, Effect::Prints | Effect::Calls | Effect::UsesLibrary),
                Part::Buffer(_, usage) => match usage {
                    BufferUse::Bind
                    | BufferUse::Alias
                    | BufferUse::Receive
                    | BufferUse::OpenStack
                    | BufferUse::ExtendStack => true,
                    BufferUse::Allocate | BufferUse::Read | BufferUse::Write | BufferUse::Update | BufferUse::Note => {
                        false
                    }
                },
                Part::Local(..) | Part::Operand(..) | Part::List(_) => false,
            };
        });
        is_shared || matches!(node, Node::For(l) if l.threads != Threads::One)
    })
}
