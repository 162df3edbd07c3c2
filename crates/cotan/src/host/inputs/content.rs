//! What a file holds: parts with names, which become values when their types are known.

use super::path::ValuePath;
use crate::host::files::{Archive, CsvTable, FileError, JsonText, NamedArrays, NpyFile, TensorFile};
use crate::host::{Elem, HostType};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// What a file of results calls the result of a call.
const RESULT: &str = "result";

/// A format, which the name of a file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Npz,
    Safetensors,
    Npy,
    Csv,
}

impl Format {
    pub(super) fn of_file(name: &str) -> Option<Format> {
        match Path::new(name).extension()?.to_str()? {
            "json" => Some(Format::Json),
            "npz" => Some(Format::Npz),
            "safetensors" => Some(Format::Safetensors),
            "npy" => Some(Format::Npy),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }
}

/// A file that was opened. Clones share its bytes.
#[derive(Clone)]
pub(super) enum Content {
    Json(JsonText),
    Arrays(NamedArrays),
    Npy(Arc<NpyFile>),
    Csv(CsvTable),
}

impl Content {
    pub(super) fn open(format: Format, bytes: Vec<u8>) -> Result<Content, FileError> {
        match format {
            Format::Json => JsonText::new(bytes).map(Content::Json),
            Format::Npz => Archive::open(bytes).map(|archive| Content::Arrays(NamedArrays::Npz(archive))),
            Format::Safetensors => TensorFile::open(bytes).map(|file| Content::Arrays(NamedArrays::Safetensors(file))),
            Format::Npy => NpyFile::open(bytes).map(|file| Content::Npy(Arc::new(file))),
            Format::Csv => CsvTable::open(bytes).map(Content::Csv),
        }
    }

    /// The names of its outermost parts; none if it has no parts with names.
    pub(super) fn entries(&self) -> Result<Option<Vec<String>>, FileError> {
        match self {
            Content::Json(text) => Ok(text.entries()?.map(|all| all.into_iter().map(|(key, _)| key).collect())),
            Content::Arrays(arrays) => {
                let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
                let names: BTreeSet<String> = arrays.names().into_iter().map(first).collect();
                Ok(Some(names.into_iter().collect()))
            }
            Content::Npy(_) => Ok(None),
            Content::Csv(table) => Ok(Some(table.names().to_vec()).filter(|names| !names.is_empty())),
        }
    }

    /// Where the value of a parameter is, if the user does not say: the part of its name, else the only one, else
    /// `result`; else the whole, if that has all the fields of its struct. None if nothing of this decides. A table is
    /// whole, but for a vector or a number, which is a column of it.
    pub(super) fn place(&self, wanted: &str, ty: Option<&HostType>) -> Result<Option<ValuePath>, FileError> {
        let whole = Some(ValuePath::default());
        if let (Content::Csv(table), Some(ty)) = (self, ty) {
            let is_column = match ty {
                HostType::Scalar(_) => true,
                HostType::Tensor { elem, dims } => dims.len() == 1 && matches!(**elem, HostType::Scalar(_)),
                HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => false,
            };
            if !is_column {
                return Ok(whole);
            }
            if table.n_columns() <= 1 {
                return Ok(Some(ValuePath::of("0")));
            }
        }
        let Some(names) = self.entries()? else {
            return Ok(if let Content::Csv(_) = self { None } else { whole });
        };
        let is_known = |name: &str| names.iter().any(|known| known == name);
        if is_known(wanted) {
            return Ok(Some(ValuePath::of(wanted)));
        }
        if let [only] = names.as_slice() {
            return Ok(Some(ValuePath::of(only)));
        }
        if is_known(RESULT) {
            return Ok(Some(ValuePath::of(RESULT)));
        }
        let Some(HostType::Struct { fields, .. }) = ty else { return Ok(None) };
        Ok(whole.filter(|_| fields.iter().all(|(field, _)| is_known(field))))
    }

    /// The element type of the array at a path, if it is one that has a type of its own.
    pub(super) fn elem(&self, path: &ValuePath) -> Option<Elem> {
        match self {
            Content::Arrays(arrays) => Some(arrays.header(&path.joined())?.ok()?.elem()),
            Content::Npy(file) => Some(file.header().elem()),
            Content::Json(_) | Content::Csv(_) => None,
        }
    }
}
