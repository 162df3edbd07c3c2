//! The header of an `.npy` file: a Python dictionary with three known keys.

use super::{FileError, error};
use cotan_ir::Elem;
use std::io::Read;

/// The longest header that is read.
pub const MAX_HEADER: usize = 64 << 10;

/// The most axes that an array has.
const MAX_RANK: usize = 64;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// What a header says.
#[derive(Clone, Debug)]
pub struct ArrayHeader {
    pub(super) dtype: Dtype,
    pub(super) is_fortran: bool,
    pub(super) dims: Vec<i64>,
    /// Bytes in front of the elements.
    pub(super) length: usize,
}

impl ArrayHeader {
    /// The type of the elements.
    pub fn elem(&self) -> Elem {
        self.dtype.elem
    }

    /// The extents, outermost first; none for a scalar.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// How many elements there are; none if that is no number.
    pub(super) fn count(&self) -> Option<usize> {
        // An extent of zero makes up for none that is too large.
        self.dims.iter().try_fold(1usize, |n, d| n.checked_mul(usize::try_from(*d).ok()?))
    }

    /// Reads a header, and nothing behind it.
    pub(super) fn read(source: &mut dyn Read) -> Result<ArrayHeader, FileError> {
        let ends = |_| FileError("the file ends inside its header".to_owned());
        let mut magic = [0; 8];
        source.read_exact(&mut magic[..MAGIC.len()]).map_err(|_| not_npy())?;
        if &magic[..MAGIC.len()] != MAGIC {
            return Err(not_npy());
        }
        source.read_exact(&mut magic[MAGIC.len()..]).map_err(ends)?;
        let mut number = [0; 4];
        let width = match magic[MAGIC.len()] {
            1 => 2,
            2 | 3 => 4,
            version => return error(format!("expected version 1, 2 or 3 of the .npy format, found {version}")),
        };
        source.read_exact(&mut number[..width]).map_err(ends)?;
        let length = u32::from_le_bytes(number) as usize;
        if length > MAX_HEADER {
            return error(format!("expected a header of at most {MAX_HEADER} bytes, found {length}"));
        }
        let mut text = Vec::with_capacity(length);
        source.take(length as u64).read_to_end(&mut text).map_err(ends)?;
        if text.len() < length {
            return error("the file ends inside its header");
        }
        let Ok(text) = std::str::from_utf8(&text) else { return error("the header is no text") };
        Ok(ArrayHeader { length: magic.len() + width + length, ..parse_header(text)? })
    }
}

fn not_npy() -> FileError {
    FileError("no .npy file: it does not start with `\\x93NUMPY`".to_owned())
}

/// The type of the stored elements.
#[derive(Clone, Debug)]
pub(super) struct Dtype {
    /// As the file spells it.
    pub(super) name: String,
    pub(super) elem: Elem,
    /// Bytes of an element.
    pub(super) width: usize,
    is_big_endian: bool,
}

impl Dtype {
    /// Elements as they lie in memory, the lowest byte first.
    pub(super) fn of_elem(elem: Elem) -> Dtype {
        Dtype { name: elem.name().to_owned(), elem, width: elem.bytes(), is_big_endian: false }
    }

    fn new(name: &str) -> Result<Dtype, FileError> {
        let (order, kind) = match name.split_at_checked(1) {
            Some((order @ ("<" | ">" | "|" | "="), kind)) => (order, kind),
            Some(_) | None => ("=", name),
        };
        let (elem, width) = match kind {
            "b1" | "?" => (Elem::Bool, 1),
            "i1" => (Elem::I8, 1),
            "u1" => (Elem::U8, 1),
            "i2" => (Elem::I16, 2),
            "u2" => (Elem::U16, 2),
            "i4" => (Elem::I32, 4),
            "u4" => (Elem::U32, 4),
            "i8" => (Elem::I64, 8),
            "u8" => (Elem::U64, 8),
            "f2" => (Elem::F16, 2),
            "f4" => (Elem::F32, 4),
            "f8" => (Elem::F64, 8),
            _ if kind.starts_with('O') => {
                return error(format!("element type `{name}`: Python objects are never read"));
            }
            _ => {
                let known = "bool, i1 to i8, u1 to u8, f2, f4 or f8";
                return error(format!("element type `{name}`: expected {known}"));
            }
        };
        Ok(Dtype { name: name.to_owned(), elem, width, is_big_endian: order == ">" })
    }

    /// The bits of a constant: signed integers are extended by their sign, everything else by zeros.
    pub(super) fn bits(&self, cell: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..self.width].copy_from_slice(cell);
        if self.is_big_endian {
            word[..self.width].reverse();
        }
        let bits = u64::from_le_bytes(word);
        if self.elem == Elem::Bool {
            return u64::from(bits != 0);
        }
        let unused = 64 - 8 * self.width as u32;
        if self.elem.is_signed() { (((bits << unused) as i64) >> unused) as u64 } else { bits }
    }
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`; the keys may stand in any order.
fn parse_header(text: &str) -> Result<ArrayHeader, FileError> {
    let (mut dtype, mut is_fortran, mut dims) = (None, None, None);
    let mut cursor = Cursor { rest: text };
    cursor.expect('{')?;
    while !cursor.eat('}') {
        let key = cursor.string()?;
        cursor.expect(':')?;
        match key {
            "descr" if cursor.starts_with('[') => return error("arrays of records are not read"),
            "descr" => once(key, &mut dtype, Dtype::new(cursor.string()?)?)?,
            "fortran_order" => once(key, &mut is_fortran, cursor.boolean()?)?,
            "shape" => once(key, &mut dims, cursor.tuple()?)?,
            other => return error(format!("the header has an unknown key `{other}`")),
        }
        if !cursor.eat(',') {
            cursor.expect('}')?;
            break;
        }
    }
    match (dtype, is_fortran, dims) {
        (Some(dtype), Some(is_fortran), Some(dims)) => Ok(ArrayHeader { dtype, is_fortran, dims, length: 0 }),
        (_, _, _) => error("the header lacks `descr`, `fortran_order` or `shape`"),
    }
}

/// Sets what a key says, which it says once.
fn once<T>(key: &str, slot: &mut Option<T>, value: T) -> Result<(), FileError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => error(format!("the header has the key `{key}` twice")),
    }
}

/// A place in the text of a header.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn starts_with(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.starts_with(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.starts_with(c);
        if found {
            self.rest = &self.rest[c.len_utf8()..];
        }
        found
    }

    fn expect(&mut self, c: char) -> Result<(), FileError> {
        if self.eat(c) { Ok(()) } else { error(format!("the header is malformed: expected `{c}`")) }
    }

    fn string(&mut self) -> Result<&'a str, FileError> {
        let quote = if self.eat('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect('\'')?;
        }
        let Some((inside, rest)) = self.rest.split_once(quote) else {
            return error("the header is malformed: expected the end of a string");
        };
        self.rest = rest;
        Ok(inside)
    }

    fn boolean(&mut self) -> Result<bool, FileError> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        error("the header is malformed: expected `True` or `False`")
    }

    fn tuple(&mut self) -> Result<Vec<i64>, FileError> {
        let mut dims = Vec::new();
        self.expect('(')?;
        while !self.eat(')') {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            let Ok(extent) = digits.parse() else { return error("the header is malformed: expected an extent") };
            if dims.len() == MAX_RANK {
                return error(format!("expected at most {MAX_RANK} axes, found more"));
            }
            dims.push(extent);
            // Files written by Python 2 have a suffix.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Elem, bool, Vec<i64>), String> {
        parse_header(text).map(|h| (h.dtype.elem, h.is_fortran, h.dims)).map_err(|e| e.to_string())
    }

    #[test]
    fn keys_may_stand_in_any_order() {
        let text = "{\"shape\": (2, 3), 'fortran_order': True, 'descr': '<f4'}   \n";
        assert_eq!(read(text), Ok((Elem::F32, true, vec![2, 3])));
        assert_eq!(read("{'descr': '|b1', 'fortran_order': False, 'shape': (), }"), Ok((Elem::Bool, false, vec![])));
    }

    #[test]
    fn what_is_no_header_is_an_error() {
        for (text, message) in [
            ("", "the header is malformed: expected `{`"),
            ("{'descr': '<f8'}", "the header lacks `descr`, `fortran_order` or `shape`"),
            ("{'descr': [('a', '<f8')]}", "arrays of records are not read"),
            ("{'descr': '<c16'}", "element type `<c16`: expected bool, i1 to i8, u1 to u8, f2, f4 or f8"),
            ("{'shape': (-1,)}", "the header is malformed: expected an extent"),
            ("{'shape': (99999999999999999999,)}", "the header is malformed: expected an extent"),
            ("{'fortran_order': 1}", "the header is malformed: expected `True` or `False`"),
            ("{'descr", "the header is malformed: expected the end of a string"),
            ("{'descr': '<f8', 'descr': '<f4'}", "the header has the key `descr` twice"),
        ] {
            assert_eq!(read(text), Err(message.to_owned()), "{text}");
        }
    }
}
