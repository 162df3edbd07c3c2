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
}

impl Default for Limits {
    fn default() -> Self {
        Self { nesting: 4000, instances: 10_000, instance_depth: 64 }
    }
}

impl Limits {
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
}
