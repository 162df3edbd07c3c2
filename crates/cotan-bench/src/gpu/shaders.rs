//! Shaders in GLSL, compiled by `glslangValidator` where they are wanted.
#![allow(unsafe_code, reason = "kernels that nothing of ours has written")]

use super::cases::Case;
use anyhow::{Context, Result, bail};
use cotan_spirv::vulkan::{Device, ForeignKernel, LoadedForeign};
use std::path::PathBuf;
use std::process::Command;

/// Threads of a workgroup, as all shaders have it.
const WORKGROUP: u32 = 64;

/// Where shaders are.
#[derive(Clone, Debug)]
pub struct Shaders {
    /// The folder of the sources.
    pub sources: PathBuf,
    /// The folder of the modules.
    pub built: PathBuf,
}

impl Shaders {
    /// The shader of a case on a device, with its arrays.
    pub(super) fn load(&self, device: &Device, case: &Case) -> Result<LoadedForeign> {
        let mut kernels = Vec::new();
        for (pass, threads) in case.passes.iter().enumerate() {
            kernels.push(ForeignKernel {
                words: self.build(case.name, pass)?,
                workgroup: WORKGROUP,
                threads: *threads,
            });
        }
        let given = case.args.iter().filter_map(|(_, value)| Some(value.as_tensor()?.bits.clone()));
        let arrays: Vec<Vec<u64>> = given.chain(case.further.iter().map(|n| vec![0; *n])).collect();
        // SAFETY: glslang writes valid modules; the shaders need f64, i64 and addresses, which the device has where it runs the
        // program. They keep to the arrays that the case lists: indices are below what the numbers behind them say, and bins are below
        // the number of bins.
        Ok(unsafe { device.load_foreign(&kernels, &arrays, &case.numbers)? })
    }

    /// The words of a pass of a shader.
    fn build(&self, name: &str, pass: usize) -> Result<Vec<u32>> {
        let source = self.sources.join(name).with_extension("comp");
        let module = self.built.join(format!("{name}.{pass}.spv"));
        std::fs::create_dir_all(&self.built).with_context(|| format!("making {}", self.built.display()))?;
        let mut command = Command::new("glslangValidator");
        command.args(["-V", "--target-env", "vulkan1.2"]).arg(format!("-DPASS={pass}"));
        let out = command.arg("-o").arg(&module).arg(&source).output();
        let out = out.context("no glslangValidator, so there are no shaders: on Debian, apt install glslang-tools")?;
        if !out.status.success() {
            bail!("glslangValidator refuses {}: {}", source.display(), String::from_utf8_lossy(&out.stdout));
        }
        let bytes = std::fs::read(&module).with_context(|| format!("reading {}", module.display()))?;
        let (words, _) = bytes.as_chunks();
        Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}
