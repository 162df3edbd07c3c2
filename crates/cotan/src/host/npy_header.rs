//! The header of an `.npy` file: a Python dictionary with three known keys.

use super::npy::{NpyError, error};
use cotan_ir::Elem;

/// What a header says.
pub(super) struct Header {
    pub(super) dtype: Dtype,
    pub(super) is_fortran: bool,
    pub(super) dims: Vec<i64>,
}

/// The type of the stored elements.
pub(super) struct Dtype {
    /// As the file spells it.
    pub(super) name: String,
    pub(super) elem: Elem,
    /// Bytes of an element.
    pub(super) width: usize,
    is_big_endian: bool,
}

impl Dtype {
    fn new(name: &str) -> Result<Dtype, NpyError> {
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
pub(super) fn parse_header(text: &str) -> Result<Header, NpyError> {
    let (mut dtype, mut is_fortran, mut dims) = (None, None, None);
    let mut cursor = Cursor { rest: text };
    cursor.expect('{')?;
    while !cursor.eat('}') {
        let key = cursor.string()?;
        cursor.expect(':')?;
        match key {
            "descr" if cursor.starts_with('[') => return error("arrays of records are not read"),
            "descr" => dtype = Some(Dtype::new(cursor.string()?)?),
            "fortran_order" => is_fortran = Some(cursor.boolean()?),
            "shape" => dims = Some(cursor.tuple()?),
            other => return error(format!("the header has an unknown key `{other}`")),
        }
        if !cursor.eat(',') {
            cursor.expect('}')?;
            break;
        }
    }
    match (dtype, is_fortran, dims) {
        (Some(dtype), Some(is_fortran), Some(dims)) => Ok(Header { dtype, is_fortran, dims }),
        (_, _, _) => error("the header lacks `descr`, `fortran_order` or `shape`"),
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

    fn expect(&mut self, c: char) -> Result<(), NpyError> {
        if self.eat(c) { Ok(()) } else { error(format!("the header is malformed: expected `{c}`")) }
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
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

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        error("the header is malformed: expected `True` or `False`")
    }

    fn tuple(&mut self) -> Result<Vec<i64>, NpyError> {
        let mut dims = Vec::new();
        self.expect('(')?;
        while !self.eat(')') {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            let Ok(extent) = digits.parse() else { return error("the header is malformed: expected an extent") };
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
        ] {
            assert_eq!(read(text), Err(message.to_owned()), "{text}");
        }
    }
}
