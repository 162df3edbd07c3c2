//! Defaults of parameters as values of the host.

use cotan_ir::{Const, bug};
use cotan_ops::Value;

use crate::entry::{EntryDefault, HostType};
use cotan_sema::typed::{Expr, ExprKind};

/// The default of a parameter: a parameter before it, or a constant.
pub(super) fn entry_default(value: &Expr, ty: &HostType) -> EntryDefault {
    if let ExprKind::Local(param) = value.kind {
        return EntryDefault::OfParam(param.0 as usize);
    }
    EntryDefault::Leaves(default_leaves(value, ty))
}

/// The leaves of a constant, which is made of literals, arrays and tuples.
fn default_leaves(value: &Expr, ty: &HostType) -> Vec<Value> {
    match (&value.kind, ty) {
        (ExprKind::Tuple(parts), HostType::Tuple(tys)) => {
            parts.iter().zip(tys).flat_map(|(part, ty)| default_leaves(part, ty)).collect()
        }
        (ExprKind::Array(parts), HostType::Tensor { elem, dims }) => {
            let row = match &dims[1..] {
                [] => HostType::clone(elem),
                inner => HostType::Tensor { elem: elem.clone(), dims: inner.to_vec() },
            };
            stacked(parts.iter().map(|part| default_leaves(part, &row)))
        }
        (ExprKind::Unary { operand, .. }, HostType::Scalar(elem)) => {
            // Negative infinity alone has no literal.
            let constant = default_leaves(operand, ty)[0].get(0);
            vec![Value::from(Const::float(*elem, -constant.as_float().unwrap_or(f64::INFINITY)))]
        }
        (ExprKind::Literal(literal), HostType::Scalar(elem)) => vec![Value::from(literal.constant(*elem))],
        (found, ty) => bug!("lowering", format_args!("{found:?}"), "the default of a {ty:?} is made of literals"),
    }
}

/// Rows of leaves as leaves with one axis more.
fn stacked(rows: impl Iterator<Item = Vec<Value>>) -> Vec<Value> {
    let mut leaves: Vec<Value> = Vec::new();
    for (at, row) in rows.enumerate() {
        if at == 0 {
            leaves = row.iter().map(|leaf| Value { bits: Vec::new(), dims: Vec::new(), ..leaf.clone() }).collect();
        }
        for (leaf, part) in leaves.iter_mut().zip(row) {
            leaf.dims = [&[at as i64 + 1], part.dims.as_slice()].concat();
            leaf.bits.extend(part.bits);
        }
    }
    leaves
}
