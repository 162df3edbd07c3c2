//! What writes nodes of its own into a function.

use cotan_ir::{Elem, Monoid, Span};
use cotan_loops::node::{LocalUse, Part, PartMut, walk, walk_mut};
use cotan_loops::{
    Buffer, BufferInfo, BufferKind, Expr, For, Home, Independence, Local, LocalInfo, LoopFunction, Node, Operand,
    Place, Threads, combining,
};
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// Writes nodes; locals and memory are new ones of a function.
pub(super) struct Writer<'f> {
    pub(super) f: &'f mut LoopFunction,
}

impl Writer<'_> {
    // ---- scalars

    /// A local that is defined once.
    pub(super) fn local(&mut self, name: &str, elem: Elem) -> Local {
        self.new_local(name, elem, false)
    }

    /// A local that is assigned to.
    pub(super) fn mutable(&mut self, name: &str, elem: Elem) -> Local {
        self.new_local(name, elem, true)
    }

    fn new_local(&mut self, name: &str, elem: Elem, is_mutable: bool) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable, lanes: 1 });
        Local(self.f.locals.len() as u32 - 1)
    }

    /// An instruction on i64s. What is known at once is not written.
    pub(super) fn int(&mut self, instruction: Instruction, a: Operand, b: Operand, nodes: &mut Vec<Node>) -> Operand {
        if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64())
            && let Some(known) = known(instruction, a, b)
        {
            return Operand::i64(known);
        }
        match (instruction, a.as_i64(), b.as_i64()) {
            (Instruction::Mul, Some(0), _) | (Instruction::Mul, _, Some(0)) => Operand::i64(0),
            (Instruction::Mul, Some(1), _) | (Instruction::Add, Some(0), _) => b,
            (Instruction::Mul, _, Some(1)) | (Instruction::Add, _, Some(0)) => a,
            _ => self.define("t", Elem::I64, instruction, Elem::I64, vec![a, b], nodes),
        }
    }

    /// A quotient of positive i64s, rounded up; 0 of 0.
    pub(super) fn ratio_up(&mut self, a: Operand, b: Operand, nodes: &mut Vec<Node>) -> Operand {
        let less = self.int(Instruction::Sub, b, Operand::i64(1), nodes);
        let sum = self.int(Instruction::Add, a, less, nodes);
        self.int(Instruction::Div, sum, b, nodes)
    }

    /// A comparison of i64s, or a condition of two.
    pub(super) fn test(&mut self, instruction: Instruction, a: Operand, b: Operand, nodes: &mut Vec<Node>) -> Operand {
        let elem = self.f.operand_elem(a);
        self.define("is", Elem::Bool, instruction, elem, vec![a, b], nodes)
    }

    /// Defines a local by an instruction on operands of a type.
    pub(super) fn define(
        &mut self,
        name: &str,
        elem: Elem,
        instruction: Instruction,
        of: Elem,
        args: Vec<Operand>,
        nodes: &mut Vec<Node>,
    ) -> Operand {
        let to = self.local(name, elem);
        nodes.push(Node::Let(to, Expr::Native { instruction, elem: of, args }));
        to.into()
    }

    /// The number of an index tuple, row-major.
    pub(super) fn number(&mut self, indices: &[(Local, Operand)], nodes: &mut Vec<Node>) -> Operand {
        indices.iter().fold(Operand::i64(0), |number, (index, count)| {
            let row = self.int(Instruction::Mul, number, *count, nodes);
            self.int(Instruction::Add, row, (*index).into(), nodes)
        })
    }

    pub(super) fn product(&mut self, extents: &[Operand], nodes: &mut Vec<Node>) -> Operand {
        extents.iter().fold(Operand::i64(1), |all, extent| self.int(Instruction::Mul, all, *extent, nodes))
    }

    // ---- copies of code

    /// Gives a copy of nodes locals of its own for those that it defines or assigns to. `names` has what stands for further ones, and in the
    /// end what stands for all.
    pub(super) fn rename_locals(&mut self, nodes: &mut [Node], names: &mut FxHashMap<Local, Operand>) {
        walk(nodes, &mut |node| {
            node.each_part(&mut |part| {
                if let Part::Local(local, LocalUse::Define | LocalUse::Assign) = part {
                    names.entry(*local).or_insert_with(|| {
                        self.f.locals.push(self.f.locals[local.index()].clone());
                        Local(self.f.locals.len() as u32 - 1).into()
                    });
                }
            });
        });
        walk_mut(nodes, &mut |node| {
            node.each_part_mut(&mut |part| match part {
                PartMut::Local(local, _) => {
                    if let Some(Operand::Local(new)) = names.get(local) {
                        *local = *new;
                    }
                }
                PartMut::Operand(operand, _) => *operand = renamed(names, *operand),
                PartMut::Buffer(..) | PartMut::List(_) | PartMut::Effect(_) => {}
            });
        });
    }

    // ---- memory

    /// A new array.
    pub(super) fn array(&mut self, name: &str, elem: Elem, extents: &[Operand], nodes: &mut Vec<Node>) -> Buffer {
        let buffer = self.buffer(name, elem);
        nodes.push(Node::Alloc { buffer, extents: extents.to_vec() });
        buffer
    }

    /// The same, which somebody else allocates.
    pub(super) fn buffer(&mut self, name: &str, elem: Elem) -> Buffer {
        let kind = BufferKind::Allocated(Home::Arena);
        self.f.buffers.push(BufferInfo { name: name.into(), elem, kind, span: Span::default(), is_record: false });
        Buffer(self.f.buffers.len() as u32 - 1)
    }

    pub(super) fn elem(&self, buffer: Buffer) -> Elem {
        self.f.buffers[buffer.index()].elem
    }

    /// An element.
    pub(super) fn load(&mut self, buffer: Buffer, offset: Operand, nodes: &mut Vec<Node>) -> Operand {
        let to = self.local("e", self.elem(buffer));
        nodes.push(Node::Load(to, Place { buffer, offset }));
        to.into()
    }

    /// Combines a value into an element that no other iteration changes.
    pub(super) fn update(&mut self, place: Place, monoid: Monoid, value: Operand, nodes: &mut Vec<Node>) {
        let elem = self.elem(place.buffer);
        let before = self.load(place.buffer, place.offset, nodes);
        let after = self.define("sum", elem, combining(monoid), elem, vec![before, value], nodes);
        nodes.push(Node::Store(place, after));
    }
}

/// What stands for an operand.
pub(super) fn renamed(names: &FxHashMap<Local, Operand>, operand: Operand) -> Operand {
    match operand {
        Operand::Local(local) => names.get(&local).copied().unwrap_or(operand),
        Operand::Const(_) => operand,
    }
}

/// Writes an element.
pub(super) fn store(buffer: Buffer, offset: Operand, value: Operand) -> Node {
    Node::Store(Place { buffer, offset }, value)
}

/// A loop for each index, the first one outermost.
pub(super) fn loops(indices: &[(Local, Operand)], body: Vec<Node>) -> Vec<Node> {
    indices.iter().rev().fold(body, |body, (index, count)| vec![counted(*index, *count, Independence::All, body)])
}

/// A loop.
pub(super) fn counted(index: Local, count: Operand, independence: Independence, body: Vec<Node>) -> Node {
    Node::For(Box::new(For { index, count, threads: Threads::One, independence, lanes: 1, may_flush: false, body }))
}

fn known(instruction: Instruction, a: i64, b: i64) -> Option<i64> {
    type Fold = fn(i64, i64) -> Option<i64>;
    const FOLDED: [(Instruction, Fold); 6] = [
        (Instruction::Add, i64::checked_add),
        (Instruction::Sub, i64::checked_sub),
        (Instruction::Mul, i64::checked_mul),
        (Instruction::Div, i64::checked_div),
        (Instruction::Min, |a, b| Some(a.min(b))),
        (Instruction::Max, |a, b| Some(a.max(b))),
    ];
    FOLDED.into_iter().find(|(folded, _)| *folded == instruction).and_then(|(_, fold)| fold(a, b))
}
