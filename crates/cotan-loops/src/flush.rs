//! Loops in which subnormal results may become zero.
//!
//! Machines take a hundred times as long for a number below the smallest normal one, and reverse sweeps are full of those:
//! the weight of what hardly counts, multiplied again and again. A derivative does not need them. So a loop is marked in
//! which they may be flushed to zero, if nothing leaves it but derivatives and nothing in it decides anything by a float:
//! neither a value of the program nor the way it takes changes.
//!
//! What a derivative is, the products say that only derivatives have ([`Instruction::Mulc`]). This runs before arrays
//! share memory, when a buffer holds derivatives or something else, not both in turn.

use crate::node::{
    Argument, Buffer, BufferKind, CallResult, Expr, For, Home, Local, LoopFunction, Node, Operand, Place, Target,
    Threads,
};
use crate::partial_sums::PartialSums;
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// Marks the outermost of those loops that have loops inside, so that it is worth it.
pub(crate) fn mark_flushing(f: &mut LoopFunction) {
    if !multiplies(&f.body) {
        return;
    }
    let mut body = std::mem::take(&mut f.body);
    let mut derivatives = Derivatives::default();
    while derivatives.grow(&body) {}
    let mut mentions = Mentions::default();
    mentions.count(&body);
    Pass { f, derivatives, mentions }.mark(&mut body);
    f.body = body;
}

/// Whether a product of a derivative is among the nodes.
fn multiplies(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| {
        let is_product = matches!(node, Node::Let(_, Expr::Native { instruction: Instruction::Mulc, .. }));
        is_product || node.lists().into_iter().any(multiplies)
    })
}

/// What is made of derivatives.
#[derive(Default)]
struct Derivatives {
    locals: FxHashSet<Local>,
    buffers: FxHashSet<Buffer>,
}

impl Derivatives {
    fn has(&self, operand: Operand) -> bool {
        match operand {
            Operand::Local(local) => self.locals.contains(&local),
            Operand::Const(_) => false,
        }
    }

    /// Takes up what nodes make of what is known so far; whether that is something new.
    fn grow(&mut self, nodes: &[Node]) -> bool {
        let before = self.locals.len() + self.buffers.len();
        for node in nodes {
            match node {
                Node::Let(local, expr) => {
                    let is_product = matches!(expr, Expr::Native { instruction: Instruction::Mulc, .. });
                    if is_product || expr.operands().iter().any(|a| self.has(*a)) {
                        self.locals.insert(*local);
                    }
                }
                Node::Set(local, value) | Node::Combine { target: Target::Local(local), value, .. } => {
                    if self.has(*value) {
                        self.locals.insert(*local);
                    }
                }
                Node::Load(local, from) => {
                    if self.buffers.contains(&from.buffer) {
                        self.locals.insert(*local);
                    }
                }
                Node::Store(to, value) | Node::Combine { target: Target::Element(to), value, .. } => {
                    if self.has(*value) {
                        self.buffers.insert(to.buffer);
                    }
                }
                Node::Copy { from, to, .. } => {
                    if self.buffers.contains(&from.buffer) {
                        self.buffers.insert(to.buffer);
                    }
                }
                // Two names of one memory.
                Node::Bind { buffer, to } => {
                    if self.buffers.contains(buffer) || self.buffers.contains(&to.buffer) {
                        self.buffers.extend([*buffer, to.buffer]);
                    }
                }
                // It makes more of what a buffer holds.
                Node::PartialSums(_)
                | Node::LoadLanes { .. }
                | Node::StoreLanes { .. }
                | Node::Alloc { .. }
                | Node::CountRecord(..)
                | Node::StackOpen(_)
                | Node::StackExtend(..)
                | Node::Check { .. }
                | Node::Product(_)
                | Node::Routine(_)
                | Node::Print { .. }
                | Node::Call { .. }
                | Node::Scope(_)
                | Node::Segment(_)
                | Node::For(_)
                | Node::While(..)
                | Node::If(..)
                | Node::Switch(..) => {}
            }
            for list in node.lists() {
                self.grow(list);
            }
        }
        self.locals.len() + self.buffers.len() > before
    }
}

/// How often mutable locals are set and read, and buffers are read and written.
#[derive(Default)]
struct Mentions {
    locals: FxHashMap<Local, usize>,
    buffers: FxHashMap<Buffer, usize>,
}

impl Mentions {
    fn count(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Let(_, Expr::Copy(Operand::Local(local))) | Node::Set(local, _) => self.local(*local),
                Node::Combine { target: Target::Local(local), .. } => self.local(*local),
                Node::Load(_, place) | Node::Store(place, _) | Node::Combine { target: Target::Element(place), .. } => {
                    self.place(*place)
                }
                Node::Copy { from, to, .. } => {
                    self.place(*from);
                    self.place(*to);
                }
                Node::PartialSums(blocks) => self.place(blocks.lanes),
                Node::Bind { buffer, to } => {
                    self.buffer(*buffer);
                    self.place(*to);
                }
                Node::Product(product) => product.views().into_iter().for_each(|view| self.place(view.place)),
                Node::Routine(routine) => routine.arrays().for_each(|array| self.place(array.place)),
                Node::Print { value, extents, .. } => {
                    value.iter().for_each(|value| self.place(value.place));
                    extents.iter().for_each(|place| self.place(*place));
                }
                Node::Call { args, results, .. } => {
                    for arg in args {
                        match arg {
                            Argument::Tensor(tensor) => self.place(tensor.place),
                            Argument::Scalar(_) => {}
                        }
                    }
                    for result in results {
                        match result {
                            CallResult::Into(tensor) => self.place(tensor.place),
                            CallResult::New(buffer, _) => self.buffer(*buffer),
                            CallResult::Scalar(_) => {}
                        }
                    }
                }
                Node::Let(..)
                | Node::LoadLanes { .. }
                | Node::StoreLanes { .. }
                | Node::Alloc { .. }
                | Node::CountRecord(..)
                | Node::StackOpen(_)
                | Node::StackExtend(..)
                | Node::Check { .. }
                | Node::Scope(_)
                | Node::Segment(_)
                | Node::For(_)
                | Node::While(..)
                | Node::If(..)
                | Node::Switch(..) => {}
            }
            node.lists().into_iter().for_each(|list| self.count(list));
        }
    }

    fn local(&mut self, local: Local) {
        *self.locals.entry(local).or_default() += 1;
    }

    fn place(&mut self, place: Place) {
        self.buffer(place.buffer);
    }

    fn buffer(&mut self, buffer: Buffer) {
        *self.buffers.entry(buffer).or_default() += 1;
    }
}

/// Whether a loop among the nodes may run on several threads. How numbers are rounded is a property of a thread, so what
/// is around such a loop does not decide it for all of them.
fn forks_inside(nodes: &[Node]) -> bool {
    let forks = |node: &Node| matches!(node, Node::For(l) if matches!(l.threads, Threads::May(_)));
    nodes.iter().any(|node| forks(node) || node.lists().into_iter().any(forks_inside))
}

struct Pass<'a> {
    f: &'a LoopFunction,
    derivatives: Derivatives,
    mentions: Mentions,
}

impl Pass<'_> {
    fn mark(&self, nodes: &mut [Node]) {
        for node in nodes {
            if let Node::For(l) = node
                && !forks_inside(&l.body)
                && self.may_flush(l)
            {
                l.may_flush = true;
            } else {
                node.lists_mut().into_iter().for_each(|list| self.mark(list));
            }
        }
    }

    fn may_flush(&self, l: &For) -> bool {
        let mut inside = Mentions::default();
        inside.count(&l.body);
        l.body.iter().any(Node::has_loop) && multiplies(&l.body) && self.is_free(&l.body, &inside)
    }

    /// Whether nothing but derivatives leaves the nodes, and nothing in them decides anything by a float.
    fn is_free(&self, nodes: &[Node], inside: &Mentions) -> bool {
        let is_free = |node: &Node| {
            self.leaves_derivatives(node, inside) && node.lists().into_iter().all(|list| self.is_free(list, inside))
        };
        nodes.iter().all(is_free)
    }

    fn leaves_derivatives(&self, node: &Node, inside: &Mentions) -> bool {
        let is_float = |a: &Operand| self.f.operand_elem(*a).is_float();
        let is_fine = |value: Operand| {
            let is_const = matches!(value, Operand::Const(_));
            is_const || !self.f.operand_elem(value).is_float() || self.derivatives.has(value)
        };
        let is_own = |b: Buffer| {
            let is_local = match self.f.buffers[b.index()].kind {
                BufferKind::Allocated(Home::Arena | Home::Frame) => true,
                BufferKind::Allocated(Home::Result(_))
                | BufferKind::Param(_)
                | BufferKind::Stack
                | BufferKind::Bound => false,
            };
            is_local && inside.buffers.get(&b) == self.mentions.buffers.get(&b)
        };
        match node {
            Node::Let(local, expr) => match expr {
                // What is no float and made of floats decides something.
                Expr::Native { args, .. } => self.f.elem(*local).is_float() || !args.iter().any(is_float),
                Expr::Copy(_) => true,
                Expr::Host { .. } => false,
                Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => false,
            },
            Node::Set(local, value) | Node::Combine { target: Target::Local(local), value, .. } => {
                is_fine(*value) || inside.locals.get(local) == self.mentions.locals.get(local)
            }
            Node::Store(to, value) | Node::Combine { target: Target::Element(to), value, .. } => {
                is_fine(*value) || is_own(to.buffer)
            }
            Node::Copy { to, .. } | Node::PartialSums(PartialSums { lanes: to, .. }) => {
                let is_float = self.f.buffers[to.buffer.index()].elem.is_float();
                !is_float || self.derivatives.buffers.contains(&to.buffer) || is_own(to.buffer)
            }
            Node::Check { args, .. } => !args.iter().any(is_float),
            Node::Load(..)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackExtend(..)
            | Node::Scope(_)
            | Node::For(_)
            | Node::While(..)
            | Node::If(..)
            | Node::Switch(..) => true,
            Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::StackOpen(_)
            | Node::Bind { .. }
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. }
            | Node::Segment(_) => false,
        }
    }
}
