//! The `.npz` archives of NumPy: one `.npy` file for each array.
//!
//! An archive is taken apart in two steps. [`Archive::open`] looks at the names alone; [`Archive::read`] unpacks the
//! arrays that are asked for. Before it unpacks the first element it has read the headers of all of them, and knows
//! what they will take together.

use super::npy::{check_size, read_elements, write_npy};
use super::npy_header::ArrayHeader;
use super::{Budget, FileError, error};
use crate::host::HostValue;
use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use zip::read::ZipFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Bytes that the arrays of an archive may take in memory, however small the archive is.
pub const SMALL: u64 = 32 << 20;

/// Beyond [`SMALL`] bytes in memory, the arrays that are read may be at most so many times as large as their compressed
/// forms. Real data compresses less; archives made to fill memory reach a thousand.
pub const MAX_RATIO: u64 = 200;

/// The most entries of an archive. Each takes memory before anything of it is read.
const MAX_ENTRIES: usize = 1 << 16;

/// How a record of the directory of an archive starts.
const DIRECTORY_RECORD: &[u8] = b"PK\x01\x02";

/// Bytes that may be shared.
#[derive(Clone, Debug)]
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// An archive whose directory was read. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct Archive {
    zip: ZipArchive<Cursor<Shared>>,
    /// The numbers of the entries by the names of the arrays.
    names: Arc<BTreeMap<String, usize>>,
}

impl Archive {
    /// Reads the names of the arrays.
    pub fn open(bytes: Vec<u8>) -> Result<Archive, FileError> {
        // The directory is held in memory, with more than what it takes in the file.
        let n_records = bytes.windows(DIRECTORY_RECORD.len()).filter(|bytes| *bytes == DIRECTORY_RECORD).count();
        if n_records > MAX_ENTRIES {
            return error(format!("expected at most {MAX_ENTRIES} arrays, found {n_records}"));
        }
        let zip = ZipArchive::new(Cursor::new(Shared(Arc::new(bytes)))).map_err(broken)?;
        if zip.has_duplicate_names() {
            return error("two of its arrays have one name");
        }
        let mut names = BTreeMap::new();
        for (k, file) in zip.file_names().enumerate() {
            let file = file.map_err(broken)?;
            let Some(name) = file.strip_suffix(".npy") else {
                return error(format!("expected arrays only, found `{file}`"));
            };
            // Different bytes may be one name, in different encodings.
            if names.insert(name.to_owned(), k).is_some() {
                return error(format!("two of its arrays have the name `{name}`"));
            }
        }
        Ok(Archive { zip, names: Arc::new(names) })
    }

    /// The names of all arrays, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The header of an array; none if there is no array of that name.
    pub fn header(&self, name: &str) -> Option<Result<ArrayHeader, FileError>> {
        let k = *self.names.get(name)?;
        Some(self.entry(&mut self.zip.clone(), k, name).map(|(_, entry)| entry.header))
    }

    /// Reads arrays by their names, in their order.
    pub fn read(&self, wanted: &[&str], budget: &mut Budget) -> Result<Vec<HostValue>, FileError> {
        let mut zip = self.zip.clone();
        let mut entries = Vec::new();
        let (mut packed, mut unpacked, mut in_memory) = (0u64, 0u64, 0u64);
        for name in wanted {
            let Some(k) = self.names.get(*name) else { return error(format!("there is no array `{name}`")) };
            let (_, entry) = self.entry(&mut zip, *k, name)?;
            packed = packed.saturating_add(entry.packed);
            unpacked = unpacked.saturating_add(entry.unpacked);
            let n = entry.header.count().unwrap_or(usize::MAX);
            in_memory = in_memory.saturating_add((n as u64).saturating_mul(size_of::<u64>() as u64));
            entries.push((*k, *name));
        }
        if in_memory > SMALL && unpacked > packed.saturating_mul(MAX_RATIO) {
            return error(format!(
                "its arrays have {unpacked} bytes, of {packed} compressed ones: expected at most {MAX_RATIO} times as many"
            ));
        }
        let read = |(k, name): (usize, &str)| {
            let (mut file, entry) = self.entry(&mut zip, k, name)?;
            let value = read_elements(&entry.header, &mut file, budget).map_err(|e| of_array(e, name))?;
            // At its end, the checksum is compared.
            match file.read(&mut [0]) {
                Ok(0) => Ok(value),
                Ok(_) => error(format!("array `{name}`: there are bytes behind its elements")),
                Err(e) => error(format!("array `{name}`: {e}")),
            }
        };
        entries.into_iter().map(read).collect()
    }

    /// An entry behind its header.
    fn entry<'z>(
        &self,
        zip: &'z mut ZipArchive<Cursor<Shared>>,
        k: usize,
        name: &str,
    ) -> Result<(ZipFile<'z, Cursor<Shared>>, Entry), FileError> {
        let mut file = zip.by_index(k).map_err(broken)?;
        let (packed, unpacked) = (file.compressed_size(), file.size());
        let header = ArrayHeader::read(&mut file).map_err(|e| of_array(e, name))?;
        check_size(&header, unpacked.saturating_sub(header.length as u64)).map_err(|e| of_array(e, name))?;
        Ok((file, Entry { header, packed, unpacked }))
    }
}

/// What is known of an entry before it is unpacked.
struct Entry {
    header: ArrayHeader,
    packed: u64,
    unpacked: u64,
}

fn broken(e: zip::result::ZipError) -> FileError {
    FileError(format!("no .npz file: {e}"))
}

fn of_array(e: FileError, name: &str) -> FileError {
    e.inside(&format!("array `{name}`"))
}

/// Reads all arrays of an archive with their names.
pub fn read_npz(bytes: Vec<u8>, budget: &mut Budget) -> Result<Vec<(String, HostValue)>, FileError> {
    let archive = Archive::open(bytes)?;
    let names: Vec<&str> = archive.names().collect();
    let values = archive.read(&names, budget)?;
    Ok(names.iter().map(|name| (*name).to_owned()).zip(values).collect())
}

/// Writes arrays as an archive, uncompressed; `None` if one of them is no array.
pub fn write_npz(arrays: &[(String, HostValue)]) -> Option<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, value) in arrays {
        let bytes = write_npy(value)?;
        archive.start_file(format!("{name}.npy"), options).ok()?;
        archive.write_all(&bytes).ok()?;
    }
    archive.finish().ok().map(Cursor::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Elem;
    use cotan_ops::Value;

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for (name, content) in entries {
            writer.start_file(*name, options).expect("a new file");
            writer.write_all(content).expect("memory");
        }
        writer.finish().expect("memory").into_inner()
    }

    /// An array of so many zeros of type u8.
    fn zeros(n: u64) -> Vec<u8> {
        let bits = vec![0; n as usize];
        write_npy(&HostValue::Tensor(Value { elem: Elem::U8, dims: vec![n as i64], bits })).expect("an array")
    }

    fn read(bytes: &[u8]) -> Result<Vec<(String, HostValue)>, FileError> {
        read_npz(bytes.to_vec(), &mut Budget::default())
    }

    fn message(bytes: &[u8]) -> String {
        read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn arrays_read_back_as_they_were_written() {
        let arrays = vec![("n".to_owned(), HostValue::i64(-3)), ("x".to_owned(), HostValue::f64s(&[2], &[1.0, 2.0]))];
        let bytes = write_npz(&arrays).expect("arrays");
        assert_eq!(read(&bytes), Ok(arrays));
    }

    #[test]
    fn compressed_arrays_are_read() {
        let x = HostValue::f64s(&[3], &[1.0, 2.0, 3.0]);
        let bytes = archive(&[("x.npy", &write_npy(&x).expect("an array"))]);
        assert_eq!(read(&bytes), Ok(vec![("x".to_owned(), x)]));
    }

    #[test]
    fn d5_archives_that_blow_up_are_refused_however_many_parts_they_have() {
        let part = zeros(SMALL / 8 / 4);
        let names: Vec<String> = (0..5).map(|k| format!("a{k}.npy")).collect();
        let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), part.as_slice())).collect();
        assert!(message(&archive(&entries)).contains("expected at most 200 times as many"));
        // Those that nobody asks for do not count.
        let opened = Archive::open(archive(&entries)).expect("an archive");
        assert_eq!(opened.read(&["a0", "a3"], &mut Budget::default()).map(|read| read.len()), Ok(2));
        assert!(message(&archive(&[("x.npy", &zeros(SMALL / 8 + 1))])).contains("expected at most 200 times as many"));
    }

    #[test]
    fn the_budget_is_that_of_all_arrays_together_in_eight_bytes_for_each_element() {
        let bytes = archive(&[("a.npy", &zeros(1000)), ("b.npy", &zeros(1000))]);
        assert!(read_npz(bytes.clone(), &mut Budget::new(16_000)).is_ok());
        let refused = read_npz(bytes, &mut Budget::new(15_999)).unwrap_err().to_string();
        assert!(refused.starts_with("array `b`: it takes more than the 15999 bytes"), "{refused}");
    }

    #[test]
    fn two_arrays_of_one_name_are_refused() {
        let bytes = archive(&[("a.npy", &zeros(1)), ("b.npy", &zeros(1))]);
        let twice: Vec<u8> = bytes.iter().map(|byte| if *byte == b'b' { b'a' } else { *byte }).collect();
        assert_eq!(message(&twice), "two of its arrays have one name");
    }

    #[test]
    fn other_files_are_refused() {
        assert!(message(b"no archive").starts_with("no .npz file: "));
        assert_eq!(message(&archive(&[("evil.pkl", b"cos\nsystem\n")])), "expected arrays only, found `evil.pkl`");
        assert_eq!(message(&archive(&[("x.npy", b"\x93NUMPY")])), "array `x`: the file ends inside its header");
        let short = [&zeros(3)[..], &[1]].concat();
        assert_eq!(message(&archive(&[("x.npy", &short)])), "array `x`: shape [3] of `|u1` needs 3 bytes, found 4");
    }
}
