//! Kernels that others have written, run on arrays of their own: what kernels of plans are compared with.

use super::commands::Command;
use super::device::Device;
use super::error::DeviceError;
use super::memory::{Memory, Purpose};
use super::pipeline::{Code, Pipeline};
use super::recording::Recordings;
use crate::features::Features;

/// A kernel that this crate has not written.
#[derive(Clone, Debug)]
pub struct ForeignKernel {
    /// A SPIR-V module, whose entry is called `main`.
    pub words: Vec<u32>,
    /// The threads of a workgroup, which the module says as well.
    pub workgroup: u32,
    /// With how many threads it is run, at least.
    pub threads: u64,
}

/// Such kernels, compiled by the driver, with their memory.
#[derive(Debug)]
pub struct LoadedForeign {
    device: Device,
    recordings: Recordings,
    kernels: Vec<(Pipeline, u64)>,
    arrays: Vec<Memory>,
    arguments: Memory,
}

impl Device {
    /// Has the driver compile kernels, which run one after the other. Each is given one pushed word, the address of a block of words:
    /// the addresses of the arrays, which have these elements at first, and numbers.
    ///
    /// # Safety
    ///
    /// The modules are valid for Vulkan 1.2 and workgroups of so many threads in one dimension. They use what
    /// [`DeviceInfo::features`](super::DeviceInfo) names and no other feature, and no descriptors. Run in their order with so many threads, any
    /// number of times, they write to elements of the arrays alone, and read these and the block of words.
    pub unsafe fn load_foreign(
        &self,
        kernels: &[ForeignKernel],
        arrays: &[Vec<u64>],
        numbers: &[u64],
    ) -> Result<LoadedForeign, DeviceError> {
        let compiled = kernels.iter().map(|kernel| {
            let code = Code { words: &kernel.words, workgroup: kernel.workgroup, needs: Features::default() };
            Ok((self.compile_code(code, None)?, kernel.threads))
        });
        let kernels = compiled.collect::<Result<Vec<(Pipeline, u64)>, DeviceError>>()?;
        let mut memory = Vec::new();
        for elements in arrays {
            let mut array = self.allocate(8 * elements.len() as u64)?;
            self.write(&mut array, 0, &bytes(elements))?;
            memory.push(array);
        }
        let words: Vec<u64> = memory.iter().map(Memory::address).chain(numbers.iter().copied()).collect();
        let mut arguments = self.allocate_for(Purpose::Arguments, 8 * words.len() as u64)?;
        self.write(&mut arguments, 0, &bytes(&words))?;
        let recordings = Recordings::new(self)?;
        Ok(LoadedForeign { device: self.clone(), recordings, kernels, arrays: memory, arguments })
    }
}

impl LoadedForeign {
    /// Runs the kernels in their order, by one submission that is recorded once, and waits until they have run.
    pub fn run(&mut self) -> Result<(), DeviceError> {
        let arguments = self.arguments.address();
        let launch = |kernel| {
            let (pipeline, threads): &(Pipeline, u64) = kernel;
            Command::Launch { pipeline, arguments, threads: *threads }
        };
        let commands: Vec<Command<'_>> = self.kernels.iter().map(launch).collect();
        // SAFETY: whoever loaded the kernels has given the word that they reach the arrays and the block of words alone, which this
        // value has, and which the host does not touch until they have run.
        unsafe { self.recordings.run(&commands, None)? };
        Ok(())
    }

    /// The elements of an array, by its position.
    pub fn read(&self, array: usize) -> Result<Vec<u64>, DeviceError> {
        let memory = &self.arrays[array];
        let mut bytes = vec![0; memory.bytes() as usize];
        self.device.read(memory, 0, &mut bytes)?;
        let (words, _) = bytes.as_chunks();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
