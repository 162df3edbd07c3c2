//! The tape engine: derivatives from a list of scalar operations.
//!
//! [`trace`] executes a primal function and writes down every scalar operation on floats, through whatever control
//! flow the arguments lead to. Reads, updates and everything else that only moves elements leave no node: they hand on
//! node numbers. What remains is straight-line code, whose derivative is one loop over the list. No rule for a
//! statement with blocks is needed, and none is shared with the derivative passes; the two ways agree or one is wrong.
//! Custom rules of functions are not asked: a tape tells the derivative of what the body does.
//!
//! ```
//! use cotan_interp::{Options, tape};
//! use cotan_ir::{Builder, Elem, Module, Ty};
//! use cotan_ops::{MUL, Value};
//!
//! let mut b = Builder::new();
//! let x = b.param("x", Ty::scalar(Elem::F64));
//! let square = b.prim(MUL.prim(), &[x.into(), x.into()]);
//! let mut module = Module::default();
//! module.insert(b.finish("square", vec![square.into()]));
//!
//! let (x, one) = (Value::f64s(&[], &[3.0]), Value::f64s(&[], &[1.0]));
//! let gradient = tape::vjp(&module, "square", &[x], &[0], &[0], &[one], &Options::default());
//! assert_eq!(gradient, Ok((vec![Value::f64s(&[], &[9.0])], vec![Value::f64s(&[], &[6.0])])));
//! ```

mod dependence;
mod node;
mod routine;
mod row_use;
mod sets;
mod sweep;
mod term;
mod trace;

pub use dependence::Dependence;
pub use node::{NodeView, Operand, Tape};
pub use row_use::Id;
pub(crate) use row_use::RowUse;

use crate::error::{ArgumentError, RuntimeError};
use crate::machine::Machine;
use crate::numbers::Numbers;
use crate::plan::elem_of;
use crate::run::{Options, check_arguments, check_value, function};
use crate::value::Val;
use cotan_ir::{Elem, Module};
use cotan_ops::Value;
use cotan_ops::stop::Stop;
use trace::Trace;

/// A run, written down.
#[derive(Debug)]
pub struct Traced {
    /// Every scalar operation on floats.
    pub tape: Tape,
    /// The arguments of the function.
    pub params: Vec<TracedValue>,
    /// The results of the function.
    pub results: Vec<TracedValue>,
}

/// An argument or a result of a run that was written down.
#[derive(Clone, Debug, PartialEq)]
pub enum TracedValue {
    /// Floats: the extents, and the nodes of the elements. The same node may stand at several places.
    Floats {
        /// Element type.
        elem: Elem,
        /// Extents, outermost first.
        dims: Vec<i64>,
        /// The nodes, row-major.
        nodes: Vec<Id>,
    },
    /// Values of other types.
    Plain(Value),
}

/// Runs a function and writes down what it does.
pub fn trace(module: &Module, name: &str, args: &[Value], options: &Options) -> Result<Traced, RuntimeError> {
    trace_watched(module, name, args, options, None)
}

/// Runs a function and writes down what it does, until `stop` asks it to stop.
pub fn trace_watched(
    module: &Module,
    name: &str,
    args: &[Value],
    options: &Options,
    stop: Option<Stop>,
) -> Result<Traced, RuntimeError> {
    let f = function(module, name)?;
    check_arguments(f, args, options.numbers)?;
    let tape = Tape::new(options.numbers, options.limits.bytes);
    let mut machine = Machine::new(module, Trace::new(tape), options.limits);
    stop.into_iter().for_each(|stop| machine.budget.watch(stop));
    let mut vals = Vec::with_capacity(args.len());
    for (param, arg) in f.params.iter().zip(args) {
        let elem = f.ty(*param).elem;
        let cells = arg.bits.iter().map(|bits| machine.domain.argument(elem, *bits)).collect::<Result<_, _>>()?;
        vals.push(Val::new(&machine.budget, arg.dims.clone(), cells)?);
    }
    let params = f.params.iter().zip(&vals).map(|(param, val)| TracedValue::new(f.ty(*param).elem, val)).collect();
    let results = machine.call(name, vals)?;
    let results = f.body.results.iter().zip(&results).map(|(a, val)| TracedValue::new(elem_of(f, *a), val)).collect();
    Ok(Traced { tape: machine.domain.tape, params, results })
}

/// Runs a function forwards, then its tape backwards: the results, and the cotangents of the parameters in `wrt` for
/// the given cotangents of the results in `outs` (both are positions of floats).
pub fn vjp(
    module: &Module,
    name: &str,
    args: &[Value],
    wrt: &[usize],
    outs: &[usize],
    cotangents: &[Value],
    options: &Options,
) -> Result<(Vec<Value>, Vec<Value>), RuntimeError> {
    let traced = trace(module, name, args, options)?;
    let cots = traced.vjp(wrt, outs, cotangents)?;
    Ok((traced.values(), cots))
}

/// Runs a function, then its tape forwards: the results, and the tangents of the results in `outs` for the given
/// tangents of the parameters in `wrt` (both are positions of floats).
pub fn jvp(
    module: &Module,
    name: &str,
    args: &[Value],
    wrt: &[usize],
    tangents: &[Value],
    outs: &[usize],
    options: &Options,
) -> Result<(Vec<Value>, Vec<Value>), RuntimeError> {
    let traced = trace(module, name, args, options)?;
    let seeds = traced.seeds(&traced.params, wrt, tangents)?;
    let outs = nodes_at(&traced.results, outs)?;
    let tans = traced.tape.forward(&seeds)?;
    Ok((traced.values(), outs.into_iter().map(|v| traced.gathered(v, &tans)).collect()))
}

impl Traced {
    /// The cotangents of the parameters in `wrt` for the given cotangents of the results in `outs`.
    pub fn vjp(&self, wrt: &[usize], outs: &[usize], cotangents: &[Value]) -> Result<Vec<Value>, RuntimeError> {
        let seeds = self.seeds(&self.results, outs, cotangents)?;
        let wrt = nodes_at(&self.params, wrt)?;
        let cots = self.tape.reverse(&seeds)?;
        Ok(wrt.into_iter().map(|v| self.gathered(v, &cots)).collect())
    }

    /// The results of the run.
    pub fn values(&self) -> Vec<Value> {
        let value = |v: &TracedValue| match v {
            TracedValue::Plain(value) => value.clone(),
            TracedValue::Floats { elem, dims, nodes } => {
                let bits = nodes.iter().map(|id| self.tape.value(*id)).collect();
                Value { elem: self.numbers().outside(*elem), dims: dims.clone(), bits }
            }
        };
        self.results.iter().map(value).collect()
    }

    fn numbers(&self) -> Numbers {
        self.tape.numbers()
    }

    /// Derivatives of the nodes of some values, each with the node.
    fn seeds(
        &self,
        values: &[TracedValue],
        positions: &[usize],
        derivatives: &[Value],
    ) -> Result<Vec<(Id, u64)>, RuntimeError> {
        if positions.len() != derivatives.len() {
            return Err(ArgumentError::Count { expected: positions.len(), found: derivatives.len() }.into());
        }
        let mut seeds = Vec::new();
        for (position, ((elem, dims, nodes), derivative)) in
            nodes_at(values, positions)?.into_iter().zip(derivatives).enumerate()
        {
            check_value(position, self.numbers().outside(elem.computed()), dims, derivative)?;
            seeds.extend(nodes.iter().copied().zip(derivative.bits.iter().copied()));
        }
        Ok(seeds)
    }

    /// The derivatives of the nodes of a value, of the extents of the value.
    fn gathered(&self, (elem, dims, nodes): Floats, derivatives: &[u64]) -> Value {
        let bits = nodes.iter().map(|id| derivatives[*id as usize]).collect();
        Value { elem: self.numbers().outside(elem.computed()), dims: dims.to_vec(), bits }
    }
}

/// Element type, extents and nodes.
type Floats<'t> = (Elem, &'t [i64], &'t [Id]);

impl TracedValue {
    pub(crate) fn new(elem: Elem, val: &Val) -> TracedValue {
        let dims = val.dims().to_vec();
        if elem.is_float() {
            TracedValue::Floats { elem, dims, nodes: val.cells().iter().map(|cell| *cell as Id).collect() }
        } else {
            TracedValue::Plain(Value { elem, dims, bits: val.cells().to_vec() })
        }
    }
}

/// The floats at some positions.
fn nodes_at<'t>(values: &'t [TracedValue], positions: &[usize]) -> Result<Vec<Floats<'t>>, ArgumentError> {
    let at = |position: &usize| match values.get(*position) {
        Some(TracedValue::Floats { elem, dims, nodes }) => Ok((*elem, dims.as_slice(), nodes.as_slice())),
        Some(TracedValue::Plain(_)) | None => Err(ArgumentError::NotDifferentiable { position: *position }),
    };
    positions.iter().map(at).collect()
}
