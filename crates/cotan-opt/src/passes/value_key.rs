//! Value keys: what makes two statements equal.

use cotan_ir::{Atom, CheckKind, Op, Prim, TensorOp};

/// A statement without inner blocks and effects, but for its result.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum ValueKey {
    Prim(Prim, Vec<Atom>),
    Tensor(TensorOp, Vec<Atom>, Vec<i64>),
    Index(Atom, Vec<Atom>),
    Update(Atom, Vec<Atom>, Atom),
    /// Of equal checks the first one fails first, so what their messages show does not matter.
    Check(Atom, CheckKind, Atom),
}

impl ValueKey {
    /// What an operation computes; `None` for a region, a write or a call.
    pub(super) fn of(op: &Op) -> Option<ValueKey> {
        match op {
            Op::Prim { prim, args } => Some(ValueKey::Prim(*prim, args.clone())),
            Op::Tensor { op, args, attrs } => Some(ValueKey::Tensor(*op, args.clone(), attrs.clone())),
            Op::Index { array, indices } => Some(ValueKey::Index(*array, indices.clone())),
            Op::Update { array, indices, value } => Some(ValueKey::Update(*array, indices.clone(), *value)),
            Op::Check { cond, kind, args: _, value } => Some(ValueKey::Check(*cond, *kind, *value)),
            Op::AccAdd { .. } | Op::Par(_) | Op::Loop(_) | Op::Switch { .. } | Op::Call { .. } => None,
        }
    }
}
