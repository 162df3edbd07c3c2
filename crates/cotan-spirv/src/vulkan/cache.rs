//! What a driver keeps of the kernels that it has compiled, as bytes (pipeline cache).
//!
//! Drivers trust what they are given, so bytes of another driver or device are not handed over. Whether bytes are whole is to be
//! checked before: nothing in them says so.

use super::core::Core;
use super::device::Device;
use super::error::{DeviceError, Step};
use ash::vk;
use std::fmt;
use std::sync::Arc;

/// What a driver knows of kernels.
pub(crate) struct PipelineCache {
    core: Arc<Core>,
    handle: vk::PipelineCache,
}

impl fmt::Debug for PipelineCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PipelineCache")
    }
}

/// The length of the header that Vulkan prescribes, and its version.
const HEADER: [u32; 2] = [32, 1];

impl Device {
    /// What a driver knows: nothing yet, or what it has said of kernels earlier. What another driver or device has said is left
    /// out.
    pub(crate) fn pipeline_cache(&self, known: &[u8]) -> Result<PipelineCache, DeviceError> {
        self.core.expect_usable()?;
        let known = if is_of(self.info().identity, known) { known } else { &[] };
        let description = vk::PipelineCacheCreateInfo::default().initial_data(known);
        // SAFETY: the device is alive; the data is what this driver has said of this device, as its header and the hash say with
        // which it was kept.
        let handle = unsafe { self.core.device.create_pipeline_cache(&description, None) };
        let handle = handle.map_err(DeviceError::at(Step::Pipeline))?;
        Ok(PipelineCache { core: Arc::clone(&self.core), handle })
    }
}

impl PipelineCache {
    pub(super) fn handle(&self) -> vk::PipelineCache {
        self.handle
    }

    /// What the driver says of the kernels that were compiled with it.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, DeviceError> {
        // SAFETY: the handle is of this device.
        unsafe { self.core.device.get_pipeline_cache_data(self.handle) }.map_err(DeviceError::at(Step::Pipeline))
    }
}

/// Whether data begins as that of a device and driver does: vendor, device and the driver's own number.
fn is_of(identity: [u8; 24], data: &[u8]) -> bool {
    let header: Vec<u8> = HEADER.iter().flat_map(|word| word.to_le_bytes()).chain(identity).collect();
    data.starts_with(&header)
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        if self.core.is_abandoned() {
            return;
        }
        // SAFETY: the handle is of this device, and pipelines do not need it any more.
        unsafe { self.core.device.destroy_pipeline_cache(self.handle, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_another_driver_or_device_is_told() {
        let identity: [u8; 24] = std::array::from_fn(|k| k as u8);
        let mut data: Vec<u8> = [32, 0, 0, 0, 1, 0, 0, 0].into_iter().chain(identity).chain([9; 5]).collect();
        assert!(is_of(identity, &data) && !is_of(identity, &data[..31]) && !is_of(identity, &[]));
        for at in 0..32 {
            data[at] ^= 1;
            assert!(!is_of(identity, &data), "{at}");
            data[at] ^= 1;
        }
    }
}
