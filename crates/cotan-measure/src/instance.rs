//! A program and arguments for it.

use crate::{Block, Tolerance};
use cotan::Request;
use cotan::host::Arguments;

/// One benchmark: a function, its derivative and arguments for both.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The objective: `gmm`, `lstm`, the name of a loop, or that of a function.
    pub objective: String,
    /// Which input.
    pub name: String,
    /// The name of the program's file, for messages.
    pub file: String,
    /// The text of the program.
    pub source: String,
    /// The function.
    pub function: Request,
    /// What gives the derivative entries, after the value if its result begins with a scalar; none times the function
    /// alone.
    pub gradient: Option<Request>,
    /// Arguments of both.
    pub args: Arguments,
    /// Which derivative entries belong to which parameters.
    pub blocks: Vec<Block>,
    /// How close others must come.
    pub tolerance: Tolerance,
}

impl Instance {
    /// An instance of a program in `examples/`, whose function is named after the objective.
    pub fn of_example(
        objective: &str,
        derivative: &str,
        name: &str,
        (file, source): (&str, &str),
        args: Arguments,
        blocks: Vec<Block>,
    ) -> Instance {
        Instance {
            objective: objective.to_owned(),
            name: name.to_owned(),
            file: file.to_owned(),
            source: source.to_owned(),
            function: Request::function(objective),
            gradient: Some(Request::function(derivative)),
            args,
            blocks,
            tolerance: Tolerance::default(),
        }
    }
}
