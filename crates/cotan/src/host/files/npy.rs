//! The `.npy` files of NumPy.
//!
//! Nothing is unpickled, a header has at most [`MAX_HEADER`](super::MAX_HEADER) bytes, and memory is taken only for
//! elements that are there. Both byte orders and both orders of elements are read.

use super::npy_header::{ArrayHeader, MAGIC};
use super::{Budget, FileError, error};
use crate::host::HostValue;
use cotan_ir::{Const, Elem};
use cotan_ops::Value;
use std::io::Read;

/// Elements are converted so many bytes at a time; a multiple of the width of every type.
const PIECE: usize = 32 << 10;

/// A file whose header was read.
#[derive(Clone, Debug)]
pub struct NpyFile {
    bytes: Vec<u8>,
    header: ArrayHeader,
}

impl NpyFile {
    /// Reads the header, and sees that there are as many bytes behind it as it says.
    pub fn open(bytes: Vec<u8>) -> Result<NpyFile, FileError> {
        let header = ArrayHeader::read(&mut bytes.as_slice())?;
        check_size(&header, (bytes.len() - header.length) as u64)?;
        Ok(NpyFile { bytes, header })
    }

    /// What the header says.
    pub fn header(&self) -> &ArrayHeader {
        &self.header
    }

    /// The elements.
    pub fn value(&self, budget: &mut Budget) -> Result<HostValue, FileError> {
        read_elements(&self.header, &mut &self.bytes[self.header.length..], budget)
    }
}

/// Reads an `.npy` file: a tensor, or a scalar if its shape is `()`.
pub fn read_npy(bytes: &[u8], budget: &mut Budget) -> Result<HostValue, FileError> {
    let mut source = bytes;
    let header = ArrayHeader::read(&mut source)?;
    check_size(&header, source.len() as u64)?;
    read_elements(&header, &mut source, budget)
}

/// Fails unless so many bytes are those of the elements.
pub(super) fn check_size(header: &ArrayHeader, found: u64) -> Result<(), FileError> {
    let ArrayHeader { dtype, dims, .. } = header;
    let needed = header.count().and_then(|n| n.checked_mul(dtype.width));
    if needed.is_some_and(|needed| needed as u64 == found) {
        return Ok(());
    }
    let needed = needed.map_or_else(|| "more than memory holds".to_owned(), |n| n.to_string());
    error(format!("shape {dims:?} of `{}` needs {needed} bytes, found {found}", dtype.name))
}

/// Reads the elements that stand behind a header. No more is read than it says.
pub(super) fn read_elements(
    header: &ArrayHeader,
    source: &mut dyn Read,
    budget: &mut Budget,
) -> Result<HostValue, FileError> {
    let ArrayHeader { dtype, dims, .. } = header;
    let Some(n) = header.count() else { return error("it has more elements than memory holds") };
    let mut bits: Vec<u64> = budget.list(n)?;
    let mut piece = [0; PIECE];
    // In an array that was stored with its first axis innermost, elements go to places of their own.
    let mut places = header.is_fortran.then(|| Places::new(dims));
    if places.is_some() {
        bits.resize(n, 0);
    }
    let mut left = n;
    while left > 0 {
        let cells = &mut piece[..left.min(PIECE / dtype.width) * dtype.width];
        source.read_exact(cells).map_err(|e| FileError(format!("reading its elements: {e}")))?;
        left -= cells.len() / dtype.width;
        let read = cells.chunks_exact(dtype.width).map(|cell| dtype.bits(cell));
        match &mut places {
            None => bits.extend(read),
            Some(places) => read.for_each(|word| bits[places.next()] = word),
        }
    }
    Ok(match bits.first() {
        Some(only) if dims.is_empty() => HostValue::Scalar(Const::from_bits(dtype.elem, *only)),
        Some(_) | None => HostValue::Tensor(Value { elem: dtype.elem, dims: dims.clone(), bits }),
    })
}

/// Where the elements of a column-major array, one after the other, stand in a row-major one. None of its axes is empty
/// where there is a next element.
struct Places {
    /// For each axis its extent, the distance of its elements, and the index.
    axes: Vec<[usize; 3]>,
    at: usize,
}

impl Places {
    fn new(dims: &[i64]) -> Places {
        let mut stride = 1;
        let mut axes: Vec<[usize; 3]> = dims.iter().map(|d| [usize::try_from(*d).unwrap_or(0), 0, 0]).collect();
        for axis in axes.iter_mut().rev() {
            axis[1] = stride;
            // Of an array with elements the product is their number; of others nothing is asked.
            stride = stride.saturating_mul(axis[0]);
        }
        Places { axes, at: 0 }
    }

    fn next(&mut self) -> usize {
        let place = self.at;
        for [extent, stride, index] in &mut self.axes {
            *index += 1;
            self.at += *stride;
            if *index < *extent {
                break;
            }
            self.at -= *stride * *extent;
            *index = 0;
        }
        place
    }
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

    fn read(bytes: &[u8]) -> Result<HostValue, FileError> {
        read_npy(bytes, &mut Budget::default())
    }

    fn message(bytes: &[u8]) -> String {
        read_npy(bytes, &mut Budget::default()).unwrap_err().to_string()
    }

    #[test]
    fn arrays_of_every_type_read_back_as_they_were_written() {
        for elem in Elem::ALL.into_iter().filter(|elem| *elem != Elem::BF16) {
            let minus = if elem.is_signed() { u64::MAX } else { 1 };
            let bits = vec![0, 1, minus];
            let value = HostValue::Tensor(Value { elem, dims: vec![3, 1], bits });
            let bytes = write_npy(&value).expect("one array");
            assert_eq!(bytes.len() % 64, (3 * descr(elem).1) % 64, "{elem}");
            assert_eq!(read(&bytes), Ok(value));
        }
        let scalar = HostValue::f64(2.5);
        assert_eq!(read(&write_npy(&scalar).expect("one array")), Ok(scalar));
    }

    #[test]
    fn numbers_of_bf16_are_written_as_f32() {
        let of = |elem, numbers: [f64; 2]| {
            let bits = numbers.map(|x| Const::float(elem, x).bits()).to_vec();
            HostValue::Tensor(Value { elem, dims: vec![2], bits })
        };
        let written = write_npy(&of(Elem::BF16, [0.5, -3e38])).expect("one array");
        let as_bf16 = Const::float(Elem::BF16, -3e38).as_float().expect("a float");
        assert_eq!(read(&written), Ok(of(Elem::F32, [0.5, as_bf16])));
    }

    #[test]
    fn big_endian_and_column_major_files_are_read() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let data: Vec<u8> = [1i16, 4, -2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()).collect();
        let bits = [1i64, -2, 3, 4, 5, 6].map(|x| x as u64).to_vec();
        let expected = HostValue::Tensor(Value { elem: Elem::I16, dims: vec![2, 3], bits });
        assert_eq!(read(&file(header, &data)), Ok(expected));
    }

    #[test]
    fn elements_of_a_column_major_array_of_any_rank_get_to_their_places() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }";
        // The element at [i, j, k] is 100 i + 10 j + k, stored with i innermost.
        let at = |n: u8| [n % 2, n / 2 % 3, n / 6];
        let data: Vec<u8> = (0..12).map(at).map(|[i, j, k]| 100 * i + 10 * j + k).collect();
        let bits = vec![0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121];
        let expected = HostValue::Tensor(Value { elem: Elem::U8, dims: vec![2, 3, 2], bits });
        assert_eq!(read(&file(header, &data)), Ok(expected));
    }

    #[test]
    fn arrays_longer_than_a_piece_are_read_whole_and_count_in_eight_bytes_for_each_element() {
        let n = 3 * PIECE + 5;
        let bytes = file(&format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({n},), }}"), &vec![7; n]);
        let expected = HostValue::Tensor(Value { elem: Elem::U8, dims: vec![n as i64], bits: vec![7; n] });
        assert_eq!(read_npy(&bytes, &mut Budget::new(8 * n as u64)), Ok(expected));
        assert!(read_npy(&bytes, &mut Budget::new(8 * n as u64 - 1)).is_err());
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
