//! Mutated files of arguments: good ones of every format with a few bytes changed, moved or missing.

use crate::random::Rng;
use cotan::host::files::{Archive, CsvTable, JsonText, NpyFile};
use cotan::host::{Budget, HostValue, write_npy, write_npz};
use cotan_ir::{Const, Elem};
use cotan_lower::entry::{HostType, HostVariant};
use cotan_ops::Value;
use cotan_sema::dims::{Atom, Dim, GenericId};
use std::io::{Cursor, Write};
use std::ops::Range;
use std::panic::catch_unwind;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// What one file may take: mutants declare whatever they like.
const BUDGET: u64 = 1 << 20;

/// The most changes of a mutant.
const MOST_CHANGES: usize = 6;

/// Bytes that mean something somewhere.
const MEANINGFUL: &[u8] = b"\x00\x01\x7f\x80\xff{}[]\"\\:,()'-+.eENPKfuiO0129 \n";

/// Words that mean something somewhere.
const WORDS: &[&[u8]] = &[
    b"\"shape\"",
    b"\"data\"",
    b"null",
    b"true",
    b"1e999",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"\\u0000",
    b"'descr'",
    b"'shape': (4294967296, 4294967296)",
    b"'fortran_order': True",
    b"'>f8'",
    b"'|O'",
    b"\xff\xff\xff\xff",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"PK\x06\x06",
    b"\"a\": 1, \"a\": 2",
    b"[[[[[[[[[[[[[[[[",
];

/// A format of files of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// An array.
    Npy,
    /// An archive of arrays.
    Npz,
    /// A table.
    Csv,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Json, Format::Npy, Format::Npz, Format::Csv];

    /// Good files.
    fn seeds(self) -> Vec<Vec<u8>> {
        match self {
            Format::Json => [
                r#"{"x": [[1.0, 2], [-3e2, 0.5]], "p": {"a": 1, "s": {"Circle": 2.5}}, "n": 7, "b": true, "t": [1, [true]]}"#,
                r#"{"x": {"shape": [2, 0], "data": []}, "p": {"a": "nan", "s": "Dot"}, "n": -1, "b": false, "t": [0, []]}"#,
                r#"{"x": {"data": [1, 2, 3, 4], "shape": [2, 2]}, "ab\"\\": "\u00e9\n", "n": 18446744073709551615}"#,
                "[[1, 2], [3, 4]]",
            ]
            .map(|text| text.as_bytes().to_vec())
            .to_vec(),
            Format::Npy => arrays().iter().filter_map(|(_, value)| write_npy(value)).collect(),
            Format::Npz => {
                let stored = write_npz(&arrays()).unwrap_or_default();
                vec![stored, deflated(&arrays()).unwrap_or_default()]
            }
            Format::Csv => ["a,\"b c\",d\n1,2.5,-3e2\n\n4,nan,0\n", "1,0\r\n1,1\r\n", "x\n1\n2"]
                .map(|text| text.as_bytes().to_vec())
                .to_vec(),
        }
    }

    /// Reads everything of a file; whether it is a good one.
    fn read(self, bytes: Vec<u8>) -> bool {
        let mut budget = Budget::new(BUDGET);
        match self {
            Format::Json => {
                let Ok(text) = JsonText::new(bytes) else { return false };
                let entries = text.entries().ok().flatten().unwrap_or_default();
                let types = types();
                // Every value is read in every type.
                let values = entries.iter().map(|(_, value)| value).chain([&text]);
                values.for_each(|value| {
                    value.as_i64();
                    types.iter().for_each(|ty| drop(value.value(ty, &mut budget)));
                });
                true
            }
            Format::Npy => NpyFile::open(bytes).is_ok_and(|file| file.value(&mut budget).is_ok()),
            Format::Npz => {
                let Ok(archive) = Archive::open(bytes) else { return false };
                let names: Vec<&str> = archive.names().collect();
                names.iter().for_each(|name| drop(archive.header(name)));
                let one_by_one = names.iter().all(|name| archive.read(&[name], &mut budget).is_ok());
                let together = archive.read(&names, &mut budget).is_ok();
                one_by_one && together
            }
            Format::Csv => {
                let Ok(table) = CsvTable::open(bytes) else { return false };
                table.names().iter().for_each(|name| drop(table.column(name)));
                let wanted: Vec<_> =
                    (0..table.n_columns()).map(|k| (k, [Elem::F64, Elem::I64, Elem::Bool][k % 3])).collect();
                let columns = table.columns(&wanted, &mut budget).is_ok();
                table.matrix(Elem::F64, &mut budget).is_ok() || columns
            }
        }
    }
}

fn arrays() -> Vec<(String, HostValue)> {
    let tensor =
        |elem, dims: &[i64], bits: &[u64]| HostValue::Tensor(Value { elem, dims: dims.to_vec(), bits: bits.to_vec() });
    [
        ("x", HostValue::f64s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, -6.0])),
        ("n", HostValue::i64(-3)),
        ("mask", tensor(Elem::Bool, &[4], &[0, 1, 1, 0])),
        ("empty", tensor(Elem::F32, &[0, 7], &[])),
        ("half", HostValue::Scalar(Const::float(Elem::F16, 0.5))),
        ("zeros", tensor(Elem::U8, &[5000], &[0; 5000])),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn deflated(arrays: &[(String, HostValue)]) -> Option<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, value) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).ok()?;
        archive.write_all(&write_npy(value)?).ok()?;
    }
    archive.finish().ok().map(Cursor::into_inner)
}

/// Types of every kind.
fn types() -> Vec<HostType> {
    let tensor = |elem, rank: u32| {
        let dims = (0..rank).map(|k| Dim::atom(Atom::Size(GenericId(k)))).collect();
        HostType::Tensor { elem: Box::new(elem), dims }
    };
    let shape = HostType::Enum {
        name: "Shape".to_owned(),
        variants: vec![
            HostVariant { name: "Dot".to_owned(), payload: None },
            HostVariant { name: "Circle".to_owned(), payload: Some(HostType::Scalar(Elem::F64)) },
        ],
    };
    let fields = vec![("a".to_owned(), HostType::Scalar(Elem::F64)), ("s".to_owned(), shape.clone())];
    let pair = HostType::Struct { name: "P".to_owned(), fields };
    let bools = tensor(HostType::Scalar(Elem::Bool), 1);
    vec![
        tensor(HostType::Scalar(Elem::F64), 2),
        tensor(HostType::Scalar(Elem::U8), 1),
        tensor(pair.clone(), 1),
        HostType::Scalar(Elem::I64),
        HostType::Scalar(Elem::F16),
        HostType::Tuple(vec![HostType::Scalar(Elem::I64), bools]),
        HostType::Tuple(Vec::new()),
        pair,
        shape,
    ]
}

/// A mutant by its number: the same for ever.
fn mutant(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut rng = Rng::new(number);
    let mut bytes = seeds[rng.below(seeds.len())].clone();
    for _ in 0..1 + rng.below(MOST_CHANGES) {
        let at = rng.below(bytes.len() + 1);
        let end = (at + rng.below(24)).min(bytes.len());
        match rng.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.choice(MEANINGFUL),
            2 => bytes.insert(at, rng.choice(MEANINGFUL)),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let part = bytes[at..end].to_vec();
                let to = rng.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            5 => {
                let word = rng.choice(WORDS);
                bytes.splice(at..at, word.iter().copied());
            }
            6 => {
                let other = &seeds[rng.below(seeds.len())];
                let from = rng.below(other.len() + 1);
                bytes.splice(at.., other[from..].iter().copied());
            }
            7 if rng.chance(0.2) => bytes.truncate(at),
            // A number of two, four or eight bytes.
            8 if at + 8 <= bytes.len() => {
                let any = rng.bits();
                let number = rng.choice(&[0, 1, 0xffff, 0xffff_ffff, u64::MAX, 1 << 40, any]).to_le_bytes();
                let width = rng.choice(&[2, 4, 8]);
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
            _ => {}
        }
    }
    bytes
}

/// Reads mutants; how many of them are good files all the same. The error is the first one that panics.
pub fn mutants(format: Format, numbers: Range<u64>) -> Result<usize, String> {
    let seeds = format.seeds();
    for (k, seed) in seeds.iter().enumerate() {
        if !format.read(seed.clone()) {
            return Err(format!("{format:?}: the good file {k} is refused"));
        }
    }
    let mut n_read = 0;
    for number in numbers {
        let bytes = mutant(&seeds, number);
        let read = catch_unwind(|| format.read(bytes));
        n_read += usize::from(read.map_err(|_| format!("{format:?}: mutant {number} panics"))?);
    }
    Ok(n_read)
}
