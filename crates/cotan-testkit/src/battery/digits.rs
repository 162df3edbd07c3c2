//! Broken rules before arithmetic of sixty digits. What only takes back a rounding is left out without much harm to any
//! number: such a mutant differs by units in the last place, at operands over all exponents.

use super::Operation;
use crate::derived_case::{Case, floats};
use crate::exact::{Known, known_partials};
use cotan_ir::{Const, Elem, Mode};
use cotan_ops::{Value, typed_number};

/// Points of each primitive.
const POINTS: usize = 400;

/// Names the points.
const SEED: u64 = 2029;

/// The partials of an operation to sixty digits: none of operations on tensors.
pub(super) fn known(operation: Operation) -> Vec<Known> {
    match operation {
        Operation::Prim(row) => known_partials(row, Elem::F64, POINTS, SEED),
        Operation::Tensor(_) => Vec::new(),
    }
}

/// Whether the rule keeps the bound of the partials somewhere where the broken one does not.
pub(super) fn tells_apart(known: &[Known], mode: Mode, rule: &Case, broken: &Case) -> bool {
    known.iter().any(|known| {
        let is_near = |case| derivative(case, mode, known).is_some_and(|x| known.is_near(x));
        is_near(rule) && !is_near(broken)
    })
}

/// The derivative of a program of one primitive by one operand.
fn derivative(case: &Case, mode: Mode, known: &Known) -> Option<f64> {
    let at = case.wrt.iter().position(|k| *k == known.operand)?;
    let number = |x: f64| Value::from(typed_number(Elem::F64, x));
    let seeds: Vec<Value> = match mode {
        Mode::Jvp => (0..case.wrt.len()).map(|k| number(f64::from(u8::from(k == at)))).collect(),
        Mode::Vjp => vec![number(1.0)],
    };
    let args: Vec<Value> = known.point.iter().map(|c: &Const| Value::from(*c)).chain(seeds).collect();
    let results = case.run(&case.first(mode).canonical_name(), &args).ok()?;
    let result = match mode {
        Mode::Jvp => results.last()?,
        Mode::Vjp => results.get(case.results.len() + at)?,
    };
    floats(result).first().copied()
}
