//! Operations on whole arrays: products, routines, output.

use crate::error::{Outcome, bug};
use crate::machine::{Frame, Machine};
use cotan_ir::{Const, Elem};
use cotan_loops::{Place, Product, Routine, Tensor, View};
use cotan_ops::{ADD, Carrier, ElementCount, FMA, Inputs, PLAIN, Value, runs, tensor_row, written};

impl Machine<'_> {
    /// The product of two matrices: sums in runs, each a chain of `fma` from 0, added in order.
    pub(crate) fn product(&mut self, frame: &Frame, product: &Product) -> Outcome<()> {
        let carrier = Carrier::Elem(product.elem);
        let (Some(fma), Some(add)) = ((FMA.kernels)(carrier), (ADD.kernels)(carrier)) else {
            return bug(format!("a product of {}", product.elem));
        };
        let [rows, columns, terms] = product.extents.map(|extent| frame.int(extent));
        let [to, left, right] = product.views();
        for i in 0..rows {
            for j in 0..columns {
                self.spend(terms.max(0) as u64)?;
                let mut total = None;
                for run in runs(usize::try_from(terms).unwrap_or(0), &PLAIN) {
                    let mut sum = Const::zero(product.elem).bits();
                    for k in run {
                        let (a, b) = (self.entry(frame, left, i, k as i64)?, self.entry(frame, right, k as i64, j)?);
                        sum = fma(&[a, b, sum]);
                    }
                    total = Some(total.map_or(sum, |total| add(&[total, sum])));
                }
                let at = frame.address(to.place)?.plus(entry_offset(frame, to, i, j));
                self.memory.write(at, total.unwrap_or_default())?;
            }
        }
        Ok(())
    }

    fn entry(&self, frame: &Frame, view: &View, row: i64, column: i64) -> Outcome<u64> {
        self.memory.read(frame.address(view.place)?.plus(entry_offset(frame, view, row, column)))
    }

    /// The result of an operation that a routine computes.
    pub(crate) fn routine(&mut self, frame: &Frame, routine: &Routine) -> Outcome<()> {
        let args = routine.from.iter().map(|from| self.value(frame, from)).collect::<Outcome<Vec<Value>>>()?;
        let (elem, dims) = (routine.to.elem, frame.ints(&routine.to.dims));
        let args: Vec<&Value> = args.iter().collect();
        let inputs = Inputs { args: &args, attrs: &routine.attrs, result: (elem, &dims), in_field: false };
        let Some(value) = tensor_row(routine.op).value(&inputs) else {
            return bug(format!("`{}` has no value", routine.op.name()));
        };
        let to = frame.address(routine.to.place)?;
        self.memory.elements_mut(to, value.bits.len())?.copy_from_slice(&value.bits);
        Ok(())
    }

    /// Writes a text, then a value.
    pub(crate) fn print(
        &mut self,
        frame: &Frame,
        text: &[u8],
        value: Option<&Tensor>,
        extents: Option<Place>,
    ) -> Outcome<()> {
        let value = match value {
            Some(tensor) => {
                let dims = match extents {
                    Some(place) => {
                        let dims = self.memory.elements(frame.address(place)?, tensor.dims.len())?;
                        dims.iter().map(|bits| *bits as i64).collect()
                    }
                    None => frame.ints(&tensor.dims),
                };
                Some(self.value_of(frame, tensor.place, tensor.elem, dims)?)
            }
            None => None,
        };
        let value = value.as_ref().map(|value| (value.elem, value.dims.as_slice(), value.bits.as_slice()));
        let line = written(&String::from_utf8_lossy(text), value);
        if let Some(output) = &mut self.output {
            output(&line);
        }
        Ok(())
    }

    /// A tensor as a value.
    pub(crate) fn value(&mut self, frame: &Frame, tensor: &Tensor) -> Outcome<Value> {
        self.value_of(frame, tensor.place, tensor.elem, frame.ints(&tensor.dims))
    }

    fn value_of(&mut self, frame: &Frame, place: Place, elem: Elem, dims: Vec<i64>) -> Outcome<Value> {
        let Some(count) = ElementCount::of(&dims) else { return bug(format!("a tensor of extents {dims:?}")) };
        self.spend(count.get() as u64)?;
        let bits = self.memory.elements(frame.address(place)?, count.get())?.to_vec();
        Ok(Value { elem, dims, bits })
    }
}

fn entry_offset(frame: &Frame, view: &View, row: i64, column: i64) -> i64 {
    let [down, across] = view.strides.map(|stride| frame.int(stride));
    row.wrapping_mul(down).wrapping_add(column.wrapping_mul(across))
}
