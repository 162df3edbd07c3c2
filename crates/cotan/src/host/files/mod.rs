//! Formats of files that arguments come from: one file for each, which takes bytes and gives values. Who opens files is
//! a shell's business.
//!
//! Files come from anywhere, and a reader believes nothing that they say of themselves:
//! - Memory is taken from one [`Budget`] for all that a call reads, before it is filled, and a refusal of the machine is
//!   an error like any other.
//! - Only what is asked for by name is read. Of everything else, structure and names are looked at.
//! - A name stands for one value: one that occurs twice is an error.
//! - Nothing is executed or unpickled.

mod budget;
mod csv;
mod json;
mod named_arrays;
mod npy;
mod npy_header;
mod npz;
mod safetensors;

use std::fmt;

pub use budget::Budget;
pub use csv::{CsvTable, write_csv};
pub use json::{JsonText, MAX_KEYS};
pub use named_arrays::NamedArrays;
pub use npy::{NpyFile, read_npy, write_npy};
pub use npy_header::{ArrayHeader, MAX_HEADER};
pub use npz::{Archive, MAX_RATIO, SMALL, read_npz, write_npz};
pub use safetensors::{TensorFile, write_safetensors};

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError(String);

impl FileError {
    /// The same of a part of the file.
    fn inside(self, part: &str) -> FileError {
        FileError(format!("{part}: {}", self.0))
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FileError {}

fn error<T>(message: impl Into<String>) -> Result<T, FileError> {
    Err(FileError(message.into()))
}
