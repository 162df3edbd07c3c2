//! Names of entries: the float at a position among all of a value.

use crate::host::HostValue;

/// The name of the float at a position among those of a value that has this name, as `p.w[1, 2]`.
pub(super) fn entry_name(value: &HostValue, name: &str, position: usize) -> String {
    let mut left = position;
    find(value, name.to_owned(), &mut left).unwrap_or_else(|| name.to_owned())
}

/// The name, if the value has so many floats; else they are taken from `left`.
fn find(value: &HostValue, name: String, left: &mut usize) -> Option<String> {
    match value {
        HostValue::Scalar(c) if c.elem().is_float() => take(left, 1).map(|_| name),
        HostValue::Scalar(_) => None,
        HostValue::Tensor(v) if v.elem.is_float() => {
            take(left, v.bits.len()).map(|at| format!("{name}{}", indices(&v.dims, at)))
        }
        HostValue::Tensor(_) => None,
        HostValue::Array { dims, items } => {
            let mut items = items.iter().enumerate();
            items.find_map(|(k, item)| find(item, format!("{name}{}", indices(dims, k)), left))
        }
        HostValue::Tuple(parts) => {
            parts.iter().enumerate().find_map(|(k, part)| find(part, format!("{name}.{k}"), left))
        }
        HostValue::Struct(fields) => {
            fields.iter().find_map(|(field, part)| find(part, format!("{name}.{field}"), left))
        }
        HostValue::Enum { payload, .. } => payload.as_ref().and_then(|payload| find(payload, name, left)),
    }
}

/// The position among the next `n` floats, if it is one of them.
fn take(left: &mut usize, n: usize) -> Option<usize> {
    if *left < n {
        return Some(*left);
    }
    *left -= n;
    None
}

/// The indices of an element, as `[1, 2]`.
fn indices(dims: &[i64], at: usize) -> String {
    let mut rest = at;
    let mut indices: Vec<String> = Vec::with_capacity(dims.len());
    for n in dims.iter().rev().map(|n| usize::try_from(*n).unwrap_or(0).max(1)) {
        indices.push((rest % n).to_string());
        rest /= n;
    }
    indices.reverse();
    if indices.is_empty() { String::new() } else { format!("[{}]", indices.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_named_by_fields_and_indices() {
        let fields = [("n", HostValue::i64(3)), ("w", HostValue::f64s(&[2, 2], &[0.0; 4])), ("b", HostValue::f64(1.0))];
        let value = HostValue::Tuple(vec![
            HostValue::Struct(fields.map(|(name, field)| (name.to_owned(), field)).to_vec()),
            HostValue::f64s(&[3], &[0.0; 3]),
        ]);
        let names: Vec<String> = [0, 3, 4, 7].iter().map(|k| entry_name(&value, "p", *k)).collect();
        assert_eq!(names, ["p.0.w[0, 0]", "p.0.w[1, 1]", "p.0.b", "p.1[2]"]);
        assert_eq!(entry_name(&HostValue::f64(1.0), "x", 0), "x");
    }
}
