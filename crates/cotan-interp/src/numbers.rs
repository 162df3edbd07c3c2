//! Runs with plain numbers: those of the element types, or residues in place of floats.

use crate::domain::{Domain, Order};
use crate::error::RuntimeError;
use cotan_ir::{Const, Elem, Monoid};
use cotan_ops::{Carrier, Inputs, Kernel, Mod61, PrimRow, Scalar, TO_BF16, TO_F16, TO_F32, TO_F64, TensorRecord};

/// What floats are during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// IEEE numbers of their element type.
    #[default]
    Ieee,
    /// Integers modulo 2^61 - 1, whatever the float type: exact, for programs that add, multiply and divide. Arguments
    /// and results of float type are u64 tensors of residues.
    Mod61,
}

impl Numbers {
    /// What stands for an element type.
    pub(crate) fn carrier(self, elem: Elem) -> Carrier {
        match self {
            Numbers::Mod61 if elem.is_float() => Carrier::Mod61,
            Numbers::Ieee | Numbers::Mod61 => Carrier::Elem(elem),
        }
    }

    /// The element type that values of a float type have outside of the run.
    pub(crate) fn outside(self, elem: Elem) -> Elem {
        match self.carrier(elem) {
            Carrier::Mod61 => Elem::U64,
            Carrier::Elem(elem) => elem,
        }
    }

    /// The evaluator of a primitive for operands of these element types.
    pub(crate) fn kernel(self, row: &'static PrimRow, operands: &[Elem]) -> Option<Kernel> {
        let t = row.t_of(operands).unwrap_or(Elem::I64);
        let is_to_float = [&TO_F16, &TO_BF16, &TO_F32, &TO_F64].into_iter().any(|to| std::ptr::eq(row, to));
        match self.carrier(t) {
            Carrier::Mod61 if is_to_float => Some(|residue| residue[0]),
            Carrier::Elem(_) if is_to_float && self == Numbers::Mod61 => Some(if t.is_unsigned() {
                |bits| Mod61::new(bits[0].into()).to_bits()
            } else {
                |bits| Mod61::new((bits[0] as i64).into()).to_bits()
            }),
            carrier @ (Carrier::Elem(_) | Carrier::Mod61) => (row.kernels)(carrier),
        }
    }

    /// The bits of a constant.
    pub(crate) fn constant(self, c: Const) -> Result<u64, RuntimeError> {
        let residue = match (self, c.as_float()) {
            (Numbers::Mod61, Some(x)) => Mod61::from_f64(x),
            (Numbers::Ieee, _) | (_, None) => return Ok(c.bits()),
        };
        residue.map(Mod61::value).ok_or_else(|| RuntimeError::Undefined(format!("{c} is no residue")))
    }
}

impl Domain for Numbers {
    type Kernel = Kernel;

    fn kernel(&self, row: &'static PrimRow, operands: &[Elem]) -> Option<Kernel> {
        Numbers::kernel(*self, row, operands)
    }

    fn apply(&mut self, kernel: &Kernel, operands: &[u64]) -> Result<u64, RuntimeError> {
        Ok(kernel(operands))
    }

    fn constant(&mut self, c: Const) -> Result<u64, RuntimeError> {
        Numbers::constant(*self, c)
    }

    fn combine(
        &mut self,
        monoid: Monoid,
        elem: Elem,
        order: Order,
        init: u64,
        sequence: &mut dyn Iterator<Item = u64>,
    ) -> Result<u64, RuntimeError> {
        let kernel = self.monoid_kernel(monoid, elem)?;
        order.combine(init, sequence, &mut |a, b| Ok(kernel(&[a, b])))
    }

    fn tensor(&mut self, record: &'static TensorRecord, inputs: &Inputs) -> Result<Vec<u64>, RuntimeError> {
        let value = record.value(&Inputs { in_field: *self == Numbers::Mod61, ..*inputs });
        value.map(|value| value.bits).ok_or_else(|| {
            RuntimeError::Undefined(format!("`{}` is not defined on the numbers of this run", record.name()))
        })
    }
}
