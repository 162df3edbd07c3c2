//! What can go wrong with Vulkan, as values.

use std::fmt;
use std::time::Duration;

/// Why there is no Vulkan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// No loader was found, or it can't be opened.
    NoLoader {
        /// What the system says.
        reason: String,
    },
    /// The loader is older than Vulkan 1.2.
    OldLoader {
        /// Its version.
        version: String,
    },
    /// The loader refuses an instance, as it does where there is no driver at all.
    NoInstance {
        /// What the loader says.
        reason: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::NoLoader { reason } => write!(f, "there is no Vulkan loader: {reason}"),
            LoadError::OldLoader { version } => write!(f, "the Vulkan loader has version {version}, 1.2 is needed"),
            LoadError::NoInstance { reason } => write!(f, "the Vulkan loader refuses an instance: {reason}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// What was asked of a device when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Listing the devices.
    List,
    /// Opening a device.
    Open,
    /// Taking so many bytes of memory.
    Allocate {
        /// The bytes.
        bytes: u64,
    },
    /// Reaching memory of the device from the host.
    Map,
    /// Handing over a kernel.
    Shader,
    /// Compiling a kernel.
    Pipeline,
    /// Writing down what is to be run.
    Record,
    /// Starting it.
    Submit,
    /// Waiting until it has run.
    Wait,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::List => f.write_str("the devices can't be listed"),
            Step::Open => f.write_str("the device can't be opened"),
            Step::Allocate { bytes } => write!(f, "the device gives no {bytes} bytes of memory"),
            Step::Map => f.write_str("the memory of the device can't be reached"),
            Step::Shader => f.write_str("the device refuses the kernel"),
            Step::Pipeline => f.write_str("the driver can't compile the kernel"),
            Step::Record => f.write_str("the driver takes no commands"),
            Step::Submit => f.write_str("the device takes no work"),
            Step::Wait => f.write_str("the device does not end its work"),
        }
    }
}

/// What is wrong with a device, or with what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// No device can run kernels.
    NoDevice,
    /// No device is called so, or has that number.
    NoSuchDevice {
        /// What was asked for.
        wanted: String,
        /// The names of the devices that there are.
        found: Vec<String>,
    },
    /// The device lacks something.
    Lacks {
        /// Its name.
        device: String,
        /// What it lacks, as Vulkan calls it.
        feature: &'static str,
    },
    /// The driver refuses a step.
    Refused {
        /// The step.
        step: Step,
        /// What the driver says.
        reason: String,
    },
    /// The device is lost: its driver or hardware failed. It has to be opened anew.
    Lost {
        /// The step at which it was found.
        step: Step,
    },
    /// Work did not end in time. The device is not used any more.
    Hung {
        /// How long it was waited for.
        limit: Duration,
    },
    /// Whoever waited for the device does not wait any more.
    Stopped,
    /// Memory that the host does not reach was to be read or written by it.
    NotMapped,
    /// What is read or written lies outside of the memory.
    OutOfBounds {
        /// The end of it.
        end: u64,
        /// The bytes of the memory.
        bytes: u64,
    },
    /// More workgroups than the device takes at once.
    TooManyGroups {
        /// How many.
        groups: u64,
        /// How many it takes.
        limit: u32,
    },
    /// Arrays that belong together are not of one length, or their number is not what a kernel wants.
    WrongArrays {
        /// How many arrays of how many elements the kernel wants.
        wanted: (usize, usize),
    },
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::NoDevice => f.write_str("no Vulkan device can run kernels"),
            DeviceError::NoSuchDevice { wanted, found } => {
                write!(f, "there is no Vulkan device `{wanted}`; there are: {}", found.join(", "))
            }
            DeviceError::Lacks { device, feature } => write!(f, "the device `{device}` lacks {feature}"),
            DeviceError::Refused { step, reason } => write!(f, "{step}: {reason}"),
            DeviceError::Lost { step: Step::Open } => f.write_str("the device was lost"),
            DeviceError::Lost { step } => write!(f, "{step}: the device is lost"),
            DeviceError::Hung { limit } => {
                write!(f, "the device did not end its work within {} s, and is not used any more", limit.as_secs_f64())
            }
            DeviceError::NotMapped => f.write_str("the host does not reach this memory of the device"),
            DeviceError::Stopped => f.write_str("the wait for the device was stopped"),
            DeviceError::OutOfBounds { end, bytes } => {
                write!(f, "byte {end} is outside of {bytes} bytes of memory of the device")
            }
            DeviceError::TooManyGroups { groups, limit } => {
                write!(f, "{groups} workgroups are more than the device takes at once, {limit}")
            }
            DeviceError::WrongArrays { wanted: (arrays, elements) } => {
                write!(f, "the kernel wants {arrays} arrays of {elements} elements each")
            }
        }
    }
}

impl std::error::Error for DeviceError {}

impl DeviceError {
    /// What a result of Vulkan other than success means at a step.
    pub(super) fn at(step: Step) -> impl Fn(ash::vk::Result) -> DeviceError {
        move |result| match result {
            ash::vk::Result::ERROR_DEVICE_LOST => DeviceError::Lost { step },
            other => DeviceError::Refused { step, reason: other.to_string() },
        }
    }
}
