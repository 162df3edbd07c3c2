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
        if let Op::Prim { prim, args } = op {
            Some(ValueKey::Prim(*prim, args.clone()))
        } else if let Op::Tensor { op, args, attrs } = op {
            Some(ValueKey::Tensor(*op, args.clone(), attrs.clone()))
        } else if let Op::Index { array, indices } = op {
            Some(ValueKey::Index(*array, indices.clone()))
        } else if let Op::Update { array, indices, value } = op {
            Some(ValueKey::Update(*array, indices.clone(), *value))
        } else if let Op::Check { cond, kind, args: _, value } = op {
            Some(ValueKey::Check(*cond, *kind, *value))
        } else {
            None
        }
    }
}
