//! Privatisation: the iterations of a loop are cut into groups, each of which adds to copies of what iterations share, and
//! copies are combined in their order. The number of groups follows from sizes alone. That is how loops are done of which
//! sizes do not say how much they add, and those whose contributions take longer to write down and read than to compute.

use super::addition::{FEW, SHARE};
use super::own::Subscripts;
use super::scattered::Sizes;
use super::writer::{Writer, counted, store};
use cotan_ir::{Elem, Monoid};
use cotan_loops::node::{any, count, rounds};
use cotan_loops::{Buffer, Expr, For, Independence, Local, Node, Operand, Place, Target, combining, shared_targets};
use cotan_ops::Instruction;
use cotan_ops::reduce::neutral;
use rustc_hash::FxHashMap;

/// Groups at most.
const GROUPS: i64 = 1024;

/// Iterations of a group, if there are as many.
const GROUP: i64 = 32;

/// Elements of all copies of an array at most, where there is more than one.
const ELEMENTS: i64 = 1 << 22;

/// The most nodes of an iteration that is not worth a thread of its own.
const LIGHT: usize = 32;

/// How many groups there may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Most {
    /// As many as keep copies small.
    Copies,
    /// No more than there are iterations for each element, so that copies take no longer than iterations.
    Iterations,
}

/// The copies of something that iterations share.
struct Copies {
    monoid: Monoid,
    target: Target,
    elem: Elem,
    size: Operand,
    memory: Buffer,
}

/// What has copies, and what iterations have elements of their own of.
type Shared<'c> = (&'c [Copies], &'c [Target]);

impl Writer<'_> {
    /// The loop, in groups. Nothing if it is not known how large that is what iterations share.
    pub(super) fn grouped(&mut self, sizes: &Sizes, subscripts: &Subscripts, l: &For) -> Option<Node> {
        self.in_groups(sizes, subscripts, l, Most::Copies)
    }

    /// The loop, in groups where there are many light iterations for each element of the arrays that they add to, else as it
    /// was distributed.
    pub(super) fn grouped_where_dense(
        &mut self,
        sizes: &Sizes,
        subscripts: &Subscripts,
        l: &For,
        distributed: Node,
    ) -> Node {
        let is_else =
            |node: &Node| matches!(node, Node::While(..) | Node::Alloc { .. } | Node::Bind { .. } | Node::StackOpen(_));
        let is_light = count(&l.body) <= LIGHT && !any(&l.body, &mut |node| node.has_loop() || is_else(node));
        let shared = || shared_targets(&l.body).into_iter().map(|(_, target)| target);
        if !is_light || !shared().all(|target| matches!(target, Target::Element(_))) {
            return distributed;
        }
        let (mut nodes, mut largest) = (Vec::new(), Operand::i64(1));
        for target in shared().filter(|target| !subscripts.has_own_elements(l, *target)) {
            let Some(size) = sizes.size(self, target, &mut nodes) else { return distributed };
            largest = self.int(Instruction::Max, largest, size, &mut nodes);
        }
        let Some(grouped) = self.in_groups(sizes, subscripts, l, Most::Iterations) else { return distributed };
        // The loop that was distributed has the locals of this one.
        let mut grouped = vec![grouped];
        self.rename_locals(&mut grouped, &mut FxHashMap::default());
        let share = self.int(Instruction::Div, l.count, Operand::i64(SHARE), &mut nodes);
        let is_dense = self.test(Instruction::Le, largest, share, &mut nodes);
        let are_many = self.test(Instruction::Gt, l.count, Operand::i64(FEW), &mut nodes);
        let both = self.test(Instruction::And, is_dense, are_many, &mut nodes);
        nodes.push(Node::If(both, grouped, vec![distributed]));
        Node::Scope(nodes)
    }

    fn in_groups(&mut self, sizes: &Sizes, subscripts: &Subscripts, l: &For, bound: Most) -> Option<Node> {
        let mut nodes = Vec::new();
        let mut all: Vec<Copies> = Vec::new();
        let mut own = Vec::new();
        for (monoid, target) in shared_targets(&l.body) {
            if subscripts.has_own_elements(l, target) {
                own.push(target);
                continue;
            }
            let size = sizes.size(self, target, &mut nodes)?;
            if all.iter().any(|copies| copies.target.has_memory_of(target)) {
                return None;
            }
            let elem = match target {
                Target::Local(local) => self.f.elem(local),
                Target::Element(place) => self.elem(place.buffer),
            };
            all.push(Copies { monoid, target, elem, size, memory: self.buffer("copies", elem) });
        }
        let n = self.int(Instruction::Max, l.count, Operand::i64(0), &mut nodes);
        let each = self.iterations_of_group(n, &all, bound, &mut nodes);
        let n_groups = self.ratio_up(n, each, &mut nodes);
        for copies in &all {
            self.f.regroups_sums |= rounds(copies.monoid, copies.elem);
            nodes.push(Node::Alloc { buffer: copies.memory, extents: vec![n_groups, copies.size] });
            self.open_copies(copies, n_groups, &mut nodes);
        }
        nodes.push(self.groups_of(l, n, [n_groups, each], (&all, &own)));
        all.iter().for_each(|copies| self.close_copies(copies, n_groups, &mut nodes));
        // Without iterations there is no copy either.
        let mut out = Vec::new();
        let are_some = self.test(Instruction::Gt, l.count, Operand::i64(0), &mut out);
        out.push(Node::If(are_some, vec![Node::Scope(nodes)], Vec::new()));
        Some(Node::Scope(out))
    }

    fn iterations_of_group(&mut self, n: Operand, all: &[Copies], bound: Most, nodes: &mut Vec<Node>) -> Operand {
        let largest =
            all.iter().fold(Operand::i64(1), |most, copies| self.int(Instruction::Max, most, copies.size, nodes));
        let elements = match bound {
            Most::Copies => Operand::i64(ELEMENTS),
            Most::Iterations => self.int(Instruction::Min, n, Operand::i64(ELEMENTS), nodes),
        };
        let most = self.int(Instruction::Div, elements, largest, nodes);
        let most = self.int(Instruction::Min, most, Operand::i64(GROUPS), nodes);
        let most = self.int(Instruction::Max, most, Operand::i64(1), nodes);
        let each = self.ratio_up(n, most, nodes);
        self.int(Instruction::Max, each, Operand::i64(GROUP), nodes)
    }

    /// The first copy begins with what there is, the others with nothing.
    fn open_copies(&mut self, copies: &Copies, n_groups: Operand, nodes: &mut Vec<Node>) {
        let e = self.local("e", Elem::I64);
        let mut body = Vec::new();
        match copies.target {
            Target::Local(local) => nodes.push(store(copies.memory, Operand::i64(0), local.into())),
            Target::Element(place) => {
                let start = self.load(place.buffer, e.into(), &mut body);
                body.push(store(copies.memory, e.into(), start));
                nodes.push(counted(e, copies.size, Independence::All, body));
            }
        }
        let all = self.int(Instruction::Mul, n_groups, copies.size, nodes);
        let others = self.int(Instruction::Sub, all, copies.size, nodes);
        let e = self.local("e", Elem::I64);
        let mut body = Vec::new();
        let at = self.int(Instruction::Add, copies.size, e.into(), &mut body);
        let nothing = Operand::Const(neutral(copies.monoid, copies.elem));
        body.push(store(copies.memory, at, nothing));
        nodes.push(counted(e, others, Independence::All, body));
    }

    fn groups_of(&mut self, l: &For, n: Operand, [n_groups, each]: [Operand; 2], shared: Shared<'_>) -> Node {
        let (g, k) = (self.local("g", Elem::I64), self.local("k", Elem::I64));
        let mut body = Vec::new();
        let firsts: Vec<Operand> =
            shared.0.iter().map(|copies| self.int(Instruction::Mul, g.into(), copies.size, &mut body)).collect();
        let first = self.int(Instruction::Mul, g.into(), each, &mut body);
        let left = self.int(Instruction::Sub, n, first, &mut body);
        let here = self.int(Instruction::Min, left, each, &mut body);
        let mut inner = Vec::new();
        let number = self.int(Instruction::Add, first, k.into(), &mut inner);
        inner.push(Node::Let(l.index, Expr::Copy(number)));
        inner.extend(self.on_copies(&l.body, shared, &firsts));
        body.push(counted(k, here, Independence::None, vec![Node::Scope(inner)]));
        counted(g, n_groups, Independence::All, body)
    }

    /// The body, which combines into copies. They are read and written, as nobody else does so.
    fn on_copies(&mut self, body: &[Node], (all, own): Shared<'_>, firsts: &[Operand]) -> Vec<Node> {
        let mut out = Vec::with_capacity(body.len());
        for node in body {
            if let Node::Combine { target, value, .. } = node
                && let Some(k) = all.iter().position(|copies| copies.target.has_memory_of(*target))
            {
                let offset = match target {
                    Target::Local(_) => Operand::i64(0),
                    Target::Element(place) => place.offset,
                };
                let offset = self.int(Instruction::Add, firsts[k], offset, &mut out);
                self.update(Place { buffer: all[k].memory, offset }, all[k].monoid, *value, &mut out);
            } else if let Node::Combine { monoid, target: Target::Element(place), value } = node
                && own.iter().any(|target| target.has_memory_of(Target::Element(*place)))
            {
                self.update(*place, *monoid, *value, &mut out);
            } else {
                let mut node = node.clone();
                node.map_lists(|inner| self.on_copies(&inner, (all, own), firsts));
                out.push(node);
            }
        }
        out
    }

    /// Combines the copies.
    fn close_copies(&mut self, copies: &Copies, n_groups: Operand, nodes: &mut Vec<Node>) {
        let total = self.mutable("total", copies.elem);
        match copies.target {
            Target::Local(local) => {
                self.combine_copies(copies, Operand::i64(0), n_groups, total, nodes);
                nodes.push(Node::Set(local, total.into()));
            }
            Target::Element(Place { buffer, .. }) => {
                let e = self.local("e", Elem::I64);
                let mut body = Vec::new();
                self.combine_copies(copies, e.into(), n_groups, total, &mut body);
                body.push(store(buffer, e.into(), total.into()));
                nodes.push(counted(e, copies.size, Independence::All, body));
            }
        }
    }

    /// Combines the copies of an element in their order.
    fn combine_copies(
        &mut self,
        copies: &Copies,
        element: Operand,
        n_groups: Operand,
        total: Local,
        nodes: &mut Vec<Node>,
    ) {
        let start = self.load(copies.memory, element, nodes);
        nodes.push(Node::Set(total, start));
        let others = self.int(Instruction::Sub, n_groups, Operand::i64(1), nodes);
        let g = self.local("g", Elem::I64);
        let mut body = Vec::new();
        let number = self.int(Instruction::Add, g.into(), Operand::i64(1), &mut body);
        let row = self.int(Instruction::Mul, number, copies.size, &mut body);
        let at = self.int(Instruction::Add, row, element, &mut body);
        let copy = self.load(copies.memory, at, &mut body);
        let args = vec![total.into(), copy];
        let sum = self.define("sum", copies.elem, combining(copies.monoid), copies.elem, args, &mut body);
        body.push(Node::Set(total, sum));
        nodes.push(counted(g, others, Independence::None, body));
    }
}
