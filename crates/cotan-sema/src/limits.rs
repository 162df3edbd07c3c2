//! What the checker accepts at most.

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
