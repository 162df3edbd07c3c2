//! The loader, which knows the drivers of a machine.

use super::error::{DeviceError, LoadError, Step};
use super::info::{self, DeviceInfo};
use ash::{Entry, Instance, vk};
use std::fmt;
use std::sync::Arc;

/// Vulkan, opened.
#[derive(Clone, Debug)]
pub struct Vulkan {
    pub(super) handle: Arc<Handle>,
}

/// The loader and its instance, which is given back at the end.
pub(super) struct Handle {
    pub(super) instance: Instance,
    /// The library, which must stay open as long as the instance is.
    _entry: Entry,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle")
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: devices hold the handle, so none of the instance is left; nobody else has it.
        unsafe { self.instance.destroy_instance(None) };
    }
}

/// The version that is asked for, of loader and devices.
pub(super) const VERSION: u32 = vk::API_VERSION_1_2;

impl Vulkan {
    /// Opens the loader under its usual name. Nothing of a device is asked yet.
    pub fn load() -> Result<Vulkan, LoadError> {
        // SAFETY: the library is the system's Vulkan loader, whose initialisers may run.
        let entry = unsafe { Entry::load() }.map_err(|e| LoadError::NoLoader { reason: e.to_string() })?;
        // SAFETY: the entry is of an open loader.
        let version = unsafe { entry.try_enumerate_instance_version() };
        let version = version.ok().flatten().unwrap_or(vk::API_VERSION_1_0);
        if version < VERSION {
            return Err(LoadError::OldLoader { version: info::version_text(version) });
        }
        let application = vk::ApplicationInfo::default().api_version(VERSION);
        let description = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the description lives as long as the call, and names neither layers nor extensions.
        let instance = unsafe { entry.create_instance(&description, None) };
        let instance = instance.map_err(|e| LoadError::NoInstance { reason: e.to_string() })?;
        Ok(Vulkan { handle: Arc::new(Handle { instance, _entry: entry }) })
    }

    /// The devices, in the order of the loader. Those that can't run kernels are among them.
    pub fn devices(&self) -> Result<Vec<DeviceInfo>, DeviceError> {
        let devices = self.physical_devices()?;
        let describe = |(number, device)| info::describe(&self.handle.instance, device, number);
        Ok(devices.into_iter().enumerate().map(describe).collect())
    }

    pub(super) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>, DeviceError> {
        // SAFETY: the instance is alive as long as its handle.
        unsafe { self.handle.instance.enumerate_physical_devices() }.map_err(DeviceError::at(Step::List))
    }
}
