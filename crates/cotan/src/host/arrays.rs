//! Structure of arrays: a value as the arrays of its leaves, each with its path, as files of arrays hold it.
//!
//! The leaves of a struct are those of its fields, `w` and `mu.0`; a tensor of structs has one array for each leaf of an
//! element. A variant is no array, so no enum has this form.

use super::{HostType, HostValue, Value, rebuild};

/// A path below another one.
pub(crate) fn below(path: &str, name: &str) -> String {
    match (path, name) {
        ("", only) | (only, "") => only.to_owned(),
        (path, name) => format!("{path}.{name}"),
    }
}

/// The paths of the leaves of a type, in order; the only one of a scalar or tensor is empty. None where there is an enum.
pub(crate) fn leaf_paths(ty: &HostType) -> Option<Vec<String>> {
    let all = |parts: &mut dyn Iterator<Item = (String, &HostType)>| {
        let mut paths = Vec::new();
        for (name, ty) in parts {
            paths.extend(leaf_paths(ty)?.iter().map(|path| below(&name, path)));
        }
        Some(paths)
    };
    match ty {
        HostType::Scalar(_) => Some(vec![String::new()]),
        HostType::Tensor { elem, .. } => leaf_paths(elem),
        HostType::Tuple(parts) => all(&mut parts.iter().enumerate().map(|(k, ty)| (k.to_string(), ty))),
        HostType::Struct { fields, .. } => all(&mut fields.iter().map(|(name, ty)| (name.clone(), ty))),
        HostType::Enum { .. } => None,
    }
}

/// The arrays of the leaves of a value, with their paths. None where there is an enum, or an empty tensor of structs,
/// which does not tell what its elements would be.
pub fn leaf_arrays(value: &HostValue) -> Option<Vec<(String, HostValue)>> {
    let all = |parts: &mut dyn Iterator<Item = (String, &HostValue)>| {
        let mut arrays = Vec::new();
        for (name, value) in parts {
            arrays.extend(leaf_arrays(value)?.into_iter().map(|(path, array)| (below(&name, &path), array)));
        }
        Some(arrays)
    };
    match value {
        HostValue::Scalar(_) | HostValue::Tensor(_) => Some(vec![(String::new(), value.clone())]),
        HostValue::Array { dims, items } => stacked(dims, items),
        HostValue::Tuple(parts) => all(&mut parts.iter().enumerate().map(|(k, part)| (k.to_string(), part))),
        HostValue::Struct(fields) => all(&mut fields.iter().map(|(name, field)| (name.clone(), field))),
        HostValue::Enum { .. } => None,
    }
}

/// One array for each leaf of the elements of a tensor.
fn stacked(dims: &[i64], items: &[HostValue]) -> Option<Vec<(String, HostValue)>> {
    let mut columns: Vec<(String, Value)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for (k, (path, array)) in leaf_arrays(item)?.into_iter().enumerate() {
            let Value { elem, dims: inner, bits } = array.into_value()?;
            let dims = [dims, &inner].concat();
            if at == 0 {
                columns.push((path, Value { elem, dims, bits }));
                continue;
            }
            let (_, column) = columns.get_mut(k).filter(|(known, column)| *known == path && column.dims == dims)?;
            column.bits.extend(bits);
        }
    }
    let arrays = columns.into_iter().map(|(path, column)| (path, HostValue::Tensor(column)));
    (!items.is_empty()).then(|| arrays.collect())
}

/// The value of a type with these leaves. None where the arrays of a tensor of structs do not have its extents in common.
pub(crate) fn from_leaves(ty: &HostType, leaves: Vec<Value>) -> Option<HostValue> {
    let have_common_extents = common_extents(ty, 0, &mut leaves.iter())?;
    if have_common_extents { rebuild(ty, &mut leaves.into_iter()) } else { None }
}

/// Whether the leaves of each tensor of structs agree in its extents, which begin behind `lead` axes; none if they run out.
fn common_extents(ty: &HostType, lead: usize, leaves: &mut dyn Iterator<Item = &Value>) -> Option<bool> {
    let mut all = |parts: &mut dyn Iterator<Item = &HostType>| {
        let mut agree = true;
        for ty in parts {
            agree &= common_extents(ty, lead, leaves)?;
        }
        Some(agree)
    };
    match ty {
        HostType::Scalar(_) | HostType::Enum { .. } => leaves.next().map(|_| true),
        HostType::Tensor { elem, dims } => {
            let below: Vec<&Value> = elem.leaves().iter().map(|_| leaves.next()).collect::<Option<_>>()?;
            let rank = lead + dims.len();
            let extents = |leaf: &&Value| leaf.dims.get(lead..rank).map(<[i64]>::to_vec);
            let agree = below.windows(2).all(|two| extents(&two[0]) == extents(&two[1]));
            Some(agree && common_extents(elem, rank, &mut below.into_iter())?)
        }
        HostType::Tuple(parts) => all(&mut parts.iter()),
        HostType::Struct { fields, .. } => all(&mut fields.iter().map(|(_, ty)| ty)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Elem;
    use cotan_sema::dims::Dim;

    fn tensor(elem: HostType) -> HostType {
        HostType::Tensor { elem: Box::new(elem), dims: vec![Dim::constant(2)] }
    }

    /// `{ n: i64, at: { x: f64, w: f64[2] }[2] }`.
    fn nested() -> (HostType, HostValue) {
        let float = HostType::Scalar(Elem::F64);
        let field = |name: &str, ty| (name.to_owned(), ty);
        let inner = vec![field("x", float.clone()), field("w", tensor(float))];
        let at = tensor(HostType::Struct { name: "Point".to_owned(), fields: inner });
        let fields = vec![field("n", HostType::Scalar(Elem::I64)), field("at", at)];
        let point = |x: f64| {
            let w = HostValue::f64s(&[2], &[10.0 * x, 20.0 * x]);
            HostValue::Struct(vec![("x".to_owned(), HostValue::f64(x)), ("w".to_owned(), w)])
        };
        let at = HostValue::Array { dims: vec![2], items: vec![point(1.0), point(2.0)] };
        let value = HostValue::Struct(vec![("n".to_owned(), HostValue::i64(7)), ("at".to_owned(), at)]);
        (HostType::Struct { name: "S".to_owned(), fields }, value)
    }

    #[test]
    fn a_tensor_of_structs_is_one_array_for_each_leaf() {
        let (ty, value) = nested();
        let arrays = leaf_arrays(&value).expect("arrays");
        let w = HostValue::f64s(&[2, 2], &[10.0, 20.0, 20.0, 40.0]);
        assert_eq!(arrays[1], ("at.x".to_owned(), HostValue::f64s(&[2], &[1.0, 2.0])));
        assert_eq!(arrays[2], ("at.w".to_owned(), w));
        let paths: Vec<String> = arrays.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(leaf_paths(&ty), Some(paths));
        let leaves: Vec<Value> = arrays.into_iter().filter_map(|(_, array)| array.into_value()).collect();
        assert_eq!(from_leaves(&ty, leaves.clone()), Some(value));
        // One of the arrays is longer than the others.
        let mut longer = leaves;
        longer[1] = Value::f64s(&[3], &[1.0, 2.0, 3.0]);
        assert_eq!(from_leaves(&ty, longer), None);
    }

    #[test]
    fn what_has_no_such_form_has_no_arrays() {
        let variant = HostValue::Enum { variant: "Dot".to_owned(), payload: None };
        assert_eq!(leaf_arrays(&HostValue::Tuple(vec![HostValue::f64(1.0), variant])), None);
        assert_eq!(leaf_arrays(&HostValue::Array { dims: vec![0], items: Vec::new() }), None);
        assert_eq!(leaf_arrays(&HostValue::unit()), Some(Vec::new()));
    }
}
