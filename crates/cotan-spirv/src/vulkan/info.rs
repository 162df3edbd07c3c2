//! What is known of a device before it is opened.

use crate::features::{Features, FloatControls};
use ash::{Instance, vk};
use std::ffi::c_char;

/// Of what kind a device is, the best one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A card with memory of its own.
    Discrete,
    /// A part of the processor, with its memory.
    Integrated,
    /// A part of another machine's device.
    Virtual,
    /// Something else.
    Other,
    /// A program on the CPU.
    Software,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Discrete => "discrete",
            Kind::Integrated => "integrated",
            Kind::Virtual => "virtual",
            Kind::Other => "other",
            Kind::Software => "software",
        }
    }
}

/// A device that the loader knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its place in the list.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Its driver, with the driver's version.
    pub driver: String,
    /// The version of Vulkan that it speaks.
    pub version: String,
    /// What it offers; nothing if it is older than Vulkan 1.2 or has no queue for kernels.
    pub features: Features,
    /// Its limits.
    pub limits: Limits,
    /// Vendor, device, and the number of the driver's build, as bytes: what is kept of compiled kernels belongs to these.
    pub identity: [u8; 24],
}

/// Limits of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Threads of a workgroup.
    pub workgroup: u32,
    /// Workgroups of one launch.
    pub groups: u32,
    /// Threads that run in step; 0 if it is not known.
    pub subgroup: u32,
    /// Bytes that the threads of a workgroup share.
    pub shared_bytes: u32,
    /// Bytes of the largest piece of memory.
    pub largest_allocation: u64,
}

impl DeviceInfo {
    /// Whether kernels can run on it: they need its addresses, and integers of 64 bits.
    pub fn runs_kernels(&self) -> bool {
        self.features.addresses && self.features.int64
    }
}

/// `1.3.230` and the like.
pub(super) fn version_text(version: u32) -> String {
    let parts = [vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version)];
    parts.map(|n| n.to_string()).join(".")
}

/// Text that Vulkan ends by a zero.
fn text(bytes: &[c_char]) -> String {
    let bytes: Vec<u8> = bytes.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Asks a device what it is.
pub(super) fn describe(instance: &Instance, device: vk::PhysicalDevice, number: usize) -> DeviceInfo {
    // SAFETY: the device is one of the instance's.
    let plain = unsafe { instance.get_physical_device_properties(device) };
    let is_new = plain.api_version >= super::loader::VERSION;
    let mut eleven = vk::PhysicalDeviceVulkan11Properties::default();
    let mut twelve = vk::PhysicalDeviceVulkan12Properties::default();
    if is_new {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut eleven).push_next(&mut twelve);
        // SAFETY: the device is one of the instance's, and knows the structures of Vulkan 1.2.
        unsafe { instance.get_physical_device_properties2(device, &mut all) };
    }
    let kind = match plain.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => Kind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => Kind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => Kind::Virtual,
        vk::PhysicalDeviceType::CPU => Kind::Software,
        _ => Kind::Other,
    };
    let limits = Limits {
        workgroup: plain.limits.max_compute_work_group_invocations.min(plain.limits.max_compute_work_group_size[0]),
        groups: plain.limits.max_compute_work_group_count[0],
        subgroup: eleven.subgroup_size,
        shared_bytes: plain.limits.max_compute_shared_memory_size,
        largest_allocation: eleven.max_memory_allocation_size,
    };
    let driver = [text(&twelve.driver_name), text(&twelve.driver_info)].join(" ").trim().to_owned();
    let mut identity = [0; 24];
    let parts = [&plain.vendor_id.to_le_bytes()[..], &plain.device_id.to_le_bytes(), &plain.pipeline_cache_uuid];
    identity.iter_mut().zip(parts.concat()).for_each(|(to, from)| *to = from);
    let usable = is_new && compute_family(instance, device).is_some();
    DeviceInfo {
        number,
        name: text(&plain.device_name),
        kind,
        driver,
        version: version_text(plain.api_version),
        features: if usable { features(instance, device, &twelve) } else { Features::default() },
        limits,
        identity,
    }
}

fn features(
    instance: &Instance,
    device: vk::PhysicalDevice,
    properties: &vk::PhysicalDeviceVulkan12Properties<'_>,
) -> Features {
    let mut eleven = vk::PhysicalDeviceVulkan11Features::default();
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut eleven).push_next(&mut twelve);
    // SAFETY: the device is one of the instance's, and knows the structures of Vulkan 1.2.
    unsafe { instance.get_physical_device_features2(device, &mut all) };
    let plain = all.features;
    let is = |flag: vk::Bool32| flag == vk::TRUE;
    Features {
        float64: is(plain.shader_float64),
        int64: is(plain.shader_int64),
        int16: is(plain.shader_int16),
        int8: is(twelve.shader_int8),
        storage8: is(twelve.storage_buffer8_bit_access),
        storage16: is(eleven.storage_buffer16_bit_access),
        addresses: is(twelve.buffer_device_address),
        atomics64: is(twelve.shader_buffer_int64_atomics),
        controls32: FloatControls {
            preserves_special: is(properties.shader_signed_zero_inf_nan_preserve_float32),
            rounds_to_even: is(properties.shader_rounding_mode_rte_float32),
            keeps_subnormals: is(properties.shader_denorm_preserve_float32),
        },
        controls64: FloatControls {
            preserves_special: is(properties.shader_signed_zero_inf_nan_preserve_float64),
            rounds_to_even: is(properties.shader_rounding_mode_rte_float64),
            keeps_subnormals: is(properties.shader_denorm_preserve_float64),
        },
    }
}

/// The first family of queues that runs kernels.
pub(super) fn compute_family(instance: &Instance, device: vk::PhysicalDevice) -> Option<u32> {
    // SAFETY: the device is one of the instance's.
    let families = unsafe { instance.get_physical_device_queue_family_properties(device) };
    let found = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    found.and_then(|k| u32::try_from(k).ok())
}
