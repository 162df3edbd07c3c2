//! Which tensor lies where: bindings, allocation, destinations, overwriting, copies.
//!
//! Note [Overwriting]. A tensor may be overwritten when its buffer belongs to this call (parameters never do) and no
//! variable that lies in the buffer is read afterwards; the next iteration of an enclosing loop counts as afterwards.
//! Small parts that are still read (a row taken before its matrix is updated) are moved out of the way, so that they
//! don't force a copy of the whole.
//!
//! Note [Offers]. When a block begins, the places where its results have to end up exist already. Each is offered to the
//! variable that is the result and to those whose memory it takes over (the operand of an update, the start of a loop);
//! the first that needs memory takes the offer. A result that lands elsewhere is copied at the end.

use super::{Lowering, Value};
use crate::liveness::is_read_inside;
use crate::node::{Buffer, BufferInfo, BufferKind, Home, Local, LocalInfo, Node, Operand, Place, Tensor};
use cotan_ir::{Atom, Elem, Op, Ty, Var, bug};

/// Largest size in bytes of a buffer that lives in the frame, and of all of them together.
const FRAME_BUFFER_BYTES: i64 = 512;
const FRAME_BYTES: i64 = 32 << 10;

/// Memory for a result, see Note [Offers].
#[derive(Clone, Copy, Debug)]
pub(super) enum Destination {
    /// This place.
    Place(Place),
    /// The memory of a result of the function.
    Result(usize),
    /// Somebody took it.
    Taken,
}

impl<'a> Lowering<'a> {
    // ---- tables

    pub(super) fn new_local(&mut self, name: &str, elem: Elem, is_mutable: bool) -> Local {
        self.locals.push(LocalInfo { name: name.into(), elem, is_mutable, lanes: 1 });
        Local(self.locals.len() as u32 - 1)
    }

    pub(super) fn new_buffer(&mut self, name: &str, elem: Elem, kind: BufferKind) -> Buffer {
        self.buffers.push(BufferInfo { name: name.into(), elem, kind, span: self.span, is_record: false });
        Buffer(self.buffers.len() as u32 - 1)
    }

    // ---- bindings

    /// Says what a variable has become.
    pub(super) fn bind(&mut self, v: Var, value: Value) {
        if let Value::Tensor(t) = &value {
            self.sharers.entry(t.place.buffer).or_default().push(v);
        }
        self.scopes.bind(v);
        self.values.insert(v, value);
    }

    pub(super) fn value_of(&self, a: Atom) -> Value {
        match a {
            Atom::Const(c) => Value::Scalar(Operand::Const(c)),
            Atom::Var(v) => self.values.get(&v).cloned().expect("invariant: a variable is bound before it is used"),
        }
    }

    /// A scalar operand.
    pub(super) fn scalar(&self, a: Atom) -> Operand {
        match self.value_of(a) {
            Value::Scalar(operand) => operand,
            Value::Tensor(_) => bug!("lowering to nests", self.f, "{a:?} is no number"),
        }
    }

    /// A tensor operand.
    pub(super) fn tensor(&self, a: Atom) -> Tensor {
        match self.value_of(a) {
            Value::Tensor(tensor) => tensor,
            Value::Scalar(_) => bug!("lowering to nests", self.f, "{a:?} is no tensor"),
        }
    }

    /// The extents that a type names.
    pub(super) fn dims(&self, ty: &Ty) -> Vec<Operand> {
        ty.dims.iter().map(|d| self.scalar(d.atom())).collect()
    }

    // ---- allocation

    /// Memory for a variable: what was offered for it, else new. The variable is not bound yet.
    pub(super) fn allocate_for(&mut self, v: Var) -> Tensor {
        let info = &self.f.vars[v.index()];
        let dims = self.dims(&info.ty);
        self.count_record(v);
        let tensor = match take_offer(self, v) {
            Destination::Place(place) => return Tensor { place, elem: info.ty.elem, dims },
            Destination::Result(k) => self.allocate_result(&info.name, info.ty.elem, dims, k),
            Destination::Taken => self.allocate(&info.name, info.ty.elem, dims),
        };
        self.buffers[tensor.place.buffer.index()].is_record = info.record.is_some();
        tensor
    }

    /// An empty stack for what becomes `result`.
    pub(super) fn open_stack(&mut self, result: Var) -> Buffer {
        let info = &self.f.vars[result.index()];
        let buffer = self.new_buffer(&info.name, info.ty.elem, BufferKind::Stack);
        self.buffers[buffer.index()].is_record = info.record.is_some();
        self.allocates = true;
        self.push(Node::StackOpen(buffer));
        buffer
    }

    /// Counts the memory of a variable if it is a record.
    pub(super) fn count_record(&mut self, v: Var) {
        let info = &self.f.vars[v.index()];
        if info.record.is_some() {
            let dims = self.dims(&info.ty);
            self.push(Node::CountRecord(info.ty.elem, dims));
        }
    }

    /// New memory in the frame or the arena.
    pub(super) fn allocate(&mut self, name: &str, elem: Elem, dims: Vec<Operand>) -> Tensor {
        let known = dims.iter().try_fold(elem.bytes() as i64, |n, d| d.as_i64().and_then(|d| n.checked_mul(d)));
        let home = match known {
            Some(bytes) if bytes <= FRAME_BUFFER_BYTES && self.frame_bytes + bytes <= FRAME_BYTES => {
                self.frame_bytes += bytes;
                Home::Frame
            }
            Some(_) | None => {
                self.allocates = true;
                Home::Arena
            }
        };
        allocate_at(self, name, elem, dims, home)
    }

    /// The memory of result `k` of the function.
    pub(super) fn allocate_result(&mut self, name: &str, elem: Elem, dims: Vec<Operand>, k: usize) -> Tensor {
        allocate_at(self, name, elem, dims, Home::Result(k))
    }

    /// The result of the function in whose memory a place lies.
    pub(super) fn home_of(&self, place: Place) -> Option<usize> {
        match self.buffers[place.buffer.index()].kind {
            BufferKind::Allocated(Home::Result(k)) => Some(k),
            BufferKind::Allocated(Home::Arena | Home::Frame)
            | BufferKind::Param(_)
            | BufferKind::Stack
            | BufferKind::Bound => None,
        }
    }

    // ---- destinations

    /// Offers memory to results of the block that begins.
    pub(super) fn offer(&mut self, destinations: &[(Atom, Destination)]) {
        for (result, offer) in destinations {
            let number = self.destinations.len();
            self.destinations.push(*offer);
            let mut next = result.var();
            while let Some(v) = next {
                // What is a result itself has memory of its own, and must not be overwritten.
                let is_another =
                    Some(v) != result.var() && destinations.iter().any(|(other, _)| other.var() == Some(v));
                let is_settled = self.values.contains_key(&v) || self.destination_of.contains_key(&v);
                if is_another || is_settled || self.f.ty(v).is_scalar() {
                    break;
                }
                self.destination_of.insert(v, number);
                next = self.predecessor(v);
            }
        }
    }

    /// The variable whose memory a variable takes over if it can.
    pub(super) fn predecessor(&self, v: Var) -> Option<Var> {
        let (stmt, position) = self.definitions.get(&v)?;
        let from = if let Op::Update { array, .. } = &stmt.op {
            Some(*array)
        } else if let Op::Check { value, .. } = &stmt.op {
            Some(*value)
        } else if let Op::Loop(l) = &stmt.op {
            let results = l.split(&stmt.results);
            let accs = l.accs.iter().map(|a| a.init);
            let inits = l.inits.iter().map(|a| Some(*a)).chain(accs);
            let named = results.carried.iter().chain(results.accs);
            named.zip(inits).find(|(result, _)| **result == v).and_then(|(_, init)| init)
        } else if let Op::Par(p) = &stmt.op {
            position.checked_sub(p.kinds.len()).and_then(|k| p.accs[k].init)
        } else {
            None
        };
        from.and_then(Atom::var)
    }

    // ---- overwriting

    /// Whether the current statement, whose operation is `op`, may write its result over `a`; see Note [Overwriting].
    /// Rows that are still read are moved away.
    pub(super) fn may_overwrite(&mut self, a: Atom, op: &Op) -> bool {
        let is_free = |this: &Self, v: Var| !this.scopes.is_live_after(v) && !is_read_inside(op, v);
        let may = self.may_take_over(a, is_free);
        if may
            && let Value::Tensor(t) = self.value_of(a)
            && let Some(sharers) = self.sharers.get_mut(&t.place.buffer)
        {
            // What was bound outside of this block may still be read by another arm of a switch.
            sharers.retain(|v| !self.scopes.is_local(*v));
        }
        may
    }

    /// The same for a statement whose blocks run at most once and look after themselves: what lies in the buffer may
    /// still be read there, so it stays known.
    pub(super) fn may_overwrite_after(&mut self, a: Atom) -> bool {
        self.may_take_over(a, |this, v| !this.scopes.is_live_after(v))
    }

    fn may_take_over(&mut self, a: Atom, is_free: impl Fn(&Self, Var) -> bool) -> bool {
        let Some(v) = a.var() else { return false };
        let target = self.tensor(a);
        let buffer = target.place.buffer;
        match self.buffers[buffer.index()].kind {
            BufferKind::Param(_) | BufferKind::Bound => return false,
            BufferKind::Allocated(_) | BufferKind::Stack => {}
        }
        let sharers = self.sharers.get(&buffer).cloned().unwrap_or_default();
        let live: Vec<Var> = sharers.iter().copied().filter(|w| !is_free(self, *w)).collect();
        let is_part = |w: &Var| *w != v && self.f.ty(*w).rank() < target.dims.len() && self.scopes.is_local(*w);
        let may = live.iter().all(is_part);
        if may {
            let staying = sharers.into_iter().filter(|w| !live.contains(w)).collect();
            self.sharers.insert(buffer, staying);
            live.iter().for_each(|w| move_away(self, *w));
        }
        may
    }

    // ---- copies

    /// A copy of a tensor.
    pub(super) fn saved(&mut self, from: &Tensor) -> Tensor {
        let saved = self.allocate("saved", from.elem, from.dims.clone());
        self.copy_tensor(from, saved.place);
        saved
    }

    /// Copies a whole tensor.
    pub(super) fn copy_tensor(&mut self, from: &Tensor, to: Place) {
        let count = self.count(&from.dims);
        self.push(Node::Copy { from: from.place, to, count });
    }

    /// Copies tensors to places, as if all at once: what others still read is overwritten last, and where each waits for
    /// another one, it is saved first.
    pub(super) fn deliver(&mut self, moves: Vec<(Tensor, Place)>) {
        let mut moves: Vec<(Tensor, Place)> = moves.into_iter().filter(|(from, to)| from.place != *to).collect();
        while !moves.is_empty() {
            let is_read = |to: &Place| moves.iter().any(|(from, _)| from.place.buffer == to.buffer);
            match moves.iter().position(|(_, to)| !is_read(to)) {
                Some(k) => {
                    let (from, to) = moves.remove(k);
                    self.copy_tensor(&from, to);
                }
                None => moves[0].0 = self.saved(&moves[0].0.clone()),
            }
        }
    }
}

fn allocate_at(this: &mut Lowering, name: &str, elem: Elem, dims: Vec<Operand>, home: Home) -> Tensor {
    let buffer = this.new_buffer(name, elem, BufferKind::Allocated(home));
    this.push(Node::Alloc { buffer, extents: dims.clone() });
    Tensor { place: Place { buffer, offset: Operand::i64(0) }, elem, dims }
}

fn take_offer(this: &mut Lowering, v: Var) -> Destination {
    match this.destination_of.get(&v) {
        Some(number) => std::mem::replace(&mut this.destinations[*number], Destination::Taken),
        None => Destination::Taken,
    }
}

/// Gives a variable a copy of its own.
fn move_away(this: &mut Lowering, v: Var) {
    let from = this.tensor(v.into());
    let to = this.allocate(&this.f.vars[v.index()].name, from.elem, from.dims.clone());
    this.copy_tensor(&from, to.place);
    this.sharers.entry(to.place.buffer).or_default().push(v);
    this.values.insert(v, Value::Tensor(to));
}
