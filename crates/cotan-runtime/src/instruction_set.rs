//! Instruction sets by name: how much of a machine its code may use, so that a smaller machine can be measured on a larger
//! one.

use std::fmt;
use std::str::FromStr;

/// A level of the System V ABI for x86-64, by the name that compilers have for it. The levels below have no fused products
/// and sums, which every program here is defined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// AVX2.
    X86_64V3,
    /// AVX-512.
    X86_64V4,
}

impl InstructionSet {
    /// All of them.
    pub const ALL: [InstructionSet; 2] = [InstructionSet::X86_64V3, InstructionSet::X86_64V4];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::X86_64V3 => "x86-64-v3",
            InstructionSet::X86_64V4 => "x86-64-v4",
        }
    }

    /// What it has beyond the first machines of 64 bits, by the names of LLVM.
    #[must_use]
    pub fn features(self) -> &'static [&'static str] {
        const V4: [&str; 20] = [
            "cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "bmi", "bmi2", "f16c", "fma",
            "lzcnt", "movbe", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl",
        ];
        match self {
            InstructionSet::X86_64V3 => &V4[..15],
            InstructionSet::X86_64V4 => &V4,
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for InstructionSet {
    type Err = String;

    fn from_str(word: &str) -> Result<InstructionSet, String> {
        let found = InstructionSet::ALL.into_iter().find(|set| set.name() == word);
        found.ok_or_else(|| format!("expected {}", InstructionSet::ALL.map(InstructionSet::name).join(" or ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_others_are_refused() {
        for set in InstructionSet::ALL {
            assert_eq!(set.name().parse(), Ok(set));
        }
        assert_eq!("x86-64-v2".parse::<InstructionSet>(), Err("expected x86-64-v3 or x86-64-v4".to_owned()));
    }

    #[test]
    fn avx_512_belongs_to_the_larger_set_alone() {
        let has = |set: InstructionSet, prefix: &str| set.features().iter().any(|feature| feature.starts_with(prefix));
        assert!(has(InstructionSet::X86_64V3, "avx2") && !has(InstructionSet::X86_64V3, "avx512"));
        assert!(has(InstructionSet::X86_64V4, "avx2") && has(InstructionSet::X86_64V4, "avx512"));
    }
}
