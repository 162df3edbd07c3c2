//! Matrix products, written down as the operations that they stand for.

use crate::domain::{Domain, undefined};
use crate::error::{RuntimeError, bug};
use cotan_ir::{Const, Elem};
use cotan_ops::{ADD, FMA, Inputs, MATMUL, MULZ, TensorRow, count, is_strong, runs};

/// The elements of a product, each the sum that the record of the operation documents: in [`runs`], each from 0, in
/// ascending order, by `fma`, or by `mulz` and `add` where an exact zero is to win.
pub(crate) fn product<D: Domain>(
    domain: &mut D,
    record: &'static TensorRow,
    inputs: &Inputs,
) -> Result<Vec<u64>, RuntimeError> {
    let ([a, b], true) = (inputs.args, std::ptr::eq(record, &MATMUL)) else {
        return bug(format!("`{}` can't be written down", record.name()));
    };
    let elem = inputs.result.0;
    let is_strong = is_strong(inputs.attrs);
    let step = |row, operands: &[Elem]| domain.kernel(row, operands).ok_or_else(|| undefined(row));
    let (fma, mulz, add) = (step(&FMA, &[elem, elem, elem])?, step(&MULZ, &[elem, elem])?, step(&ADD, &[elem, elem])?);
    let zero = domain.constant(Const::zero(elem))?;
    // A vector is a matrix with a side of 1, so the last dim of `a` is always summed over.
    let k = a.dims.last().map_or(0, |k| *k as usize);
    let n = if b.dims.len() < 2 { 1 } else { b.dims.last().map_or(1, |n| *n as usize) };
    let m = if a.dims.len() < 2 { 1 } else { a.dims[a.dims.len() - 2] as usize };
    let n_batch = a.dims.len().checked_sub(2).map_or(1, |rank| count(&a.dims[..rank]));
    let mut cells = Vec::with_capacity(n_batch * m * n);
    for batch in 0..n_batch {
        let (a, b) = (&a.bits[batch * m * k..], &b.bits[batch * k * n..]);
        for i in 0..m {
            for j in 0..n {
                let mut total = None;
                for terms in runs(k, inputs.attrs) {
                    let mut sum = zero;
                    for l in terms {
                        let (x, y) = (a[i * k + l], b[l * n + j]);
                        sum = if is_strong {
                            let product = domain.apply(&mulz, &[x, y])?;
                            domain.apply(&add, &[sum, product])?
                        } else {
                            domain.apply(&fma, &[x, y, sum])?
                        };
                    }
                    total = Some(match total {
                        Some(total) => domain.apply(&add, &[total, sum])?,
                        None => sum,
                    });
                }
                cells.extend(total);
            }
        }
    }
    Ok(cells)
}
