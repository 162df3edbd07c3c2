//! Files of arrays with names, of either format.

use super::{Archive, ArrayHeader, Budget, FileError, TensorFile};
use crate::host::HostValue;

/// A file of arrays with names. Clones share its bytes.
#[derive(Clone, Debug)]
pub enum NamedArrays {
    /// An archive of NumPy.
    Npz(Archive),
    /// A `.safetensors` file.
    Safetensors(TensorFile),
}

impl NamedArrays {
    /// The names of all arrays, in order.
    pub fn names(&self) -> Vec<&str> {
        match self {
            NamedArrays::Npz(archive) => archive.names().collect(),
            NamedArrays::Safetensors(file) => file.names().collect(),
        }
    }

    /// The header of an array; none if there is no array of that name.
    pub fn header(&self, name: &str) -> Option<Result<ArrayHeader, FileError>> {
        match self {
            NamedArrays::Npz(archive) => archive.header(name),
            NamedArrays::Safetensors(file) => file.header(name),
        }
    }

    /// Reads arrays by their names, in their order.
    pub fn read(&self, wanted: &[&str], budget: &mut Budget) -> Result<Vec<HostValue>, FileError> {
        match self {
            NamedArrays::Npz(archive) => archive.read(wanted, budget),
            NamedArrays::Safetensors(file) => file.read(wanted, budget),
        }
    }
}
