//! Index set splitting: a loop whose first and last iterations differ from the others becomes two loops.
//!
//! At the border of a grid an index is clamped, wrapped around or compared with the first or last one. Where that is known
//! not to matter, the neighbour of an element is its neighbour in memory, so lanes load and store whole vectors and need
//! no masks. So the inside has a loop of its own, in which clamps and comparisons are gone, and both ends are run by
//! another one, iteration after iteration.

mod interior;

use crate::invariants::{defined_in, give_own_names};
use cotan_ir::Elem;
use cotan_loops::NestPass;
use cotan_loops::node::{
    BufferUse, Effect, Expr, For, Independence, Local, LocalInfo, LocalUse, LoopFunction, Mentions, Node, Operand,
    Part, Target, Threads, count, rounds, walk, walk_mut,
};
use cotan_ops::Instruction;
use interior::{Inside, Interior};
use rustc_hash::FxHashSet;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "split_index_sets",
    doc: "Splits the inside of a grid from its borders.",
    run: |f, _| split_index_sets(f),
};

/// Bodies with more nodes stay as they are: splitting writes them twice.
const MOST_NODES: usize = 400;

/// Loops that are known to have fewer iterations stay as they are.
const LEAST_ITERATIONS: i64 = 16;

/// Splits the loops of a function whose ends differ from their inside.
pub fn split_index_sets(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    let (interior, mentions) = (Interior::of(&body), Mentions::of(&body));
    f.body = Splitter { f, interior, mentions }.list(body);
}

struct Splitter<'a> {
    f: &'a mut LoopFunction,
    interior: Interior,
    /// Those of the whole function.
    mentions: Mentions,
}

impl Splitter<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        nodes.into_iter().flat_map(|node| self.node(node)).collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        node.map_lists(|list| self.list(list));
        if let Node::For(l) = node {
            let may_be_split = may_be_split(&l, &self.mentions) && self.adds_in_any_order(&l);
            return match self.interior.inside(&l).filter(|_| may_be_split) {
                Some(inside) => self.split(*l, &inside),
                None => vec![Node::For(l)],
            };
        }
        vec![node]
    }

    /// Whether no bit depends on the order of the iterations: each adds to elements of its own, once to each array.
    fn adds_in_any_order(&self, l: &For) -> bool {
        let (mut adds, mut holds) = (FxHashSet::default(), true);
        let defined = defined_in(&l.body);
        walk(&l.body, &mut |node| {
            let Node::Combine { monoid, target, value } = node else { return };
            if rounds(*monoid, self.f.operand_elem(*value)) {
                holds &= match target {
                    Target::Local(local) => defined.contains(local),
                    Target::Element(place) => {
                        adds.insert(place.buffer) && self.interior.step(l, place.offset, &defined) == Some(1)
                    }
                };
            }
        });
        holds
    }

    /// The loop over the inside, and the one over both ends.
    fn split(&mut self, l: For, inside: &Inside) -> Vec<Node> {
        let mut nodes = Vec::new();
        let both = Operand::i64(inside.first + inside.last);
        let n_ends = self.define(&mut nodes, "ends", Instruction::Min, [l.count, both]);
        let n_inside = self.define(&mut nodes, "inside", Instruction::Sub, [l.count, n_ends]);
        nodes.push(self.interior_loop(&l, n_inside, inside));
        nodes.push(self.ends_loop(l, n_ends, n_inside, inside.first));
        nodes
    }

    fn interior_loop(&mut self, l: &For, n: Operand, inside: &Inside) -> Node {
        let mut body = l.body.clone();
        let at = self.local("inner", Elem::I64);
        let place = Node::Let(l.index, sum(at.into(), Operand::i64(inside.first)));
        walk_mut(&mut body, &mut |node| {
            if let Node::Let(local, expr) = node
                && let Some(value) = inside.values.get(local)
            {
                *expr = value.clone();
            }
        });
        body.insert(0, place);
        give_own_names(self.f, &mut body);
        Node::For(Box::new(For { index: at, count: n, body, ..l.clone() }))
    }

    /// The first iterations, and then the last ones.
    fn ends_loop(&mut self, l: For, n: Operand, n_inside: Operand, first: i64) -> Node {
        let mut body = Vec::new();
        let end = self.local("end", Elem::I64);
        let args = vec![end.into(), Operand::i64(first)];
        let is_first = self.local("is_first", Elem::Bool);
        body.push(Node::Let(is_first, Expr::Native { instruction: Instruction::Lt, elem: Elem::I64, args }));
        let behind = self.define(&mut body, "behind", Instruction::Add, [end.into(), n_inside]);
        let args = vec![is_first.into(), end.into(), behind];
        body.push(Node::Let(l.index, Expr::Native { instruction: Instruction::Select, elem: Elem::I64, args }));
        body.extend(l.body);
        let (threads, independence) = (Threads::One, Independence::None);
        Node::For(Box::new(For { index: end, count: n, threads, independence, body, ..l }))
    }

    fn define(&mut self, nodes: &mut Vec<Node>, name: &str, instruction: Instruction, args: [Operand; 2]) -> Operand {
        let local = self.local(name, Elem::I64);
        nodes.push(Node::Let(local, Expr::Native { instruction, elem: Elem::I64, args: args.to_vec() }));
        local.into()
    }

    fn local(&mut self, name: &str, elem: Elem) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes: 1 });
        Local(self.f.locals.len() as u32 - 1)
    }
}

fn sum(a: Operand, b: Operand) -> Expr {
    Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args: vec![a, b] }
}

/// Whether the iterations of a loop may run in another order, and its body may be written twice: it only computes, and
/// reads and writes memory from outside.
fn may_be_split(l: &For, mentions: &Mentions) -> bool {
    let is_long = l.count.as_i64().is_none_or(|n| n >= LEAST_ITERATIONS);
    let is_candidate = l.independence == Independence::All && l.lanes == 1 && is_long;
    if !is_candidate || l.body.iter().any(Node::has_loop) || count(&l.body) > MOST_NODES {
        return false;
    }
    let inside = Mentions::of(&l.body);
    let mut only_computes = true;
    walk(&l.body, &mut |node| {
        node.each_part(&mut |part| match part {
            Part::Local(local, LocalUse::Assign | LocalUse::Combine | LocalUse::Test) => {
                only_computes &= inside.has_all_of_local(*local, mentions);
            }
            Part::Buffer(_, usage) => {
                only_computes &= matches!(usage, BufferUse::Read | BufferUse::Write | BufferUse::Update);
            }
            Part::Effect(
                Effect::Fails | Effect::Prints | Effect::Calls | Effect::UsesLibrary | Effect::CountsRecord,
            ) => only_computes = false,
            Part::Local(_, LocalUse::Define | LocalUse::Note) | Part::Operand(..) | Part::List(_) => {}
        });
    });
    only_computes
}
