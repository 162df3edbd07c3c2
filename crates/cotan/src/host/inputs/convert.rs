//! Exact conversions of element types: what a float type holds goes into it. Whatever could round or cut is refused.

use crate::host::{Const, Elem, Value};

/// Whether elements of a type may be taken as those of another, each if it is exact.
pub(super) fn may_become(from: Elem, to: Elem) -> bool {
    let is_wider = from.is_float() && to.is_float() && from.bytes() < to.bytes();
    from == to || is_wider || from.is_integer() && to.is_float() || is_storage(from, to)
}

/// Whether a type is stored as the other one: NumPy has no bf16.
pub(super) fn is_storage(from: Elem, to: Elem) -> bool {
    (from, to) == (Elem::F32, Elem::BF16)
}

/// Takes elements as those of another type; else the first that is not exact there, and its position.
pub(super) fn convert(value: &mut Value, to: Elem) -> Result<(), (usize, Const)> {
    for at in 0..value.bits.len() {
        let from = value.get(at);
        value.bits[at] = exact(from, to).ok_or((at, from))?.bits();
    }
    value.elem = to;
    Ok(())
}

/// The same number in another type, if that holds it.
fn exact(from: Const, to: Elem) -> Option<Const> {
    if from.elem() == to {
        return Some(from);
    }
    if let Some(n) = from.as_integer() {
        let float = Const::float(to, n as f64);
        // Numbers of integer types are far below the largest of i128.
        return Some(float).filter(|float| float.as_float().is_some_and(|x| x.is_finite() && x as i128 == n));
    }
    let x = from.as_float()?;
    let float = Const::float(to, x);
    Some(float).filter(|float| float.as_float().is_some_and(|back| back == x || back.is_nan() && x.is_nan()))
}

/// How NumPy saves elements of a type.
pub(super) fn numpy_name(elem: Elem) -> String {
    match elem {
        Elem::Bool => "bool".to_owned(),
        Elem::BF16 => "float32".to_owned(),
        Elem::F16 | Elem::F32 | Elem::F64 => format!("float{}", 8 * elem.bytes()),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => format!("int{}", 8 * elem.bytes()),
        Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => format!("uint{}", 8 * elem.bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_loses_nothing_is_converted() {
        let all = |from: Elem| Elem::ALL.into_iter().filter(move |to| *to != from && may_become(from, *to));
        let shown = |from| all(from).map(Elem::name).collect::<Vec<_>>().join(" ");
        assert_eq!(shown(Elem::F64), "");
        assert_eq!(shown(Elem::F32), "bf16 f64");
        assert_eq!(shown(Elem::F16), "f32 f64");
        assert_eq!(shown(Elem::Bool), "");
        assert_eq!(shown(Elem::I64), "f16 bf16 f32 f64");
    }

    #[test]
    fn each_element_must_be_exact() {
        let converted = |elements: &[i64], to| {
            let mut value = Value::i64s(&[elements.len() as i64], elements);
            convert(&mut value, to).map(|()| value.floats().unwrap_or_default())
        };
        let large = 1 << 53;
        assert_eq!(converted(&[1, -large], Elem::F64), Ok(vec![1.0, -9007199254740992.0]));
        assert_eq!(converted(&[1, large + 1], Elem::F64), Err((1, Const::i64(large + 1))));
        assert_eq!(converted(&[i64::MAX], Elem::F64), Err((0, Const::i64(i64::MAX))));
        assert_eq!(converted(&[70_000], Elem::F16), Err((0, Const::i64(70_000))));
        let mut floats =
            Value { elem: Elem::F32, dims: vec![2], bits: [1.5f32, 0.1].map(|x| x.to_bits().into()).to_vec() };
        assert_eq!(convert(&mut floats, Elem::BF16).map_err(|(at, _)| at), Err(1));
    }
}
