//! The machine that code is generated for.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use super::error::JitError;
use super::options::OptLevel;
use super::owned::Owned;
use crate::load::Llvm;
use crate::load::api::{Target as LlvmTarget, TargetMachine};
use cotan_runtime::InstructionSet;

/// The host as LLVM sees it: what the emitter needs to choose a vector width and to write the
/// attributes `target-cpu`, `target-features` and `prefer-vector-width`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Target triple, such as `x86_64-unknown-linux-gnu`.
    pub triple: String,
    /// CPU name, such as `znver4`.
    pub cpu: String,
    /// All features of the CPU in LLVM's form `+avx2,-avx512f,...`.
    pub features: String,
    /// Bits of the widest vector register.
    pub vector_bits: u32,
}

impl Target {
    pub(super) fn new(triple: String, cpu: String, features: String) -> Self {
        Self { vector_bits: vector_bits(&features), triple, cpu, features }
    }

    /// Asks LLVM about the CPU that this process runs on.
    pub(crate) fn host(llvm: &Llvm) -> Result<Self, JitError> {
        let api = &llvm.api;
        // SAFETY: each function gives a string that its caller frees.
        let (triple, cpu, features) = unsafe {
            (
                with_elf(llvm.take_message((api.GetDefaultTargetTriple)())),
                llvm.take_message((api.GetHostCPUName)()),
                llvm.take_message((api.GetHostCPUFeatures)()),
            )
        };
        let target = Self::new(triple, cpu, features);
        Self::of_triple(llvm, &c_string(&target.triple)?)?;
        Ok(target)
    }

    /// The same machine as far as an instruction set goes; an error if it does not go that far.
    pub(crate) fn limited_to(&self, set: InstructionSet) -> Result<Self, String> {
        let wanted = set.features().iter().map(|feature| format!("+{feature}"));
        let features: Vec<String> = wanted.collect();
        let has = |wanted: &String| self.features.split(',').any(|feature| feature == wanted);
        if let Some(missing) = features.iter().find(|feature| !has(feature)) {
            return Err(format!("this machine is no {set}: it has no `{}`", missing.trim_start_matches('+')));
        }
        Ok(Self::new(self.triple.clone(), set.name().to_owned(), features.join(",")))
    }

    /// What LLVM has for a triple; an error in a library that was built for other machines.
    fn of_triple(llvm: &Llvm, triple: &CStr) -> Result<*mut LlvmTarget, JitError> {
        let mut target = ptr::null_mut();
        let mut message: *mut c_char = ptr::null_mut();
        // SAFETY: the string outlives the call; LLVM fills `target` or `message`.
        unsafe {
            if (llvm.api.GetTargetFromTriple)(triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(JitError::CodeGeneration(llvm.take_message(message)));
            }
        }
        Ok(target)
    }

    /// A code generator. It must not be shared between threads, so each compilation makes its own.
    pub(super) fn machine(&self, llvm: &Llvm, level: OptLevel) -> Result<Owned<TargetMachine>, JitError> {
        const RELOCATION_PIC: i32 = 2;
        const CODE_MODEL_SMALL: i32 = 3;
        let api = &llvm.api;
        let triple = c_string(&self.triple)?;
        let (cpu, features) = (c_string(&self.cpu)?, c_string(&self.features)?);
        let target = Self::of_triple(llvm, &triple)?;
        // SAFETY: the strings outlive the call.
        unsafe {
            let machine = (api.CreateTargetMachine)(
                target,
                triple.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                level.code_generator(),
                RELOCATION_PIC,
                CODE_MODEL_SMALL,
            );
            if machine.is_null() {
                return Err(JitError::CodeGeneration(format!("no code generator for `{}`", self.triple)));
            }
            Ok(Owned::new(machine, api.DisposeTargetMachine))
        }
    }
}

/// The same system with object files of the one kind that are linked here.
fn with_elf(triple: String) -> String {
    let has_other_objects = ["apple", "windows"].iter().any(|system| triple.contains(system));
    if has_other_objects && !triple.ends_with("-elf") { triple + "-elf" } else { triple }
}

/// A string for LLVM; a NUL inside, which no text of ours has, is an error.
pub(super) fn c_string(text: &str) -> Result<CString, JitError> {
    CString::new(text).map_err(|_| JitError::InvalidIr(format!("NUL character in `{text:?}`")))
}

/// The widest vector register among the features. Every 64-bit x86 and Arm CPU has 128 bits.
fn vector_bits(features: &str) -> u32 {
    let has = |name| features.split(',').any(|feature| feature == name);
    if has("+avx512f") {
        512
    } else if has("+avx2") {
        256
    } else {
        128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_files_are_elf_on_every_system() {
        let of = |triple: &str| with_elf(triple.to_owned());
        assert_eq!(of("x86_64-unknown-linux-gnu"), "x86_64-unknown-linux-gnu");
        assert_eq!(of("arm64-apple-darwin24.0.0"), "arm64-apple-darwin24.0.0-elf");
        assert_eq!(of("x86_64-pc-windows-msvc"), "x86_64-pc-windows-msvc-elf");
    }

    #[test]
    fn a_machine_is_limited_to_what_it_has() {
        let features = InstructionSet::X86_64V3.features().iter().map(|feature| format!("+{feature}"));
        let features = features.collect::<Vec<_>>().join(",") + ",+vaes,+avx512f";
        let target = Target::new("x86_64-unknown-linux-gnu".to_owned(), "znver4".to_owned(), features);
        let found = target.limited_to(InstructionSet::X86_64V3).expect("it has all of it");
        assert_eq!((found.cpu.as_str(), found.vector_bits, target.vector_bits), ("x86-64-v3", 256, 512));
        assert!(!found.features.contains("avx512") && !found.features.contains("vaes"), "{}", found.features);
        let message = target.limited_to(InstructionSet::X86_64V4).expect_err("it has not all of it");
        assert_eq!(message, "this machine is no x86-64-v4: it has no `avx512bw`");
    }

    #[test]
    fn the_vector_width_follows_the_features() {
        assert_eq!(vector_bits("+sse2,+avx2,+avx512f"), 512);
        assert_eq!(vector_bits("+avx2,-avx512f"), 256);
        assert_eq!(vector_bits("+neon"), 128);
    }
}
