//! What rows are over the real numbers, against what they compute: the proofs speak of the one, programs run the other.

use super::samples::samples;
use cotan_ir::{Const, Elem, OperandElem};
use cotan_ops::{Codegen, Constant, Partial, RealDenotation, Term, table};

/// A few units in the last place for each step of the longest term.
const TOLERANCE: f64 = 1e-13;

fn agree(found: Const, expected: Const) -> bool {
    // A conversion is the identity of real numbers, rounded.
    let found = found.as_float().map_or(found, |x| Const::float(expected.elem(), x));
    match (found.as_float(), expected.as_float()) {
        (Some(x), Some(y)) => x == y || (x - y).abs() <= TOLERANCE * y.abs().max(1.0),
        _ => found == expected,
    }
}

#[test]
fn rows_compute_what_they_are() {
    let mut n = 0;
    for row in table().iter().copied().filter(|row| row.sig.domain.has(Elem::F64)) {
        let Some(term) = row.term() else { continue };
        for point in samples(row, Elem::F64) {
            let expected = row.eval(&point).expect("operands of the right types");
            let found = term.eval(Elem::F64, &point, expected).expect("a well-typed term");
            assert!(agree(found, expected), "{}{point:?}: {found} as a term, {expected} computed", row.name());
            n += 1;
        }
    }
    assert!(n > 200, "{n} points");
}

#[test]
fn every_row_on_floats_says_what_it_is() {
    for row in table().iter().copied().filter(|row| row.sig.domain.has(Elem::F64)) {
        let leads_to_integers = !row.prim().result_elem(&types(row.sig.operands)).expect("types that fit").is_float();
        let is_said = match row.denotation {
            RealDenotation::Known(_) | RealDenotation::Always(_) | RealDenotation::Term(_) => true,
            RealDenotation::Codegen => matches!(row.codegen, Codegen::Term(_)),
            RealDenotation::Other => leads_to_integers,
        };
        assert!(is_said, "{}", row.name());
    }
}

fn types(operands: &[OperandElem]) -> Vec<Elem> {
    let elem = |operand: &OperandElem| match operand {
        OperandElem::T => Elem::F64,
        OperandElem::Is(elem) => *elem,
    };
    operands.iter().map(elem).collect()
}

#[test]
fn constants_are_what_they_are_exactly_rounded() {
    let mut constants = Vec::new();
    for row in table() {
        row.term().into_iter().for_each(|term| collect(term, &mut constants));
        for partial in row.partials {
            if let Partial::Term { term, .. } = partial {
                collect(term, &mut constants);
            }
        }
    }
    assert!(constants.len() >= 7);
    for constant in constants {
        let exact = constant.exact.eval(Elem::F64, &[], Const::f64(0.0)).expect("a term without operands");
        let (found, expected) = (exact.as_float().expect("a float"), constant.value);
        // The term is rounded at every step.
        assert!((found - expected).abs() <= 3e-16 * expected.abs(), "{}: {found} and {expected}", constant.name);
    }
}

fn collect(term: &Term, constants: &mut Vec<&'static Constant>) {
    match term {
        Term::Named(constant) => constants.push(constant),
        Term::Apply(_, operands) => operands.iter().for_each(|operand| collect(operand, constants)),
        Term::ToT(inner) => collect(inner, constants),
        Term::Arg(_) | Term::Result | Term::Number(_) | Term::Int(_) => {}
    }
}
