//! Comma-separated values (RFC 4180): a table of numbers, whose first line is a header if one of its cells is no number.
//!
//! [`CsvTable::open`] looks at the form alone: every line has as many cells as the first. A cell becomes a number where
//! its column is asked for, in the type that is wanted; one that is missing is an error with its place.

use super::{Budget, FileError, error};
use crate::host::HostValue;
use crate::host::arrays::leaf_arrays;
use cotan_ir::{Const, Elem};
use cotan_ops::Value;
use csv::{ByteRecord, Reader, ReaderBuilder, Trim, Writer};
use std::sync::Arc;

/// Words that stand for a value that is missing.
const MISSING: [&str; 5] = ["", "NA", "N/A", "null", "?"];

/// The most columns of a table. Each takes memory before a type asks for it.
const MAX_COLUMNS: usize = 1 << 16;

/// The most characters of a cell that a message shows.
const SHOWN: usize = 40;

/// A table whose lines were counted. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct CsvTable {
    bytes: Arc<Vec<u8>>,
    /// The cells of the header; none without one.
    names: Vec<String>,
    n_rows: usize,
    n_columns: usize,
}

impl CsvTable {
    /// Reads the header, and counts lines and columns.
    pub fn open(bytes: Vec<u8>) -> Result<CsvTable, FileError> {
        if widest(&bytes) > MAX_COLUMNS {
            return error(format!("expected at most {MAX_COLUMNS} columns, found more"));
        }
        let mut table = CsvTable { bytes: Arc::new(bytes), names: Vec::new(), n_rows: 0, n_columns: 0 };
        let bytes = table.bytes.clone();
        let mut lines = Lines::new(&bytes);
        let mut is_first = true;
        while let Some((line, cells)) = lines.next()? {
            if is_first {
                table.n_columns = cells.len();
                if let Some(k) = cells.iter().position(|cell| std::str::from_utf8(cell).is_err()) {
                    return error(format!("line {line}, {}: expected text in UTF-8", table.shown(k)));
                }
                let texts: Vec<String> = cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
                if texts.iter().any(|text| is_word(text)) {
                    table.names = texts;
                    is_first = false;
                    continue;
                }
            }
            is_first = false;
            if cells.len() != table.n_columns {
                let (expected, found) = (table.n_columns, cells.len());
                return error(format!("line {line}: expected {expected} cells, as in the first line, found {found}"));
            }
            table.n_rows += 1;
        }
        Ok(table)
    }

    /// The names of the columns; none without a header.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many lines of numbers there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns there are.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The column of a name, or of a number that is no name; the first has the number 0.
    pub fn column(&self, name: &str) -> Result<Option<usize>, FileError> {
        let mut of_name = self.names.iter().enumerate().filter(|(_, known)| *known == name).map(|(k, _)| k);
        match (of_name.next(), of_name.next()) {
            (Some(k), Some(again)) => {
                error(format!("the columns {k} and {again} have the name `{name}`: ask for one by its number"))
            }
            (Some(k), None) => Ok(Some(k)),
            (None, _) => Ok(name.parse().ok().filter(|k| *k < self.n_columns)),
        }
    }

    /// Columns by their numbers, each in a type.
    pub fn columns(&self, wanted: &[(usize, Elem)], budget: &mut Budget) -> Result<Vec<Value>, FileError> {
        let mut columns = wanted.iter().map(|_| budget.list(self.n_rows)).collect::<Result<Vec<Vec<u64>>, _>>()?;
        self.each_row(&mut |line, cells| {
            for ((k, elem), column) in wanted.iter().zip(&mut columns) {
                column.push(self.cell(line, cells, *k, *elem)?);
            }
            Ok(())
        })?;
        let value =
            |(bits, (_, elem)): (_, &(usize, Elem))| Value { elem: *elem, dims: vec![self.n_rows as i64], bits };
        Ok(columns.into_iter().zip(wanted).map(value).collect())
    }

    /// The whole table.
    pub fn matrix(&self, elem: Elem, budget: &mut Budget) -> Result<Value, FileError> {
        let mut bits = budget.list(self.n_rows.saturating_mul(self.n_columns))?;
        self.each_row(&mut |line, cells| {
            for k in 0..self.n_columns {
                bits.push(self.cell(line, cells, k, elem)?);
            }
            Ok(())
        })?;
        Ok(Value { elem, dims: vec![self.n_rows as i64, self.n_columns as i64], bits })
    }

    /// Goes through the lines of numbers.
    fn each_row(&self, f: &mut dyn FnMut(u64, &ByteRecord) -> Result<(), FileError>) -> Result<(), FileError> {
        let mut lines = Lines::new(&self.bytes);
        let mut before = 0;
        let mut is_header = !self.names.is_empty();
        while let Some((line, cells)) = lines.next()? {
            // A line without cells is one without a value where there is one column.
            if self.n_columns == 1 && line > before + 1 {
                return error(format!("line {}, {}: a value is missing", before + 1, self.shown(0)));
            }
            before = line;
            if !std::mem::take(&mut is_header) {
                f(line, cells)?;
            }
        }
        Ok(())
    }

    /// The bits of a cell.
    fn cell(&self, line: u64, cells: &ByteRecord, k: usize, elem: Elem) -> Result<u64, FileError> {
        let text = String::from_utf8_lossy(cells.get(k).unwrap_or_default());
        let place = || format!("line {line}, {}", self.shown(k));
        if MISSING.contains(&text.as_ref()) {
            return error(format!("{}: a value is missing", place()));
        }
        let Some(number) = number(&text, elem) else {
            let shown: String = text.chars().take(SHOWN).collect();
            let hint = if self.n_columns == 1 && text.contains([';', '\t']) { "; a comma parts cells" } else { "" };
            return error(format!("{}: expected {elem}, found `{shown}`{hint}", place()));
        };
        Ok(number.bits())
    }

    /// A column in a message.
    fn shown(&self, k: usize) -> String {
        match self.names.get(k) {
            Some(name) => format!("column `{name}`"),
            None => format!("column {k} (the first is 0)"),
        }
    }
}

/// The lines of a table, with their numbers.
struct Lines<'a> {
    reader: Reader<&'a [u8]>,
    bytes: &'a [u8],
    cells: ByteRecord,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Lines<'a> {
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(bytes);
        Lines { reader, bytes, cells: ByteRecord::new() }
    }

    fn next(&mut self) -> Result<Option<(u64, &ByteRecord)>, FileError> {
        let start = self.reader.position().clone();
        let is_there = self.reader.read_byte_record(&mut self.cells).map_err(|e| FileError(e.to_string()))?;
        // The reader goes past empty lines with the record behind them.
        let before = self.bytes.get(start.byte() as usize..).unwrap_or_default();
        let ends = before.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let line = start.line() + ends.filter(|byte| **byte == b'\n').count() as u64;
        Ok(is_there.then_some((line, &self.cells)))
    }
}

/// How many cells the longest line has, at most. It takes no memory, as the reader of lines does.
fn widest(bytes: &[u8]) -> usize {
    let (mut widest, mut commas, mut is_quoted) = (0, 0, false);
    for byte in bytes {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => commas += 1,
            b'\n' if !is_quoted => commas = 0,
            _ => {}
        }
        widest = widest.max(commas + 1);
    }
    widest
}

/// Whether a cell is neither a number nor missing.
fn is_word(text: &str) -> bool {
    !MISSING.contains(&text) && text.parse::<f64>().is_err()
}

/// A cell as a number of a type, if it is one.
fn number(text: &str, elem: Elem) -> Option<Const> {
    if let Some((lo, hi)) = elem.integer_range() {
        return text.parse().ok().filter(|n| (lo..=hi).contains(n)).map(|n| Const::integer(elem, n));
    }
    if elem.is_float() {
        let number = Const::float(elem, text.parse().ok()?);
        // Digits beyond the largest number are no infinity.
        let is_infinite = number.as_float().is_some_and(f64::is_infinite);
        return Some(number).filter(|_| !(is_infinite && text.contains(|c: char| c.is_ascii_digit())));
    }
    match text {
        "1" | "true" => Some(Const::bool(true)),
        "0" | "false" => Some(Const::bool(false)),
        _ => None,
    }
}

/// Writes a vector, a matrix, or the vectors of one length that a struct or tuple consists of, as a table; `None` for
/// other values. The names of fields are the header; parts of a tuple have none.
pub fn write_csv(value: &HostValue) -> Option<Vec<u8>> {
    let arrays = leaf_arrays(value)?;
    let tensors: Vec<&Value> = arrays.iter().filter_map(|(_, array)| array.as_tensor()).collect();
    let (n_rows, n_columns, header) = match tensors.as_slice() {
        [only] if arrays.len() == 1 && only.dims.len() == 2 && !only.dims.contains(&0) => {
            (only.dims[0] as usize, only.dims[1] as usize, None)
        }
        [first, ..] if arrays.len() == tensors.len() && tensors.iter().all(|t| t.dims.len() == 1) => {
            let names: Vec<&str> = arrays.iter().map(|(name, _)| name.as_str()).collect();
            let is_header = names.iter().any(|name| is_word(name));
            // What would be read as numbers is no header.
            if tensors.iter().any(|t| t.dims != first.dims) || !is_header && names.iter().any(|n| !is_position(n)) {
                return None;
            }
            (first.bits.len(), tensors.len(), is_header.then_some(names))
        }
        _ => return None,
    };
    let mut table = Writer::from_writer(Vec::new());
    if let Some(names) = header {
        table.write_record(names).ok()?;
    }
    for row in 0..n_rows {
        let cell = |column: usize| match tensors.as_slice() {
            [only] => text(only.get(row * n_columns + column)),
            several => text(several[column].get(row)),
        };
        table.write_record((0..n_columns).map(cell)).ok()?;
    }
    table.into_inner().ok()
}

/// Whether a name of a leaf is that of the only one, or of a part of a tuple.
fn is_position(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number as a cell. Truth values are 1 and 0, so that none of them makes a header of the first line.
fn text(number: Const) -> String {
    match (number.as_bool(), number.as_integer()) {
        (Some(b), _) => u8::from(b).to_string(),
        (None, Some(n)) => n.to_string(),
        (None, None) => number.digits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> CsvTable {
        CsvTable::open(text.as_bytes().to_vec()).expect("a table")
    }

    fn column(text: &str, name: &str, elem: Elem) -> Result<Value, String> {
        let table = table(text);
        let k = table.column(name).map_err(|e| e.to_string())?.ok_or("no column")?;
        let columns = table.columns(&[(k, elem)], &mut Budget::default()).map_err(|e| e.to_string())?;
        Ok(columns[0].clone())
    }

    #[test]
    fn a_first_line_with_a_word_is_a_header_and_columns_have_names_and_numbers() {
        let text = "x, y \r\n1,2.5\r\n\r\n-3,1e-3\r\n";
        assert_eq!(column(text, "y", Elem::F64), Ok(Value::f64s(&[2], &[2.5, 1e-3])));
        assert_eq!(column(text, "0", Elem::I64), Ok(Value::i64s(&[2], &[1, -3])));
        assert_eq!(table("1,2\n3,4").names(), &[] as &[String]);
        assert_eq!(table("1,2\n3,4").matrix(Elem::F64, &mut Budget::default()).map(|m| m.dims), Ok(vec![2, 2]));
        // A value that is missing makes no header.
        assert_eq!(
            column("1,,3\n", "1", Elem::F64),
            Err("line 1, column 1 (the first is 0): a value is missing".into())
        );
    }

    #[test]
    fn a_header_is_text() {
        let opened = CsvTable::open(b"a,\xff\xfe\n1,2\n".to_vec()).map_err(|e| e.to_string());
        assert_eq!(
            opened.map(|table| table.n_rows()),
            Err("line 1, column 1 (the first is 0): expected text in UTF-8".into())
        );
    }

    #[test]
    fn cells_that_are_no_numbers_are_told_with_their_place() {
        for (text, name, elem, message) in [
            ("x,y\n1,NA\n", "y", Elem::F64, "line 2, column `y`: a value is missing"),
            ("x\n1\n\n2\n", "x", Elem::F64, "line 3, column `x`: a value is missing"),
            ("x,y\n1,2\n\n\n3,4 m\n", "y", Elem::F64, "line 5, column `y`: expected f64, found `4 m`"),
            ("1.5\n", "0", Elem::I64, "line 1, column 0 (the first is 0): expected i64, found `1.5`"),
            ("300\n", "0", Elem::U8, "line 1, column 0 (the first is 0): expected u8, found `300`"),
            ("1e400\n", "0", Elem::F64, "line 1, column 0 (the first is 0): expected f64, found `1e400`"),
            ("x;y\n1;2\n", "0", Elem::F64, "line 2, column `x;y`: expected f64, found `1;2`; a comma parts cells"),
            ("a,a\n1,2\n", "a", Elem::F64, "the columns 0 and 1 have the name `a`: ask for one by its number"),
        ] {
            assert_eq!(column(text, name, elem), Err(message.to_owned()), "{text}");
        }
        let wide = CsvTable::open(vec![b','; MAX_COLUMNS]).unwrap_err().to_string();
        assert_eq!(wide, "expected at most 65536 columns, found more");
        let ragged = CsvTable::open(b"1,2\n3\n".to_vec()).unwrap_err().to_string();
        assert_eq!(ragged, "line 2: expected 2 cells, as in the first line, found 1");
    }

    #[test]
    fn what_a_table_takes_is_counted_before_it_is_there() {
        let three = table("1\n2\n3\n");
        assert!(three.columns(&[(0, Elem::U8)], &mut Budget::new(24)).is_ok());
        assert!(three.columns(&[(0, Elem::U8)], &mut Budget::new(23)).is_err());
    }

    #[test]
    fn vectors_matrices_and_structs_of_vectors_are_written() {
        let shown = |value: &HostValue| write_csv(value).map(|bytes| String::from_utf8(bytes).expect("text"));
        let field = |name: &str, value| (name.to_owned(), value);
        let x = HostValue::f64s(&[2], &[0.1, f64::NAN]);
        let n = HostValue::Tensor(Value { elem: Elem::Bool, dims: vec![2], bits: vec![1, 0] });
        assert_eq!(shown(&x).as_deref(), Some("0.1\nNaN\n"));
        assert_eq!(shown(&HostValue::f64s(&[1, 2], &[-0.0, 2.0])).as_deref(), Some("-0.0,2.0\n"));
        let both = HostValue::Struct(vec![field("x", x.clone()), field("n", n.clone())]);
        assert_eq!(shown(&both).as_deref(), Some("x,n\n0.1,1\nNaN,0\n"));
        assert_eq!(shown(&HostValue::Tuple(vec![x.clone(), n])).as_deref(), Some("0.1,1\nNaN,0\n"));
        let short = HostValue::f64s(&[1], &[1.0]);
        for value in [
            HostValue::f64(1.0),
            HostValue::Tuple(vec![x.clone(), short]),
            HostValue::f64s(&[0, 2], &[]),
            HostValue::Struct(vec![field("nan", x)]),
        ] {
            assert_eq!(shown(&value), None, "{value:?}");
        }
    }
}
