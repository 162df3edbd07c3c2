//! What is known of a loop before it runs: invariant offsets and their computation in front of it, how far other integers move with each
//! iteration, and which memory has one name.

use cotan_ir::Elem;
use cotan_loops::node::{
    Buffer, BufferKind, Definitions, Expr, Local, LocalInfo, LocalUse, LoopFunction, Node, Operand, Part, PartMut,
    definitions_of, walk, walk_mut,
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

/// How far integers move from one iteration of a loop to the next.
pub(crate) struct Steps<'a> {
    pub(crate) index: Local,
    /// What the body defines.
    pub(crate) defined: &'a FxHashSet<Local>,
    pub(crate) definitions: &'a Definitions,
}

impl Steps<'_> {
    /// `None` where that is no known number, as of an integer that is read from memory.
    pub(crate) fn of(&self, operand: Operand) -> Option<i64> {
        let Operand::Local(local) = operand else { return Some(0) };
        if local == self.index {
            return Some(1);
        }
        if !self.defined.contains(&local) {
            return Some(0);
        }
        let Some(Expr::Native { instruction, args, .. }) = self.definitions.get(&local) else { return None };
        let mut steps = args.iter().map(|arg| self.of(*arg));
        match (instruction, &args[..]) {
            (Instruction::Add, [a, b]) => self.of(*a)?.checked_add(self.of(*b)?),
            (Instruction::Sub, [a, b]) => self.of(*a)?.checked_sub(self.of(*b)?),
            (Instruction::Mul, [a, Operand::Const(c)] | [Operand::Const(c), a]) => {
                self.of(*a)?.checked_mul(c.as_i64()?)
            }
            (_, _) => steps.all(|step| step == Some(0)).then_some(0),
        }
    }
}

/// The locals that nodes define or assign to.
pub(crate) fn defined_in(nodes: &[Node]) -> FxHashSet<Local> {
    let mut defined = FxHashSet::default();
    walk(nodes, &mut |node| {
        node.each_part(&mut |part| {
            if let Part::Local(local, LocalUse::Define | LocalUse::Assign) = part {
                defined.insert(*local);
            }
        });
    });
    defined
}

/// Gives what nodes define names of its own, as for a second copy of them.
pub(crate) fn give_own_names(f: &mut LoopFunction, nodes: &mut [Node]) {
    let defined = defined_in(nodes);
    let mut names: FxHashMap<Local, Local> = FxHashMap::default();
    let mut name = |local: Local| {
        *names.entry(local).or_insert_with(|| {
            f.locals.push(f.locals[local.index()].clone());
            Local(f.locals.len() as u32 - 1)
        })
    };
    walk_mut(nodes, &mut |node| {
        node.each_part_mut(&mut |part| match part {
            PartMut::Local(local, _) | PartMut::Operand(Operand::Local(local), _) if defined.contains(local) => {
                *local = name(*local);
            }
            PartMut::Local(..) | PartMut::Operand(..) | PartMut::Buffer(..) | PartMut::List(_) | PartMut::Effect(_) => {
            }
        });
    });
}

/// The buffers whose memory has another name.
pub(crate) struct Renamed(FxHashSet<Buffer>);

impl Renamed {
    /// Those of a function with this body.
    pub(crate) fn of(body: &[Node]) -> Renamed {
        let mut renamed = FxHashSet::default();
        walk(body, &mut |node| {
            if let Node::Bind { to, .. } = node {
                renamed.insert(to.buffer);
            }
        });
        Renamed(renamed)
    }

    /// Whether the memory of a buffer is that of no other one, so that buffers tell what is touched.
    pub(crate) fn has_one_name(&self, f: &LoopFunction, buffer: Buffer) -> bool {
        match f.buffers[buffer.index()].kind {
            BufferKind::Allocated(_) | BufferKind::Param(_) => !self.0.contains(&buffer),
            BufferKind::Stack | BufferKind::Bound => false,
        }
    }
}
