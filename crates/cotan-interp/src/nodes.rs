//! Numbers whose cells name nodes: moving elements moves the names.

use crate::domain::Domain;
use crate::error::{RuntimeError, bug};
use cotan_ir::{Const, Elem};
use cotan_ops::{Inputs, TensorRow, Value};

/// Numbers whose cells of float type are numbers of nodes, which have values.
pub(crate) trait Nodes: Domain {
    /// The bits of a cell's value; `None` if no node has that number.
    fn bits(&self, elem: Elem, cell: u64) -> Option<u64>;
}

/// The operands with the bits of their values.
pub(crate) fn values(domain: &impl Nodes, inputs: &Inputs) -> Vec<Value> {
    let value = |v: &&Value| {
        let bits = v.bits.iter().map(|cell| domain.bits(v.elem, *cell).unwrap_or_default()).collect();
        Value { elem: v.elem, dims: v.dims.clone(), bits }
    };
    inputs.args.iter().map(value).collect()
}

/// The result of an operation that moves elements and puts zeros between them: done to node numbers, counted from 1, so that
/// what was a zero element is told from all of them. `expected` are the bits of the result.
pub(crate) fn moved<D: Nodes>(
    domain: &mut D,
    record: &'static TensorRow,
    eval: fn(&Inputs) -> Value,
    inputs: &Inputs,
    expected: &[u64],
) -> Result<Vec<u64>, RuntimeError> {
    let numbered = |v: &&Value| {
        let offset = u64::from(v.elem.is_float());
        Value { elem: v.elem, dims: v.dims.clone(), bits: v.bits.iter().map(|cell| cell + offset).collect() }
    };
    let values: Vec<Value> = inputs.args.iter().map(numbered).collect();
    let args: Vec<&Value> = values.iter().collect();
    let numbers = eval(&Inputs { args: &args, ..*inputs }).bits;
    let elem = inputs.result.0;
    let zero = domain.constant(Const::zero(elem))?;
    let cells: Vec<u64> = numbers.into_iter().map(|n| n.checked_sub(1).unwrap_or(zero)).collect();
    // An operation that is linear and does arithmetic gives numbers of other nodes, or of none.
    let is_moved = |(cell, bits): (&u64, &u64)| domain.bits(elem, *cell) == Some(*bits);
    if cells.len() == expected.len() && cells.iter().zip(expected).all(is_moved) {
        Ok(cells)
    } else {
        bug(format!("`{}` does more than to move elements", record.name()))
    }
}
