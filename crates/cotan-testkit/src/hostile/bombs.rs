//! Small files that ask for much memory.

use cotan::host::{HostValue, write_npy};
use cotan_ir::Elem;
use cotan_ops::Value;
use std::fs::{self, File};
use std::io::{self, BufWriter, Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The program whose functions the files are arguments of.
pub const PROGRAM: &str = "struct P { a: f64 }
fn scalar(x: f64) -> f64 = x
fn vector[N](x: f64[N]) -> f64 = +/ x
fn bytes[N](x: u8[N]) -> i64 = N
fn table[N, M](x: u8[N, M]) -> i64 = N
fn structs[N](x: P[N]) -> i64 = N
fn pair[N](a000: u8[N], a001: u8[N]) -> i64 = N
";

/// A file, and the call that it is for.
pub struct Bomb {
    /// What is odd about it.
    pub name: &'static str,
    /// The name of the file.
    pub file: &'static str,
    /// The function that is called.
    pub function: &'static str,
    /// The argument of `--args`.
    pub source: &'static str,
    /// Bytes of the file that may be held, at most.
    pub counted: u64,
    /// Writes it.
    pub make: fn(&Path) -> io::Result<()>,
}

const fn bomb(
    name: &'static str,
    function: &'static str,
    [file, source]: [&'static str; 2],
    make: fn(&Path) -> io::Result<()>,
) -> Bomb {
    Bomb { name, file, function, source, counted: u64::MAX, make }
}

const NPZ: [&str; 2] = ["x.npz", "x.npz"];
const NPY: [&str; 2] = ["x.npy", "x=x.npy"];
const JSON: [&str; 2] = ["x.json", "x.json"];

/// All kinds.
pub const BOMBS: &[Bomb] = &[
    bomb("one array of zeros", "bytes", NPZ, |path| archive(path, &["x"], 800 << 20)),
    bomb("130 arrays, one of them wanted", "pair", NPZ, |path| archive(path, &numbered(130), 60 << 20)),
    bomb("two arrays of which each is small", "pair", NPZ, |path| archive(path, &numbered(2), 20 << 20)),
    bomb("a size that is a lie", "bytes", NPZ, |path| {
        archive(path, &["x"], 100 << 20)?;
        let mut bytes = fs::read(path)?;
        // The size of what is unpacked, in the directory.
        let at = bytes.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap_or(0) + 24;
        bytes[at..at + 4].copy_from_slice(&1000u32.to_le_bytes());
        fs::write(path, bytes)
    }),
    bomb("a header that declares more than there is", "bytes", NPZ, |path| {
        packed(path, &["x"], &npy("|u1", false, "(68719476736,)", 1000))
    }),
    bomb("columns of zeros", "table", NPZ, |path| packed(path, &["x"], &npy("|u1", true, "(16384, 16384)", 1 << 28))),
    bomb("a directory of many entries", "bytes", NPZ, |path| {
        let names = numbered(100_000);
        packed(path, &names.iter().map(String::as_str).collect::<Vec<_>>(), b"")
    }),
    bomb("many names for one place", "pair", NPZ, overlapping),
    bomb("extents whose product is no number", "bytes", NPY, |path| {
        fs::write(path, npy("|u1", false, "(9223372036854775807, 9223372036854775807)", 8))
    }),
    bomb("an endless header", "bytes", NPY, |path| {
        fs::write(path, [&b"\x93NUMPY\x03\x00\xff\xff\xff\xff"[..], &[b' '; 1 << 20]].concat())
    }),
    bomb("truth values where floats are wanted", "vector", NPY, |path| {
        fs::write(path, npy("|b1", false, "(104857600,)", 100 << 20))
    }),
    bomb("deep lists", "vector", JSON, |path| fs::write(path, "[".repeat(10 << 20))),
    bomb("a long list where a number is wanted", "scalar", JSON, |path| {
        fs::write(path, format!("{{\"x\": [{}0]}}", "0,".repeat(10 << 20)))
    }),
    bomb("many keys", "structs", JSON, |path| {
        let mut file = BufWriter::new(File::create(path)?);
        write!(file, "{{\"x\": [{{")?;
        (0..1 << 20).try_for_each(|k| write!(file, "\"{k:x}\":0,"))?;
        write!(file, "\"a\": 0}}]}}")
    }),
    bomb("a shape without data", "vector", JSON, |path| {
        fs::write(path, "{\"x\": {\"shape\": [1099511627776], \"data\": []}}")
    }),
    Bomb {
        name: "a file without an end",
        file: "x.json",
        function: "vector",
        source: "x.json",
        counted: 64 << 20,
        make: endless,
    },
    Bomb {
        name: "a sparse file",
        file: "x.npy",
        function: "bytes",
        source: "x=x.npy",
        counted: 0,
        make: |path| File::create(path)?.set_len(1 << 42),
    },
];

#[cfg(unix)]
fn endless(path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink("/dev/zero", path)
}

#[cfg(not(unix))]
fn endless(path: &Path) -> io::Result<()> {
    File::create(path)?.set_len(1 << 42)
}

fn numbered(n: usize) -> Vec<String> {
    (0..n).map(|k| format!("a{k:03}")).collect()
}

/// An array of zeros with a header of one's own.
fn npy(descr: &str, is_fortran: bool, shape: &str, n: usize) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let mut bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    bytes.resize(bytes.len() + n, 0);
    bytes
}

/// An archive of arrays of so many zeros.
fn archive(path: &Path, names: &[impl AsRef<str>], n: usize) -> io::Result<()> {
    packed(path, names, &npy("|u1", false, &format!("({n},)"), n))
}

/// An archive of equal entries, which are compressed once.
fn packed(path: &Path, names: &[impl AsRef<str>], content: &[u8]) -> io::Result<()> {
    let mut one = ZipWriter::new(Cursor::new(Vec::new()));
    one.start_file("one", SimpleFileOptions::default())?;
    one.write_all(content)?;
    let mut one = ZipArchive::new(one.finish()?)?;
    let mut all = ZipWriter::new(BufWriter::new(File::create(path)?));
    for name in names {
        all.raw_copy_file_rename(one.by_index_raw(0)?, format!("{}.npy", name.as_ref()))?;
    }
    all.finish()?.flush()
}

/// An archive whose directory has many names for the bytes of one entry.
fn overlapping(path: &Path) -> io::Result<()> {
    const NAMES: usize = 1000;
    let value = HostValue::Tensor(Value { elem: Elem::U8, dims: vec![1 << 24], bits: vec![0; 1 << 24] });
    let content = write_npy(&value).ok_or(io::ErrorKind::InvalidData)?;
    let mut one = ZipWriter::new(Cursor::new(Vec::new()));
    one.start_file("a000.npy", SimpleFileOptions::default())?;
    one.write_all(&content)?;
    let bytes = one.finish()?.into_inner();
    let start = bytes.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").ok_or(io::ErrorKind::InvalidData)?;
    let end = bytes.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").ok_or(io::ErrorKind::InvalidData)?;
    let (record, mut last) = (&bytes[start..end], bytes[end..].to_vec());
    let mut all = bytes[..start].to_vec();
    for k in 0..NAMES {
        let at = all.len();
        all.extend_from_slice(record);
        // The name stands behind the 46 bytes of a record, and is not that of the local header.
        all[at + 47..at + 50].copy_from_slice(format!("{k:03}").as_bytes());
    }
    let (n, size) = ((NAMES as u16).to_le_bytes(), ((all.len() - start) as u32).to_le_bytes());
    last[8..10].copy_from_slice(&n);
    last[10..12].copy_from_slice(&n);
    last[12..16].copy_from_slice(&size);
    all.extend(last);
    fs::write(path, all)
}
