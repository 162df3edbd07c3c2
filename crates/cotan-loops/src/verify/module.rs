//! Calls: functions that are compiled together agree on what they hand to each other.

use super::{Checked, NestError, require, verify};
use crate::print::heading;
use crate::{Argument, CallResult, LoopFunction, Node, Param};
use cotan_ir::{Elem, Symbol};
use rustc_hash::FxHashMap;
use std::ops::Deref;

/// A scalar or a tensor: its element type, and the rank of a tensor.
type Kind = (Elem, Option<usize>);

/// Functions that call each other, and no others, and have passed the verifier: what a backend takes. The only way to it is
/// the verifier, in release builds as well: it looks at each node once and allocates next to nothing, where a code generator
/// writes text for it and compiles that.
///
/// ```compile_fail
/// let nest = cotan_loops::lower(&cotan_ir::Builder::new().finish("f", Vec::new()), &cotan_loops::CPU);
/// let unverified = cotan_loops::VerifiedNests(vec![nest]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedNests(Vec<LoopFunction>);

impl VerifiedNests {
    /// The functions, if they keep every rule.
    pub fn new(functions: Vec<LoopFunction>) -> Result<VerifiedNests, NestError> {
        verify_nests(&functions)?;
        Ok(VerifiedNests(functions))
    }
}

impl Deref for VerifiedNests {
    type Target = [LoopFunction];

    fn deref(&self) -> &[LoopFunction] {
        &self.0
    }
}

/// Checks functions that call each other, and no others, against all rules of the verifier.
pub fn verify_nests(functions: &[LoopFunction]) -> Result<(), NestError> {
    let by_name: FxHashMap<&Symbol, &LoopFunction> = functions.iter().map(|f| (&f.name, f)).collect();
    functions.iter().try_for_each(|f| {
        verify(f)?;
        calls(f, &f.body, &by_name)
    })
}

fn calls(f: &LoopFunction, nodes: &[Node], by_name: &FxHashMap<&Symbol, &LoopFunction>) -> Result<(), NestError> {
    nodes.iter().try_for_each(|node| {
        if let Node::Call { callee, args, results } = node {
            call(f, by_name.get(callee).copied(), callee, (args, results)).map_err(|message| NestError {
                function: f.name.clone(),
                node: heading(f, node),
                message,
            })?;
        }
        node.lists().into_iter().try_for_each(|list| calls(f, list, by_name))
    })
}

fn call(
    f: &LoopFunction,
    callee: Option<&LoopFunction>,
    name: &Symbol,
    (args, results): (&[Argument], &[CallResult]),
) -> Checked {
    let Some(callee) = callee else { return Err(format!("there is no function `{name}`")) };
    let given = args.iter().map(|argument| kind_of(f, argument)).collect::<Vec<Kind>>();
    let params = callee.params.iter().map(|param| match param {
        Param::Scalar(local) => (callee.elem(*local), None),
        Param::Tensor(tensor) => (tensor.elem, Some(tensor.dims.len())),
    });
    require(given == params.collect::<Vec<Kind>>(), || format!("arguments that `{name}` does not take"))?;
    let taken = results.iter().map(|result| match result {
        CallResult::Scalar(local) => (f.elem(*local), None),
        CallResult::Into(tensor) => (tensor.elem, Some(tensor.dims.len())),
        CallResult::New(buffer, rank) => (f.buffers[buffer.index()].elem, Some(*rank)),
    });
    let made = callee.results.iter().map(|argument| kind_of(callee, argument)).collect::<Vec<Kind>>();
    require(taken.collect::<Vec<Kind>>() == made, || format!("results that `{name}` does not give"))
}

fn kind_of(f: &LoopFunction, argument: &Argument) -> Kind {
    match argument {
        Argument::Scalar(operand) => (f.operand_elem(*operand), None),
        Argument::Tensor(tensor) => (tensor.elem, Some(tensor.dims.len())),
    }
}
