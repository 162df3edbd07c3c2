//! Every row of the op table on both engines, from the table alone.

use cotan_interp::{Options, run, tape};
use cotan_ir::{Atom, Builder, Const, Elem, ElemSet, Module, OperandElem, Ty};
use cotan_ops::{PrimRow, Sample, Value, table, typed_number};

/// A function of the float operands of a row; the other operands are fixed.
struct Case {
    module: Module,
    wrt: Vec<usize>,
    args: Vec<Value>,
}

impl Case {
    fn new(row: &'static PrimRow, t: Elem, at: &[f64]) -> Case {
        let mut b = Builder::new();
        let mut operands = Vec::new();
        let (mut args, mut wrt) = (Vec::new(), Vec::new());
        for (want, x) in row.sig.operands.iter().zip(at) {
            let elem = match want {
                OperandElem::T => t,
                OperandElem::Is(elem) => *elem,
            };
            if elem.is_float() {
                wrt.push(args.len());
            }
            operands.push(Atom::from(b.param("x", Ty::scalar(elem))));
            args.push(Value::from(typed_number(elem, *x)));
        }
        let y = b.prim(row.prim(), &operands);
        let mut module = Module::default();
        module.insert(b.finish("f", vec![y.into()]));
        Case { module, wrt, args }
    }

    fn value(&self, args: &[Value]) -> Const {
        run(&self.module, "f", args, &Options::default()).unwrap()[0].scalar().unwrap()
    }

    /// What reverse and forward mode say of every float operand, with 1 as cotangent or tangent.
    fn partials(&self, result: Elem) -> Vec<(f64, f64)> {
        let options = Options::default();
        let one = |elem| Value::from(typed_number(elem, 1.0));
        let (_, cots) = tape::vjp(&self.module, "f", &self.args, &self.wrt, &[0], &[one(result)], &options).unwrap();
        let forward = |at: &usize| {
            let tan = one(self.args[*at].elem);
            tape::jvp(&self.module, "f", &self.args, &[*at], &[tan], &[0], &options).unwrap().1[0].floats().unwrap()[0]
        };
        cots.iter().map(|cot| cot.floats().unwrap()[0]).zip(self.wrt.iter().map(forward)).collect()
    }
}

/// The rows that give a float of a float type.
fn float_rows() -> impl Iterator<Item = (&'static PrimRow, Elem)> {
    let rows = table().iter().copied().filter(|row| row.sig.operands.contains(&OperandElem::T));
    rows.flat_map(|row| [Elem::F64, Elem::F32].map(|t| (row, t))).filter(|(row, t)| row.sig.domain.has(*t))
}

fn result_elem(row: &'static PrimRow, t: Elem) -> Option<Elem> {
    let elem = |want: &OperandElem| match want {
        OperandElem::T => t,
        OperandElem::Is(elem) => *elem,
    };
    let operands: Vec<Elem> = row.sig.operands.iter().map(elem).collect();
    row.prim().result_elem(&operands).ok().filter(|e| ElemSet::FLOAT.has(*e))
}

fn same(found: f64, expected: f64, tolerance: f64) -> bool {
    found == expected
        || found.is_nan() && expected.is_nan()
        || (found - expected).abs() <= tolerance * (1.0 + expected.abs())
}

#[test]
fn sampled_partials_are_slopes_in_both_directions_of_the_tape() {
    let rows = float_rows().filter(|(row, t)| *t == Elem::F64 && !row.redirects_derivative());
    for (row, t) in rows {
        let Some(result) = result_elem(row, t) else { continue };
        for share in [0.23, 0.71] {
            let sample = |s: &Sample| match *s {
                Sample::Span(lo, hi) => lo + share * (hi - lo),
                Sample::Whole(lo, hi) => (lo as f64 + share * (hi - lo) as f64).round(),
                Sample::Truth => f64::from(share < 0.5),
            };
            let at: Vec<f64> = row.samples.iter().map(sample).collect();
            let case = Case::new(row, t, &at);
            for (k, (reverse, forward)) in case.wrt.iter().zip(case.partials(result)) {
                assert!(same(forward, reverse, 0.0), "{} at {at:?}: {reverse} {forward}", row.name());
                let moved = |h: f64| {
                    let mut args = case.args.clone();
                    args[*k] = Value::from(Const::f64(at[*k] + h));
                    case.value(&args).as_float().unwrap()
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let tolerance = if result == Elem::F32 { 1e-1 } else { 1e-6 };
                assert!(same(reverse, slope, tolerance), "{} at {at:?}, operand {k}: {reverse} {slope}", row.name());
            }
        }
    }
}

#[test]
fn edge_points_are_what_the_table_says() {
    for (row, t) in float_rows() {
        let Some(result) = result_elem(row, t) else { continue };
        for edge in row.edge_points {
            let case = Case::new(row, t, edge.at);
            let tolerance = if t == Elem::F32 { 1e-6 } else { 1e-14 };
            let value = case.value(&case.args).as_float().unwrap();
            assert!(same(value, edge.value, tolerance), "{} at {:?}: {value}", row.name(), edge.at);
            for (k, (reverse, forward)) in case.wrt.iter().zip(case.partials(result)) {
                let expected = edge.partials[*k];
                let name = row.name();
                assert!(same(reverse, expected, tolerance), "{name} at {:?}, operand {k}: {reverse}", edge.at);
                assert!(same(forward, expected, tolerance), "{name} at {:?}, operand {k}: {forward}", edge.at);
            }
        }
    }
}
