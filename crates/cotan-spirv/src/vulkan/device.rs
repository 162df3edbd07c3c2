//! An open device.

use super::choice::Choice;
use super::core::Core;
use super::error::DeviceError;
use super::info::{DeviceInfo, Kind};
use super::loader::Vulkan;
use super::pool::Pool;
use super::steps::Meter;
use crate::features::{Features, FloatControls};
use std::sync::Arc;
use std::time::Duration;

/// How a device is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// How long work on the device may take before it counts as hung.
    pub limit: Duration,
    /// Whether memory is filled and read by copies of the device although the host could reach it. Cards do that always.
    pub is_staged: bool,
    /// Whether it is used as if it did not compute with `f64`, as many devices do not.
    pub is_without_f64: bool,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions { limit: Duration::from_secs(60), is_staged: false, is_without_f64: false }
    }
}

/// A device, ready for work.
#[derive(Clone, Debug)]
pub struct Device {
    pub(super) core: Arc<Core>,
    /// The memory of arrays that outlive calls.
    pub(super) pool: Arc<Pool>,
    info: Arc<DeviceInfo>,
    /// Whether the host reaches memory by copies of the device alone.
    pub(super) is_staged: bool,
}

impl Vulkan {
    /// Opens the device that is chosen.
    pub fn open(&self, choice: &Choice, options: &OpenOptions) -> Result<Device, DeviceError> {
        let devices = self.devices()?;
        let mut info = choice.among(&devices)?.clone();
        if options.is_without_f64 {
            info.features = Features { float64: false, controls64: FloatControls::default(), ..info.features };
        }
        let lacks = |feature| DeviceError::Lacks { device: info.name.clone(), feature };
        if !info.features.addresses {
            return Err(lacks("bufferDeviceAddress"));
        }
        if !info.features.int64 {
            return Err(lacks("shaderInt64"));
        }
        let physical = self.physical_devices()?.get(info.number).copied().ok_or(DeviceError::NoDevice)?;
        let core = Core::open(self, physical, info.features, options.limit)?;
        let has_host_memory = match info.kind {
            Kind::Integrated | Kind::Software => true,
            Kind::Discrete | Kind::Virtual | Kind::Other => false,
        };
        let is_staged = options.is_staged || !has_host_memory;
        Ok(Device { core: Arc::new(core), pool: Arc::default(), is_staged, info: Arc::new(info) })
    }
}

impl Device {
    /// What is known of it.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Whether the host reaches its memory by copies of the device alone.
    pub(crate) fn is_staged(&self) -> bool {
        self.is_staged
    }

    /// Whether it can still be used: not once it was lost, or did not end its work in time.
    pub fn is_usable(&self) -> bool {
        self.core.is_usable()
    }

    /// Whether this is the same open device. What is made of one can't be used with another one.
    pub fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// What it was asked for so far, and what of its memory is alive.
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.core.meter)
    }
}
