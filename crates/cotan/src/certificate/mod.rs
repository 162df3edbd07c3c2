//! Certificates: what a gradient does, written down for a checker that is proved.
//!
//! A certificate holds a program, the code of its gradient, and where in that code the cotangent of every value of the
//! program is. `proofs/theories/Certificate.v` has the checker and the theorem: if it accepts, the code computes the
//! derivatives, whatever compiler wrote it. So nothing here is trusted beyond that program and code are what is run.
//!
//! Program and code are those of a path ([`Path`]): both functions are run by the same steps along the loops, indices
//! and branches of one point, in the order and with the records and updates that the gradient has. Floats stand for
//! what [`Exact`] says, and their operations for those on real numbers.
//!
//! Where cotangents are is found by value: on random residues the cotangent of each value of the program is known, and the
//! step of the code with that residue holds it. Where the code never has a cotangent of its own,
//! as when a loop is differentiated forward, lines are added that say what it is.

mod code;
mod program;
mod residues;

use crate::host::{Arguments, fit_arguments};
use crate::{CallError, ReadyModule};
use code::Code;
use cotan_interp::RuntimeError;
use cotan_interp::path::{Id, Path, PathValue};
use cotan_ir::{Const, Elem, Module};
use cotan_ops::{ADD, MUL, Value};
use program::Program;
use residues::Residues;
use std::fmt;

/// A program, the code of its gradient, and where cotangents are, as the checker reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Lines of text, `end` the last.
    pub text: String,
    /// Number of values that the program is given, and of its steps.
    pub program: usize,
    /// Number of lines of the gradient's code.
    pub code: usize,
}

/// Why there is no certificate.
#[derive(Clone, Debug, PartialEq)]
pub enum NoCertificate {
    /// The functions can't be run along the path.
    Run(RuntimeError),
    /// A value that depends on the parameters is computed by what the proofs know nothing of.
    Unknown(String),
}

/// What is certified: a function, and another one that claims to give its cotangents.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The module and the name of the function.
    pub function: (&'a Module, &'a str),
    /// The module and the name of the function that gives cotangents.
    pub gradient: (&'a Module, &'a str),
    /// The arguments of the function; they come first among those of the other one, too.
    pub args: &'a [Value],
    /// The other arguments that are no floats.
    pub lengths: &'a [Value],
    /// Positions of the results that are differentiated, each with its cotangent: an argument of the other function that
    /// comes behind the others, or 1 where there is none.
    pub outs: &'a [(usize, Option<Value>)],
    /// For each parameter that is differentiated its position, and that of its cotangent among the results.
    pub wrt: &'a [(usize, usize)],
}

/// Paths are no longer than this: the checker looks values up in lists.
const MAX_STEPS: usize = 100_000;

/// Writes the certificate of the gradients of a function that [`ReadyModule`] IR computes at these arguments: the first
/// component of the result with respect to parameters by name, which `gradient` gives behind the value.
pub fn certify(
    function: &ReadyModule,
    gradient: &ReadyModule,
    args: &Arguments,
    wrt: &[String],
) -> Result<Result<Certificate, NoCertificate>, CallError> {
    let entry = &function.entry;
    let flat = fit_arguments(entry, args)?;
    let n_leaves: usize = entry.signature.params.iter().map(|p| p.ty.leaves().len()).sum();
    // The results of the gradient: the value, then for each parameter the leaves of its tangent.
    let mut results = gradient.entry.leaf_results.iter().skip(1);
    let mut positions = Vec::new();
    for name in wrt {
        let mut first = flat.len() - n_leaves;
        for param in &entry.signature.params {
            let leaves = param.ty.leaves();
            if param.name == *name {
                let tangent = param.ty.tangent_leaves().into_iter().zip(results.by_ref());
                positions.extend(tangent.filter(|(k, _)| leaves[*k].elem.is_float()).map(|(k, at)| (first + k, *at)));
            }
            first += leaves.len();
        }
    }
    let value = entry.leaf_results.first().copied().unwrap_or_default();
    Ok(certificate(&Claim {
        function: (&function.module, &entry.symbol),
        gradient: (&gradient.module, &gradient.entry.symbol),
        args: &flat,
        lengths: &[],
        outs: &[(value, None)],
        wrt: &positions,
    }))
}

/// Writes the certificate of a claim.
pub fn certificate(claim: &Claim<'_>) -> Result<Certificate, NoCertificate> {
    let mut path = Path::new(MAX_STEPS);
    let mut args: Vec<PathValue> = claim.args.iter().map(|arg| path.argument(arg)).collect::<Result<_, _>>()?;
    let seeds: Vec<Option<PathValue>> = claim
        .outs
        .iter()
        .map(|(_, cot)| cot.as_ref().map(|cot| path.argument(cot)).transpose())
        .collect::<Result<_, _>>()?;
    let (module, name) = claim.function;
    let results = path.run(module, name, &args)?;
    let mut output = None;
    for ((position, _), seed) in claim.outs.iter().zip(&seeds) {
        let seeds = seed.iter().flat_map(floats);
        let values = floats(&results[*position]);
        let terms: Vec<Id> = match seed {
            None => values.to_vec(),
            Some(_) => seeds
                .zip(values)
                .map(|(seed, value)| path.apply_row(&MUL, &[*seed, *value]))
                .collect::<Result<_, _>>()?,
        };
        for term in terms {
            output = Some(match output {
                None => term,
                Some(sum) => path.apply_row(&ADD, &[sum, term])?,
            });
        }
    }
    let output = match output {
        Some(output) => output,
        None => path.constant(Const::zero(Elem::F64))?,
    };
    let n_program = path.len();
    let wrt: Vec<Id> = claim.wrt.iter().flat_map(|(param, _)| floats(&args[*param])).copied().collect();

    args.extend(claim.lengths.iter().cloned().map(PathValue::Plain));
    args.extend(seeds.into_iter().flatten());
    let (module, name) = claim.gradient;
    let results = path.run(module, name, &args)?;
    let cotangents: Vec<Id> = claim.wrt.iter().flat_map(|(_, at)| floats(&results[*at])).copied().collect();

    // A parameter without a cotangent would be a parameter that nothing is claimed of.
    if wrt.len() != cotangents.len() {
        let message = format!("{} cotangents of {} numbers in the parameters", cotangents.len(), wrt.len());
        return Err(NoCertificate::Unknown(message));
    }
    let program = Program::new(&path, n_program, output, &wrt)?;
    let residues = Residues::new(&path, &program);
    let code = Code::new(&path, &program, &residues, &wrt, &cotangents)?;
    Ok(Certificate { text: code.text(&program), program: program.len(), code: code.len() })
}

/// The steps that the floats of a value are; those of an integer are none.
fn floats(value: &PathValue) -> &[Id] {
    match value {
        PathValue::Floats { nodes, .. } => nodes,
        PathValue::Plain(_) => &[],
    }
}

impl From<RuntimeError> for NoCertificate {
    fn from(e: RuntimeError) -> NoCertificate {
        NoCertificate::Run(e)
    }
}

impl fmt::Display for NoCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCertificate::Run(e) => e.fmt(f),
            NoCertificate::Unknown(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for NoCertificate {}
