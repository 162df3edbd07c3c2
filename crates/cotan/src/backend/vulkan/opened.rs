//! The device, opened when it is wanted, and anew once it was lost.

use cotan_llvm::cache::{Cache, KeyBuilder};
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::{Outcome, probe};
use cotan_spirv::vulkan::{Choice, Device, DeviceError, OpenOptions, Vulkan};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A device that is open, and what its numbers are.
#[derive(Debug)]
pub struct OpenedDevice {
    /// The device.
    pub device: Device,
    /// Which instructions are the driver's own.
    pub numbers: Numbers,
}

/// Where what is known of a device is kept between processes.
#[derive(Debug, Default)]
pub(crate) struct Keep {
    /// The backend whose cache it is.
    pub(crate) llvm: Option<Arc<cotan_llvm::Backend>>,
    /// What tells this build of the compiler from any other one; without it nothing is kept.
    pub(crate) build: Option<String>,
}

/// Opens a device.
#[derive(Debug)]
pub(super) struct Opener {
    choice: Choice,
    options: OpenOptions,
    keep: Keep,
    opened: Mutex<Option<Arc<OpenedDevice>>>,
}

/// Why there is no device that can run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDevice {
    message: String,
}

impl NoDevice {
    pub(super) fn failed(error: &impl fmt::Display) -> NoDevice {
        NoDevice { message: error.to_string() }
    }

    pub(super) fn without_f64(device: &str) -> NoDevice {
        NoDevice { message: format!("the device `{device}` has no numbers of type f64, which the program has") }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        "install a driver (on Debian `libvulkan1 mesa-vulkan-drivers`; `cotan doctor` lists the devices), or use --backend cpu"
    }
}

impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NoDevice {}

impl Opener {
    pub(super) fn new(choice: Choice, options: OpenOptions, keep: Keep) -> Opener {
        Opener { choice, options, keep, opened: Mutex::default() }
    }

    /// The device. One that was lost is opened anew.
    pub(super) fn device(&self) -> Result<Arc<OpenedDevice>, NoDevice> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.as_ref().filter(|opened| opened.device.is_usable()) {
            return Ok(Arc::clone(opened));
        }
        let vulkan = Vulkan::load().map_err(|error| NoDevice::failed(&error))?;
        let device = vulkan.open(&self.choice, &self.options).map_err(|error: DeviceError| NoDevice::failed(&error))?;
        let numbers = self.keep.numbers(&device)?;
        Ok(Arc::clone(opened.insert(Arc::new(OpenedDevice { device, numbers }))))
    }
}

impl Keep {
    /// The numbers of a device: those that are kept for it and its driver, or those that a probe finds.
    fn numbers(&self, device: &Device) -> Result<Numbers, NoDevice> {
        let info = device.info();
        let key = |build: &String| {
            let fields = ["numbers of a device", build, &info.name, &info.driver, &info.version];
            fields.into_iter().fold(KeyBuilder::new(), KeyBuilder::field).finish()
        };
        let cache: Option<&Cache> = self.llvm.as_ref().and_then(|llvm| llvm.engine().cache());
        let kept = cache.zip(self.build.as_ref().map(key));
        if let Some(numbers) = kept.as_ref().and_then(|(cache, key)| Numbers::of_bytes(&cache.load(key)?)) {
            return Ok(numbers);
        }
        let Outcome { numbers, .. } = probe(device).map_err(|error| NoDevice::failed(&error))?;
        if let Some((cache, key)) = kept {
            cache.store(&key, &numbers.to_bytes());
        }
        Ok(numbers)
    }
}
