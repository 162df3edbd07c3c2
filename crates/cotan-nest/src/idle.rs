//! Loops whose iterations do nothing: those around loops and copies that have no iterations. They are not run, however many
//! iterations they have.

use crate::instruction::kernel;
use crate::machine::Frame;
use cotan_ir::Elem;
use cotan_loops::node::{BufferUse, LocalUse, Part, each_definition};
use cotan_loops::{Expr, For, Local, Node, Operand, PartialSums};
use rustc_hash::FxHashMap;

/// A loop of fewer iterations is run without a look at what is in it.
const MANY: i64 = 1 << 10;

/// What the body of a loop defines; `None` stands for what is not known in front of it.
type Inside<'n> = FxHashMap<Local, Option<&'n Expr>>;

impl Frame<'_> {
    /// Whether a loop of many iterations is known to do nothing.
    pub(crate) fn is_idle(&self, l: &For) -> bool {
        if self.int(l.count) < MANY {
            return false;
        }
        let mut inside = Inside::from_iter([(l.index, None)]);
        each_definition(&l.body, &mut |local, expr| {
            inside.insert(local, expr);
        });
        !self.may_act(&l.body, &inside)
    }

    /// Whether nodes may do more than compute what nobody else sees.
    fn may_act(&self, nodes: &[Node], inside: &Inside) -> bool {
        let may_be_positive = |n: Operand| self.before(n, inside).is_none_or(|bits| bits as i64 > 0);
        nodes.iter().any(|node| {
            if let Node::Copy { count: n, .. } | Node::PartialSums(PartialSums { size: n, .. }) = node {
                return may_be_positive(*n);
            }
            if let Node::For(l) = node {
                return may_be_positive(l.count) && self.may_act(&l.body, inside);
            }
            if let Node::Reduce(reduction) = node {
                return reduction.indices.iter().all(|(_, count)| may_be_positive(*count));
            }
            if let Node::If(cond, yes, no) = node
                && let Some(bits) = self.before(*cond, inside)
            {
                return self.may_act(if bits != 0 { yes } else { no }, inside);
            }
            acts(node) || node.lists().into_iter().any(|list| self.may_act(list, inside))
        })
    }

    /// The bits of an operand in front of the loop, where integers and conditions alone decide them.
    fn before(&self, operand: Operand, inside: &Inside) -> Option<u64> {
        let Operand::Local(local) = operand else { return Some(self.bits(operand)) };
        match inside.get(&local) {
            None => Some(self.bits(operand)),
            Some(Some(Expr::Native { instruction, elem: elem @ (Elem::I64 | Elem::Bool), args })) => {
                let args = args.iter().map(|arg| self.before(*arg, inside)).collect::<Option<Vec<u64>>>()?;
                kernel(*instruction, *elem).ok().map(|kernel| kernel(&args))
            }
            Some(Some(Expr::Copy(from))) if !self.is_mutable(*from) => self.before(*from, inside),
            Some(_) => None,
        }
    }

    fn is_mutable(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.f.locals[local.index()].is_mutable)
    }
}

/// Whether a node itself does more than define locals that nobody else sees, in memory that is given back.
fn acts(node: &Node) -> bool {
    let mut acts = false;
    node.each_part(&mut |part| {
        acts |= match part {
            Part::Local(_, LocalUse::Define | LocalUse::Note) => false,
            Part::Local(_, LocalUse::Assign | LocalUse::Combine | LocalUse::Test) => true,
            Part::Buffer(_, BufferUse::Allocate | BufferUse::Read | BufferUse::Note) => false,
            Part::Buffer(
                _,
                BufferUse::Write
                | BufferUse::Update
                | BufferUse::OpenStack
                | BufferUse::ExtendStack
                | BufferUse::Bind
                | BufferUse::Alias
                | BufferUse::Receive,
            ) => true,
            Part::Operand(..) | Part::List(_) => false,
            Part::Effect(_) => true,
        };
    });
    acts
}
