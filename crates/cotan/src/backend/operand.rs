//! Flat operands and results of which arrays may lie on a device.

use crate::{CallError, DeviceFailure};
use cotan_ir::Elem;
use cotan_ops::Value;
use cotan_spirv::runner::{Argument, Array, Outcome};

/// A flat operand or result.
#[derive(Clone, Debug)]
pub enum FlatOperand {
    /// A value of the host.
    Value(Value),
    /// An array on a device.
    Array(Array),
}

impl From<Outcome> for FlatOperand {
    fn from(outcome: Outcome) -> FlatOperand {
        match outcome {
            Outcome::Value(value) => FlatOperand::Value(value),
            Outcome::Array(array) => FlatOperand::Array(array),
        }
    }
}

impl FlatOperand {
    /// Type of the elements.
    pub fn elem(&self) -> Elem {
        match self {
            FlatOperand::Value(value) => value.elem,
            FlatOperand::Array(array) => array.elem(),
        }
    }

    /// Extents, outermost first.
    pub fn dims(&self) -> &[i64] {
        match self {
            FlatOperand::Value(value) => &value.dims,
            FlatOperand::Array(array) => array.dims(),
        }
    }

    /// The array, if it is one on a device.
    pub fn array(&self) -> Option<&Array> {
        match self {
            FlatOperand::Value(_) => None,
            FlatOperand::Array(array) => Some(array),
        }
    }

    /// It as a value of the host; an array is read.
    pub fn to_value(&self) -> Result<Value, CallError> {
        match self {
            FlatOperand::Value(value) => Ok(value.clone()),
            FlatOperand::Array(array) => Ok(array.read().map_err(DeviceFailure::of_array)?),
        }
    }

    pub(crate) fn argument(&self) -> Argument<'_> {
        match self {
            FlatOperand::Value(value) => Argument::Value(value),
            FlatOperand::Array(array) => Argument::Array(array),
        }
    }
}
