//! Points to evaluate rows at.

use cotan_ir::{Const, Elem, OperandElem};
use cotan_ops::{PrimRow, Sample, typed_number};

/// The element types that `T` of a row may stand for; any one if it has none.
pub(crate) fn types_of(row: &PrimRow) -> Vec<Elem> {
    if row.sig.operands.contains(&OperandElem::T) {
        Elem::ALL.into_iter().filter(|elem| row.sig.domain.has(*elem)).collect()
    } else {
        vec![Elem::I64]
    }
}

fn operand_elem(want: OperandElem, t: Elem) -> Elem {
    match want {
        OperandElem::T => t,
        OperandElem::Is(elem) => elem,
    }
}

fn product(choices: Vec<Vec<Const>>) -> Vec<Vec<Const>> {
    let mut all = vec![Vec::new()];
    for values in choices {
        let extend = |point: Vec<Const>| values.iter().map(move |v| point.iter().copied().chain([*v]).collect());
        all = all.into_iter().flat_map(extend).collect();
    }
    all
}

/// The sample points of a row for one `T`, inside the domain of the row.
pub(crate) fn samples(row: &PrimRow, t: Elem) -> Vec<Vec<Const>> {
    let choices = row.sig.operands.iter().zip(row.samples).map(|(want, sample)| {
        let elem = operand_elem(*want, t);
        match sample {
            Sample::Span(lo, hi) => [0.03, 0.21, 0.48, 0.67, 0.94]
                .into_iter()
                .map(|share| typed_number(elem, lo + share * (hi - lo)))
                .collect(),
            Sample::Whole(lo, hi) => (*lo..=*hi).map(|n| typed_number(elem, n as f64)).collect(),
            Sample::Truth => vec![Const::bool(true), Const::bool(false)],
        }
    });
    product(choices.collect())
}

/// The values of a type that kernels get wrong most easily.
fn special_values(elem: Elem) -> Vec<Const> {
    if let Some((least, greatest)) = elem.integer_range() {
        return [least, least + 1, -1, 0, 1, 2, 3, 7, 8, 63, greatest - 1, greatest]
            .into_iter()
            .map(|n| Const::integer(elem, n))
            .collect();
    }
    if elem.is_float() {
        let numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 710.0, 1e-310, 1e300, f64::INFINITY];
        let both_signs = numbers.into_iter().flat_map(|x| [x, -x]);
        return both_signs.chain([f64::NAN]).map(|x| Const::float(elem, x)).collect();
    }
    vec![Const::bool(false), Const::bool(true)]
}

/// All combinations of special values as operands of a row.
pub(crate) fn special_points(row: &PrimRow, t: Elem) -> Vec<Vec<Const>> {
    product(row.sig.operands.iter().map(|want| special_values(operand_elem(*want, t))).collect())
}

/// Whether two constants have the same bits, all NaNs being one.
pub(crate) fn same(a: Const, b: Const) -> bool {
    let is_nan = |c: Const| c.as_float().is_some_and(f64::is_nan);
    a == b || (a.elem() == b.elem() && is_nan(a) && is_nan(b))
}
