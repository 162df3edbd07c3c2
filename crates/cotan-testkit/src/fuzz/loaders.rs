//! The readers of data files: `.npy`, `.npz`, JSON, `.safetensors`. What is read is written and read again.

use super::damage::damaged;
use super::{Reached, kind_of};
use crate::random::Rng;
use cotan::host::files::{FileError, TensorFile};
use cotan::host::{
    Budget, HostValue, from_json, read_npy, read_npz, write_json, write_npy, write_npz, write_safetensors,
};
use cotan_ir::{Const, Elem};
use cotan_lower::entry::HostType;
use cotan_ops::Value;
use cotan_sema::dims::Dim;

/// A damaged file behind a byte that tells its format.
pub(super) fn input(rng: &mut Rng) -> Vec<u8> {
    let format = rng.below(4) as u8;
    let file = match format {
        0 => write_npy(&array(rng)).unwrap_or_default(),
        1 => {
            let arrays: Vec<(String, HostValue)> =
                (0..rng.below(4)).map(|k| (["x", "y", "x", "p.w"][k].to_owned(), array(rng))).collect();
            write_npz(&arrays).unwrap_or_default()
        }
        3 => {
            let names = ["p.w", "x", "y"].into_iter().take(rng.below(4));
            write_safetensors(&names.map(|name| (name.to_owned(), array(rng))).collect::<Vec<_>>()).unwrap_or_default()
        }
        _ => {
            let mut text = String::new();
            json(rng, 3, &mut text);
            return [vec![format], damaged(rng, text.into_bytes())].concat();
        }
    };
    [vec![format], changed(rng, file)].concat()
}

fn array(rng: &mut Rng) -> HostValue {
    let elem = rng.choice(&[Elem::F64, Elem::F32, Elem::F16, Elem::I64, Elem::I32, Elem::U8, Elem::Bool]);
    let dims: Vec<i64> = (0..rng.below(4)).map(|_| rng.range(0, 4)).collect();
    let n = dims.iter().product::<i64>();
    let mut number = || {
        if elem == Elem::Bool {
            Const::bool(rng.chance(0.5))
        } else if elem.is_float() {
            Const::float(elem, rng.span(-2.0, 2.0))
        } else {
            Const::number(elem, 1)
        }
    };
    let bits = (0..n).map(|_| number().bits()).collect();
    HostValue::Tensor(Value { elem, dims, bits })
}

/// Words that JSON has, and some that it has not.
const WORDS: &[&str] = &[
    "null",
    "true",
    "1",
    "-1",
    "2.5",
    "1e400",
    "1e-400",
    "9223372036854775808",
    "\"nan\"",
    "\"inf\"",
    "\"x\"",
    "{}",
    "[]",
    "[[]]",
    "\"\\u0000\\u001b[2J\"",
];

/// Names that are looked for.
const NAMES: &[&str] = &["x", "shape", "data", "A", "re", "x"];

fn json(rng: &mut Rng, depth: usize, out: &mut String) {
    match if depth == 0 { 0 } else { rng.below(4) } {
        0 => out.push_str(rng.choice(WORDS)),
        1 => {
            out.push('{');
            for k in 0..rng.below(4) {
                let comma = if k > 0 { "," } else { "" };
                out.push_str(&format!("{comma}\"{}\":", rng.choice(NAMES)));
                json(rng, depth - 1, out);
            }
            out.push('}');
        }
        2 => {
            let dims: Vec<String> = (0..rng.below(3)).map(|_| rng.range(-1, 4).to_string()).collect();
            out.push_str(&format!("{{\"shape\":[{}],\"data\":", dims.join(",")));
            json(rng, depth - 1, out);
            out.push('}');
        }
        _ => {
            out.push('[');
            for k in 0..rng.below(4) {
                out.push_str(if k > 0 { "," } else { "" });
                json(rng, depth - 1, out);
            }
            out.push(']');
        }
    }
}

/// A file with bits turned, cut, or with numbers of its header at an edge.
pub(super) fn changed(rng: &mut Rng, mut file: Vec<u8>) -> Vec<u8> {
    for _ in 0..rng.below(4) {
        if file.is_empty() {
            break;
        }
        let at = rng.below(file.len());
        match rng.below(6) {
            0 => file[at] ^= 1 << rng.below(8),
            1 => file[at] = rng.bits() as u8,
            2 => file.truncate(at),
            3 => {
                let edge = rng.choice(&[0, 1, 0x7fff_ffff, 0xffff_ffff, u64::MAX, 1 << 63, 1 << 40]);
                let width = rng.choice(&[1, 2, 4, 8]);
                file[at..].iter_mut().zip(edge.to_le_bytes()).take(width).for_each(|(to, byte)| *to = byte);
            }
            4 => {
                let end = (at + rng.below(40)).min(file.len());
                let again = file[at..end].to_vec();
                file.splice(at..at, again);
            }
            _ => {
                let end = (at + rng.below(40)).min(file.len());
                file.drain(at..end);
            }
        }
    }
    file
}

/// Reads a file. What it says is kept when it is written and read again.
pub(super) fn read(input: &[u8]) -> Result<Reached, String> {
    let Some((format, file)) = input.split_first() else { return Ok(Reached::new()) };
    let said = match format % 4 {
        0 => match read_npy(file, &mut Budget::default()) {
            Ok(value) => {
                let again = write_npy(&value).map(|file| read_npy(&file, &mut Budget::default()));
                kept("an .npy file", &value, again)?
            }
            Err(e) => kind_of(&e.to_string()),
        },
        1 => match read_npz(file.to_vec(), &mut Budget::default()) {
            Ok(arrays) => {
                let again = write_npz(&arrays).map(|file| read_npz(file, &mut Budget::default()));
                kept("an .npz file", &arrays, again)?
            }
            Err(e) => kind_of(&e.to_string()),
        },
        2 => return read_json(file),
        _ => match read_tensors(file.to_vec()) {
            Ok(arrays) => kept("a .safetensors file", &arrays, write_safetensors(&arrays).map(read_tensors))?,
            Err(e) => kind_of(&e.to_string()),
        },
    };
    Ok(Reached::from([said]))
}

fn read_tensors(bytes: Vec<u8>) -> Result<Vec<(String, HostValue)>, FileError> {
    let file = TensorFile::open(bytes)?;
    let names: Vec<&str> = file.names().collect();
    let values = file.read(&names, &mut Budget::default())?;
    Ok(names.iter().map(|name| (*name).to_owned()).zip(values).collect())
}

fn kept<T: PartialEq, E: std::fmt::Display>(
    what: &str,
    value: &T,
    again: Option<Result<T, E>>,
) -> Result<String, String> {
    match again {
        Some(Ok(again)) if again == *value => Ok(format!("{what} is read")),
        Some(Ok(_)) => Err(format!("{what} says something else when it is written and read again")),
        Some(Err(e)) => Err(format!("{what} can't be read after it was written: {e}")),
        None => Err(format!("{what} is read and can't be written")),
    }
}

/// Reads JSON in several types.
fn read_json(file: &[u8]) -> Result<Reached, String> {
    let json: serde_json::Value = match serde_json::from_slice(file) {
        Ok(json) => json,
        Err(_) => return Ok(Reached::from(["no JSON".to_owned()])),
    };
    let tensor = |elem: HostType, dims: &[i64]| HostType::Tensor {
        elem: Box::new(elem),
        dims: dims.iter().copied().map(Dim::constant).collect(),
    };
    let pair = HostType::Tuple(vec![HostType::Scalar(Elem::F32), HostType::Scalar(Elem::I64)]);
    let types = [
        HostType::Scalar(Elem::F64),
        HostType::Scalar(Elem::U8),
        HostType::Scalar(Elem::Bool),
        tensor(HostType::Scalar(Elem::F64), &[2]),
        tensor(HostType::Scalar(Elem::I64), &[0, 3]),
        tensor(pair.clone(), &[2]),
        pair,
        HostType::Struct { name: "S".to_owned(), fields: vec![("x".to_owned(), HostType::Scalar(Elem::F16))] },
    ];
    let mut reached = Reached::new();
    for ty in &types {
        let value = match from_json(&json, ty) {
            Ok(value) => value,
            Err(misfit) => {
                reached.insert(kind_of(&format!("expected {}", misfit.expected)));
                continue;
            }
        };
        let mut text = String::new();
        write_json(&value, &mut text);
        let written: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| format!("what is written is no JSON: {e}: {text}"))?;
        let again = from_json(&written, ty)
            .map_err(|e| format!("`{text}` can't be read: expected {}, found {}", e.expected, e.found));
        reached.insert(kept("JSON", &value, Some(again))?);
    }
    Ok(reached)
}
