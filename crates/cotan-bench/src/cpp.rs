//! Programs in C++ that are compared with: built where they are wanted, for all that this machine has or for less.

use anyhow::{Context, Result, bail};
use cotan::cpu::InstructionSet;
use std::path::PathBuf;
use std::process::Command;

/// What the compiler is told of every program.
const FLAGS: [&str; 2] = ["-O3", "-std=c++17"];

/// Sums in any order, and functions of the C library on vectors.
pub(crate) const VECTOR_MATHS: &str = "-ffast-math";

/// Sources, and what becomes of them.
#[derive(Clone, Debug)]
pub struct Cpp {
    /// The folder of the sources.
    pub sources: PathBuf,
    /// The folder of the programs, and of what is handed over to them.
    pub built: PathBuf,
    /// The instruction set that they keep to; `None` for all that the machine has.
    pub instructions: Option<InstructionSet>,
}

impl Cpp {
    /// Builds a program, whose source is named without its ending, with the C++ compiler that `CXX` names or `c++`.
    pub(crate) fn build(&self, source: &str, flags: &[&str]) -> Result<PathBuf> {
        let source = self.sources.join(source).with_extension("cpp");
        let name = source.file_stem().with_context(|| format!("{} has no name", source.display()))?;
        let program = self.built.join(name);
        std::fs::create_dir_all(&self.built).with_context(|| format!("making {}", self.built.display()))?;
        let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let mut command = Command::new(&compiler);
        command.args(FLAGS).args(self.machine()).args(flags).arg("-o").arg(&program).arg(&source);
        if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            // Vectors as wide as the machine's, and the vector versions of the C library's functions.
            command.args(["-mprefer-vector-width=512", "-lmvec"]);
        }
        let out =
            command.output().with_context(|| format!("running {}: is there a C++ compiler?", compiler.display()))?;
        if !out.status.success() {
            let (compiler, source) = (compiler.display(), source.display());
            bail!("{compiler} does not compile {source}: {}", String::from_utf8_lossy(&out.stderr));
        }
        Ok(program)
    }

    /// The machine that code is for.
    fn machine(&self) -> Vec<String> {
        match self.instructions {
            Some(set) => vec![format!("-march={set}"), "-mtune=native".to_owned()],
            None => vec!["-march=native".to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_set_takes_the_place_of_the_machine() {
        let of = |instructions| Cpp { sources: PathBuf::new(), built: PathBuf::new(), instructions }.machine();
        assert_eq!(of(None), ["-march=native"]);
        assert_eq!(of(Some(InstructionSet::X86_64V3)), ["-march=x86-64-v3", "-mtune=native"]);
    }
}
