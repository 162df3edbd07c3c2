//! Vector spaces: operators and scalar functions leaf by leaf, on structs, tuples, tensors of them, and what generic
//! code takes for one of these.

use cotan_ir::{Atom, Elem};
use cotan_ops::PrimRow;
use cotan_sema::typed::{BinaryOp, Link, Type};

use super::Result;
use super::body::{Body, Value};
use super::values::elem_of;

/// An operand with its type.
pub(super) type Operand<'t> = (&'t Type, Value);

impl Body<'_, '_> {
    /// One step of a run of operators.
    pub(super) fn infix(&mut self, link: &Link, left: Operand<'_>, right: Operand<'_>) -> Result<Value> {
        let operands = [left, right];
        if link.op == BinaryOp::MatMul || !is_by_leaves(link.op.row(), &link.ty, &operands) {
            return Ok(vec![self.binary(link.op, operands[0].1[0], operands[1].1[0])?]);
        }
        self.leaf_by_leaf(&link.ty, &operands, &mut |body, args| body.binary(link.op, args[0], args[1]))
    }

    /// The leaves of a vector of type `ty`: `f` of the floats of the operands, in the type of the leaf. A scalar goes to
    /// every leaf. What is no float is that of the first vector.
    pub(super) fn leaf_by_leaf(
        &mut self,
        ty: &Type,
        operands: &[Operand<'_>],
        f: &mut dyn FnMut(&mut Self, &[Atom]) -> Result<Atom>,
    ) -> Result<Value> {
        let places: Vec<Option<Vec<Option<usize>>>> =
            operands.iter().map(|(of, _)| self.layout.places_in(ty, of)).collect();
        let mut leaves = Value::new();
        for (k, leaf) in self.layout.leaf_types(ty).iter().enumerate() {
            let mut args = Vec::new();
            for ((_, value), places) in operands.iter().zip(&places) {
                match places.as_ref().map(|places| places[k]) {
                    None => args.push(value[0]),
                    Some(Some(at)) => args.push(value[at]),
                    // A tangent has no such leaf, and needs none.
                    Some(None) => {}
                }
            }
            if leaf.is_tag || !leaf.elem.is_float() {
                let of_vector = operands
                    .iter()
                    .zip(&places)
                    .find_map(|((_, value), places)| places.as_ref().and_then(|places| places[k]).map(|at| value[at]));
                leaves.extend(of_vector);
                continue;
            }
            for arg in &mut args {
                if self.code.b.ty(*arg).is_float() {
                    *arg = self.code.convert(*arg, leaf.elem.computed());
                }
            }
            let made = f(self, &args)?;
            leaves.push(self.code.convert(made, leaf.elem));
        }
        Ok(leaves)
    }
}

/// Whether an operation is done leaf by leaf: on vectors, and where generic code meets numbers of different types, or of a
/// storage type.
pub(super) fn is_by_leaves(row: &PrimRow, ty: &Type, operands: &[Operand<'_>]) -> bool {
    let elem = |ty: &Type| ty.scalar().map(elem_of);
    let of_result = elem(ty);
    let differs = |of: &Type| elem(of).is_none_or(|of| of.is_float() && Some(of) != of_result);
    let is_comparison = of_result == Some(Elem::Bool);
    let is_stored = of_result.is_some_and(|elem| elem.is_float() && !row.sig.domain.has(elem));
    is_stored || !is_comparison && operands.iter().any(|(of, _)| differs(of))
}
