//! The `.safetensors` files of machine learning: names, types, shapes and places in a JSON header, and behind it the elements.

use super::npy::{check_size, read_elements};
use super::npy_header::{ArrayHeader, Dtype};
use super::{Budget, FileError, error};
use crate::host::HostValue;
use cotan_ir::Elem;
use cotan_ops::Value;
use safetensors::tensor::TensorView;
use safetensors::{Dtype as Stored, SafeTensors};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The most tensors of a file. Each takes memory before anything of it is read.
const MAX_TENSORS: usize = 1 << 16;

/// A file whose header was read. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct TensorFile {
    bytes: Arc<Vec<u8>>,
    tensors: Arc<BTreeMap<String, Tensor>>,
}

/// A tensor of a file: what its header says, and where its elements stand.
#[derive(Clone, Debug)]
struct Tensor {
    header: Result<ArrayHeader, FileError>,
    place: Range<usize>,
}

impl TensorFile {
    /// Reads the header, and sees that the tensors fill what stands behind it.
    pub fn open(bytes: Vec<u8>) -> Result<TensorFile, FileError> {
        let broken = |e| FileError(format!("no .safetensors file: {e}"));
        let (length, metadata) = SafeTensors::read_metadata(&bytes).map_err(broken)?;
        let start = length + size_of::<u64>();
        let all = metadata.tensors();
        if all.len() > MAX_TENSORS {
            return error(format!("expected at most {MAX_TENSORS} tensors, found {}", all.len()));
        }
        let tensors = all.into_iter().map(|(name, info)| {
            let header = elem(info.dtype).map(|elem| {
                let dims = info.shape.iter().map(|d| i64::try_from(*d).unwrap_or(i64::MAX)).collect();
                ArrayHeader { dtype: Dtype::of_elem(elem), is_fortran: false, dims, length: 0 }
            });
            let (from, to) = info.data_offsets;
            (name, Tensor { header, place: start.saturating_add(from)..start.saturating_add(to) })
        });
        let tensors = Arc::new(tensors.collect());
        Ok(TensorFile { bytes: Arc::new(bytes), tensors })
    }

    /// The names of all tensors, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The header of a tensor; none if there is no tensor of that name.
    pub fn header(&self, name: &str) -> Option<Result<ArrayHeader, FileError>> {
        Some(self.tensors.get(name)?.header.clone().map_err(|e| e.inside(&format!("tensor `{name}`"))))
    }

    /// Reads tensors by their names, in their order.
    pub fn read(&self, wanted: &[&str], budget: &mut Budget) -> Result<Vec<HostValue>, FileError> {
        wanted.iter().map(|name| self.tensor(name, budget).map_err(|e| e.inside(&format!("tensor `{name}`")))).collect()
    }

    fn tensor(&self, name: &str, budget: &mut Budget) -> Result<HostValue, FileError> {
        let Some(Tensor { header, place }) = self.tensors.get(name) else { return error("there is none") };
        let header = header.as_ref().map_err(FileError::clone)?;
        let Some(mut elements) = self.bytes.get(place.clone()) else { return error("it ends behind the file") };
        check_size(header, elements.len() as u64)?;
        read_elements(header, &mut elements, budget)
    }
}

/// The element type of a stored type.
fn elem(stored: Stored) -> Result<Elem, FileError> {
    let all = Elem::ALL.into_iter().find(|elem| stored_as(*elem) == stored);
    all.ok_or_else(|| {
        let known = "BOOL, I8 to I64, U8 to U64, F16, BF16, F32 or F64";
        FileError(format!("element type `{stored}`: expected {known}"))
    })
}

/// What an element type is stored as.
fn stored_as(elem: Elem) -> Stored {
    match elem {
        Elem::Bool => Stored::BOOL,
        Elem::I8 => Stored::I8,
        Elem::U8 => Stored::U8,
        Elem::I16 => Stored::I16,
        Elem::U16 => Stored::U16,
        Elem::F16 => Stored::F16,
        Elem::BF16 => Stored::BF16,
        Elem::I32 => Stored::I32,
        Elem::U32 => Stored::U32,
        Elem::F32 => Stored::F32,
        Elem::I64 => Stored::I64,
        Elem::U64 => Stored::U64,
        Elem::F64 => Stored::F64,
    }
}

/// Writes arrays as a `.safetensors` file; `None` if one of them is no array.
pub fn write_safetensors(arrays: &[(String, HostValue)]) -> Option<Vec<u8>> {
    let mut parts = Vec::with_capacity(arrays.len());
    for (name, value) in arrays {
        let value = match value {
            HostValue::Scalar(c) => &Value::from(*c),
            HostValue::Tensor(v) => v,
            HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. } => {
                return None;
            }
        };
        let dims: Option<Vec<usize>> = value.dims.iter().map(|d| usize::try_from(*d).ok()).collect();
        let width = value.elem.bytes();
        let elements: Vec<u8> = value.bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(width)).collect();
        parts.push((name, stored_as(value.elem), dims?, elements));
    }
    let views = parts
        .iter()
        .map(|(name, stored, dims, elements)| Some((*name, TensorView::new(*stored, dims.clone(), elements).ok()?)));
    safetensors::serialize(views.collect::<Option<Vec<_>>>()?, None).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        match TensorFile::open(bytes.to_vec()) {
            Err(e) => e.to_string(),
            Ok(file) => {
                let names: Vec<&str> = file.names().collect();
                file.read(&names, &mut Budget::default()).unwrap_err().to_string()
            }
        }
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn tensors_of_every_type_read_back_as_they_were_written() {
        let of = |elem: Elem| {
            let minus = if elem.is_signed() { u64::MAX } else { 1 };
            HostValue::Tensor(Value { elem, dims: vec![3, 1], bits: vec![0, 1, minus] })
        };
        let mut arrays: Vec<_> = Elem::ALL.into_iter().map(|elem| (format!("of.{elem}"), of(elem))).collect();
        arrays.push(("scalar".to_owned(), HostValue::f64(2.5)));
        arrays.sort_by(|a, b| a.0.cmp(&b.0));
        let written = write_safetensors(&arrays).expect("arrays");
        let file = TensorFile::open(written).expect("a file");
        let names: Vec<&str> = file.names().collect();
        let read = file.read(&names, &mut Budget::default()).expect("tensors");
        assert_eq!(names.iter().map(|name| (*name).to_owned()).zip(read).collect::<Vec<_>>(), arrays);
    }

    #[test]
    fn hostile_files_are_refused() {
        assert!(message(b"").starts_with("no .safetensors file: "));
        assert!(message(&[255; 16]).starts_with("no .safetensors file: "));
        let short = file(r#"{"x":{"dtype":"F64","shape":[3],"data_offsets":[0,24]}}"#, &[0; 16]);
        assert!(message(&short).starts_with("no .safetensors file: "));
        let huge = file(r#"{"x":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,24]}}"#, &[0; 24]);
        assert!(message(&huge).starts_with("no .safetensors file: "));
        let other = file(r#"{"x":{"dtype":"F8_E5M2","shape":[2],"data_offsets":[0,2]}}"#, &[0; 2]);
        assert!(
            message(&other).starts_with("tensor `x`: element type `F8_E5M2`: expected BOOL"),
            "{}",
            message(&other)
        );
        let fine = file(r#"{"x":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}"#, &[0; 16]);
        let file = TensorFile::open(fine).expect("a file");
        assert!(file.read(&["x"], &mut Budget::new(15)).is_err());
    }
}
