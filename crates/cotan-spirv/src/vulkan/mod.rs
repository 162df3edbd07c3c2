//! Devices: Vulkan's loader opened at run time, what devices there are, one of them opened, kernels run on it.
//!
//! - [`Vulkan::load`] opens the loader; [`Vulkan::devices`] lists what it finds, [`Vulkan::open`] opens what a [`Choice`] names;
//! - [`Device`] has memory ([`Memory`]) and kernels ([`Pipeline`]), and runs the ones on the other; [`Recordings`] do that again;
//! - a [`Block`] is memory of an array that outlives calls;
//! - a [`Meter`] counts, and has a driver refuse a step, for tests;
//! - [`Device::load_foreign`] takes kernels that this crate has not written;
//! - [`Device::load_mapping`] and [`LoadedMapping::run`] are all of that for kernels that compute element by element.
//!
//! Every failure is a [`LoadError`] or a [`DeviceError`], which names the step. A driver that does not come back within a limit
//! is left alone from then on, with all that it may still use: nothing of it can be freed.
#![allow(unsafe_code, reason = "calls of Vulkan, and memory that is shared with a device")]

mod cache;
mod choice;
mod commands;
mod core;
mod device;
mod error;
mod foreign;
mod info;
mod launch;
mod loader;
mod mapping;
mod memory;
mod pipeline;
mod pool;
mod recording;
mod steps;
mod submit;

pub(crate) use cache::PipelineCache;
pub use choice::Choice;
pub use commands::Command;
pub use device::{Device, OpenOptions};
pub use error::{DeviceError, LoadError, Step};
pub use foreign::{ForeignKernel, LoadedForeign};
pub use info::{DeviceInfo, Kind};
pub use loader::Vulkan;
pub use mapping::LoadedMapping;
pub use memory::{Memory, Purpose};
pub(crate) use pipeline::Code;
pub use pipeline::Pipeline;
pub use pool::Block;
pub use recording::Recordings;
pub use steps::{Meter, Refusable};
