//! Output: a text, then a value that lies in memory together with its extents.

use super::{Lowering, Value};
use crate::node::{Node, Operand, Place, Tensor};
use cotan_ir::{Elem, Var, bug};

/// `print(token, x)`. What follows takes the next token, so it stays behind.
pub(super) fn print(this: &mut Lowering, _: Var, args: &[Value], attrs: &[i64]) -> Value {
    let text = attrs.iter().map(|byte| *byte as u8).collect();
    let value = args.get(1).map(|value| match value {
        Value::Tensor(tensor) => tensor.clone(),
        Value::Scalar(operand) => {
            let cell = this.allocate("printed", this.elem_of(*operand), Vec::new());
            this.store(cell.place, *operand);
            cell
        }
    });
    let extents = value.as_ref().map(|value| extents(this, value));
    this.push(Node::Print { text, value, extents });
    match &args[0] {
        Value::Scalar(token) => Value::Scalar(this.add(*token, Operand::i64(1))),
        Value::Tensor(_) => bug!("lowering to nests", this.f, "the token of an output is a number"),
    }
}

/// The extents of a tensor, in memory.
fn extents(this: &mut Lowering, value: &Tensor) -> Place {
    let rank = value.dims.len() as i64;
    let extents = this.allocate("extents", Elem::I64, vec![Operand::i64(rank.max(1))]);
    for (axis, extent) in value.dims.iter().enumerate() {
        this.store(Place { offset: Operand::i64(axis as i64), ..extents.place }, *extent);
    }
    extents.place
}
