//! What the checker accepts at most.

use cotan_syntax::{Diagnostic, Span};

use crate::codes;

/// Bounds on a program; everything beyond is an error with a code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep expressions may nest, steps such as calls and indices counted.
    pub nesting: usize,
    /// How many specialisations of functions with parameters of function type a program may need.
    pub instances: usize,
    /// How long a chain of calls may be of which each specialises a function with a parameter of
    /// function type.
    pub instance_depth: usize,
    /// How many leaves, scalars and tensors of scalars, the type of a value may have.
    pub leaves: u64,
    /// How many parts of tuples, and types given for parameters, the types of all expressions together may be written
    /// with. Structs are one part, whatever they consist of.
    pub type_parts: usize,
    /// How many operations the core IR of a program may have before derivatives are written.
    pub operations: usize,
    /// How many errors are told, and how many warnings; the others are counted. What repeats a mistake is told with it, so
    /// the checker finds [some more](Self::errors_found) before it looks into no more expressions.
    pub diagnostics: usize,
}

/// How many errors are found for each that is told.
const FOUND_FOR_EACH: usize = 8;

impl Default for Limits {
    fn default() -> Self {
        Self {
            nesting: 4000,
            instances: 10_000,
            instance_depth: 64,
            leaves: 10_000,
            type_parts: 2_000_000,
            operations: 1_000_000,
            diagnostics: 100,
        }
    }
}

impl Limits {
    /// How many errors the checker finds before it stops.
    pub fn errors_found(&self) -> usize {
        self.diagnostics.saturating_mul(FOUND_FOR_EACH)
    }

    /// The error of a program that needs too many specialisations, or too long a chain of them: `chain` names the
    /// functions, outermost first.
    pub(crate) fn exceeded(&self, chain: &[String], is_too_deep: bool, span: Span) -> Diagnostic {
        let shown = if chain.len() > 8 {
            format!("{}, ..., {}", chain[..4].join(", "), chain[chain.len() - 4..].join(", "))
        } else {
            chain.join(", ")
        };
        let (what, limit) = if is_too_deep {
            ("calls in a chain that each specialise a function", self.instance_depth)
        } else {
            ("specialisations of functions", self.instances)
        };
        let message = format!("expected at most {limit} {what}, found more: {shown}");
        Diagnostic::error(codes::TOO_MANY_INSTANCES, span, message)
            .help("pass values on instead of functions or types, or call the functions directly")
    }

    /// The error of a type with too many leaves.
    pub(crate) fn too_many_leaves(&self, what: &str, leaves: u64, span: Span) -> Diagnostic {
        let found = if leaves == u64::MAX { "more than can be counted".to_owned() } else { leaves.to_string() };
        let message = format!("expected at most {} scalars and tensors in {what}, found {found}", self.leaves);
        Diagnostic::error(codes::TYPE_TOO_LARGE, span, message).help("hold numbers of one kind in a tensor")
    }

    /// The error of a program whose types are too long, all together.
    pub(crate) fn too_many_type_parts(&self, span: Span) -> Diagnostic {
        let message =
            format!("expected at most {} parts in the tuple types of all expressions, found more", self.type_parts);
        Diagnostic::error(codes::TYPE_TOO_LARGE, span, message).help("declare a struct with these parts")
    }

    /// The error of a program that becomes too many operations, noticed while `function` was lowered.
    pub fn too_many_operations(&self, function: &str, span: Span) -> Diagnostic {
        let message = format!(
            "expected at most {} operations in the program with its specialised functions, found more in `{function}`",
            self.operations
        );
        Diagnostic::error(codes::TOO_MANY_OPERATIONS, span, message)
            .help("pass values in place of functions that are given functions: those are copied into every call")
    }
}
