//! Buffer sharing by liveness: the memory of arrays that nothing mentions any more is that of arrays that come later.
//!
//! Note [Reuse]. The nodes of a list run one after the other. What a list allocates is mentioned in that list alone, but
//! for results of the function, and for what has a second name. So it is free after the last node that mentions it, and
//! a later allocation of the same list, for the same elements and extents, takes its memory over. Every run of the list,
//! in another iteration or on another thread, allocates for itself, with content that is unspecified: nothing reaches
//! from one into the next.
//!
//! The memory may be taken over one node earlier by an array that is made of the old one element by element: if the node
//! that writes it first is the last to mention the old one, works on the two only at the number of the iteration, and
//! has read the old element when it comes to the new one. Such a node is a loop nest, or a copy, which is then dropped.
//!
//! Note [Copies out]. An array that ends as a copy to another one, as what a loop carries into its next iteration does,
//! is made in the memory of the other from the beginning, if that is not mentioned meanwhile: the copy overwrites it
//! anyway. Here too the node that writes the array first may make it of the other one.
//!
//! Records are left alone: the counts of records speak of memory that is theirs.

mod elements;

use crate::node::{
    Argument, Buffer, BufferInfo, BufferKind, Home, LocalInfo, LoopFunction, Node, Operand, rename_buffers, walk,
};
use crate::pass::NestPass;
use cotan_ir::Elem;
use elements::is_made_over;
pub(crate) use elements::{is_number_of_elements, is_product, sums_of};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "reuse_buffers",
    doc: "Gives arrays the memory of arrays that nothing mentions any more.",
    run: |f, _| reuse_buffers(f),
};

/// Lets arrays have the memory of others, see Note [Reuse] and Note [Copies out].
pub(crate) fn reuse_buffers(f: &mut LoopFunction) {
    leave_results(f);
    let mut named = FxHashSet::default();
    let mut extents = FxHashMap::default();
    survey(&f.body, &mut named, &mut extents);
    let mut reuse = Reuse { locals: &f.locals, buffers: &mut f.buffers, named, extents };
    let owners = reuse.list(&mut f.body);
    for result in &mut f.results {
        match result {
            Argument::Tensor(tensor) => tensor.place.buffer = owners.of(tensor.place.buffer),
            Argument::Scalar(_) => {}
        }
    }
}

/// Moves arrays that were made in the memory of a result, but did not become that result, to the arena: what is done with
/// the memory of a result has to be known by one name.
fn leave_results(f: &mut LoopFunction) {
    for (number, info) in f.buffers.iter_mut().enumerate() {
        if let BufferKind::Allocated(Home::Result(k)) = info.kind
            && !matches!(&f.results[k], Argument::Tensor(t) if t.place.buffer.index() == number)
        {
            info.kind = BufferKind::Allocated(Home::Arena);
        }
    }
}

/// Finds the buffers that get a second name, and the extents of all allocations.
fn survey(nodes: &[Node], named: &mut FxHashSet<Buffer>, extents: &mut FxHashMap<Buffer, Vec<Operand>>) {
    walk(nodes, &mut |node| {
        if let Node::Bind { to, .. } = node {
            named.insert(to.buffer);
        }
        if let Node::Alloc { buffer, extents: own } = node {
            extents.insert(*buffer, own.clone());
        }
    });
}

/// Whose memory a buffer has.
#[derive(Debug, Default)]
struct Owners(FxHashMap<Buffer, Buffer>);

impl Owners {
    /// The buffer that the memory is allocated for.
    fn of(&self, mut buffer: Buffer) -> Buffer {
        while let Some(owner) = self.0.get(&buffer) {
            buffer = *owner;
        }
        buffer
    }
}

/// The nodes of a list that mention a buffer, by position, and how often each does. If the list allocates the buffer,
/// the first one is the allocation.
type Life = BTreeMap<usize, usize>;

/// A list of nodes.
struct List<'a> {
    nodes: &'a [Node],
    /// What it does with buffers, those left out that have the memory of others.
    lives: FxHashMap<Buffer, Life>,
    owners: Owners,
}

impl List<'_> {
    /// Whether the node at a position makes `new` of `old` element by element, see Note [Reuse].
    fn is_made_over(&self, at: usize, old: Buffer, new: Buffer) -> bool {
        let mentions = |b: Buffer| (b, self.lives[&b][&at]);
        is_made_over(&self.nodes[at], mentions(old), mentions(new), &self.owners)
    }

    /// Gives `new`, which the list allocates, the memory of `old`.
    fn join(&mut self, old: Buffer, new: Buffer) {
        self.owners.0.insert(new, old);
        let added = self.lives.remove(&new).unwrap_or_default();
        let life = self.lives.entry(old).or_default();
        // All but the allocation.
        for (at, mentions) in added.into_iter().skip(1) {
            *life.entry(at).or_default() += mentions;
        }
    }
}

struct Reuse<'a> {
    locals: &'a [LocalInfo],
    buffers: &'a mut [BufferInfo],
    /// The buffers that have a second name.
    named: FxHashSet<Buffer>,
    /// The extents that were allocated.
    extents: FxHashMap<Buffer, Vec<Operand>>,
}

impl Reuse<'_> {
    /// Goes through a list, after the lists in it. Gives what has the memory of other buffers now; the list and those in
    /// it no longer mention it.
    fn list(&mut self, nodes: &mut Vec<Node>) -> Owners {
        let mut inside = Owners::default();
        let mut lives: FxHashMap<Buffer, Life> = FxHashMap::default();
        for (at, node) in nodes.iter_mut().enumerate() {
            node.lists_mut().into_iter().for_each(|inner| inside.0.extend(self.list(inner).0));
            node.each_buffer_inside(&mut |b| *lives.entry(b).or_default().entry(at).or_default() += 1);
        }
        let mut list = List { nodes, lives, owners: Owners::default() };
        self.reuse(&mut list, false);
        self.copy_out(&mut list);
        self.reuse(&mut list, true);
        let mut owners = list.owners;
        if !owners.0.is_empty() {
            nodes.retain(|node| !matches!(node, Node::Alloc { buffer, .. } if owners.0.contains_key(buffer)));
            rename_buffers(nodes, &mut |b| owners.of(b));
            nodes.retain(|node| !matches!(node, Node::Copy { from, to, .. } if from == to));
        }
        owners.0.extend(inside.0);
        owners
    }

    /// Whether a buffer is one whose memory may change hands: in the arena, or of a result.
    fn may_share(&self, buffer: Buffer) -> bool {
        let info = &self.buffers[buffer.index()];
        let is_fixed = |operand: &Operand| match operand {
            Operand::Local(local) => !self.locals[local.index()].is_mutable,
            Operand::Const(_) => true,
        };
        match info.kind {
            BufferKind::Allocated(Home::Arena | Home::Result(_)) => {
                !info.is_record && self.extents[&buffer].iter().all(is_fixed)
            }
            BufferKind::Allocated(Home::Frame) | BufferKind::Param(_) | BufferKind::Stack | BufferKind::Bound => false,
        }
    }

    /// Whether a buffer is memory in the arena that is known by its own name alone.
    fn is_private(&self, buffer: Buffer) -> bool {
        self.buffers[buffer.index()].kind == BufferKind::Allocated(Home::Arena) && !self.named.contains(&buffer)
    }

    // ---- Note [Reuse]

    /// Memory that is free already can wait: an array that ends as a copy has a better place.
    fn reuse(&mut self, list: &mut List, takes_free: bool) {
        // The memory that the list allocates, by what it holds.
        let mut known: FxHashMap<(Elem, &[Operand]), Vec<Buffer>> = FxHashMap::default();
        for (at, node) in list.nodes.iter().enumerate() {
            let Node::Alloc { buffer: new, extents } = node else { continue };
            if !self.may_share(*new) || list.owners.0.contains_key(new) {
                continue;
            }
            let alike = known.entry((self.buffers[new.index()].elem, extents)).or_default();
            match self.free(alike, *new, at, list, takes_free) {
                Some(old) => {
                    self.succeed(old, *new);
                    list.join(old, *new);
                }
                None => alike.push(*new),
            }
        }
    }

    /// The one of several buffers whose memory `new` may take over, which is allocated by the node at `at`. One that
    /// `new` is made of comes first, then the one that was in use last.
    fn free(&self, alike: &[Buffer], new: Buffer, at: usize, list: &List, takes_free: bool) -> Option<Buffer> {
        let made = list.lives[&new].keys().nth(1);
        let private = alike.iter().copied().filter(|old| self.is_private(*old));
        let ends = private.filter_map(|old| Some((*list.lives[&old].keys().next_back()?, old)));
        let ends: Vec<(usize, Buffer)> = ends.collect();
        let over = ends.iter().find(|(end, old)| made == Some(end) && list.is_made_over(*end, *old, new));
        over.or_else(|| ends.iter().filter(|(end, _)| takes_free && *end < at).max()).map(|(_, old)| *old)
    }

    /// Has `old` be memory for `new` too.
    fn succeed(&mut self, old: Buffer, new: Buffer) {
        // The memory of a result has to be the caller's from the beginning.
        self.buffers[old.index()].kind = self.buffers[new.index()].kind;
        if self.named.contains(&new) {
            self.named.insert(old);
        }
    }

    // ---- Note [Copies out]

    fn copy_out(&self, list: &mut List) {
        let sums = sums_of(list.nodes);
        for (at, node) in list.nodes.iter().enumerate() {
            let Node::Copy { from, to, count } = node else { continue };
            let (array, target) = (list.owners.of(from.buffer), list.owners.of(to.buffer));
            if [from, to].iter().all(|place| place.offset.as_i64() == Some(0))
                && self.are_alike(array, target)
                && is_number_of_elements(*count, &self.extents[&array], &sums)
                && self.is_made_for(array, target, at, list)
            {
                list.join(target, array);
            }
        }
    }

    /// Whether one of two buffers may lie in the memory of the other.
    fn are_alike(&self, array: Buffer, target: Buffer) -> bool {
        let elem = |b: Buffer| self.buffers[b.index()].elem;
        array != target
            && elem(array) == elem(target)
            && self.extents.get(&array) == self.extents.get(&target)
            && [array, target].iter().all(|b| self.may_share(*b) && !self.named.contains(b))
    }

    /// Whether the list allocates `array` for nothing but the copy by the node at `at`, and nothing mentions `target`
    /// from the first node on that writes the array.
    fn is_made_for(&self, array: Buffer, target: Buffer, at: usize, list: &List) -> bool {
        let (own, other) = (&list.lives[&array], &list.lives[&target]);
        let mut mentions = own.keys();
        let (Some(allocation), Some(made)) = (mentions.next(), mentions.next()) else { return false };
        let is_ours = self.is_private(array) && matches!(list.nodes[*allocation], Node::Alloc { .. });
        if !is_ours || own.last_key_value() != Some((&at, &1)) || other.get(&at) != Some(&1) {
            return false;
        }
        let mut meanwhile = other.range(made..&at).map(|(at, _)| at);
        match (meanwhile.next(), meanwhile.next()) {
            (None, _) => true,
            (Some(first), None) => first == made && list.is_made_over(*made, target, array),
            (Some(_), Some(_)) => false,
        }
    }
}
