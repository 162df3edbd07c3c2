//! The `.npz` archives of NumPy: one `.npy` file for each array.

use super::HostValue;
use super::npy::{NpyError, error, read_npy, write_npy};
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Bytes of all arrays of an archive together.
const MAX_TOTAL: u64 = 8 << 30;

/// An array beyond this size may be at most [`MAX_RATIO`] times as large as its compressed form.
const LARGE: u64 = 64 << 20;

/// Real data compresses less than this; archives made to fill memory reach a thousand.
const MAX_RATIO: u64 = 200;

/// Reads the arrays of an archive with their names.
pub fn read_npz(bytes: &[u8]) -> Result<Vec<(String, HostValue)>, NpyError> {
    let broken = |e: zip::result::ZipError| NpyError(format!("no .npz file: {e}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let mut arrays = Vec::new();
    let mut left = MAX_TOTAL;
    for k in 0..archive.len() {
        let entry = archive.by_index(k).map_err(broken)?;
        let file = entry.name().map_err(broken)?.into_owned();
        let Some(name) = file.strip_suffix(".npy").map(str::to_owned) else {
            return error(format!("expected arrays only, found `{file}`"));
        };
        let limit = LARGE.max(entry.compressed_size().saturating_mul(MAX_RATIO)).min(left);
        let mut data = Vec::new();
        // The size that the archive declares is not believed.
        let read = entry.take(limit + 1).read_to_end(&mut data);
        read.map_err(|e| NpyError(format!("array `{name}`: {e}")))?;
        if data.len() as u64 > limit {
            return error(format!("array `{name}` is larger than {limit} bytes, which is all that is read of it"));
        }
        left -= data.len() as u64;
        let value = read_npy(&data).map_err(|e| NpyError(format!("array `{name}`: {e}")))?;
        arrays.push((name, value));
    }
    Ok(arrays)
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

    fn archive(name: &str, content: &[u8]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        writer.start_file(name, options).expect("a new file");
        writer.write_all(content).expect("memory");
        writer.finish().expect("memory").into_inner()
    }

    #[test]
    fn arrays_read_back_as_they_were_written() {
        let arrays = vec![("x".to_owned(), HostValue::f64s(&[2], &[1.0, 2.0])), ("n".to_owned(), HostValue::i64(-3))];
        let bytes = write_npz(&arrays).expect("arrays");
        assert_eq!(read_npz(&bytes), Ok(arrays));
    }

    #[test]
    fn compressed_arrays_are_read() {
        let x = HostValue::f64s(&[3], &[1.0, 2.0, 3.0]);
        let bytes = archive("x.npy", &write_npy(&x).expect("an array"));
        assert_eq!(read_npz(&bytes), Ok(vec![("x".to_owned(), x)]));
    }

    #[test]
    fn archives_that_blow_up_are_refused() {
        let bytes = archive("x.npy", &vec![0; (LARGE + 2) as usize]);
        let message = read_npz(&bytes).unwrap_err().to_string();
        assert_eq!(message, "array `x` is larger than 67108864 bytes, which is all that is read of it");
    }

    #[test]
    fn other_files_are_refused() {
        assert!(read_npz(b"no archive").unwrap_err().to_string().starts_with("no .npz file: "));
        let bytes = archive("evil.pkl", b"cos\nsystem\n");
        assert_eq!(read_npz(&bytes), Err(NpyError("expected arrays only, found `evil.pkl`".to_owned())));
        let bytes = archive("x.npy", b"\x93NUMPY");
        assert_eq!(read_npz(&bytes), Err(NpyError("array `x`: the file ends inside its header".to_owned())));
    }
}
