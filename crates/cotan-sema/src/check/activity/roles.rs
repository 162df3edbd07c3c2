//! What the arguments of builtins are to their results.

use crate::typed::{Arg, Builtin};
use cotan_ops::Differentiability;

/// What an argument of a builtin is to its result.
pub(super) enum Role {
    /// The result is computed from it.
    Value,
    /// The result is computed from it, with the derivative 0.
    Flat,
    /// It says how large the result is, how often something runs, or where something lies.
    Decides,
}

/// The role of an argument. What orders or compares decides where something lies.
pub(super) fn role(builtin: Builtin, at: usize, args: &[Arg]) -> Role {
    let decide = match builtin {
        Builtin::Tabulate | Builtin::Zeros | Builtin::Ones | Builtin::Iota => 0..args.len(),
        Builtin::Map => 0..args.iter().position(|arg| matches!(arg, Arg::Function(_))).unwrap_or(0),
        Builtin::Full => 0..args.len().saturating_sub(1),
        Builtin::Reshape | Builtin::Broadcast | Builtin::Gather => 1..args.len(),
        Builtin::Iterate => 0..1,
        Builtin::IterateUntil => args.len().saturating_sub(1)..args.len(),
        Builtin::Argsort | Builtin::Argmax | Builtin::Argmin | Builtin::CountLeaves => 0..args.len(),
        Builtin::Operation(op, n_attributes) => {
            let operand = at.checked_sub(n_attributes).and_then(|at| cotan_ops::tensor_row(op).operands.get(at));
            return match operand.map(|operand| operand.differentiability) {
                Some(Differentiability::Zero { .. } | Differentiability::None { .. }) => Role::Flat,
                Some(Differentiability::Smooth { .. } | Differentiability::Piecewise { .. }) | None => Role::Value,
            };
        }
        Builtin::Zip
        | Builtin::Scan
        | Builtin::Fold
        | Builtin::Concat
        | Builtin::Reverse
        | Builtin::Transpose
        | Builtin::ZerosLike
        | Builtin::Diag
        | Builtin::Trace
        | Builtin::Sum
        | Builtin::Prod
        | Builtin::Mean
        | Builtin::Dot
        | Builtin::Norm
        | Builtin::MapLeaves
        | Builtin::SumLeaves
        | Builtin::Inner
        | Builtin::Close
        | Builtin::StopGradient
        | Builtin::Each
        | Builtin::Sort
        | Builtin::Cumsum
        | Builtin::Cumprod
        | Builtin::WrappingAs => 0..0,
    };
    if decide.contains(&at) { Role::Decides } else { Role::Value }
}
