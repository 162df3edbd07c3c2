//! JSON text of values: numbers, `true`/`false`, nested lists for tensors, objects for structs, lists for tuples,
//! `"Variant"` or `{"Variant": payload}` for enums.
//!
//! A tensor with an empty axis is `{"shape": [0, 3], "data": []}`; this form is read for any tensor. `"nan"`, `"inf"`
//! and `"-inf"` are read and written. Floats are written with the fewest digits that read back to the same bits.

use super::HostValue;
use cotan_ir::{Const, Elem};
use cotan_ops::Value;
use cotan_sema::entry::{HostType, HostVariant};
use serde_json::Value as Json;
use std::fmt::Write;

/// What was expected and what was found instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The place inside the value, such as `.mu[2]`; empty for the whole.
    pub place: String,
    /// The type or shape that is wanted there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl Misfit {
    fn new(expected: impl Into<String>, found: impl Into<String>) -> Misfit {
        Misfit { place: String::new(), expected: expected.into(), found: found.into() }
    }

    fn inside(mut self, place: &str) -> Misfit {
        self.place.insert_str(0, place);
        self
    }
}

/// Reads a value of the given type. Extents are not compared with the type's dims here, only ranks.
pub fn from_json(json: &Json, ty: &HostType) -> Result<HostValue, Misfit> {
    match ty {
        HostType::Scalar(elem) => scalar(json, *elem).map(HostValue::Scalar),
        HostType::Tensor { elem, dims } => tensor(json, elem, dims.len()),
        HostType::Tuple(tys) if tys.is_empty() && json.is_null() => Ok(HostValue::unit()),
        HostType::Tuple(tys) => {
            let Some(items) = json.as_array().filter(|items| items.len() == tys.len()) else {
                return Err(Misfit::new(format!("a list of {} values", tys.len()), describe(json)));
            };
            let part = |(k, (item, ty)): (usize, (&Json, &HostType))| {
                from_json(item, ty).map_err(|e| e.inside(&format!(".{k}")))
            };
            items.iter().zip(tys).enumerate().map(part).collect::<Result<_, _>>().map(HostValue::Tuple)
        }
        HostType::Struct { name, fields } => {
            let Some(object) = json.as_object() else {
                return Err(Misfit::new(format!("an object for the struct `{name}`"), describe(json)));
            };
            if let Some(extra) = object.keys().find(|key| fields.iter().all(|(field, _)| field != *key)) {
                return Err(Misfit::new(format!("fields of `{name}` only"), format!("`{extra}`")));
            }
            let field = |(field, ty): &(String, HostType)| {
                let Some(item) = object.get(field) else {
                    return Err(Misfit::new(format!("a field `{field}`"), "none"));
                };
                let value = from_json(item, ty).map_err(|e| e.inside(&format!(".{field}")))?;
                Ok((field.clone(), value))
            };
            fields.iter().map(field).collect::<Result<_, _>>().map(HostValue::Struct)
        }
        HostType::Enum { name, variants } => enum_value(json, name, variants),
    }
}

/// `"Variant"` or `{"Variant": payload}`.
fn enum_value(json: &Json, name: &str, variants: &[HostVariant]) -> Result<HostValue, Misfit> {
    let form = |v: &HostVariant| match v.payload {
        Some(_) => format!("{{\"{}\": ...}}", v.name),
        None => format!("\"{}\"", v.name),
    };
    let misfit = |found: String| {
        let forms: Vec<String> = variants.iter().map(form).collect();
        Err(Misfit::new(format!("a variant of `{name}`: {}", forms.join(" or ")), found))
    };
    let (key, inner) = match json {
        Json::String(key) => (key, None),
        Json::Object(object) if object.len() == 1 => match object.iter().next() {
            Some((key, inner)) => (key, Some(inner)),
            None => return misfit(describe(json)),
        },
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            return misfit(describe(json));
        }
    };
    let Some(variant) = variants.iter().find(|v| v.name == *key) else { return misfit(format!("`{key}`")) };
    let payload = match (&variant.payload, inner) {
        (None, None) => None,
        (Some(ty), Some(inner)) => Some(Box::new(from_json(inner, ty).map_err(|e| e.inside(&format!(".{key}")))?)),
        (None, Some(_)) | (Some(_), None) => return Err(Misfit::new(form(variant), describe(json))),
    };
    Ok(HostValue::Enum { variant: key.clone(), payload })
}

fn scalar(json: &Json, elem: Elem) -> Result<Const, Misfit> {
    let misfit = || Misfit::new(elem.name(), describe(json));
    match elem {
        Elem::Bool => json.as_bool().map(Const::bool).ok_or_else(misfit),
        Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 => {
            let special = match json.as_str() {
                Some("nan") => Some(f64::NAN),
                Some("inf") => Some(f64::INFINITY),
                Some("-inf") => Some(f64::NEG_INFINITY),
                Some(_) | None => None,
            };
            special.or_else(|| json.as_f64()).map(|x| Const::float(elem, x)).ok_or_else(misfit)
        }
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            let number = json.as_i64().map(i128::from).or_else(|| json.as_u64().map(i128::from));
            let (Some(n), Some((lo, hi))) = (number, elem.integer_range()) else { return Err(misfit()) };
            if !(lo..=hi).contains(&n) {
                return Err(Misfit::new(format!("{} from {lo} to {hi}", elem.name()), n.to_string()));
            }
            Ok(Const::integer(elem, n))
        }
    }
}

fn tensor(json: &Json, elem: &HostType, rank: usize) -> Result<HostValue, Misfit> {
    let mut items = Vec::new();
    let dims = match json.as_object().filter(|o| o.contains_key("shape") && o.contains_key("data")) {
        Some(object) => shaped(object, rank, &mut items)?,
        None => {
            let mut dims = vec![None; rank];
            nested(json, 0, &mut dims, &mut items)?;
            // An axis below an empty one has no extent of its own.
            dims.into_iter().map(|d| d.unwrap_or(0)).collect()
        }
    };
    let at = |k: usize| format!("[{k}]");
    match elem {
        HostType::Scalar(elem) => {
            let mut bits = Vec::with_capacity(items.len());
            for (k, item) in items.iter().enumerate() {
                bits.push(scalar(item, *elem).map_err(|e| e.inside(&at(k)))?.bits());
            }
            Ok(HostValue::Tensor(Value { elem: *elem, dims, bits }))
        }
        HostType::Tensor { .. } | HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => {
            let read = |(k, item): (usize, &&Json)| from_json(item, elem).map_err(|e| e.inside(&at(k)));
            let items = items.iter().enumerate().map(read).collect::<Result<_, _>>()?;
            Ok(HostValue::Array { dims, items })
        }
    }
}

/// The elements of `{"shape": [..], "data": [..]}`.
fn shaped<'a>(
    object: &'a serde_json::Map<String, Json>,
    rank: usize,
    items: &mut Vec<&'a Json>,
) -> Result<Vec<i64>, Misfit> {
    let shape = object.get("shape").and_then(Json::as_array);
    let dims: Option<Vec<i64>> = shape.and_then(|s| s.iter().map(|d| d.as_i64().filter(|n| *n >= 0)).collect());
    let (Some(dims), Some(data)) = (dims, object.get("data").and_then(Json::as_array)) else {
        return Err(Misfit::new("a list of sizes as `shape` and a list as `data`", "something else"));
    };
    if dims.len() != rank {
        return Err(Misfit::new(format!("rank {rank}"), format!("rank {}", dims.len())));
    }
    let count = dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
    if count != Some(data.len() as i64) {
        return Err(Misfit::new(format!("as many elements as shape {dims:?} has"), format!("{}", data.len())));
    }
    items.extend(data);
    Ok(dims)
}

/// The elements of nested lists; every list of one level must be of one length.
fn nested<'a>(json: &'a Json, level: usize, dims: &mut [Option<i64>], items: &mut Vec<&'a Json>) -> Result<(), Misfit> {
    if level == dims.len() {
        items.push(json);
        return Ok(());
    }
    let Some(list) = json.as_array() else {
        return Err(Misfit::new(format!("nested lists of rank {}", dims.len()), describe(json)));
    };
    let n = list.len() as i64;
    match dims[level] {
        Some(expected) if expected != n => {
            let found = format!("a ragged list: one of length {expected} and one of length {n}");
            return Err(Misfit::new(format!("lists of one length at level {level}"), found));
        }
        Some(_) => {}
        None => dims[level] = Some(n),
    }
    for (k, item) in list.iter().enumerate() {
        nested(item, level + 1, dims, items).map_err(|e| e.inside(&format!("[{k}]")))?;
    }
    Ok(())
}

/// A JSON value in words.
fn describe(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        Json::Bool(b) => format!("{b}"),
        Json::Number(n) => format!("{n}"),
        Json::String(s) => format!("\"{}\"", s.chars().take(40).collect::<String>()),
        Json::Array(items) => format!("a list of {}", items.len()),
        Json::Object(_) => "an object".to_owned(),
    }
}

/// Writes a value as JSON text.
pub fn write_json(value: &HostValue, out: &mut String) {
    match value {
        HostValue::Scalar(c) => write_scalar(*c, out),
        HostValue::Tensor(v) if v.dims.contains(&0) => write_empty(&v.dims, out),
        HostValue::Tensor(v) => write_nested(&v.dims, &mut |k, out| write_scalar(v.get(k), out), out),
        HostValue::Array { dims, .. } if dims.contains(&0) => write_empty(dims, out),
        HostValue::Array { dims, items } => write_nested(dims, &mut |k, out| write_json(&items[k], out), out),
        HostValue::Tuple(parts) if parts.is_empty() => out.push_str("null"),
        HostValue::Tuple(parts) => {
            write_list(parts.len(), '[', ']', &mut |k, out| write_json(&parts[k], out), out);
        }
        HostValue::Struct(fields) => {
            write_list(fields.len(), '{', '}', &mut |k, out| write_entry(&fields[k].0, &fields[k].1, out), out);
        }
        HostValue::Enum { variant, payload: None } => out.push_str(&Json::from(variant.as_str()).to_string()),
        HostValue::Enum { variant, payload: Some(payload) } => {
            write_list(1, '{', '}', &mut |_, out| write_entry(variant, payload, out), out);
        }
    }
}

fn write_entry(key: &str, value: &HostValue, out: &mut String) {
    out.push_str(&Json::from(key).to_string());
    out.push_str(": ");
    write_json(value, out);
}

fn write_list(n: usize, open: char, close: char, item: &mut dyn FnMut(usize, &mut String), out: &mut String) {
    out.push(open);
    for k in 0..n {
        if k > 0 {
            out.push_str(", ");
        }
        item(k, out);
    }
    out.push(close);
}

fn write_nested(dims: &[i64], item: &mut dyn FnMut(usize, &mut String), out: &mut String) {
    fn level(dims: &[i64], first: usize, item: &mut dyn FnMut(usize, &mut String), out: &mut String) {
        let Some((n, rest)) = dims.split_first() else { return item(first, out) };
        let stride = cotan_ops::count(rest);
        write_list(*n as usize, '[', ']', &mut |k, out| level(rest, first + k * stride, item, out), out);
    }
    level(dims, 0, item, out);
}

fn write_empty(dims: &[i64], out: &mut String) {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    out.push_str(&format!("{{\"shape\": [{}], \"data\": []}}", dims.join(", ")));
}

fn write_scalar(c: Const, out: &mut String) {
    let special = c.as_float().and_then(|x| match x {
        x if x.is_nan() => Some("\"nan\""),
        f64::INFINITY => Some("\"inf\""),
        f64::NEG_INFINITY => Some("\"-inf\""),
        _ => None,
    });
    // Writing to a string cannot fail.
    let _ = match (special, c.elem()) {
        (Some(text), _) => write!(out, "{text}"),
        (None, elem) if elem.is_float() => write!(out, "{}", c.digits()),
        (None, _) => match (c.as_bool(), c.as_integer()) {
            (Some(b), _) => write!(out, "{b}"),
            (None, Some(i)) => write!(out, "{i}"),
            (None, None) => Ok(()),
        },
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_sema::dims::{Atom, Dim, GenericId};

    fn tensor_ty(elem: Elem, rank: u32) -> HostType {
        let dims = (0..rank).map(|k| Dim::atom(Atom::Size(GenericId(k)))).collect();
        HostType::Tensor { elem: Box::new(HostType::Scalar(elem)), dims }
    }

    fn round_trip(text: &str, ty: &HostType) -> String {
        let json: Json = serde_json::from_str(text).expect("JSON");
        let mut out = String::new();
        match from_json(&json, ty) {
            Ok(value) => write_json(&value, &mut out),
            Err(e) => out = format!("at `{}`: expected {}, found {}", e.place, e.expected, e.found),
        }
        out
    }

    #[test]
    fn values_read_back_as_they_were_written() {
        for (text, ty) in [
            ("[[1.0, 2.5], [0.1, -0.0]]", tensor_ty(Elem::F64, 2)),
            ("[0.1, 3.4028235e38]", tensor_ty(Elem::F32, 1)),
            ("[\"nan\", \"inf\", \"-inf\"]", tensor_ty(Elem::F64, 1)),
            ("{\"shape\": [0, 3], \"data\": []}", tensor_ty(Elem::F64, 2)),
            ("18446744073709551615", HostType::Scalar(Elem::U64)),
            ("true", HostType::Scalar(Elem::Bool)),
            ("null", HostType::Tuple(Vec::new())),
        ] {
            assert_eq!(round_trip(text, &ty), text);
        }
    }

    fn shape() -> HostType {
        let variant = |name: &str, payload| HostVariant { name: name.to_owned(), payload };
        HostType::Enum {
            name: "Shape".to_owned(),
            variants: vec![variant("Dot", None), variant("Circle", Some(HostType::Scalar(Elem::F64)))],
        }
    }

    #[test]
    fn enums_are_their_variant_with_its_payload() {
        for (text, expected) in [
            ("\"Dot\"", "\"Dot\""),
            ("{\"Circle\": 2.5}", "{\"Circle\": 2.5}"),
            ("\"Disk\"", "at ``: expected a variant of `Shape`: \"Dot\" or {\"Circle\": ...}, found `Disk`"),
            ("\"Circle\"", "at ``: expected {\"Circle\": ...}, found \"Circle\""),
            ("{\"Dot\": 1}", "at ``: expected \"Dot\", found an object"),
            ("{\"Circle\": true}", "at `.Circle`: expected f64, found true"),
            ("3", "at ``: expected a variant of `Shape`: \"Dot\" or {\"Circle\": ...}, found 3"),
        ] {
            assert_eq!(round_trip(text, &shape()), expected);
        }
    }

    #[test]
    fn misfits_name_the_place_and_both_sides() {
        for (text, ty, message) in [
            (
                "[[1, 2], [3]]",
                tensor_ty(Elem::F64, 2),
                "at `[1]`: expected lists of one length at level 1, found a ragged list: one of length 2 and one of length 1",
            ),
            ("1.5", HostType::Scalar(Elem::I64), "at ``: expected i64, found 1.5"),
            ("300", HostType::Scalar(Elem::U8), "at ``: expected u8 from 0 to 255, found 300"),
            (
                "{\"shape\": [2], \"data\": [1]}",
                tensor_ty(Elem::F64, 1),
                "at ``: expected as many elements as shape [2] has, found 1",
            ),
        ] {
            assert_eq!(round_trip(text, &ty), message);
        }
    }
}
