//! Integers that are computed without checks: the offsets of slots, before anybody is known to need them. Where one
//! is out of range or does not fit, the index that is made of it says so.

use cotan_ir::{Atom, Const};
use cotan_ops::{IN_RANGE, NEG};

use super::Result;
use super::body::{Body, Value};
use cotan_sema::typed::{Expr, ExprKind, Index, UnaryOp};

impl<'p> Body<'_, 'p> {
    /// An integer as an i64, as the race check takes it for the same in all iterations.
    pub(super) fn unchecked(&mut self, e: &'p Expr) -> Result<Atom> {
        if let ExprKind::Cast(operand) = &e.kind {
            return self.unchecked(operand);
        }
        if let ExprKind::Unary { op: UnaryOp::Neg, operand } = &e.kind {
            let operand = self.unchecked(operand)?;
            return Ok(self.code.prim(&NEG, &[operand]));
        }
        if let ExprKind::Chain(chain) = &e.kind {
            let mut value = self.unchecked(&chain.first)?;
            for link in &chain.rest {
                let operand = self.unchecked(&link.operand)?;
                value = self.code.prim(link.op.row(), &[value, operand]);
            }
            return Ok(value);
        }
        if let ExprKind::Primitive { row, args, .. } = &e.kind {
            let mut operands = Vec::new();
            for arg in args {
                operands.push(self.unchecked(arg)?);
            }
            return Ok(self.code.prim(row, &operands));
        }
        let value = unchecked_part(self, e)?[0];
        Ok(self.code.as_i64(value))
    }
}

/// A part of a variable; zeros where an index is out of range.
fn unchecked_part<'p>(body: &mut Body<'_, 'p>, e: &'p Expr) -> Result<Value> {
    if let ExprKind::Field { base, index } = &e.kind {
        let part = body.layout.part_leaves(&base.ty, *index);
        let value = unchecked_part(body, base)?;
        return Ok(value.get(part).map(<[Atom]>::to_vec).unwrap_or_default());
    }
    let ExprKind::Index { base, indices } = &e.kind else { return body.expr(e) };
    let value = unchecked_part(body, base)?;
    let mut positions = Vec::new();
    for index in indices {
        if let Index::At(at) = index {
            positions.push(body.unchecked(at)?);
        }
    }
    let mut parts = Value::new();
    for leaf in value {
        let ty = body.code.b.ty(leaf);
        let mut inside = Atom::Const(Const::bool(true));
        for (position, dim) in positions.iter().zip(&ty.dims) {
            let fits = body.code.prim(&IN_RANGE, &[*position, dim.atom()]);
            inside = body.code.both(inside, fits);
        }
        let rest = ty.dims.get(positions.len()..).unwrap_or_default().to_vec();
        parts.push(body.code.choose(inside, &|code| code.b.index(leaf, &positions).into(), &|code| {
            code.fill(Const::zero(ty.elem).into(), &rest)
        }));
    }
    Ok(parts)
}
