//! Loop-invariant code motion of loads: an element that no iteration of an inner loop changes is read once, in front of it.
//!
//! The code generator of LLVM does the same where it can tell memory apart, but not for the elements that lanes of a loop around
//! gather, and not past stores whose addresses it knows nothing of. Here buffers tell memory apart.
//!
//! The element is known to be there if the loop runs at all, so the loop and what is read for it stand in a branch, unless a
//! loop around has the same trip count. What stands behind something that may end the iteration stays there. An element whose
//! number is that of an iteration of a loop around, of which there are as many as elements, is there in any case.

use crate::invariants::{Invariants, MOST_DEFINITIONS, Renamed};
use cotan_ir::Elem;
use cotan_loops::NestPass;
use cotan_loops::node::{
    Buffer, BufferUse, Expr, For, Local, LocalUse, LoopFunction, Node, Operand, Param, Part, Place, Threads, any,
};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "hoist_loads",
    doc: "Reads what an inner loop does not change once, in front of it.",
    run: |f, _| hoist_loads(f),
};

/// How many elements are kept in registers for a loop, at most.
const MOST_HOISTED: usize = 8;

/// Reads elements that inner loops of a function do not change in front of them.
pub fn hoist_loads(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    let (values, renamed) = (Invariants::of(f, &body), Renamed::of(&body));
    let body = Hoisting { values, renamed, loops: Vec::new() }.list(body);
    f.body = body;
}

struct Hoisting<'a> {
    values: Invariants<'a>,
    /// The buffers whose memory has other names.
    renamed: Renamed,
    /// The counters and trip counts of the loops around.
    loops: Vec<(Local, Operand)>,
}

impl Hoisting<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        let Node::For(mut l) = node else {
            node.map_lists(|list| self.list(list));
            return vec![node];
        };
        self.loops.push((l.index, l.count));
        l.body = self.list(l.body);
        self.loops.pop();
        if self.loops.is_empty() || l.threads != Threads::One { vec![Node::For(l)] } else { self.hoist(l) }
    }

    /// An inner loop, with the elements that it reads in front of it.
    fn hoist(&mut self, mut l: Box<For>) -> Vec<Node> {
        let inside = Inside::of(&l);
        let mut names = FxHashMap::default();
        let (mut certain, mut before, mut body) = (Vec::new(), Vec::new(), Vec::with_capacity(l.body.len()));
        let (mut n_hoisted, mut has_end) = (0, false);
        for node in std::mem::take(&mut l.body) {
            has_end |= may_end(&node);
            let is_free = n_hoisted < MOST_HOISTED;
            if let Node::Load(_, place) = node
                && is_free
                && self.is_invariant(place, &inside)
                && self.is_there(place, &inside)
            {
                certain.push(node);
                n_hoisted += 1;
            } else if let Node::Load(to, place) = node
                && !has_end
                && is_free
                && self.is_invariant(place, &inside)
            {
                let offset = self.values.outside(place.offset, &inside.defined, &mut names, &mut before);
                before.push(Node::Load(to, Place { buffer: place.buffer, offset }));
                n_hoisted += 1;
            } else {
                body.push(node);
            }
        }
        l.body = body;
        let count = l.count;
        let needs_loop = !before.is_empty() && !self.loops.iter().any(|(_, around)| *around == count);
        before.push(Node::For(l));
        certain.extend(if needs_loop { self.values.if_it_runs(count, before) } else { before });
        certain
    }

    /// Whether the number of an element of a parameter is that of an iteration of a loop around, from the first or from the last
    /// one on, and there are as many elements.
    fn is_there(&self, place: Place, inside: &Inside) -> bool {
        let Operand::Local(number) = place.offset else { return false };
        let extent = self.values.f.params.iter().find_map(|param| match param {
            Param::Tensor(tensor) if tensor.place.buffer == place.buffer => match tensor.dims[..] {
                [extent] => Some(extent),
                _ => None,
            },
            Param::Tensor(_) | Param::Scalar(_) => None,
        });
        let Some(extent) = extent.filter(|_| !inside.defined.contains(&number)) else { return false };
        let less = |operand: Operand| {
            let Operand::Local(local) = operand else { return None };
            let Some(Expr::Native { instruction: Instruction::Sub, elem: Elem::I64, args }) =
                self.values.definitions.get(&local)
            else {
                return None;
            };
            Some([args[0], args[1]])
        };
        self.loops.iter().filter(|(_, count)| *count == extent).any(|(index, count)| {
            let is_last = |last: Operand| less(last) == Some([*count, Operand::i64(1)]);
            number == *index || less(number.into()).is_some_and(|[last, down]| down == (*index).into() && is_last(last))
        })
    }

    /// Whether an element is the same in all iterations, and where it is, too.
    fn is_invariant(&self, place: Place, inside: &Inside) -> bool {
        let is_memory = self.renamed.has_one_name(self.values.f, place.buffer);
        let is_read_only = !inside.changed.contains(&place.buffer);
        is_memory && is_read_only && self.values.is_fixed(place.offset, &inside.defined, MOST_DEFINITIONS)
    }
}

/// What a loop defines, and which buffers it does more with than reading elements.
#[derive(Default)]
struct Inside {
    defined: FxHashSet<Local>,
    changed: FxHashSet<Buffer>,
}

impl Inside {
    fn of(l: &For) -> Inside {
        let mut inside = Inside::default();
        inside.defined.insert(l.index);
        inside.list(&l.body);
        inside
    }

    fn list(&mut self, nodes: &[Node]) {
        for node in nodes {
            node.each_part(&mut |part| match part {
                Part::Local(local, LocalUse::Define | LocalUse::Assign) => {
                    self.defined.insert(*local);
                }
                Part::Buffer(_, BufferUse::Read | BufferUse::Note) => {}
                Part::Buffer(buffer, _) => {
                    self.changed.insert(*buffer);
                }
                Part::Local(..) | Part::Operand(..) | Part::List(_) | Part::Effect(_) => {}
            });
            node.lists().into_iter().for_each(|list| self.list(list));
        }
    }
}

/// Whether a node may end the call, so that what is behind it is not known to run.
fn may_end(node: &Node) -> bool {
    any(std::slice::from_ref(node), &mut |node| {
        let mut ends = false;
        node.each_part(&mut |part| ends |= matches!(part, Part::Effect(_)));
        ends
    })
}
