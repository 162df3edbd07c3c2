//! Arrays that stay on a device (resident arrays), counted by who has them.

use super::elements::{narrowed, widened};
use crate::vulkan::{Block, Device, DeviceError};
use cotan_ir::Elem;
use cotan_ops::{ElementCount, Value};
use std::sync::Arc;

/// An array in memory of a device. Clones are the same array; nothing ever writes to one. Its memory is given back with the last
/// of them, by any thread, at once: a call that uses an array has it as long.
#[derive(Clone, Debug)]
pub struct Array {
    pub(super) device: Device,
    pub(super) block: Arc<Block>,
    pub(super) elem: Elem,
    pub(super) dims: Vec<i64>,
}

impl Array {
    /// An array with the elements of a value, which are as many as its extents say.
    pub fn upload(device: &Device, value: &Value) -> Result<Array, DeviceError> {
        let count = value.bits.len();
        if ElementCount::of(&value.dims).is_none_or(|n| n.get() != count) {
            return Err(DeviceError::WrongArrays { wanted: (1, count) });
        }
        let bytes = narrowed(value.elem, &value.bits);
        let (mut block, _) = device.block(bytes.len() as u64)?;
        device.write_block(&mut block, 0, &bytes)?;
        Ok(Array { device: device.clone(), block: Arc::new(block), elem: value.elem, dims: value.dims.clone() })
    }

    /// Its elements, on the host.
    pub fn read(&self) -> Result<Value, DeviceError> {
        let mut bytes = vec![0; self.bytes()];
        self.device.read_block(&self.block, &mut bytes)?;
        Ok(Value { elem: self.elem, dims: self.dims.clone(), bits: widened(self.elem, &bytes) })
    }

    /// Type of the elements.
    pub fn elem(&self) -> Elem {
        self.elem
    }

    /// Extents, outermost first.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Bytes of its elements.
    pub fn bytes(&self) -> usize {
        ElementCount::of(&self.dims).map_or(0, ElementCount::get) * self.elem.bytes()
    }

    /// Where it lies.
    pub fn device(&self) -> &Device {
        &self.device
    }
}
