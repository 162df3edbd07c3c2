//! A program and arguments for it.

use cotan::host::Arguments;

/// One benchmark: a function, its derivative and arguments for both.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The objective: `gmm`, `lstm`, or the name of a loop.
    pub objective: &'static str,
    /// Which input.
    pub name: String,
    /// The name of the program's file, for messages.
    pub file: &'static str,
    /// The text of the program.
    pub source: &'static str,
    /// The function in it.
    pub function: &'static str,
    /// The function that gives `(value, gradients..)`.
    pub gradient: &'static str,
    /// Arguments of both.
    pub args: Arguments,
    /// How many derivative entries belong to each parameter block, in order.
    pub blocks: Vec<usize>,
}
