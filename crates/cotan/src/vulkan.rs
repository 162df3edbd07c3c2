//! The Vulkan backend as a host sees it: which device is taken, how it is used, and what was found on this machine.

pub use crate::backend::vulkan::{DeviceOptions, NoDevice, OpenedDevice, Placement, Ran};
pub use cotan_spirv::probe::{Finding, Outcome};
pub use cotan_spirv::runner::CallStatistics;
pub use cotan_spirv::vulkan::{Choice, DeviceInfo, Kind, OpenOptions};

use cotan_spirv::probe::probe;
use cotan_spirv::vulkan::Vulkan;

/// What was found on this machine.
#[derive(Clone, Debug)]
pub struct Report {
    /// The devices that the loader knows, those that can't run kernels among them; or why there are none.
    pub devices: Result<Vec<DeviceInfo>, String>,
    /// The device that is chosen, and what its driver gets wrong; or why none can be used.
    pub chosen: Result<(DeviceInfo, Outcome), String>,
}

/// Asks the loader for its devices, and the one that is chosen for its numbers.
pub fn doctor(choice: &Choice) -> Report {
    let vulkan = match Vulkan::load() {
        Ok(vulkan) => vulkan,
        Err(error) => return Report { devices: Err(error.to_string()), chosen: Err(error.to_string()) },
    };
    let chosen = vulkan.open(choice, &OpenOptions::default()).map_err(|error| error.to_string());
    let chosen = chosen.and_then(|device| {
        let outcome = probe(&device).map_err(|error| error.to_string())?;
        Ok((device.info().clone(), outcome))
    });
    Report { devices: vulkan.devices().map_err(|error| error.to_string()), chosen }
}
