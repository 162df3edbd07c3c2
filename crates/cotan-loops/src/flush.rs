//! Flush-to-zero: marks the loops in which subnormal results may become zero.
//!
//! Machines take a hundred times as long for a number below the smallest normal one, and reverse sweeps are full of those:
//! the weight of what hardly counts, multiplied again and again. A derivative does not need them. So a loop is marked in
//! which they may be flushed to zero, if nothing leaves it but derivatives and nothing in it decides anything by a float:
//! neither a value of the program nor the way it takes changes.
//!
//! How numbers are rounded is a property of a thread, and threads that help with a loop inherit it from the one that
//! called them: so a marked loop may have loops for several threads inside.
//!
//! What a derivative is, the products say that only derivatives have ([`Instruction::Mulc`]). This runs before arrays
//! share memory, when a buffer holds derivatives or something else, not both in turn.

use crate::node::{
    Buffer, BufferKind, BufferUse, Effect, Expr, For, Home, Local, LocalUse, LoopFunction, Mentions, Node, Operand,
    Part, Target, any, walk,
};
use crate::partial_sums::PartialSums;
use crate::pass::NestPass;
use cotan_ops::Instruction;
use rustc_hash::FxHashSet;

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "mark_flushing",
    doc: "Marks loops of derivatives in which subnormal numbers may become zero.",
    run: |f, _| mark_flushing(f),
};

/// Marks the outermost of those loops that have loops inside, so that it is worth it.
pub(crate) fn mark_flushing(f: &mut LoopFunction) {
    if !multiplies(&f.body) {
        return;
    }
    let mut body = std::mem::take(&mut f.body);
    let mut derivatives = Derivatives::default();
    while derivatives.grow(&body) {}
    let mentions = Mentions::of(&body);
    Marking { f, derivatives, mentions }.mark(&mut body);
    f.body = body;
}

/// Whether a product of a derivative is among the nodes.
fn multiplies(nodes: &[Node]) -> bool {
    any(nodes, &mut |node| matches!(node, Node::Let(_, expr) if is_product(expr)))
}

fn is_product(expr: &Expr) -> bool {
    matches!(expr, Expr::Native { instruction: Instruction::Mulc, .. })
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
        walk(nodes, &mut |node| self.take(node));
        self.locals.len() + self.buffers.len() > before
    }

    fn take(&mut self, node: &Node) {
        if let Node::Let(local, expr) = node
            && (is_product(expr) || expr.operands().iter().any(|a| self.has(*a)))
        {
            self.locals.insert(*local);
        }
        if let Node::Set(local, value) | Node::Combine { target: Target::Local(local), value, .. } = node
            && self.has(*value)
        {
            self.locals.insert(*local);
        }
        if let Node::Load(local, from) = node
            && self.buffers.contains(&from.buffer)
        {
            self.locals.insert(*local);
        }
        if let Node::Store(to, value) | Node::Combine { target: Target::Element(to), value, .. } = node
            && self.has(*value)
        {
            self.buffers.insert(to.buffer);
        }
        if let Node::Copy { from, to, .. } = node
            && self.buffers.contains(&from.buffer)
        {
            self.buffers.insert(to.buffer);
        }
        // Two names of one memory.
        if let Node::Bind { buffer, to } = node
            && (self.buffers.contains(buffer) || self.buffers.contains(&to.buffer))
        {
            self.buffers.extend([*buffer, to.buffer]);
        }
    }
}

struct Marking<'a> {
    f: &'a LoopFunction,
    derivatives: Derivatives,
    mentions: Mentions,
}

impl Marking<'_> {
    fn mark(&self, nodes: &mut [Node]) {
        for node in nodes {
            if let Node::For(l) = node
                && self.may_flush(l)
            {
                l.may_flush = true;
            } else {
                node.lists_mut().into_iter().for_each(|list| self.mark(list));
            }
        }
    }

    fn may_flush(&self, l: &For) -> bool {
        let is_worth_it = l.body.iter().any(Node::has_loop) && multiplies(&l.body);
        is_worth_it && self.is_free(&l.body, &Mentions::of(&l.body))
    }

    /// Whether nothing but derivatives leaves the nodes, and nothing in them decides anything by a float.
    fn is_free(&self, nodes: &[Node], inside: &Mentions) -> bool {
        !any(nodes, &mut |node| !self.leaves_derivatives(node, inside))
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
            is_local && inside.has_all_of_buffer(b, &self.mentions)
        };
        if let Node::Let(local, expr) = node {
            return match expr {
                // What is no float and made of floats decides something.
                Expr::Native { args, .. } => self.f.elem(*local).is_float() || !args.iter().any(is_float),
                Expr::Copy(_) => true,
                Expr::Host { .. } => false,
                Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => false,
            };
        }
        if let Node::Set(local, value) | Node::Combine { target: Target::Local(local), value, .. } = node {
            return is_fine(*value) || inside.has_all_of_local(*local, &self.mentions);
        }
        if let Node::Store(to, value) | Node::Combine { target: Target::Element(to), value, .. } = node {
            return is_fine(*value) || is_own(to.buffer);
        }
        if let Node::Copy { to, .. } | Node::PartialSums(PartialSums { lanes: to, .. }) = node {
            let is_float = self.f.buffers[to.buffer.index()].elem.is_float();
            return !is_float || self.derivatives.buffers.contains(&to.buffer) || is_own(to.buffer);
        }
        if let Node::Check { args, .. } = node {
            return !args.iter().any(is_float);
        }
        let mut is_harmless = true;
        node.each_part(&mut |part| {
            is_harmless &= match part {
                Part::Local(_, usage) => matches!(usage, LocalUse::Define | LocalUse::Test | LocalUse::Note),
                Part::Operand(..) | Part::List(_) => true,
                Part::Buffer(_, usage) => {
                    matches!(usage, BufferUse::Read | BufferUse::Allocate | BufferUse::ExtendStack | BufferUse::Note)
                }
                Part::Effect(effect) => effect == Effect::CountsRecord,
            };
        });
        is_harmless
    }
}
