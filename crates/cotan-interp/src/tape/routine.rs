//! Numerical routines on a tape: what they give is one node per element, with the partials that the rule of the operation
//! gives for each element of each operand.

use crate::error::{RuntimeError, bug};
use crate::nodes::values;
use crate::run::{Options, run};
use crate::tape::row_use::Id;
use crate::tape::trace::Trace;
use cotan_ir::{Atom, Builder, Const, Dim, Elem, Module, Ty};
use cotan_ops::{Derivative, FILL, Inputs, TensorRow, TensorUse, Value};

impl Trace {
    /// The elements of a result that a routine computes.
    pub(crate) fn combined(&mut self, record: &'static TensorRow, inputs: &Inputs) -> Result<Vec<u64>, RuntimeError> {
        let (elem, values) = (inputs.result.0, values(self, inputs));
        let result = self.evaluated(record, inputs)?;
        let mut terms: Vec<Vec<(Id, u64)>> = vec![Vec::new(); result.len()];
        for (operand, value) in values.iter().enumerate().filter(|(_, value)| value.elem.is_float()) {
            let module = pushed(record, &values, operand, inputs)?;
            for (k, cell) in inputs.args[operand].bits.iter().enumerate() {
                let mut basis = Value::zeros(value.elem, &value.dims);
                basis.bits[k] = Const::float(value.elem, 1.0).bits();
                let args: Vec<Value> = values.iter().cloned().chain([basis]).collect();
                let options = Options { numbers: self.tape.numbers(), ..Options::default() };
                let column = run(&module, PUSHED, &args, &options)?.swap_remove(0);
                for (terms, partial) in terms.iter_mut().zip(column.bits) {
                    terms.push((*cell as Id, partial));
                }
            }
        }
        let nodes = result.into_iter().zip(terms);
        nodes.map(|(bits, terms)| self.tape.combination(&terms, elem, bits).map(u64::from)).collect()
    }
}

/// A tensor of the type of another one, all of whose elements are the same.
fn filled(b: &mut Builder, element: Atom, like: Atom) -> Atom {
    let ty = b.ty(like);
    b.tensor(FILL.op(), &[element], &[], ty).into()
}

/// The name of the function that gives a tangent.
const PUSHED: &str = "pushed";

/// A module with a function of the operands and a tangent of one of them: the tangent of the result.
fn pushed(
    record: &'static TensorRow,
    values: &[Value],
    operand: usize,
    inputs: &Inputs,
) -> Result<Module, RuntimeError> {
    let ty = |elem: Elem, dims: &[i64]| Ty::new(elem, dims.iter().map(|n| Dim::Const(*n)).collect());
    let mut b = Builder::new();
    let args: Vec<Atom> = values.iter().map(|value| b.param("x", ty(value.elem, &value.dims)).into()).collect();
    let tan = b.param("tan", ty(values[operand].elem, &values[operand].dims));
    let result = ty(inputs.result.0, inputs.result.1);
    let at = TensorUse { args: &args, attrs: inputs.attrs, result: &result };
    let tan = match &record.derivative {
        Derivative::Linear { .. } => {
            // It is linear in all float operands together: the others have no tangent.
            let mut args = args.clone();
            for (k, arg) in args.iter_mut().enumerate().filter(|(k, _)| values[*k].elem.is_float()) {
                let zero = Const::zero(values[k].elem).into();
                *arg = if k == operand { tan.into() } else { filled(&mut b, zero, *arg) };
            }
            b.tensor(record.op(), &args, inputs.attrs, result.clone()).into()
        }
        Derivative::Multilinear { push, .. } => push(&mut b, &at, tan.into(), operand),
        Derivative::Rule { push, .. } => {
            let y = b.tensor(record.op(), &args, inputs.attrs, result.clone()).into();
            let tangents: Vec<Option<Atom>> = (0..args.len()).map(|k| (k == operand).then_some(tan.into())).collect();
            push(&mut b, &at, y, &tangents)
        }
        Derivative::None { reason } => return bug(format!("`{}` has no tangent: {reason}", record.name())),
    };
    let mut module = Module::default();
    module.insert(b.finish(PUSHED, vec![tan]));
    Ok(module)
}
