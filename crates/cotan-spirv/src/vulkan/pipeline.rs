//! Kernels, compiled by the driver, and run.

use super::cache::PipelineCache;
use super::commands::Command;
use super::core::Core;
use super::device::Device;
use super::error::{DeviceError, Step};
use super::steps::Refusable;
use crate::emit::Kernel;
use crate::features::Features;
use ash::vk;
use std::sync::Arc;

/// A kernel that the driver has compiled. It is given back when it is dropped.
#[derive(Debug)]
pub struct Pipeline {
    core: Arc<Core>,
    pub(super) pipeline: vk::Pipeline,
    pub(super) layout: vk::PipelineLayout,
    pub(super) workgroup: u32,
    /// No other memory or pipeline of the device has it, or had it.
    pub(super) number: u64,
}

/// Bytes that a kernel is given at its start: the address of its arguments.
const PUSHED: u32 = 8;

/// The code of a kernel: what an emitter has written, now or earlier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'k> {
    /// The SPIR-V module.
    pub(crate) words: &'k [u32],
    /// Threads of a workgroup.
    pub(crate) workgroup: u32,
    /// Which of the optional features it uses.
    pub(crate) needs: Features,
}

impl<'k> From<&'k Kernel> for Code<'k> {
    fn from(kernel: &'k Kernel) -> Code<'k> {
        Code { words: kernel.words(), workgroup: kernel.workgroup(), needs: kernel.needs() }
    }
}

impl Device {
    /// Has the driver compile a kernel.
    pub fn compile(&self, kernel: &Kernel) -> Result<Pipeline, DeviceError> {
        self.compile_code(kernel.into(), None)
    }

    /// The same of code, with what the driver has made of kernels before.
    pub(crate) fn compile_code(&self, code: Code<'_>, cache: Option<&PipelineCache>) -> Result<Pipeline, DeviceError> {
        if let Some(feature) = code.needs.lacking(self.info().features) {
            return Err(DeviceError::Lacks { device: self.info().name.clone(), feature });
        }
        self.core.expect_usable()?;
        let device = &self.core.device;
        let range = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(PUSHED)];
        let description = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&range);
        // SAFETY: the device is alive.
        let layout = unsafe { device.create_pipeline_layout(&description, None) };
        let mut out = Pipeline {
            core: Arc::clone(&self.core),
            pipeline: vk::Pipeline::null(),
            layout: layout.map_err(DeviceError::at(Step::Pipeline))?,
            workgroup: code.workgroup,
            number: self.core.number(),
        };
        let description = vk::ShaderModuleCreateInfo::default().code(code.words);
        // SAFETY: the words are those that an emitter has written, which writes valid SPIR-V, with features that the device has;
        // where they were kept, their hash says so.
        let module = unsafe { device.create_shader_module(&description, None) };
        let module = module.map_err(DeviceError::at(Step::Shader))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let description = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(out.layout)];
        let cache = cache.map_or_else(vk::PipelineCache::null, PipelineCache::handle);
        let made = self.core.meter.take(Refusable::Pipeline).and_then(|()| {
            // SAFETY: module, layout and cache are of this device, the entry is in the module.
            unsafe { device.create_compute_pipelines(cache, &description, None) }.map_err(|(_, error)| error)
        });
        // SAFETY: the module is of this device; pipelines do not need it any more.
        unsafe { device.destroy_shader_module(module, None) };
        match made {
            Ok(pipelines) => out.pipeline = pipelines.first().copied().unwrap_or_default(),
            Err(error) => return Err(DeviceError::at(Step::Pipeline)(error)),
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
        let mut block = self.allocate(bytes.len() as u64)?;
        self.write(&mut block, 0, &bytes)?;
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
