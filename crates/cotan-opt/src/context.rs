//! The context of passes: what a pass is told besides the function.

use cotan_ir::{Function, Module};

/// Takes the name of a pass and the function after it.
pub type Observer<'a> = dyn Fn(&'static str, &Function) + 'a;

/// What passes are told besides the function.
#[derive(Clone, Copy, Default)]
pub struct PassContext<'a> {
    /// The module that the function belongs to, which knows its callees. Without one, nothing is inlined.
    pub module: Option<&'a Module>,
    /// What every caller of the function makes sure of.
    pub known_extents: &'a [KnownExtents],
    /// How much inlining may copy.
    pub inline: InlineLimit,
    /// Whether it becomes a version for known sizes, see [`versions`](crate::versions).
    pub is_version: bool,
    /// Is shown the function after each pass.
    pub observer: Option<&'a Observer<'a>>,
}

/// What every caller of a function makes sure of: a parameter, an i64, is this polynomial in others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownExtents {
    /// The position of the parameter.
    pub param: usize,
    /// Coefficients, and the positions of the parameters that each is multiplied with.
    pub terms: Vec<(i64, Vec<usize>)>,
}

/// How much inlining may copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineLimit {
    /// Statements of one callee, its own inlined calls included. A call of a larger one stays.
    pub callee_stmts: usize,
    /// The same of a callee that is called from several places: its code is there once, and not once for each of them.
    pub shared_stmts: usize,
    /// Statements that a program has at most with all its calls inlined for `shared_stmts` not to count.
    pub whole_stmts: usize,
    /// Statements that a caller may gain in all. A call that would make it larger stays.
    pub copied_stmts: usize,
    /// Regions around a call that is replaced. A call further inside stays.
    pub depth: usize,
}

impl InlineLimit {
    /// The limits by default. The time that code takes to compile is about that of its statements, so what matters is
    /// how many there are in all: programs that stay small are inlined to the end, and of large ones what would be copied.
    pub const DEFAULT: InlineLimit =
        InlineLimit { callee_stmts: 20_000, shared_stmts: 100, whole_stmts: 2_000, copied_stmts: 200_000, depth: 200 };
    /// Every call of a function with statements stays.
    pub const NONE: InlineLimit = InlineLimit { callee_stmts: 0, ..InlineLimit::DEFAULT };
}

impl Default for InlineLimit {
    fn default() -> InlineLimit {
        InlineLimit::DEFAULT
    }
}
