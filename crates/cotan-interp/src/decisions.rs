//! Decision tracing: which way a run goes wherever a number decides.
//!
//! Between two points at which all decisions are the same, a program is one formula, and smooth where its formula is. A
//! decision is the outcome of a comparison or a rounding, the side on which an operation with a kink is of it (`max`,
//! `abs`: the conditions of its row), the winner of a reduction, and what an operation on tensors makes of floats that is
//! no float, such as an order. Only a fingerprint of the outcomes is kept for each place of the program.

use crate::budget::Limits;
use crate::domain::{Domain, MAX_OPERANDS, Order};
use crate::error::RuntimeError;
use crate::machine::Machine;
use crate::numbers::{Evaluator, Numbers};
use crate::run::{arguments, check_arguments, function};
use cotan_ir::{Const, Elem, Module, Monoid, Span};
use cotan_ops::reduce::monoid_row;
use cotan_ops::stop::Stop;
use cotan_ops::{PrimRow, TensorRow, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

/// A place where a program decides by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The source text.
    pub span: Span,
    /// The operation.
    pub operation: &'static str,
}

/// The decisions of a run.
#[derive(Clone, Debug, Default)]
pub struct Decisions(FxHashMap<Place, u64>);

impl Decisions {
    /// The places at which two runs did not decide alike.
    pub fn differing(&self, other: &Decisions) -> BTreeSet<Place> {
        let places = self.0.keys().chain(other.0.keys());
        places.filter(|place| self.0.get(place) != other.0.get(place)).copied().collect()
    }
}

/// Runs a function of a module for its decisions.
pub fn decisions(module: &Module, name: &str, args: &[Value], limits: Limits) -> Result<Decisions, RuntimeError> {
    check_arguments(function(module, name)?, args, Numbers::Ieee)?;
    let mut machine = Machine::new(module, Tracer::default(), limits);
    let vals = arguments(&machine.budget, args)?;
    machine.call(name, vals)?;
    Ok(Decisions(machine.domain.seen))
}

/// IEEE numbers, and what they decide.
#[derive(Default)]
struct Tracer {
    span: Span,
    seen: FxHashMap<Place, u64>,
}

/// What a primitive calls.
struct Kernel {
    row: &'static PrimRow,
    evaluator: Evaluator,
    operands: [Elem; MAX_OPERANDS],
    decides: Decides,
}

/// What an evaluation of a primitive decides.
#[derive(Clone, Copy)]
enum Decides {
    Nothing,
    /// The side on which it is of each condition of its row.
    Sides,
    /// Its result.
    Result,
}

impl Tracer {
    fn decide(&mut self, operation: &'static str, outcome: impl Hash) {
        let seen = self.seen.entry(Place { span: self.span, operation }).or_default();
        let mut hasher = FxHasher::default();
        // The 1 tells a first outcome of 0 from none: zeros alone hash to zero.
        (*seen, 1_u64, outcome).hash(&mut hasher);
        *seen = hasher.finish();
    }
}

impl Domain for Tracer {
    type Kernel = Kernel;

    fn at(&mut self, span: Span) {
        self.span = span;
    }

    fn kernel(&self, row: &'static PrimRow, operands: &[Elem]) -> Option<Kernel> {
        let evaluator = Numbers::Ieee.evaluator(row, operands)?;
        let of_floats = operands.iter().any(|elem| elem.is_float());
        let gives_float = row.prim().result_elem(operands).ok()?.is_float();
        let decides = match (of_floats, gives_float) {
            (true, false) => Decides::Result,
            (true, true) if !row.domain.is_empty() => Decides::Sides,
            (true, true) | (false, _) => Decides::Nothing,
        };
        let mut elems = [Elem::F64; MAX_OPERANDS];
        elems[..operands.len()].copy_from_slice(operands);
        Some(Kernel { row, evaluator, operands: elems, decides })
    }

    fn apply(&mut self, kernel: &Kernel, cells: &[u64]) -> Result<u64, RuntimeError> {
        let result = Numbers::Ieee.evaluate(&kernel.evaluator, cells)?;
        match kernel.decides {
            Decides::Nothing => {}
            Decides::Result => self.decide(kernel.row.name(), result),
            Decides::Sides => {
                let mut at = [0.0; MAX_OPERANDS];
                for (x, (elem, cell)) in at.iter_mut().zip(kernel.operands.iter().zip(cells)) {
                    let c = Const::from_bits(*elem, *cell);
                    *x = c.as_float().or_else(|| c.as_integer().map(|n| n as f64)).unwrap_or(0.0);
                }
                for condition in kernel.row.domain {
                    self.decide(kernel.row.name(), condition.side(&at));
                }
            }
        }
        Ok(result)
    }

    fn constant(&mut self, c: Const) -> Result<u64, RuntimeError> {
        Ok(c.bits())
    }

    fn combine(
        &mut self,
        monoid: Monoid,
        elem: Elem,
        order: Order,
        init: u64,
        sequence: &mut dyn Iterator<Item = u64>,
    ) -> Result<u64, RuntimeError> {
        if !(matches!(monoid, Monoid::Max | Monoid::Min) && elem.is_float()) {
            return Numbers::Ieee.combine(monoid, elem, order, init, sequence);
        }
        let cells: Vec<u64> = sequence.collect();
        let greatest = Numbers::Ieee.combine(monoid, elem, order, init, &mut cells.iter().copied())?;
        for (position, _) in cells.iter().enumerate().filter(|(_, cell)| **cell == greatest) {
            self.decide(monoid_row(monoid).name(), position);
        }
        Ok(greatest)
    }

    fn tensor(
        &mut self,
        record: &'static TensorRow,
        args: Vec<Value>,
        attrs: &[i64],
        result: (Elem, &[i64]),
        stop: Option<&Stop>,
    ) -> Result<Vec<u64>, RuntimeError> {
        let decides = !result.0.is_float() && args.iter().any(|arg| arg.elem.is_float());
        let cells = Numbers::Ieee.tensor(record, args, attrs, result, stop)?;
        if decides {
            self.decide(record.sig.name, &cells);
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_module;
    use cotan_ops::Registry;

    const PROGRAM: &str = "fn f(x: f64, n: i64, v: f64[n]) {
        a: f64 = abs x
        b: bool = lt a, 2.0
        c: f64 = switch b {
            yield a
        } {
            d: f64 = mul a, a
            yield d
        }
        m: f64 = par i < n (max from -inf) {
            e: f64 = v[i]
            yield e
        }
        s: f64 = add c, m
        return s
    }";

    fn of(x: f64, v: &[f64]) -> Decisions {
        let module = parse_module(PROGRAM, Registry::standard()).expect("the text is well formed");
        let n = v.len() as i64;
        let args = [Value::f64s(&[], &[x]), Value::from(Const::i64(n)), Value::f64s(&[n], v)];
        decisions(&module, "f", &args, Limits::default()).expect("it runs")
    }

    fn differ(a: &Decisions, b: &Decisions) -> Vec<&'static str> {
        a.differing(b).iter().map(|place| place.operation).collect()
    }

    #[test]
    fn a_comparison_a_side_and_a_winner_are_decisions() {
        let here = of(1.0, &[1.0, 3.0]);
        assert_eq!(differ(&here, &of(1.5, &[2.0, 2.5])), [""; 0]);
        assert_eq!(differ(&here, &of(2.5, &[1.0, 3.0])), ["lt"]);
        assert_eq!(differ(&here, &of(-1.0, &[1.0, 3.0])), ["abs"]);
        assert_eq!(differ(&here, &of(1.0, &[4.0, 3.0])), ["max"]);
        assert_eq!(differ(&here, &of(1.0, &[3.0, 3.0])), ["max"], "a tie is a decision of its own");
    }
}
