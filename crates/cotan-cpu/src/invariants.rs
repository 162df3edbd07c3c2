//! Loop invariants: offsets that are the same in all iterations of a loop, and their computation in front of it.

use cotan_ir::Elem;
use cotan_loops::node::{
    Buffer, Definitions, Expr, Local, LocalInfo, LoopFunction, Node, Operand, definitions_of, walk,
};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many definitions an offset is computed by, at most.
pub(crate) const MOST_DEFINITIONS: usize = 12;

/// A function, whose body is at hand, with the definitions of its locals.
pub(crate) struct Invariants<'a> {
    pub(crate) f: &'a mut LoopFunction,
    pub(crate) definitions: Definitions,
}

impl<'a> Invariants<'a> {
    /// Of a function with this body.
    pub(crate) fn of(f: &'a mut LoopFunction, body: &[Node]) -> Invariants<'a> {
        Invariants { f, definitions: definitions_of(body) }
    }
}

impl Invariants<'_> {
    /// Whether an integer is the same in all iterations, and can be computed before them.
    pub(crate) fn is_fixed(&self, operand: Operand, inside: &FxHashSet<Local>, depth: usize) -> bool {
        let Operand::Local(local) = operand else { return true };
        if !inside.contains(&local) {
            return !self.f.locals[local.index()].is_mutable;
        }
        let Some(Expr::Native { elem: Elem::I64, args, .. }) = self.definitions.get(&local) else { return false };
        depth > 0 && args.iter().all(|arg| self.is_fixed(*arg, inside, depth - 1))
    }

    /// The same integer, computed before a loop.
    pub(crate) fn outside(
        &mut self,
        operand: Operand,
        inside: &FxHashSet<Local>,
        names: &mut FxHashMap<Local, Operand>,
        before: &mut Vec<Node>,
    ) -> Operand {
        let Operand::Local(local) = operand else { return operand };
        if let Some(name) = names.get(&local) {
            return *name;
        }
        let is_inside = inside.contains(&local);
        let Some(Expr::Native { instruction, elem, args }) =
            self.definitions.get(&local).filter(|_| is_inside).cloned()
        else {
            return operand;
        };
        let args = args.into_iter().map(|arg| self.outside(arg, inside, names, before)).collect();
        let info = self.f.locals[local.index()].clone();
        let copy = self.local(&info.name, info.elem, false);
        let value = Expr::Native { instruction, elem, args };
        self.definitions.insert(copy, value.clone());
        before.push(Node::Let(copy, value));
        names.insert(local, copy.into());
        copy.into()
    }

    /// What is done where a loop of this trip count runs at all.
    pub(crate) fn if_it_runs(&mut self, count: Operand, nodes: Vec<Node>) -> Vec<Node> {
        if count.as_i64().is_some_and(|n| n > 0) {
            return nodes;
        }
        let runs = self.local("runs", Elem::Bool, false);
        let args = vec![count, Operand::i64(0)];
        let test = Expr::Native { instruction: Instruction::Gt, elem: Elem::I64, args };
        vec![Node::Let(runs, test), Node::If(runs.into(), nodes, Vec::new())]
    }

    /// A new local of one lane.
    pub(crate) fn local(&mut self, name: &str, elem: Elem, is_mutable: bool) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable, lanes: 1 });
        Local(self.f.locals.len() as u32 - 1)
    }
}

/// The buffers whose memory has a second name.
pub(crate) fn renamed(body: &[Node]) -> FxHashSet<Buffer> {
    let mut renamed = FxHashSet::default();
    walk(body, &mut |node| {
        if let Node::Bind { to, .. } = node {
            renamed.insert(to.buffer);
        }
    });
    renamed
}
