//! Comparison of results: the same bits, or numbers that agree up to the order of sums.

use crate::derived_case::floats;
use crate::tolerances::{Property, close, tolerance};
use cotan_ir::Elem;
use cotan_ops::Value;

/// Whether two lists of values are the same bits; any NaN is the same as any other.
pub(crate) fn same_bits(found: &[Value], expected: &[Value], what: &str) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{what}: expected {} values, found {}", expected.len(), found.len()));
    }
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        if (a.elem, &a.dims) != (b.elem, &b.dims) {
            return Err(format!("{what}: value {k} is a {}{:?}, expected {}{:?}", a.elem, a.dims, b.elem, b.dims));
        }
        for at in 0..a.bits.len() {
            let (x, y) = (a.get(at), b.get(at));
            let both_nan = [x, y].iter().all(|c| c.as_float().is_some_and(f64::is_nan));
            if x != y && !both_nan {
                return Err(format!("{what}: value {k}, element {at}: expected {y}, found {x}"));
            }
        }
    }
    Ok(())
}

/// Whether integers are equal and floats close.
pub(crate) fn regrouped(found: &[Value], expected: &[Value]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("expected {} values, found {}", expected.len(), found.len()));
    }
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        if !b.elem.is_float() {
            same_bits(std::slice::from_ref(a), std::slice::from_ref(b), "a result")?;
            continue;
        }
        let (x, y) = (floats(a), floats(b));
        let scale = y.iter().filter(|y| y.is_finite()).fold(0.0, |most: f64, y| most.max(y.abs()));
        let tolerance = tolerance(Property::Regrouped, if b.elem == Elem::F64 { Elem::F64 } else { Elem::F32 });
        let are_close = x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| close(*x, *y, scale, tolerance));
        if !are_close || a.dims != b.dims {
            return Err(format!("value {k}: expected {b:?}, found {a:?}"));
        }
    }
    Ok(())
}
