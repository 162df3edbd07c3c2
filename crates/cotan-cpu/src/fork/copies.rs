//! What the iterations of a loop combine into, once for each chunk.
//!
//! Note [Copies]. Chunks must not write to the same memory at the same time. The first chunk has the sum itself; every
//! other one has a copy, which starts as nothing and is combined with the sum when all chunks are done, in their order.
//! So a loop of one chunk has no copies, and does what it would do without threads.

use super::{Fork, number};
use crate::vector::vectorise_list;
use cotan_ir::{Elem, Monoid, Span};
use cotan_loops::node::{
    Buffer, BufferInfo, BufferKind, Expr, Home, Independence, Local, LocalUse, Node, Operand, PartMut, Place, Sum,
    Target, combining, rename_buffers, rounds, walk_mut,
};
use cotan_ops::Instruction;
use cotan_ops::reduce::neutral;
use rustc_hash::FxHashMap;

/// The copies of all sums of a loop.
pub(super) struct Copies {
    of: Vec<Copy>,
}

/// The copies of one sum.
struct Copy {
    monoid: Monoid,
    elem: Elem,
    target: Target,
    extents: Vec<Operand>,
    /// The number of elements.
    size: Operand,
    /// The copies, one behind the other.
    memory: Buffer,
    /// Copies there are: one for each chunk of a local, one less of a buffer.
    n: Operand,
}

/// What a chunk combines into instead.
pub(super) enum Own {
    Local(Local),
    Buffer,
}

impl Copies {
    pub(super) fn of(fork: &mut Fork, sums: Vec<Sum>) -> Copies {
        let of = sums.into_iter().map(|sum| Copy::of(fork, sum)).collect();
        Copies { of }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The bytes of one copy of everything, an f64.
    pub(super) fn bytes(&self, fork: &mut Fork) -> Operand {
        let total = self.of.iter().fold(number(0.0), |total, copy| {
            let bytes = fork.size_in_bytes(copy.elem, &copy.extents);
            fork.f64(Instruction::Add, total, bytes)
        });
        fork.f64(Instruction::Max, total, number(1.0))
    }

    pub(super) fn allocate(&mut self, fork: &mut Fork, n_chunks: Operand) {
        for copy in &mut self.of {
            copy.n = match copy.target {
                Target::Local(_) => n_chunks,
                Target::Element(_) => fork.i64(Instruction::Sub, n_chunks, Operand::i64(1)),
            };
            let extents = std::iter::once(copy.n).chain(copy.extents.iter().copied()).collect();
            fork.push(Node::Alloc { buffer: copy.memory, extents });
        }
    }

    /// Gives a chunk what is its own, and lets the nodes of its iterations combine into that.
    pub(super) fn open(&self, fork: &mut Fork, chunk: Operand, body: &mut [Node]) -> Vec<Own> {
        if self.of.is_empty() {
            return Vec::new();
        }
        let eq = Expr::Native { instruction: Instruction::Eq, elem: Elem::I64, args: vec![chunk, Operand::i64(0)] };
        let is_first = fork.define("is_first", Elem::Bool, eq);
        let mut names = Names::default();
        let own = self.of.iter().map(|copy| match copy.target {
            Target::Local(local) => {
                let own = copy.open_local(fork, local, is_first);
                names.locals.insert(local, own);
                Own::Local(own)
            }
            Target::Element(place) => {
                let own = copy.open_buffer(fork, place, chunk, is_first);
                names.buffers.insert(place.buffer, own);
                Own::Buffer
            }
        });
        let own = own.collect();
        names.replace(body);
        own
    }

    /// Leaves what a chunk has in locals where it is found afterwards.
    pub(super) fn close(&self, fork: &mut Fork, chunk: Operand, own: &[Own]) {
        for (copy, own) in self.of.iter().zip(own) {
            match own {
                Own::Local(local) => {
                    let value = fork.define("own", copy.elem, Expr::Copy((*local).into()));
                    fork.push(Node::Store(Place { buffer: copy.memory, offset: chunk }, value));
                }
                Own::Buffer => {}
            }
        }
    }

    /// Combines all copies with the sums, in the order of chunks.
    pub(super) fn combine(&self, fork: &mut Fork) {
        for copy in &self.of {
            match copy.target {
                Target::Local(local) => copy.combine_locals(fork, local),
                Target::Element(place) => copy.combine_buffers(fork, place),
            }
        }
    }
}

impl Copy {
    fn of(fork: &mut Fork, sum: Sum) -> Copy {
        let Sum { monoid, target, extents } = sum;
        let (elem, name, span) = match target {
            Target::Local(local) => {
                let info = &fork.f.locals[local.index()];
                (info.elem, info.name.clone(), Span::NONE)
            }
            Target::Element(place) => {
                let info = &fork.f.buffers[place.buffer.index()];
                (info.elem, info.name.clone(), info.span)
            }
        };
        fork.f.regroups_sums |= rounds(monoid, elem);
        let kind = BufferKind::Allocated(Home::Arena);
        fork.f.buffers.push(BufferInfo { name, elem, kind, span, is_record: false });
        let memory = Buffer(fork.f.buffers.len() as u32 - 1);
        let size = extents.iter().fold(Operand::i64(1), |n, extent| fork.i64(Instruction::Mul, n, *extent));
        Copy { monoid, elem, target, extents, size, memory, n: Operand::i64(0) }
    }

    fn neutral(&self) -> Operand {
        Operand::Const(neutral(self.monoid, self.elem))
    }

    fn open_local(&self, fork: &mut Fork, local: Local, is_first: Operand) -> Local {
        let name = fork.f.locals[local.index()].name.clone();
        let start = fork.define(&name, self.elem, Expr::Copy(local.into()));
        let args = vec![is_first, start, self.neutral()];
        let select = Expr::Native { instruction: Instruction::Select, elem: self.elem, args };
        let first = fork.define(&name, self.elem, select);
        let own = fork.local(&name, self.elem, true);
        fork.push(Node::Set(own, first));
        own
    }

    fn open_buffer(&self, fork: &mut Fork, sum: Place, chunk: Operand, is_first: Operand) -> Buffer {
        let info = fork.f.buffers[sum.buffer.index()].clone();
        fork.f.buffers.push(BufferInfo { kind: BufferKind::Bound, is_record: false, ..info });
        let own = Buffer(fork.f.buffers.len() as u32 - 1);
        let copy = fork.nodes(|fork| {
            let number = fork.i64(Instruction::Sub, chunk, Operand::i64(1));
            let offset = fork.i64(Instruction::Mul, number, self.size);
            fork.push(Node::Bind { buffer: own, to: Place { buffer: self.memory, offset } });
            let clear = fork.nodes(|fork| {
                fork.each("e", self.size, Independence::All, |fork, e| {
                    fork.push(Node::Store(Place { buffer: own, offset: e }, self.neutral()));
                });
            });
            vectorise_list(fork.f, clear).into_iter().for_each(|node| fork.push(node));
        });
        let itself = vec![Node::Bind { buffer: own, to: sum }];
        fork.push(Node::If(is_first, itself, copy));
        own
    }

    fn combine_locals(&self, fork: &mut Fork, local: Local) {
        let value = |fork: &mut Fork, offset| fork.load("own", self.elem, Place { buffer: self.memory, offset });
        let first = value(fork, Operand::i64(0));
        fork.push(Node::Set(local, first));
        let others = fork.i64(Instruction::Sub, self.n, Operand::i64(1));
        fork.each("c", others, Independence::None, |fork, c| {
            let number = fork.i64(Instruction::Add, c, Operand::i64(1));
            let value = value(fork, number);
            fork.push(Node::Combine { monoid: self.monoid, target: Target::Local(local), value });
        });
    }

    fn combine_buffers(&self, fork: &mut Fork, sum: Place) {
        fork.each("c", self.n, Independence::None, |fork, c| {
            let start = fork.i64(Instruction::Mul, c, self.size);
            let add = fork.nodes(|fork| {
                fork.each("e", self.size, Independence::All, |fork, e| {
                    let offset = fork.i64(Instruction::Add, start, e);
                    let own = fork.load("own", self.elem, Place { buffer: self.memory, offset });
                    let to = Place { buffer: sum.buffer, offset: e };
                    let args = vec![fork.load("sum", self.elem, to), own];
                    let instruction = combining(self.monoid);
                    let total = fork.define("sum", self.elem, Expr::Native { instruction, elem: self.elem, args });
                    fork.push(Node::Store(to, total));
                });
            });
            vectorise_list(fork.f, add).into_iter().for_each(|node| fork.push(node));
        });
    }
}

/// What sums are called in a chunk.
#[derive(Default)]
struct Names {
    locals: FxHashMap<Local, Local>,
    buffers: FxHashMap<Buffer, Buffer>,
}

impl Names {
    fn replace(&self, nodes: &mut [Node]) {
        rename_buffers(nodes, &mut |buffer| self.buffers.get(&buffer).copied().unwrap_or(buffer));
        walk_mut(nodes, &mut |node| {
            node.each_part_mut(&mut |part| {
                if let PartMut::Local(local, LocalUse::Combine | LocalUse::Note) = part {
                    *local = self.locals.get(local).copied().unwrap_or(*local);
                }
            });
        });
    }
}
