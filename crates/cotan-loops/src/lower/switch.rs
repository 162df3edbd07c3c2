//! Lazy branches.
//!
//! A tensor that every arm makes from the same tensor, which nobody needs afterwards, stays in its memory; what an arm
//! leaves elsewhere is copied there. Any other tensor of known size gets memory before the branches. Where the size
//! depends on the arm, the result is a name for whatever the arm made; what lies outside is copied, because it may be
//! overwritten while the result is still read.

use super::memory::Destination;
use super::{Lowering, Value};
use crate::node::{Buffer, BufferKind, Local, Node, Operand, Place, Tensor};
use cotan_ir::{Atom, Block, Elem, Op, Stmt, Var};
use rustc_hash::FxHashSet;

/// Where a result of the arms goes.
#[derive(Clone)]
enum Join {
    Scalar(Local),
    /// In memory of its own.
    New(Tensor),
    /// In the memory of the tensor that every arm starts from.
    InPlace(Tensor),
    /// Named by each arm.
    Named(Buffer),
}

impl<'a> Lowering<'a> {
    pub(super) fn switch(&mut self, stmt: &'a Stmt, selector: Atom, arms: &'a [Block]) {
        let on = self.scalar(selector);
        let mut taken = FxHashSet::default();
        let joins: Vec<Join> = (0..stmt.results.len()).map(|k| join_of(self, stmt, arms, k, &mut taken)).collect();
        let mut bodies: Vec<Vec<Node>> = arms.iter().map(|arm| nodes_of_arm(self, arm, &joins)).collect();
        let node = if self.elem_of(on) == Elem::Bool {
            let no = bodies.pop().unwrap_or_default();
            let yes = bodies.pop().unwrap_or_default();
            Node::If(on, yes, no)
        } else {
            Node::Switch(on, bodies)
        };
        self.push(node);
        for (join, result) in joins.into_iter().zip(&stmt.results) {
            let value = match join {
                Join::Scalar(local) => Value::Scalar(self.read(local)),
                Join::New(tensor) | Join::InPlace(tensor) => Value::Tensor(tensor),
                Join::Named(buffer) => {
                    let ty = self.f.ty(*result);
                    let place = Place { buffer, offset: Operand::i64(0) };
                    Value::Tensor(Tensor { place, elem: ty.elem, dims: self.dims(ty) })
                }
            };
            self.bind(*result, value);
        }
    }
}

/// Decides where result `k` goes. `taken` holds the tensors whose memory other results have.
fn join_of(this: &mut Lowering, stmt: &Stmt, arms: &[Block], k: usize, taken: &mut FxHashSet<Var>) -> Join {
    let result = stmt.results[k];
    let info = &this.f.vars[result.index()];
    if info.ty.is_scalar() {
        return Join::Scalar(this.new_local(&info.name, info.ty.elem, true));
    }
    if info.ty.dim_vars().any(|d| stmt.results.contains(&d)) {
        return Join::Named(this.new_buffer(&info.name, info.ty.elem, BufferKind::Bound));
    }
    let origin = arms.first().and_then(|arm| origin_of(this, arm.results[k]));
    if let Some(origin) = origin
        && arms.iter().all(|arm| origin_of(this, arm.results[k]) == Some(origin))
        && this.f.ty(origin).rank() == info.ty.rank()
        && taken.insert(origin)
        && this.may_overwrite_after(origin.into())
    {
        return Join::InPlace(this.tensor(origin.into()));
    }
    Join::New(this.allocate_for(result))
}

/// The tensor from outside the branches that a result takes over step by step.
fn origin_of(this: &Lowering, result: Atom) -> Option<Var> {
    let mut at = result.var()?;
    while !this.values.contains_key(&at) {
        at = match this.definitions.get(&at) {
            Some((Stmt { op: Op::Switch { arms, .. }, .. }, k)) => arms[0].results[*k].var()?,
            Some(_) | None => this.predecessor(at)?,
        };
    }
    Some(at)
}

fn nodes_of_arm<'a>(this: &mut Lowering<'a>, arm: &'a Block, joins: &[Join]) -> Vec<Node> {
    let outside = this.buffers.len();
    this.nodes(|this| {
        this.scopes.open(arm, false);
        let destinations = arm.results.iter().zip(joins).filter_map(|(result, join)| match join {
            Join::New(tensor) => Some((*result, Destination::Place(tensor.place))),
            Join::Scalar(_) | Join::InPlace(_) | Join::Named(_) => None,
        });
        this.offer(&destinations.collect::<Vec<_>>());
        this.statements(arm);
        let mut moves = Vec::new();
        for (result, join) in arm.results.iter().zip(joins) {
            match join {
                Join::Scalar(local) => {
                    let value = this.scalar(*result);
                    this.push(Node::Set(*local, value));
                }
                Join::New(tensor) | Join::InPlace(tensor) => moves.push((this.tensor(*result), tensor.place)),
                Join::Named(buffer) => {
                    let made = this.tensor(*result);
                    let source = made.place.buffer.index();
                    let is_param = matches!(this.buffers[source].kind, BufferKind::Param(_));
                    let named = if source < outside && !is_param { this.saved(&made) } else { made };
                    this.push(Node::Bind { buffer: *buffer, to: named.place });
                }
            }
        }
        this.deliver(moves);
        this.scopes.close();
    })
}
