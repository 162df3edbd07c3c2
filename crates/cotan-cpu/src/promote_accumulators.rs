//! Scalar promotion of accumulators: what a loop combines into one element stays in a register.
//!
//! An element whose place does not change in a loop is read before it and written behind it. Each iteration then waits for
//! an addition alone, and not for memory; lanes of a loop around have a register each, where they would gather and scatter.
//!
//! Inside of independent iterations, others may combine values into that element at the same time, and so may the loop itself
//! by another name, as in sums over pairs. There what is kept in the register starts from nothing and is combined with the
//! element behind the loop: contributions of such iterations have no order that programs may count on. It is done at the outermost
//! loop for which the place is fixed, so that a loop that is cut into segments adds up as it did. Elsewhere
//! the register starts from the element, so that sums keep their bits, and nothing else in the loop touches it.

use crate::invariants::{Invariants, MOST_DEFINITIONS, Renamed};
use cotan_ir::{Const, Elem, Monoid};
use cotan_loops::NestPass;
use cotan_loops::node::{
    Buffer, BufferUse, Expr, Independence, Local, LocalUse, LoopFunction, Node, Operand, Part, Place, Target, Threads,
    rounds,
};
use cotan_ops::Instruction;
use cotan_ops::reduce::neutral;
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "promote_accumulators",
    doc: "Keeps what a loop combines into one element in a register.",
    run: |f, _| promote_accumulators(f),
};

/// How many accumulators of a loop are kept in registers, at most.
const MOST_PROMOTED: usize = 8;

/// Keeps the elements that inner loops of a function combine values into in registers.
pub fn promote_accumulators(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    let (values, renamed) = (Invariants::of(f, &body), Renamed::of(&body));
    let body = Promoter { values, renamed, is_inside: false }.list(body);
    f.body = body;
}

struct Promoter<'a> {
    values: Invariants<'a>,
    /// The buffers whose memory has other names.
    renamed: Renamed,
    /// Whether a loop is around whose iterations may add in any order.
    is_inside: bool,
}

/// An element that a loop combines values into, in one or more places of its body.
struct Accumulator {
    monoid: Monoid,
    place: Place,
    elem: Elem,
    /// Whether every iteration does so.
    is_unconditional: bool,
}

impl Promoter<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: Node) -> Vec<Node> {
        let outside = self.is_inside;
        let mut nodes = if self.is_loop(&node) { self.promote(node) } else { vec![node] };
        for node in &mut nodes {
            if let Node::For(l) = node {
                self.is_inside |= [Independence::Block, Independence::All].contains(&l.independence);
            }
            // What stands behind a loop is combined once.
            node.map_lists(|list| self.list(list));
        }
        self.is_inside = outside;
        nodes
    }

    /// Whether a node is a loop that may keep elements in registers: inside of independent iterations the order of its own does
    /// not matter.
    fn is_loop(&self, node: &Node) -> bool {
        matches!(node, Node::For(_) | Node::While(..)) && goes_on_in(node, self.is_inside)
    }

    /// A loop, with what keeps elements in registers around it.
    fn promote(&mut self, mut node: Node) -> Vec<Node> {
        let accumulators = self.accumulators(&node);
        let body = Inside::of(&node, self.is_inside);
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        let mut names = FxHashMap::default();
        for Accumulator { monoid, place, elem, is_unconditional } in accumulators {
            let offset = self.values.outside(place.offset, &body.defined, &mut names, &mut before);
            let to = Place { buffer: place.buffer, offset };
            let name = self.values.f.buffers[place.buffer.index()].name.clone();
            let own = self.values.local(&name, elem, true);
            let used = (!is_unconditional).then(|| self.values.local("used", Elem::Bool, true));
            let sum = self.values.local(&name, elem, false);
            let read = Node::Let(sum, Expr::Copy(own.into()));
            if self.is_inside {
                self.values.f.regroups_sums |= rounds(monoid, elem);
                before.push(Node::Set(own, Operand::Const(neutral(monoid, elem))));
                before.extend(used.map(|used| Node::Set(used, Operand::Const(Const::bool(false)))));
                let combine = vec![read, Node::Combine { monoid, target: Target::Element(to), value: sum.into() }];
                behind.extend(match used {
                    Some(used) => self.if_set(used, combine),
                    None => self.if_it_runs(&node, combine),
                });
            } else {
                let start = self.values.local(&name, elem, false);
                before.extend(self.if_it_runs(&node, vec![Node::Load(start, to), Node::Set(own, start.into())]));
                behind.extend(self.if_it_runs(&node, vec![read, Node::Store(to, sum.into())]));
            }
            node.map_lists(|list| redirected(list, place, own, used, self.is_inside));
        }
        before.into_iter().chain([node]).chain(behind).collect()
    }

    /// What a loop combines values into, at places that do not change.
    fn accumulators(&self, node: &Node) -> Vec<Accumulator> {
        let inside = Inside::of(node, self.is_inside);
        let mut found: Vec<Accumulator> = Vec::new();
        for Combined { monoid, place, is_unconditional } in &inside.combined {
            let is_known = found.iter().any(|known| known.place == *place);
            let info = &self.values.f.buffers[place.buffer.index()];
            let is_own = inside.allocated.contains(&place.buffer);
            let is_memory = !is_own && self.renamed.has_one_name(self.values.f, place.buffer);
            let mut of_buffer = inside.combined.iter().filter(|other| other.place.buffer == place.buffer);
            let is_memory = is_memory && of_buffer.all(|other| other.monoid == *monoid);
            let is_candidate = is_memory && info.elem.storage().is_none() && !inside.others.contains(&place.buffer);
            if is_known || !is_candidate || !self.values.is_fixed(place.offset, &inside.defined, MOST_DEFINITIONS) {
                continue;
            }
            let is_alike = inside.combined.iter().all(|other| {
                let is_same = other.place == *place;
                other.place.buffer != place.buffer || is_same || self.differ(other.place.offset, place.offset)
            });
            if self.is_inside || *is_unconditional && is_alike {
                let (monoid, place, is_unconditional) = (*monoid, *place, *is_unconditional);
                found.push(Accumulator { monoid, place, elem: info.elem, is_unconditional });
            }
        }
        found.truncate(MOST_PROMOTED);
        found
    }

    /// What is done where a loop has run: the element is known to be there then.
    fn if_it_runs(&mut self, node: &Node, nodes: Vec<Node>) -> Vec<Node> {
        if let Node::For(l) = node { self.values.if_it_runs(l.count, nodes) } else { nodes }
    }

    /// What is done where a mutable truth value is true.
    fn if_set(&mut self, mutable: Local, nodes: Vec<Node>) -> Vec<Node> {
        let is_set = self.values.local("used", Elem::Bool, false);
        vec![Node::Let(is_set, Expr::Copy(mutable.into())), Node::If(is_set.into(), nodes, Vec::new())]
    }

    /// Whether two offsets are a known number apart.
    fn differ(&self, a: Operand, b: Operand) -> bool {
        let (a, b) = (self.terms(a), self.terms(b));
        a.terms == b.terms && a.constant != b.constant
    }

    fn terms(&self, operand: Operand) -> Terms {
        let mut terms = Terms::default();
        self.add_terms(operand, &mut terms, MOST_DEFINITIONS);
        terms.terms.sort_unstable();
        terms
    }

    fn add_terms(&self, operand: Operand, into: &mut Terms, depth: usize) {
        let Operand::Local(local) = operand else {
            into.constant = into.constant.wrapping_add(operand.as_i64().unwrap_or(0));
            return;
        };
        let definition = self.values.definitions.get(&local);
        if let Some(Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args }) = definition
            && depth > 0
        {
            args.iter().for_each(|arg| self.add_terms(*arg, into, depth - 1));
        } else if let Some(Expr::Native { instruction: Instruction::Mul, elem: Elem::I64, args }) = definition {
            into.terms.push(match (args[0], args[1]) {
                (Operand::Local(a), Operand::Local(b)) => (a.min(b), Some(a.max(b)), 1),
                (Operand::Local(a), b) | (b, Operand::Local(a)) => (a, None, b.as_i64().unwrap_or(0)),
                (Operand::Const(_), Operand::Const(_)) => (local, None, 1),
            });
        } else {
            into.terms.push((local, None, 1));
        }
    }
}

/// A sum of products of two locals, or of a local and a number, and of a number.
#[derive(Default)]
struct Terms {
    terms: Vec<(Local, Option<Local>, i64)>,
    constant: i64,
}

/// What a loop defines and which memory it touches.
#[derive(Default)]
struct Inside {
    defined: FxHashSet<Local>,
    allocated: FxHashSet<Buffer>,
    /// Those that are used otherwise than by combining elements with values in the iterations of this loop.
    others: FxHashSet<Buffer>,
    combined: Vec<Combined>,
    in_any_order: bool,
}

/// An element that values are combined with.
struct Combined {
    monoid: Monoid,
    place: Place,
    is_unconditional: bool,
}

impl Inside {
    /// `in_any_order`: whether the iterations of independent loops count, too.
    fn of(node: &Node, in_any_order: bool) -> Inside {
        let mut inside = Inside { in_any_order, ..Inside::default() };
        inside.parts(node);
        let is_counted = matches!(node, Node::For(_));
        node.lists().into_iter().for_each(|list| inside.list(list, is_counted, true));
        inside
    }

    /// The nodes of a list, which runs in every iteration or not, and whose loops are all ordered ones or not.
    fn list(&mut self, nodes: &[Node], is_unconditional: bool, is_ordered: bool) {
        for node in nodes {
            if is_ordered && let Node::Combine { monoid, target: Target::Element(place), .. } = node {
                self.combined.push(Combined { monoid: *monoid, place: *place, is_unconditional });
                continue;
            }
            self.parts(node);
            let is_ordered = is_ordered && goes_on_in(node, self.in_any_order);
            node.lists().into_iter().for_each(|list| self.list(list, false, is_ordered));
        }
    }

    fn parts(&mut self, node: &Node) {
        node.each_part(&mut |part| match part {
            Part::Local(local, LocalUse::Define | LocalUse::Assign) => {
                self.defined.insert(*local);
            }
            Part::Buffer(buffer, BufferUse::Allocate) => {
                self.allocated.insert(*buffer);
            }
            Part::Buffer(buffer, _) => {
                self.others.insert(*buffer);
            }
            Part::Local(..) | Part::Operand(..) | Part::List(_) | Part::Effect(_) => {}
        });
    }
}

/// Whether what stands in a node runs on the thread of the node, once or several times, and if the order of sums matters in order.
fn goes_on_in(node: &Node, in_any_order: bool) -> bool {
    let Node::For(l) = node else { return true };
    l.threads == Threads::One && (in_any_order || l.independence == Independence::None)
}

/// The nodes with a local in the place of an element that values are combined with, which notes that it was used.
fn redirected(nodes: Vec<Node>, from: Place, own: Local, used: Option<Local>, in_any_order: bool) -> Vec<Node> {
    let mut redirected_nodes = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        if let Node::Combine { monoid, target: Target::Element(place), value } = node
            && place == from
        {
            redirected_nodes.push(Node::Combine { monoid, target: Target::Local(own), value });
            redirected_nodes.extend(used.map(|used| Node::Set(used, Operand::Const(Const::bool(true)))));
            continue;
        }
        if goes_on_in(&node, in_any_order) {
            node.map_lists(|list| redirected(list, from, own, used, in_any_order));
        }
        redirected_nodes.push(node);
    }
    redirected_nodes
}
