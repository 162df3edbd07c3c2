//! Kernels, compiled by the driver, and run.

use super::commands::Command;
use super::core::Core;
use super::device::Device;
use super::error::{DeviceError, Step};
use crate::emit::Kernel;
use ash::vk;
use std::sync::Arc;

/// A kernel that the driver has compiled. It is given back when it is dropped.
#[derive(Debug)]
pub struct Pipeline {
    core: Arc<Core>,
    pub(super) pipeline: vk::Pipeline,
    pub(super) layout: vk::PipelineLayout,
    pub(super) workgroup: u32,
}

/// Bytes that a kernel is given at its start: the address of its arguments.
const PUSHED: u32 = 8;

impl Device {
    /// Has the driver compile a kernel.
    pub fn compile(&self, kernel: &Kernel) -> Result<Pipeline, DeviceError> {
        if let Some(feature) = kernel.needs().lacking(self.info().features) {
            return Err(DeviceError::Lacks { device: self.info().name.clone(), feature });
        }
        if self.core.is_abandoned() {
            return Err(DeviceError::Hung { limit: self.core.limit });
        }
        let device = &self.core.device;
        let range = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(PUSHED)];
        let description = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&range);
        // SAFETY: the device is alive.
        let layout = unsafe { device.create_pipeline_layout(&description, None) };
        let mut out = Pipeline {
            core: Arc::clone(&self.core),
            pipeline: vk::Pipeline::null(),
            layout: layout.map_err(DeviceError::at(Step::Pipeline))?,
            workgroup: kernel.workgroup(),
        };
        let description = vk::ShaderModuleCreateInfo::default().code(kernel.words());
        // SAFETY: the words are those of the emitter, which writes valid SPIR-V with features that the device has.
        let module = unsafe { device.create_shader_module(&description, None) };
        let module = module.map_err(DeviceError::at(Step::Shader))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let description = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(out.layout)];
        // SAFETY: module and layout are of this device, the entry is in the module.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &description, None) };
        // SAFETY: the module is of this device; pipelines do not need it any more.
        unsafe { device.destroy_shader_module(module, None) };
        match made {
            Ok(pipelines) => out.pipeline = pipelines.first().copied().unwrap_or_default(),
            Err((_, error)) => return Err(DeviceError::at(Step::Pipeline)(error)),
        }
        Ok(out)
    }

    /// Runs a kernel with so many threads at least, in whole workgroups, and waits until they have ended.
    ///
    /// # Safety
    ///
    /// What the kernel reads and writes, given these arguments, lies in memory of this device that is alive.
    pub unsafe fn run(&self, pipeline: &Pipeline, arguments: &[u64], threads: u64) -> Result<(), DeviceError> {
        let bytes: Vec<u8> = arguments.iter().flat_map(|word| word.to_le_bytes()).collect();
        let block = self.allocate(bytes.len() as u64)?;
        self.write(&block, 0, &bytes)?;
        // SAFETY: the caller's word; the block is alive until this has run.
        unsafe { self.run_all(&[Command::Launch { pipeline, arguments: block.address(), threads }]) }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        if self.core.is_abandoned() {
            return;
        }
        // SAFETY: both are of this device, and no work is left that uses them, as each submission is waited for.
        unsafe {
            self.core.device.destroy_pipeline(self.pipeline, None);
            self.core.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}
