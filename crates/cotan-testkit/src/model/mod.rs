//! Programs on residues, for the proved model: what the tape engine makes of them, and what the shipped reverse
//! derivative does.
//!
//! Over the integers modulo 2^61 - 1 nothing is rounded, so two engines that do the same agree in every bit. The model
//! (`proofs/oracle`) is taken out of the proofs and speaks of tapes; the tape engine has to agree with it on every node,
//! and the derivative that `cotan-ad` writes, run on the interpreter, with the tape on every parameter.

mod executable;
mod lift;
mod question;
mod real;

pub use executable::{Disagreement, ask, executable};
pub use real::{examples, subjects};

use crate::derived_case::{Case, function, joined, lengths};
use crate::random::Rng;
use cotan_ad::derivative;
use cotan_interp::tape::{self, TracedValue};
use cotan_interp::{Limits, Numbers, Options, RuntimeError, run};
use cotan_ir::{Elem, Mode};
use cotan_ops::{Value, count};
use lift::lifted;
use question::question;
use std::fmt::Write;

/// What a tape is to the model, and what the model has to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// How to make the program again.
    pub label: String,
    /// Number of nodes.
    pub n_nodes: usize,
    /// The tape and the seeds.
    pub question: String,
    /// All values and all cotangents.
    pub answer: String,
}

/// Larger tapes are left out: the model looks nodes up in lists.
const MAX_NODES: usize = 20_000;

/// A bound on programs that don't end when their floats are residues.
const STEPS: u64 = 2_000_000;

/// The modulus.
const P: u64 = (1 << 61) - 1;

/// The graph of a program at random residues, once the shipped derivative agrees with it. The error of a graph that
/// there is not says why; an outer error is a disagreement.
pub fn graph(case: &Case) -> Result<Result<Graph, String>, String> {
    let subject = &case.subject;
    if case.elem() != Elem::F64 {
        return Ok(Err("constants rounded to f32 are other residues".to_owned()));
    }
    let Some((mut module, n_constants)) = lifted(&subject.module, &subject.name)? else {
        return Ok(Err("a tape knows nothing of rules that functions bring along".to_owned()));
    };
    let derived = case.first(Mode::Vjp);
    derivative(&mut module, &derived, &case.limits).map_err(|e| format!("no derivative: {e}"))?;
    let mut rng = Rng::new(subject.seed ^ 0xf1e1d);
    let mut residues = |dims: &[i64]| {
        let bits = (0..count(dims)).map(|_| rng.below(P as usize) as u64).collect();
        Value { elem: Elem::U64, dims: dims.to_vec(), bits }
    };
    let mut args: Vec<Value> =
        subject.args.iter().map(|arg| if arg.elem.is_float() { residues(&arg.dims) } else { arg.clone() }).collect();
    args.push(residues(&[n_constants]));
    let limits = Limits { steps: STEPS, ..Limits::default() };
    let options = Options { numbers: Numbers::Mod61, limits };
    let traced = match tape::trace(&module, &subject.name, &args, &options) {
        Ok(traced) => traced,
        Err(e @ RuntimeError::Bug(_)) => return Err(format!("the tape: {e}")),
        Err(other) => return Ok(Err(other.to_string())),
    };
    if traced.tape.len() > MAX_NODES {
        return Ok(Err(format!("more than {MAX_NODES} nodes")));
    }
    let (outs, wrt) = (nodes(&traced.results, &case.outs), nodes(&traced.params, &case.wrt));
    let cotangents: Vec<Value> = outs.iter().map(|(dims, _)| residues(dims)).collect();
    let seeds: Vec<(tape::Id, u64)> = outs
        .iter()
        .zip(&cotangents)
        .flat_map(|((_, nodes), cot)| nodes.iter().copied().zip(cot.bits.iter().copied()))
        .collect();
    let cots = traced.tape.reverse(&seeds).map_err(|e| format!("the tape: {e}"))?;

    let name = derived.canonical_name();
    let lengths = lengths(function(&module, &subject.name)?, &case.outs, &cotangents);
    let found = match run(&module, &name, &joined(&[&args, &lengths, &cotangents]), &options) {
        Ok(found) => found,
        Err(e @ RuntimeError::Undefined(_)) => return Ok(Err(e.to_string())),
        Err(e) => return Err(format!("`{name}` on residues: {e}")),
    };
    let found = &found[case.results.len()..];
    for (k, ((dims, nodes), found)) in wrt.iter().zip(found).enumerate() {
        let expected: Vec<u64> = nodes.iter().map(|id| cots[*id as usize]).collect();
        if found.dims != **dims || found.bits != expected {
            return Err(format!("cotangent {k} on residues: {:?} by `{name}`, {expected:?} by the tape", found.bits));
        }
    }
    let Some(question) = question(&traced, &seeds) else { return Ok(Err("a numerical routine".to_owned())) };
    let line = |what: &str, numbers: &mut dyn Iterator<Item = u64>| {
        let mut line = what.to_owned();
        numbers.for_each(|n| write!(line, " {n}").unwrap_or_default());
        line
    };
    let values = line("values", &mut (0..traced.tape.len() as tape::Id).map(|id| traced.tape.value(id)));
    let answer = format!("{values}\n{}\n", line("cotangents", &mut cots.iter().copied()));
    Ok(Ok(Graph { label: subject.label.clone(), n_nodes: traced.tape.len(), question, answer }))
}

/// Extents and nodes of the floats at some positions.
fn nodes<'t>(values: &'t [TracedValue], positions: &[usize]) -> Vec<(&'t [i64], &'t [tape::Id])> {
    let floats = |k: &usize| match &values[*k] {
        TracedValue::Floats { dims, nodes, .. } => Some((dims.as_slice(), nodes.as_slice())),
        TracedValue::Plain(_) => None,
    };
    positions.iter().filter_map(floats).collect()
}
