//! Runs with plain numbers: those of the element types, or residues in place of floats.

use crate::domain::{Domain, MAX_OPERANDS, Order};
use crate::error::{Limit, RuntimeError};
use crate::tape::RowUse;
use cotan_ir::{Const, Elem, Monoid};
use cotan_ops::stop::{ASIDE, Stop, aside};
use cotan_ops::{Carrier, Codegen, Inputs, Instruction, Kernel, Mod61, PrimRow, Scalar, TensorRow, Term, Value, count};

/// How a primitive is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Evaluator {
    /// By its kernel.
    Kernel(Kernel),
    /// By the term that says what it is; `elems` are the types of the operands.
    Term { row: &'static PrimRow, term: &'static Term, elems: [Elem; MAX_OPERANDS] },
}

/// What floats are during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// IEEE numbers of their element type.
    #[default]
    Ieee,
    /// Integers modulo 2^61 - 1, whatever the float type: sums, products and quotients are exact, and fixed polynomials
    /// stand for all other functions ([`cotan_ops::RealDenotation`]). Arguments and results of float type are u64 tensors of
    /// residues.
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
    pub(crate) fn evaluator(self, row: &'static PrimRow, operands: &[Elem]) -> Option<Evaluator> {
        if let Some(kernel) = self.kernel(row, operands) {
            return Some(Evaluator::Kernel(kernel));
        }
        let mut elems = [Elem::F64; MAX_OPERANDS];
        elems[..operands.len()].copy_from_slice(operands);
        let is_field = self.carrier(row.t_of(operands)?) == Carrier::Mod61;
        row.term().filter(|_| is_field).map(|term| Evaluator::Term { row, term, elems })
    }

    fn kernel(self, row: &'static PrimRow, operands: &[Elem]) -> Option<Kernel> {
        let t = row.t_of(operands).unwrap_or(Elem::I64);
        let is_to_float = matches!(row.codegen, Codegen::Native(Instruction::Cast(to)) if to.is_float());
        match self.carrier(t) {
            Carrier::Mod61 if is_to_float => Some(|residue| residue[0]),
            Carrier::Elem(_) if is_to_float && self == Numbers::Mod61 => Some(if t.is_unsigned() {
                |bits| Mod61::new(bits[0].into()).to_bits()
            } else {
                |bits| Mod61::new((bits[0] as i64).into()).to_bits()
            }),
            Carrier::Mod61 => (row.kernels)(Carrier::Mod61).or_else(|| row.denotation.in_field()),
            carrier @ Carrier::Elem(_) => (row.kernels)(carrier),
        }
    }

    /// One evaluation of a primitive.
    pub(crate) fn evaluate(self, evaluator: &Evaluator, operands: &[u64]) -> Result<u64, RuntimeError> {
        match evaluator {
            Evaluator::Kernel(kernel) => Ok(kernel(operands)),
            Evaluator::Term { row, term, elems } => {
                let mut at = RowUse {
                    row,
                    arity: operands.len(),
                    ids: [None; MAX_OPERANDS],
                    elems: *elems,
                    values: [0; MAX_OPERANDS],
                };
                at.values[..operands.len()].copy_from_slice(operands);
                // The term says what the result is, so it can't ask for it.
                Ok(self.term(term, &at, (elems[0], 0))?.1)
            }
        }
    }

    /// The bits of a constant.
    pub(crate) fn constant(self, c: Const) -> u64 {
        match (self, c.as_float()) {
            (Numbers::Mod61, Some(x)) => Mod61::from_f64(x).value(),
            (Numbers::Ieee, _) | (_, None) => c.bits(),
        }
    }
}

impl Domain for Numbers {
    type Kernel = Evaluator;

    fn kernel(&self, row: &'static PrimRow, operands: &[Elem]) -> Option<Evaluator> {
        self.evaluator(row, operands)
    }

    fn apply(&mut self, evaluator: &Evaluator, operands: &[u64]) -> Result<u64, RuntimeError> {
        self.evaluate(evaluator, operands)
    }

    fn constant(&mut self, c: Const) -> Result<u64, RuntimeError> {
        Ok(Numbers::constant(*self, c))
    }

    fn combine(
        &mut self,
        monoid: Monoid,
        elem: Elem,
        order: Order,
        init: u64,
        sequence: &mut dyn Iterator<Item = u64>,
    ) -> Result<u64, RuntimeError> {
        let evaluator = self.monoid_kernel(monoid, elem)?;
        order.combine(init, sequence, &mut |a, b| self.evaluate(&evaluator, &[a, b]))
    }

    fn tensor(
        &mut self,
        record: &'static TensorRow,
        args: Vec<Value>,
        attrs: &[i64],
        (elem, dims): (Elem, &[i64]),
        stop: Option<&Stop>,
    ) -> Result<Vec<u64>, RuntimeError> {
        let in_field = *self == Numbers::Mod61;
        let n = args.iter().map(|arg| arg.bits.len()).chain([count(dims)]).max().unwrap_or(0);
        let evaluated = move |args: &[Value], attrs: &[i64], dims: &[i64]| {
            let args: Vec<&Value> = args.iter().collect();
            record.value(&Inputs { args: &args, attrs, result: (elem, dims), in_field })
        };
        let value = match stop {
            Some(stop) if n >= ASIDE => {
                let (attrs, dims) = (attrs.to_vec(), dims.to_vec());
                aside(stop, move || evaluated(&args, &attrs, &dims)).ok_or(RuntimeError::Limit(Limit::Stopped))?
            }
            Some(_) | None => evaluated(&args, attrs, dims),
        };
        value.map(|value| value.bits).ok_or_else(|| {
            RuntimeError::Undefined(format!("`{}` is not defined on the numbers of this run", record.name()))
        })
    }
}
