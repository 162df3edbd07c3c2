//! Kernels that compute element by element, run on arrays of the host.

use super::commands::Command;
use super::device::Device;
use super::error::DeviceError;
use super::pipeline::Pipeline;
use crate::emit::Mapping;
use std::time::{Duration, Instant};

/// A mapping that the driver has compiled.
#[derive(Debug)]
pub struct LoadedMapping {
    device: Device,
    pipeline: Pipeline,
    n_inputs: usize,
    n_outputs: usize,
}

impl Device {
    /// Has the driver compile a mapping.
    pub fn load_mapping(&self, mapping: &Mapping) -> Result<LoadedMapping, DeviceError> {
        let pipeline = self.compile(mapping.kernel())?;
        let (n_inputs, n_outputs) = (mapping.n_inputs(), mapping.n_outputs());
        Ok(LoadedMapping { device: self.clone(), pipeline, n_inputs, n_outputs })
    }
}

impl LoadedMapping {
    /// The outputs for arrays of inputs: as many as the mapping has, all of one length.
    pub fn run(&self, inputs: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, DeviceError> {
        let n_elements = inputs.first().map_or(0, Vec::len);
        if inputs.len() != self.n_inputs || inputs.iter().any(|input| input.len() != n_elements) {
            return Err(DeviceError::WrongArrays { wanted: (self.n_inputs, n_elements) });
        }
        let bytes = 8 * n_elements;
        let mut memory = self.device.allocate(((self.n_inputs + self.n_outputs) * bytes) as u64)?;
        let data: Vec<u8> = inputs.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        self.device.write(&mut memory, 0, &data)?;
        let arguments = [n_elements as u64, memory.address()];
        // SAFETY: each thread whose number is below that of the elements reads a word of each input and writes one of each
        // output, all of which lie one after the other in the memory; code that computes touches no memory.
        unsafe { self.device.run(&self.pipeline, &arguments, n_elements as u64)? };
        let mut data = vec![0; self.n_outputs * bytes];
        self.device.read(&memory, (self.n_inputs * bytes) as u64, &mut data)?;
        let (words, _) = data.as_chunks();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Ok((0..self.n_outputs).map(|k| words[k * n_elements..(k + 1) * n_elements].to_vec()).collect())
    }

    /// How long one submission of so many launches takes, each behind the one before it, recorded at once: what a plan is
    /// measured by. Each launch is of so many threads, and has them compute what the one before has computed.
    pub fn time_of_launches(&self, launches: usize, n_elements: usize) -> Result<Duration, DeviceError> {
        let bytes = 8 * (self.n_inputs + self.n_outputs) * n_elements;
        let mut memory = self.device.allocate(bytes as u64)?;
        self.device.write(&mut memory, 0, &vec![0; bytes])?;
        let mut block = self.device.allocate(16)?;
        let arguments: Vec<u8> = [n_elements as u64, memory.address()].into_iter().flat_map(u64::to_le_bytes).collect();
        self.device.write(&mut block, 0, &arguments)?;
        let launch =
            Command::Launch { pipeline: &self.pipeline, arguments: block.address(), threads: n_elements as u64 };
        let start = Instant::now();
        // SAFETY: as in `run`; memory and arguments are alive until this has run.
        unsafe { self.device.run_all(&vec![launch; launches])? };
        Ok(start.elapsed())
    }
}
