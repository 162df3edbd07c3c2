//! The device, opened when it is wanted, and anew once it was lost.

use crate::codes;
use cotan_llvm::cache::{Cache, Key, KeyBuilder};
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::{Outcome, probe};
use cotan_spirv::runner::{KernelStore, LoadOptions, LoadPlanError, LoadedPlan, RefusedKernel};
use cotan_spirv::vulkan::{Choice, Device, DeviceError, OpenOptions, Vulkan};
use cotan_syntax::Code;
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
    fast_math: bool,
    keep: Keep,
    opened: Mutex<Option<Arc<OpenedDevice>>>,
}

/// Why there is no device that can run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDevice {
    message: String,
    /// Whether there is one, whose driver refuses the program's kernels.
    is_refusal: bool,
}

impl NoDevice {
    pub(super) fn failed(error: &impl fmt::Display) -> NoDevice {
        NoDevice { message: error.to_string(), is_refusal: false }
    }

    pub(super) fn refuses(kernel: &RefusedKernel) -> NoDevice {
        NoDevice { message: kernel.to_string(), is_refusal: true }
    }

    pub(super) fn without_f64(device: &str) -> NoDevice {
        let message = format!("the device `{device}` has no numbers of type f64, which the program has");
        NoDevice { message, is_refusal: false }
    }

    /// The code of the diagnostic.
    pub fn code(&self) -> Code {
        if self.is_refusal { codes::DEVICE_FAILED } else { codes::UNSUPPORTED_DEVICE }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        if self.is_refusal {
            return "`cotan explain --backend vulkan` shows the kernels; try again once the device is less busy, take another one \
                    by --device, or use --backend cpu";
        }
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
    pub(super) fn new(choice: Choice, options: OpenOptions, fast_math: bool, keep: Keep) -> Opener {
        Opener { choice, options, fast_math, keep, opened: Mutex::default() }
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
        let numbers = if self.fast_math { numbers.fast() } else { numbers };
        Ok(Arc::clone(opened.insert(Arc::new(OpenedDevice { device, numbers }))))
    }
}

impl Opener {
    /// A plan on a device, with kernels that are kept between processes.
    pub(super) fn load(&self, opened: &OpenedDevice, plan: cotan_device::Plan) -> Result<LoadedPlan, LoadPlanError> {
        let options = LoadOptions { store: Some(&self.keep), ..LoadOptions::default() };
        LoadedPlan::load(&opened.device, &opened.numbers, plan, options)
    }
}

impl KernelStore for Keep {
    fn load(&self, name: &[&str]) -> Option<Vec<u8>> {
        let (cache, key) = self.place(name)?;
        cache.load(&key)
    }

    fn store(&self, name: &[&str], bytes: &[u8]) {
        if let Some((cache, key)) = self.place(name) {
            cache.store(&key, bytes);
        }
    }
}

impl Keep {
    /// The cache, if there is one, and the key of a name in it for this build of the compiler.
    fn place(&self, name: &[&str]) -> Option<(&Cache, Key)> {
        let cache = self.llvm.as_ref()?.engine().cache()?;
        let build = self.build.as_deref()?;
        let key = name.iter().fold(KeyBuilder::new().field(build), |key, part| key.field(part));
        Some((cache, key.finish()))
    }

    /// The numbers of a device: those that are kept for it and its driver, or those that a probe finds.
    fn numbers(&self, device: &Device) -> Result<Numbers, NoDevice> {
        let info = device.info();
        let features = format!("{:?}", info.features);
        let name = ["numbers of a device", &info.name, &info.driver, &info.version, &features];
        if let Some(numbers) = KernelStore::load(self, &name).and_then(|bytes| Numbers::of_bytes(&bytes)) {
            return Ok(numbers);
        }
        let Outcome { numbers, .. } = probe(device).map_err(|error| NoDevice::failed(&error))?;
        self.store(&name, &numbers.to_bytes());
        Ok(numbers)
    }
}
