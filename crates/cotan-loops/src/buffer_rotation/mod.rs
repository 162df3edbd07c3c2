//! Buffer rotation (double buffering): a loop whose state moves from array to array exchanges memory instead of elements.
//!
//! Note [Rotation]. What an iteration makes of the state it cannot always make in its place: a grid of a grid and its
//! neighbours. Then the iteration ends with a copy, or with two where it looks two states back: `older <- old <- new`. These
//! arrays get names that are bound to their memory when an iteration begins, each to that of the next one in the chain with
//! every iteration. `new` has memory for the whole of the loop, and its content, like that of `older`, is of no use when the
//! iteration ends. Behind the loop what is not in its own memory is copied there, once.
//!
//! Note [Records]. Where an iteration begins with a copy of the state to its row of a record, the state lives in the record:
//! an iteration reads its row, and makes the next one; the last makes what the loop gives.
//!
//! It comes late: passes that tell memory apart by the names of buffers want one name for each.

mod record;
mod write;

use crate::buffer_reuse::{is_number_of_elements, sums_of};
use crate::node::{
    Buffer, BufferInfo, BufferKind, BufferUse, For, Home, Independence, Local, LocalInfo, LoopFunction, Node, Operand,
    Threads, walk,
};
use crate::pass::NestPass;
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "rotate_buffers",
    doc: "Exchanges the memory of arrays that a loop would copy from one to the next.",
    run: |f, _| rotate_buffers(f),
};

/// Arrays of a rotation at most: the state of a loop, the one before it, and the one that is made.
const MOST: usize = 3;

/// Rotates the state of all loops of a function, see Note [Rotation].
fn rotate_buffers(f: &mut LoopFunction) {
    let mut body = std::mem::take(&mut f.body);
    let mut rotation = Rotation { locals: &mut f.locals, buffers: &mut f.buffers, named: FxHashSet::default() };
    walk(&body, &mut |node| {
        if let Node::Bind { to, .. } = node {
            rotation.named.insert(to.buffer);
        }
    });
    let mut extents = FxHashMap::default();
    body = rotation.list(body, &mut extents);
    f.body = body;
}

struct Rotation<'a> {
    locals: &'a mut Vec<LocalInfo>,
    buffers: &'a mut Vec<BufferInfo>,
    /// The buffers that have a second name.
    named: FxHashSet<Buffer>,
}

/// The extents of what the lists around have allocated.
type Known = FxHashMap<Buffer, Vec<Operand>>;

/// A chain of copies at the end of an iteration: the first array is made of the second one, and so on.
struct Chain {
    arrays: Vec<Buffer>,
    /// Where in the list the copies stand.
    copies: Vec<usize>,
}

/// How a counted loop counts.
#[derive(Clone, Copy)]
struct Trips {
    index: Local,
    count: Operand,
}

/// What comes before a loop and behind it.
#[derive(Default)]
struct Around {
    before: Vec<Node>,
    behind: Vec<Node>,
}

impl Rotation<'_> {
    fn list(&mut self, nodes: Vec<Node>, known: &mut Known) -> Vec<Node> {
        let outside = known.clone();
        let mut written = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            if let Node::Alloc { buffer, extents } = &node {
                known.insert(*buffer, extents.clone());
            }
            node.map_lists(|list| self.list(list, known));
            written.push(self.node(node, known));
        }
        *known = outside;
        written
    }

    fn node(&mut self, mut node: Node, known: &Known) -> Node {
        let mut around = Around::default();
        if let Node::For(l) = &mut node {
            let For { threads: Threads::One, independence: Independence::None, .. } = **l else { return node };
            let trips = Trips { index: l.index, count: l.count };
            self.body(&mut l.body, Some(trips), known, &mut around);
        } else if let Node::While(_, body) = &mut node {
            self.body(body, None, known, &mut around);
        }
        if around.before.is_empty() {
            return node;
        }
        Node::Scope(around.before.into_iter().chain([node]).chain(around.behind).collect())
    }

    /// Rotates what the body of a loop copies.
    fn body(&mut self, body: &mut Vec<Node>, trips: Option<Trips>, known: &Known, around: &mut Around) {
        let list = if let [Node::Scope(list)] = &mut body[..] { list } else { body };
        while let Some(chain) = self.chain(list, known) {
            match trips.and_then(|trips| record::row_of(self, list, &chain, trips, known)) {
                Some(row) => record::live_in(self, list, &chain, &row, known, around),
                None => write::rotate(self, list, &chain, known, around),
            }
            self.named.extend(chain.arrays);
        }
    }

    // ---- what is rotated

    fn chain(&self, list: &[Node], known: &Known) -> Option<Chain> {
        let sums = sums_of(list);
        let mut copies = Vec::new();
        let mut own = FxHashSet::default();
        for (at, node) in list.iter().enumerate() {
            if let Node::Alloc { buffer, .. } = node {
                own.insert(*buffer);
            } else if let Node::Copy { from, to, count } = node
                && [from, to].iter().all(|place| place.offset.as_i64() == Some(0))
                && known.get(&to.buffer).is_some_and(|extents| is_number_of_elements(*count, extents, &sums))
            {
                copies.push((at, from.buffer, to.buffer));
            }
        }
        copies.iter().filter(|(_, from, _)| own.contains(from)).find_map(|(_, new, _)| {
            let chain = self.chain_from(*new, &copies, list, known);
            (chain.arrays.len() > 1 && self.may_rotate(&chain, list, known)).then_some(chain)
        })
    }

    /// The copies that pass on what was made in `new`, the last one of the list first.
    fn chain_from(&self, new: Buffer, copies: &[(usize, Buffer, Buffer)], list: &[Node], known: &Known) -> Chain {
        let mut chain = Chain { arrays: vec![new], copies: Vec::new() };
        let mut end = list.len();
        let mut array = new;
        while chain.arrays.len() < MOST
            && let Some((at, _, to)) = copies.iter().find(|(at, from, _)| *from == array && *at < end)
            && known.contains_key(to)
            && !chain.arrays.contains(to)
        {
            chain.arrays.push(*to);
            chain.copies.push(*at);
            (array, end) = (*to, *at);
        }
        chain
    }

    /// Whether all arrays are alike and nothing but the iteration itself works on them, up to the copies.
    fn may_rotate(&self, chain: &Chain, list: &[Node], known: &Known) -> bool {
        let (new, targets) = (chain.arrays[0], &chain.arrays[1..]);
        let elem = self.buffers[new.index()].elem;
        let allocation = list.iter().find_map(|node| {
            let Node::Alloc { buffer, extents } = node else { return None };
            (*buffer == new).then_some(extents)
        });
        let is_alike =
            |b: &Buffer| self.buffers[b.index()].elem == elem && known.get(b) == allocation && self.is_memory(*b);
        self.buffers[new.index()].kind == BufferKind::Allocated(Home::Arena)
            && self.is_memory(new)
            && targets.iter().all(is_alike)
            && allocation.is_some_and(|extents| extents.iter().all(|extent| self.is_fixed(*extent)))
            && chain.arrays.iter().enumerate().all(|(k, array)| {
                // The array is overwritten by one copy and has gone before, or it is the new one.
                let last = chain.copies[k.saturating_sub(1)];
                list[last + 1..].iter().all(|node| !mentions(node, *array))
                    && list.iter().all(|node| is_plain(node, *array, k == 0))
            })
    }

    /// Whether a buffer is memory of its own that may be exchanged, and worth it.
    fn is_memory(&self, buffer: Buffer) -> bool {
        let info = &self.buffers[buffer.index()];
        let is_memory = matches!(info.kind, BufferKind::Allocated(Home::Arena | Home::Result(_)));
        is_memory && !info.is_record && !self.named.contains(&buffer)
    }

    fn is_fixed(&self, operand: Operand) -> bool {
        match operand {
            Operand::Local(local) => !self.locals[local.index()].is_mutable,
            Operand::Const(_) => true,
        }
    }
}

fn mentions(node: &Node, buffer: Buffer) -> bool {
    let mut found = false;
    node.each_buffer_inside(&mut |b| found |= b == buffer);
    found
}

/// Whether a node does nothing with an array but read and write elements, or allocate it if it is the one that is made.
fn is_plain(node: &Node, array: Buffer, is_new: bool) -> bool {
    let mut plain = true;
    walk(std::slice::from_ref(node), &mut |inside| {
        inside.each_buffer(&mut |buffer, usage| {
            plain &= buffer != array
                || match usage {
                    BufferUse::Read | BufferUse::Write | BufferUse::Update => true,
                    BufferUse::Allocate => is_new,
                    BufferUse::OpenStack
                    | BufferUse::ExtendStack
                    | BufferUse::Bind
                    | BufferUse::Alias
                    | BufferUse::Receive
                    | BufferUse::Note => false,
                }
        });
    });
    plain
}
