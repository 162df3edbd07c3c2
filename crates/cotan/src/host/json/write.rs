//! Writes values as JSON.

use super::HostValue;
use cotan_ir::Const;
use serde_json::Value as Json;
use std::fmt::Write;

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
