//! Loops whose iterations do nothing: those around loops and copies that have no iterations. They are not run, however many
//! iterations they have.

use crate::instruction::kernel;
use crate::machine::Frame;
use cotan_ir::Elem;
use cotan_loops::node::each_definition;
use cotan_loops::{Expr, For, Local, Node, Operand};
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
        nodes.iter().any(|node| match node {
            Node::Let(..) | Node::Load(..) | Node::LoadLanes { .. } | Node::Alloc { .. } => false,
            Node::Copy { count, .. } => may_be_positive(*count),
            Node::PartialSums(sums) => may_be_positive(sums.size),
            Node::For(l) => may_be_positive(l.count) && self.may_act(&l.body, inside),
            Node::Scope(body) | Node::Segment(body) => self.may_act(body, inside),
            Node::If(cond, yes, no) => match self.before(*cond, inside) {
                Some(bits) => self.may_act(if bits != 0 { yes } else { no }, inside),
                None => self.may_act(yes, inside) || self.may_act(no, inside),
            },
            Node::Set(..)
            | Node::Store(..)
            | Node::StoreLanes { .. }
            | Node::Combine { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::While(..)
            | Node::Switch(..)
            | Node::Check { .. }
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. } => true,
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
