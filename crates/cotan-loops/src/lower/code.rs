//! Writing nodes: locals, index arithmetic, loops.

use super::Lowering;
use crate::node::{Expr, For, Independence, Local, Node, Operand, Place, Tensor, Threads};
use cotan_ir::{Atom, CheckKind, Const, Elem, Span};
use cotan_ops::Instruction;

impl Lowering<'_> {
    // ---- node lists

    pub(super) fn push(&mut self, node: Node) {
        self.open.last_mut().expect("invariant: a node list is open").push(node);
    }

    /// The nodes that `write` appends, apart.
    pub(super) fn nodes(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Node> {
        self.open.push(Vec::new());
        write(self);
        self.open.pop().expect("invariant: it was opened here")
    }

    /// The nodes of the body of a loop. What they take from the arena is released when an iteration ends.
    pub(super) fn body_nodes(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Node> {
        let outside = std::mem::replace(&mut self.allocates, false);
        let nodes = self.nodes(write);
        if std::mem::replace(&mut self.allocates, outside) { vec![Node::Scope(nodes)] } else { nodes }
    }

    /// A counted loop; `write` appends its body, given the index.
    pub(super) fn for_each(&mut self, name: &str, count: Operand, write: impl FnOnce(&mut Self, Operand)) {
        self.counted(name, count, Independence::None, write);
    }

    /// A counted loop whose iterations are independent.
    pub(super) fn for_each_apart(&mut self, name: &str, count: Operand, write: impl FnOnce(&mut Self, Operand)) {
        self.counted(name, count, Independence::All, write);
    }

    /// A counted loop.
    pub(super) fn counted(
        &mut self,
        name: &str,
        count: Operand,
        independence: Independence,
        write: impl FnOnce(&mut Self, Operand),
    ) {
        let index = self.new_local(name, Elem::I64, false);
        let body = self.body_nodes(|this| write(this, index.into()));
        self.push(Node::For(Box::new(For {
            index,
            count,
            threads: Threads::One,
            independence,
            lanes: 1,
            may_flush: false,
            body,
        })));
    }

    // ---- scalars

    pub(super) fn define(&mut self, name: &str, elem: Elem, value: Expr) -> Operand {
        let local = self.new_local(name, elem, false);
        self.push(Node::Let(local, value));
        local.into()
    }

    /// A mutable local with a first value.
    pub(super) fn variable(&mut self, name: &str, elem: Elem, first: Operand) -> Local {
        let local = self.new_local(name, elem, true);
        self.push(Node::Set(local, first));
        local
    }

    /// The present value of a mutable local.
    pub(super) fn read(&mut self, variable: Local) -> Operand {
        let info = self.locals[variable.index()].clone();
        self.define(&info.name, info.elem, Expr::Copy(variable.into()))
    }

    pub(super) fn native(&mut self, instruction: Instruction, elem: Elem, result: Elem, args: &[Operand]) -> Operand {
        self.define("t", result, Expr::Native { instruction, elem, args: args.to_vec() })
    }

    pub(super) fn load(&mut self, name: &str, elem: Elem, from: Place) -> Operand {
        let local = self.new_local(name, elem, false);
        self.push(Node::Load(local, from));
        local.into()
    }

    pub(super) fn store(&mut self, to: Place, value: Operand) {
        self.push(Node::Store(to, value));
    }

    /// A check as a node, with the arguments that its kind reports: integers as i64, floats as they are.
    pub(super) fn check(&mut self, cond: Atom, kind: CheckKind, args: &[Atom], span: Span) -> Node {
        let args = args.iter().filter(|a| kind.reports(self.f.atom_ty(**a).elem)).map(|a| self.scalar(*a));
        let args: Vec<Operand> = args.collect();
        let args = args.into_iter().map(|a| reported(self, a)).collect();
        Node::Check { cond: self.scalar(cond), kind, args, span }
    }

    // ---- index arithmetic, constants folded

    pub(super) fn add(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Operand::i64(a.wrapping_add(b)),
            (Some(0), None) => b,
            (None, Some(0)) => a,
            (Some(_), None) | (None, Some(_)) | (None, None) => {
                self.native(Instruction::Add, Elem::I64, Elem::I64, &[a, b])
            }
        }
    }

    pub(super) fn sub(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Operand::i64(a.wrapping_sub(b)),
            (None, Some(0)) => a,
            (Some(_), None) | (None, Some(_)) | (None, None) => {
                self.native(Instruction::Sub, Elem::I64, Elem::I64, &[a, b])
            }
        }
    }

    pub(super) fn mul(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Operand::i64(a.wrapping_mul(b)),
            (Some(0), None) | (None, Some(0)) => Operand::i64(0),
            (Some(1), None) => b,
            (None, Some(1)) => a,
            (Some(_), None) | (None, Some(_)) | (None, None) => {
                self.native(Instruction::Mul, Elem::I64, Elem::I64, &[a, b])
            }
        }
    }

    /// The number of elements of these extents.
    pub(super) fn count(&mut self, dims: &[Operand]) -> Operand {
        dims.iter().fold(Operand::i64(1), |n, d| self.mul(n, *d))
    }

    /// The place at an element offset from another.
    pub(super) fn shifted(&mut self, place: Place, by: Operand) -> Place {
        Place { buffer: place.buffer, offset: self.add(place.offset, by) }
    }

    /// The part of a tensor at leading indices: its place, and its dims.
    pub(super) fn part(&mut self, tensor: &Tensor, indices: &[Operand]) -> Tensor {
        let (lead, dims) = tensor.dims.split_at(indices.len());
        let number = self.flat(lead, indices);
        let size = self.count(dims);
        let offset = self.mul(number, size);
        Tensor { place: self.shifted(tensor.place, offset), elem: tensor.elem, dims: dims.to_vec() }
    }

    /// The row-major number of an index tuple.
    pub(super) fn flat(&mut self, dims: &[Operand], indices: &[Operand]) -> Operand {
        indices.iter().zip(dims).fold(Operand::i64(0), |n, (i, d)| {
            let row = self.mul(n, *d);
            self.add(row, *i)
        })
    }

    /// The type of an operand.
    pub(super) fn elem_of(&self, operand: Operand) -> Elem {
        match operand {
            Operand::Local(local) => self.locals[local.index()].elem,
            Operand::Const(c) => c.elem(),
        }
    }
}

/// An argument as it is reported: what does not fit an i64 stays a u64, and floats stay what they are.
fn reported(this: &mut Lowering, a: Operand) -> Operand {
    let elem = this.elem_of(a);
    match a {
        Operand::Const(_) | Operand::Local(_) if elem == Elem::U64 || elem.is_float() => a,
        Operand::Const(c) => Operand::Const(c.as_integer().map_or(c, |n| Const::integer(Elem::I64, n))),
        Operand::Local(_) if elem == Elem::I64 => a,
        Operand::Local(_) => this.native(Instruction::Cast(Elem::I64), elem, Elem::I64, &[a]),
    }
}
