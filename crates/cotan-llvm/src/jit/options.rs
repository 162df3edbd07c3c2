//! How hard LLVM works on a module.

/// How hard LLVM works. Cotan's own passes have already removed common subexpressions, hoisted,
/// fused and vectorised; LLVM selects instructions and allocates registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptLevel {
    /// No pass at all and the fast instruction selector.
    O0,
    /// A short list of cheap scalar passes.
    #[default]
    O2,
}

impl OptLevel {
    /// The pass pipeline in LLVM's own notation.
    ///
    /// No pass here vectorises, contracts or reassociates: floating-point results are those of the
    /// text. Longer pipelines were measured to cost 2-3 times as much and to gain at most a tenth.
    pub(super) fn passes(self) -> Option<&'static str> {
        match self {
            Self::O0 => None,
            Self::O2 => Some("function(sroa,early-cse,instcombine<no-verify-fixpoint>,loop-simplify,loop-mssa(licm))"),
        }
    }

    /// `LLVMCodeGenOptLevel`.
    pub(super) fn code_generator(self) -> i32 {
        match self {
            Self::O0 => 0,
            Self::O2 => 1,
        }
    }

    /// A name that is part of the cache key.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::O0 => "O0",
            Self::O2 => "O2",
        }
    }
}
