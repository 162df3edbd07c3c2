//! Runs that write a tape: a cell of float type is the number of a node.

use crate::domain::{Domain, MAX_OPERANDS, Order};
use crate::error::RuntimeError;
use crate::nodes::{Nodes, moved, values};
use crate::numbers::Evaluator;
use crate::product::product;
use crate::tape::node::Tape;
use crate::tape::row_use::Id;
use cotan_ir::{Const, Elem, Monoid};
use cotan_ops::reduce::identity;
use cotan_ops::stop::Stop;
use cotan_ops::{Derivative, Evaluation, Inputs, PrimRow, TensorRow, Value};
use rustc_hash::FxHashMap;

/// The numbers of a run that writes a tape.
pub(crate) struct Trace {
    pub(crate) tape: Tape,
    constants: FxHashMap<Const, Id>,
}

/// A primitive on cells.
pub(crate) struct TraceKernel {
    row: &'static PrimRow,
    evaluator: Evaluator,
    operands: Vec<Elem>,
    result: Elem,
}

impl Trace {
    pub(crate) fn new(tape: Tape) -> Trace {
        Trace { tape, constants: FxHashMap::default() }
    }

    /// The bits of a cell's value.
    fn value(&self, elem: Elem, cell: u64) -> u64 {
        if elem.is_float() { self.tape.value(cell as Id) } else { cell }
    }

    /// The cell of an argument's element.
    pub(crate) fn argument(&mut self, elem: Elem, bits: u64) -> Result<u64, RuntimeError> {
        if elem.is_float() { self.tape.leaf(elem, bits).map(u64::from) } else { Ok(bits) }
    }
}

impl Domain for Trace {
    type Kernel = TraceKernel;

    fn kernel(&self, row: &'static PrimRow, operands: &[Elem]) -> Option<TraceKernel> {
        let evaluator = self.tape.numbers().evaluator(row, operands)?;
        let result = row.prim().result_elem(operands).ok()?;
        Some(TraceKernel { row, evaluator, operands: operands.to_vec(), result })
    }

    fn apply(&mut self, kernel: &TraceKernel, cells: &[u64]) -> Result<u64, RuntimeError> {
        let mut values = [0; MAX_OPERANDS];
        for (value, (elem, cell)) in values.iter_mut().zip(kernel.operands.iter().zip(cells)) {
            *value = self.value(*elem, *cell);
        }
        let value = self.tape.numbers().evaluate(&kernel.evaluator, &values[..cells.len()])?;
        let id = match (kernel.result.is_float(), kernel.operands.iter().any(|e| e.is_float())) {
            (false, _) => return Ok(value),
            (true, false) => self.tape.leaf(kernel.result, value)?,
            (true, true) => self.tape.row(kernel.row, &kernel.operands, cells, (kernel.result, value))?,
        };
        Ok(id.into())
    }

    fn constant(&mut self, c: Const) -> Result<u64, RuntimeError> {
        if !c.elem().is_float() {
            return Ok(c.bits());
        }
        if let Some(id) = self.constants.get(&c) {
            return Ok((*id).into());
        }
        let value = self.tape.numbers().constant(c);
        let id = self.tape.leaf(c.elem(), value)?;
        self.constants.insert(c, id);
        Ok(id.into())
    }

    fn combine(
        &mut self,
        monoid: Monoid,
        elem: Elem,
        order: Order,
        init: u64,
        sequence: &mut dyn Iterator<Item = u64>,
    ) -> Result<u64, RuntimeError> {
        match monoid {
            Monoid::Max | Monoid::Min if elem.is_float() => {
                let mut parts: Vec<Id> = sequence.map(|cell| cell as Id).collect();
                let mut values = parts.iter().map(|id| self.tape.value(*id)).collect::<Vec<_>>().into_iter();
                let start = self.tape.value(init as Id);
                let value = self.tape.numbers().combine(monoid, elem, order, start, &mut values)?;
                // A fold starts from the neutral element, which is no value of the program and has no share.
                let neutral = self.tape.numbers().constant(identity(monoid, elem));
                if order == Order::Chain || start != neutral {
                    parts.push(init as Id);
                }
                self.tape.contest(&parts, elem, value, monoid == Monoid::Max).map(u64::from)
            }
            Monoid::Add | Monoid::Mul | Monoid::And | Monoid::Or | Monoid::Max | Monoid::Min => {
                let kernel = self.monoid_kernel(monoid, elem)?;
                order.combine(init, sequence, &mut |a, b| self.apply(&kernel, &[a, b]))
            }
        }
    }

    fn tensor(
        &mut self,
        record: &'static TensorRow,
        args: Vec<Value>,
        attrs: &[i64],
        result: (Elem, &[i64]),
        _: Option<&Stop>,
    ) -> Result<Vec<u64>, RuntimeError> {
        let args: Vec<&Value> = args.iter().collect();
        let inputs = &Inputs { args: &args, attrs, result, in_field: false };
        let elem = result.0;
        match record.derivative {
            Derivative::Linear { .. } if elem.is_float() => self.moved(record, inputs),
            Derivative::Multilinear { .. } if elem.is_float() => match record.evaluation {
                Evaluation::Direct(_) => product(self, record, inputs),
                Evaluation::Routine(_) => self.combined(record, inputs),
            },
            Derivative::Rule { .. } if elem.is_float() => self.combined(record, inputs),
            Derivative::Linear { .. }
            | Derivative::Multilinear { .. }
            | Derivative::Rule { .. }
            | Derivative::None { .. } => {
                let bits = self.evaluated(record, inputs)?;
                bits.into_iter().map(|bits| self.argument(elem, bits)).collect()
            }
        }
    }
}

impl Trace {
    /// The bits of an operation's result.
    pub(crate) fn evaluated(&mut self, record: &'static TensorRow, inputs: &Inputs) -> Result<Vec<u64>, RuntimeError> {
        let values = values(self, inputs);
        self.tape.numbers().tensor(record, values, inputs.attrs, inputs.result, None)
    }

    /// The result of an operation that moves elements and puts zeros between them.
    fn moved(&mut self, record: &'static TensorRow, inputs: &Inputs) -> Result<Vec<u64>, RuntimeError> {
        match record.evaluation {
            Evaluation::Direct(eval) => {
                let expected = self.evaluated(record, inputs)?;
                moved(self, record, eval, inputs, &expected)
            }
            Evaluation::Routine(_) => self.combined(record, inputs),
        }
    }
}

impl Nodes for Trace {
    fn bits(&self, elem: Elem, cell: u64) -> Option<u64> {
        match elem.is_float() {
            true => (cell < self.tape.len() as u64).then(|| self.tape.value(cell as Id)),
            false => Some(cell),
        }
    }
}
