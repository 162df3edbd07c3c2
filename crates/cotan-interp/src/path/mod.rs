//! Paths: the scalar operations of several runs at one point, each operation once.
//!
//! A run along a path follows loops, indices and branches as its arguments lead it, and leaves straight-line code, as a
//! tape does. But runs of several functions may share a path: an operation that is already there is found again, so
//! what a derivative computes anew of the primal function has the same number. And comparisons of floats are kept, so
//! that a choice that an operation makes (`select`) is known with its condition; only control flow is decided.
//!
//! That is what a certificate needs: the program, the code of its derivative, and values of both by number.
//!
//! ```
//! use cotan_interp::path::Path;
//! use cotan_ir::{Builder, Elem, Module, Ty};
//! use cotan_ops::{MUL, Value};
//!
//! let mut b = Builder::new();
//! let x = b.param("x", Ty::scalar(Elem::F64));
//! let square = b.prim(MUL.prim(), &[x.into(), x.into()]);
//! let mut module = Module::default();
//! module.insert(b.finish("square", vec![square.into()]));
//!
//! let mut path = Path::new(1000);
//! let x = path.argument(&Value::f64s(&[], &[3.0]))?;
//! let first = path.run(&module, "square", std::slice::from_ref(&x))?;
//! assert_eq!(path.run(&module, "square", &[x])?, first);
//! assert_eq!(path.len(), 2);
//! # Ok::<(), cotan_interp::RuntimeError>(())
//! ```

pub use crate::tape::TracedValue as PathValue;

use crate::budget::Limits;
use crate::domain::{Domain, MAX_OPERANDS, Order, undefined};
use crate::error::{Limit, RuntimeError, bug};
use crate::machine::Machine;
use crate::nodes::{Nodes, moved, values};
use crate::numbers::{Evaluator, Numbers};
use crate::plan::elem_of;
use crate::product::product;
use crate::run::function;
use crate::value::Val;
use cotan_ir::{Atom, Const, Elem, Module, Monoid};
use cotan_ops::reduce::identity;
use cotan_ops::stop::Stop;
use cotan_ops::{AFTER, Derivative, Evaluation, Inputs, PrimRow, SELECT, TensorRow, Value};
use rustc_hash::FxHashMap;

/// The number of a step. A step refers to smaller numbers only.
pub type Id = u32;

/// A path: operations in the order in which they first happened.
#[derive(Debug, Default)]
pub struct Path {
    max_steps: usize,
    steps: Vec<(Step, Const)>,
    known: FxHashMap<Key, Id>,
}

/// One operation.
#[derive(Clone, Debug)]
pub enum Step {
    /// An element of an argument.
    Input,
    /// A constant of float type.
    Constant(Const),
    /// A use of a row of the op table that gives a float, or a truth value that depends on floats.
    Row {
        /// The row.
        row: &'static PrimRow,
        /// One per operand of the row.
        operands: Vec<Operand>,
    },
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Another step, with a smaller number.
    Step(Id),
    /// A value that depends on no float.
    Plain(Const),
}

impl Operand {
    /// The step, if it is one.
    pub fn step(self) -> Option<Id> {
        match self {
            Operand::Step(id) => Some(id),
            Operand::Plain(_) => None,
        }
    }

    /// The value, if it depends on no float.
    pub fn plain(self) -> Option<Const> {
        match self {
            Operand::Plain(c) => Some(c),
            Operand::Step(_) => None,
        }
    }
}

/// What two uses of a row have in common if they are one; the name stands for a row. Constants have an empty name.
type Key = (&'static str, Vec<Operand>);

/// A primitive on cells: of float type, numbers of steps; of truth values, the lowest bit and above it the number of the
/// step, from 1, if it depends on floats.
pub(crate) struct PathKernel {
    row: &'static PrimRow,
    evaluator: Evaluator,
    operands: Vec<Elem>,
    result: Elem,
}

impl Path {
    /// A path of at most so many steps.
    pub fn new(max_steps: usize) -> Path {
        Path { max_steps: max_steps.min(Id::MAX as usize), ..Path::default() }
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// A step.
    pub fn step(&self, id: Id) -> &Step {
        &self.steps[id as usize].0
    }

    /// The value of a step at the point.
    pub fn value(&self, id: Id) -> Const {
        self.steps[id as usize].1
    }

    /// An argument whose floats are inputs of their own.
    pub fn argument(&mut self, value: &Value) -> Result<PathValue, RuntimeError> {
        if !value.elem.is_float() {
            return Ok(PathValue::Plain(value.clone()));
        }
        let nodes = value.bits.iter().map(|bits| self.push(Step::Input, Const::from_bits(value.elem, *bits)));
        let nodes = nodes.collect::<Result<_, _>>()?;
        Ok(PathValue::Floats { elem: value.elem, dims: value.dims.clone(), nodes })
    }

    /// One use of a row on floats.
    pub fn apply_row(&mut self, row: &'static PrimRow, operands: &[Id]) -> Result<Id, RuntimeError> {
        let elems: Vec<Elem> = operands.iter().map(|id| self.value(*id).elem()).collect();
        let cells: Vec<u64> = operands.iter().map(|id| (*id).into()).collect();
        let kernel = self.kernel(row, &elems).ok_or_else(|| undefined(row))?;
        if !kernel.result.is_float() {
            return bug(format!("`{}` gives no float", row.name()));
        }
        Ok(self.apply(&kernel, &cells)? as Id)
    }

    /// A constant of float type.
    pub fn constant(&mut self, c: Const) -> Result<Id, RuntimeError> {
        Domain::constant(self, c).map(|cell| cell as Id)
    }

    /// Runs a function of a module along the path.
    pub fn run(&mut self, module: &Module, name: &str, args: &[PathValue]) -> Result<Vec<PathValue>, RuntimeError> {
        let f = function(module, name)?;
        let mut machine = Machine::new(module, std::mem::take(self), Limits::default());
        let mut vals = Vec::with_capacity(args.len());
        for arg in args {
            let (dims, cells) = match arg {
                PathValue::Floats { dims, nodes, .. } => (dims, nodes.iter().map(|id| (*id).into()).collect()),
                PathValue::Plain(value) => (&value.dims, value.bits.clone()),
            };
            vals.push(Val::new(&machine.budget, dims.clone(), cells)?);
        }
        let results = machine.call(name, vals);
        *self = machine.domain;
        let value = |(a, val): (&Atom, &Val)| PathValue::new(elem_of(f, *a), val);
        Ok(f.body.results.iter().zip(&results?).map(value).collect())
    }

    fn push(&mut self, step: Step, value: Const) -> Result<Id, RuntimeError> {
        if self.steps.len() >= self.max_steps {
            return Err(RuntimeError::Limit(Limit::Path));
        }
        self.steps.push((step, value));
        Ok(self.steps.len() as Id - 1)
    }

    /// The step of that key, made if there is none.
    fn once(&mut self, key: Key, step: impl FnOnce(&Key) -> Step, value: Const) -> Result<Id, RuntimeError> {
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        let id = self.push(step(&key), value)?;
        self.known.insert(key, id);
        Ok(id)
    }

    /// What an operand of a row is, and its value.
    fn operand(&self, elem: Elem, cell: u64) -> (Operand, u64) {
        let step = if elem.is_float() {
            Some(cell as Id)
        } else if elem == Elem::Bool {
            (cell >> 1).checked_sub(1).map(|id| id as Id)
        } else {
            None
        };
        match step {
            Some(id) => (Operand::Step(id), self.value(id).bits()),
            None => (Operand::Plain(Const::from_bits(elem, cell)), cell),
        }
    }
}

impl Domain for Path {
    type Kernel = PathKernel;

    fn kernel(&self, row: &'static PrimRow, operands: &[Elem]) -> Option<PathKernel> {
        let evaluator = Numbers::Ieee.evaluator(row, operands)?;
        let result = row.prim().result_elem(operands).ok()?;
        Some(PathKernel { row, evaluator, operands: operands.to_vec(), result })
    }

    fn apply(&mut self, kernel: &PathKernel, cells: &[u64]) -> Result<u64, RuntimeError> {
        let mut bits = [0; MAX_OPERANDS];
        let mut operands = Vec::with_capacity(cells.len());
        for (k, (elem, cell)) in kernel.operands.iter().zip(cells).enumerate() {
            let (operand, value) = self.operand(*elem, *cell);
            operands.push(operand);
            bits[k] = value;
        }
        // What only orders two values is the one that it gives.
        if std::ptr::eq(kernel.row, &AFTER) {
            return Ok(cells[0]);
        }
        if std::ptr::eq(kernel.row, &SELECT)
            && let Operand::Plain(condition) = operands[0]
        {
            return Ok(if condition.bits() == 0 { cells[2] } else { cells[1] });
        }
        let value = Numbers::Ieee.evaluate(&kernel.evaluator, &bits[..cells.len()])?;
        let depends = operands.iter().any(|operand| matches!(operand, Operand::Step(_)));
        let value = Const::from_bits(kernel.result, value);
        match kernel.result {
            elem if elem.is_float() && !depends => Domain::constant(self, value),
            elem if elem.is_float() || (elem == Elem::Bool && depends) => {
                let row = kernel.row;
                let step = |key: &Key| Step::Row { row, operands: key.1.clone() };
                let id = u64::from(self.once((row.name(), operands), step, value)?);
                Ok(if elem.is_float() { id } else { (id + 1) << 1 | value.bits() })
            }
            _ => Ok(value.bits()),
        }
    }

    fn constant(&mut self, c: Const) -> Result<u64, RuntimeError> {
        if !c.elem().is_float() {
            return Ok(c.bits());
        }
        self.once(("", vec![Operand::Plain(c)]), |_| Step::Constant(c), c).map(u64::from)
    }

    /// The greatest of several is the one of the first and the greatest of the others.
    fn combine(
        &mut self,
        monoid: Monoid,
        elem: Elem,
        order: Order,
        init: u64,
        sequence: &mut dyn Iterator<Item = u64>,
    ) -> Result<u64, RuntimeError> {
        let kernel = self.monoid_kernel(monoid, elem)?;
        let is_extreme = matches!(monoid, Monoid::Max | Monoid::Min) && elem.is_float();
        let is_neutral = is_extreme && self.value(init as Id) == identity(monoid, elem);
        let init = if is_neutral { sequence.next().unwrap_or(init) } else { init };
        order.combine(init, sequence, &mut |a, b| self.apply(&kernel, &[a, b]))
    }

    fn tensor(
        &mut self,
        record: &'static TensorRow,
        args: Vec<Value>,
        attrs: &[i64],
        result: (Elem, &[i64]),
        stop: Option<&Stop>,
    ) -> Result<Vec<u64>, RuntimeError> {
        let args: Vec<&Value> = args.iter().collect();
        let inputs = &Inputs { args: &args, attrs, result, in_field: false };
        let (elem, operands) = (result.0, values(self, inputs));
        let expected = Numbers::Ieee.tensor(record, operands, attrs, result, stop)?;
        match (&record.derivative, record.evaluation) {
            (Derivative::Linear { .. }, Evaluation::Direct(eval)) if elem.is_float() => {
                moved(self, record, eval, inputs, &expected)
            }
            (Derivative::Linear { .. }, Evaluation::Direct(eval)) if elem == Elem::Bool => Ok(eval(inputs).bits),
            (Derivative::Multilinear { .. }, Evaluation::Direct(_)) if elem.is_float() => product(self, record, inputs),
            (Derivative::None { .. }, _) if elem.is_float() => {
                expected.into_iter().map(|bits| Domain::constant(self, Const::from_bits(elem, bits))).collect()
            }
            _ if elem.is_float() => Err(RuntimeError::Undefined(format!(
                "`{}` is a numerical routine, and no list of steps",
                record.name()
            ))),
            _ => Ok(expected),
        }
    }
}

impl Nodes for Path {
    fn bits(&self, elem: Elem, cell: u64) -> Option<u64> {
        if elem.is_float() {
            return (cell < self.steps.len() as u64).then(|| self.value(cell as Id).bits());
        }
        Some(if elem == Elem::Bool { cell & 1 } else { cell })
    }
}
