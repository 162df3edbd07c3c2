//! A program and arguments for it.

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
    /// What gives `(value, gradients..)`; none times the function alone.
    pub gradient: Option<Request>,
    /// Arguments of both.
    pub args: Arguments,
    /// How many derivative entries belong to each parameter block, in order.
    pub blocks: Vec<usize>,
}

impl Instance {
    /// An instance of a program in `examples/`, where the function `f` has the gradient `f_gradient`.
    pub(crate) fn of_example(
        objective: &str,
        name: &str,
        (file, source): (&str, &str),
        args: Arguments,
        blocks: Vec<usize>,
    ) -> Instance {
        Instance {
            objective: objective.to_owned(),
            name: name.to_owned(),
            file: file.to_owned(),
            source: source.to_owned(),
            function: Request::function(objective),
            gradient: Some(Request::function(format!("{objective}_gradient"))),
            args,
            blocks,
        }
    }
}
