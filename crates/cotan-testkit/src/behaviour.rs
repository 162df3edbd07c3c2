//! What a program does: what its functions give and print for seeded arguments. Two programs mean the same if that is equal.

use crate::engines::{Engine, RunError};
use crate::frontend::lower;
use crate::pass_files::arguments;
use cotan::{Program, Request};
use cotan_ops::Value;
use cotan_sema::typed::Function;

/// The lists of arguments: ordinary numbers, and sizes from 1 to 3.
const VARIANTS: [usize; 3] = [5, 6, 7];

/// How far apart floats may be that are the same but for the order of operations.
const TOLERANCE: f64 = 1e-14;

/// What one call gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The values, and what was printed before them.
    Values(Vec<Value>, String),
    /// The code of the check that failed.
    Fails(&'static str),
}

/// The functions of a program's own file that say which arguments they take.
pub fn functions(program: &Program) -> impl Iterator<Item = &Function> {
    let own = |f: &&Function| f.name_span.file.0 == 0 && !f.is_shapeless() && !f.name.ends_with(".primal");
    program.checked.program.functions.iter().filter(own)
}

/// What a function of a program gives for each list of arguments.
pub fn outcomes(program: &Program, function: &str) -> Result<Vec<Outcome>, String> {
    let ready = lower(program, &Request::function(function))?;
    let symbol = &ready.entry.symbol;
    let f = ready.module.function(symbol).ok_or_else(|| format!("`{function}` has no code"))?;
    // Sizes that stand beside the values are not told apart.
    let leaves = |values: &[Value]| -> Vec<Value> {
        ready.entry.leaf_results.iter().filter_map(|at| values.get(*at).cloned()).collect()
    };
    let outcome = |variant: &usize| {
        let mut output = String::new();
        let args = arguments(f, *variant);
        match Engine::Interpreter.run_with_output(&ready.module, symbol, &args, &mut |text| output.push_str(text)) {
            Ok(values) => Ok(Outcome::Values(leaves(&values), output)),
            Err(RunError::Check { kind, .. }) => Ok(Outcome::Fails(kind.code())),
            Err(RunError::Other(message)) => Err(format!("`{function}`: {message}")),
        }
    };
    VARIANTS.iter().map(outcome).collect()
}

/// Whether two calls give the same, but for the rounding of another order of operations.
pub fn agree(found: &Outcome, expected: &Outcome) -> bool {
    match (found, expected) {
        (Outcome::Values(found, printed), Outcome::Values(expected, wanted)) => {
            let are_near = found.iter().zip(expected).all(|(found, expected)| is_near(found, expected));
            found.len() == expected.len() && are_near && printed == wanted
        }
        (Outcome::Values(..) | Outcome::Fails(_), _) => found == expected,
    }
}

fn is_near(found: &Value, expected: &Value) -> bool {
    let near = |(a, b): (f64, f64)| (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()) || a.to_bits() == b.to_bits();
    let are_near = match (found.floats(), expected.floats()) {
        (Some(found), Some(expected)) => found.into_iter().zip(expected).all(near),
        _ => found.bits == expected.bits,
    };
    (found.elem, &found.dims) == (expected.elem, &expected.dims) && are_near
}
