//! The `.npy` files of NumPy.
//!
//! Files come from anywhere. Nothing is unpickled, a header has at most [`MAX_HEADER`] bytes, and memory is taken only
//! for bytes that are there. Both byte orders and both orders of elements are read.

use super::HostValue;
use super::npy_header::{Header, parse_header};
use cotan_ir::{Const, Elem};
use cotan_ops::Value;
use std::fmt;

/// The longest header that is read.
pub const MAX_HEADER: usize = 64 << 10;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Why a file of arrays is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyError(pub(super) String);

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NpyError {}

pub(super) fn error<T>(message: impl Into<String>) -> Result<T, NpyError> {
    Err(NpyError(message.into()))
}

/// Reads an `.npy` file: a tensor, or a scalar if its shape is `()`.
pub fn read_npy(bytes: &[u8]) -> Result<HostValue, NpyError> {
    let (header, data) = split(bytes)?;
    let Header { dtype, is_fortran, dims } = header;
    let needed = dims.iter().try_fold(dtype.width, |n, d| n.checked_mul(usize::try_from(*d).ok()?));
    if needed != Some(data.len()) {
        let needed = needed.map_or_else(|| "more than memory holds".to_owned(), |n| n.to_string());
        return error(format!("shape {dims:?} of `{}` needs {needed} bytes, found {}", dtype.name, data.len()));
    }
    let bits: Vec<u64> = data.chunks_exact(dtype.width).map(|cell| dtype.bits(cell)).collect();
    let bits = if is_fortran { row_major(&dims, &bits) } else { bits };
    Ok(match bits.first() {
        Some(only) if dims.is_empty() => HostValue::Scalar(Const::from_bits(dtype.elem, *only)),
        Some(_) | None => HostValue::Tensor(Value { elem: dtype.elem, dims, bits }),
    })
}

/// The header and what follows it.
fn split(bytes: &[u8]) -> Result<(Header, &[u8]), NpyError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return error("no .npy file: it does not start with `\\x93NUMPY`");
    };
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [1..=3, ..] | [] => return error("the file ends inside its header"),
        [version, ..] => return error(format!("expected version 1, 2 or 3 of the .npy format, found {version}")),
    };
    if length > MAX_HEADER {
        return error(format!("expected a header of at most {MAX_HEADER} bytes, found {length}"));
    }
    let Some((header, data)) = rest.split_at_checked(length) else { return error("the file ends inside its header") };
    let Ok(header) = std::str::from_utf8(header) else { return error("the header is no text") };
    Ok((parse_header(header)?, data))
}

/// The elements of an array that was stored with its first axis innermost.
fn row_major(dims: &[i64], stored: &[u64]) -> Vec<u64> {
    let strides: Vec<usize> = dims
        .iter()
        .scan(1, |stride, d| {
            let own = *stride;
            *stride *= *d as usize;
            Some(own)
        })
        .collect();
    let at = |k: usize| {
        let (mut rest, mut offset) = (k, 0);
        for (d, stride) in dims.iter().zip(&strides).rev() {
            offset += rest % *d as usize * stride;
            rest /= *d as usize;
        }
        offset
    };
    (0..stored.len()).map(|k| stored[at(k)]).collect()
}

/// Writes a scalar or a tensor of scalars as an `.npy` file; `None` for other values, which one array cannot hold.
pub fn write_npy(value: &HostValue) -> Option<Vec<u8>> {
    let value = match value {
        HostValue::Scalar(c) => &Value::from(*c),
        HostValue::Tensor(v) => v,
        HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. } => return None,
    };
    let (descr, width) = descr(value.elem);
    let shape: String = value.dims.iter().map(|d| format!("{d}, ")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    // The data starts at a multiple of 64 bytes; the header ends in a newline.
    let start = MAGIC.len() + 4;
    let padding = 63 - (start + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut out = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    for bits in &value.bits {
        let bits = if value.elem == Elem::BF16 { bits << 16 } else { *bits };
        out.extend(&bits.to_le_bytes()[..width]);
    }
    Some(out)
}

/// The name of an element type in a header, and its width in bytes.
fn descr(elem: Elem) -> (&'static str, usize) {
    match elem {
        Elem::Bool => ("|b1", 1),
        Elem::I8 => ("|i1", 1),
        Elem::U8 => ("|u1", 1),
        Elem::I16 => ("<i2", 2),
        Elem::U16 => ("<u2", 2),
        Elem::F16 => ("<f2", 2),
        Elem::I32 => ("<i4", 4),
        Elem::U32 => ("<u4", 4),
        // NumPy has no bf16: its numbers are written as f32, which holds them exactly.
        Elem::F32 | Elem::BF16 => ("<f4", 4),
        Elem::I64 => ("<i8", 8),
        Elem::U64 => ("<u8", 8),
        Elem::F64 => ("<f8", 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
    }

    fn message(bytes: &[u8]) -> String {
        read_npy(bytes).unwrap_err().to_string()
    }

    #[test]
    fn arrays_of_every_type_read_back_as_they_were_written() {
        for elem in Elem::ALL.into_iter().filter(|elem| *elem != Elem::BF16) {
            let minus = if elem.is_signed() { u64::MAX } else { 1 };
            let bits = vec![0, 1, minus];
            let value = HostValue::Tensor(Value { elem, dims: vec![3, 1], bits });
            let bytes = write_npy(&value).expect("one array");
            assert_eq!(bytes.len() % 64, (3 * descr(elem).1) % 64, "{elem}");
            assert_eq!(read_npy(&bytes), Ok(value));
        }
        let scalar = HostValue::f64(2.5);
        assert_eq!(read_npy(&write_npy(&scalar).expect("one array")), Ok(scalar));
    }

    #[test]
    fn numbers_of_bf16_are_written_as_f32() {
        let of = |elem, numbers: [f64; 2]| {
            let bits = numbers.map(|x| Const::float(elem, x).bits()).to_vec();
            HostValue::Tensor(Value { elem, dims: vec![2], bits })
        };
        let written = write_npy(&of(Elem::BF16, [0.5, -3e38])).expect("one array");
        let as_bf16 = Const::float(Elem::BF16, -3e38).as_float().expect("a float");
        assert_eq!(read_npy(&written), Ok(of(Elem::F32, [0.5, as_bf16])));
    }

    #[test]
    fn big_endian_and_column_major_files_are_read() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let data: Vec<u8> = [1i16, 4, -2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()).collect();
        let bits = [1i64, -2, 3, 4, 5, 6].map(|x| x as u64).to_vec();
        let expected = HostValue::Tensor(Value { elem: Elem::I16, dims: vec![2, 3], bits });
        assert_eq!(read_npy(&file(header, &data)), Ok(expected));
    }

    #[test]
    fn hostile_files_are_refused_without_taking_memory() {
        let dict =
            |descr: &str, shape: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
        assert_eq!(message(b"PK"), "no .npy file: it does not start with `\\x93NUMPY`");
        assert_eq!(
            message(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
            "expected a header of at most 65536 bytes, found 4294967295"
        );
        assert_eq!(message(b"\x93NUMPY\x01\x00\x20\x00{"), "the file ends inside its header");
        let huge = file(&dict("<f8", "(9223372036854775807, 8)"), &[]);
        assert_eq!(
            message(&huge),
            "shape [9223372036854775807, 8] of `<f8` needs more than memory holds bytes, found 0"
        );
        let short = file(&dict("<f8", "(3,)"), &[0; 16]);
        assert_eq!(message(&short), "shape [3] of `<f8` needs 24 bytes, found 16");
        assert_eq!(message(&file(&dict("|O", "(1,)"), &[0; 8])), "element type `|O`: Python objects are never read");
    }
}
