//! Kernels of plans as SPIR-V modules.
//!
//! Threads share the iterations of a kernel in steps of their number (grid-stride loop), so there may be more iterations
//! than a device takes groups. Where a check fails, or an array has too little room, a thread says so in the report and
//! ends; a launch after it does nothing.

mod body;
mod control;
mod host;
mod layout;
mod memory;
mod reduction;

use crate::emit::{Emitter, Kernel as Module, NotEmitted, Register, Value};
use crate::features::Features;
use crate::numbers::Numbers;
use body::Body;
use cotan_device::{Kernel, Plan, Shape};
use cotan_loops::{Node, Reduce};
pub use layout::{NUMBERS, Report, Word, layout};
use std::fmt;

/// What has no code on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// An instruction.
    Instruction(NotEmitted),
    /// A function that only a host computes.
    Host(String),
    /// A kernel of so many words, more than drivers compile in a time that one waits for.
    Size(usize),
    /// A node that no kernel should hold: a bug of whoever made the plan.
    Node(String),
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Instruction(error) => error.fmt(f),
            Unsupported::Host(name) => write!(f, "there is no SPIR-V for the function `{name}`"),
            Unsupported::Size(words) => write!(f, "a kernel has {words} words of SPIR-V, more than {MOST_WORDS}"),
            Unsupported::Node(node) => write!(f, "bug: `{node}` in a kernel"),
        }
    }
}

impl std::error::Error for Unsupported {}

impl From<NotEmitted> for Unsupported {
    fn from(error: NotEmitted) -> Unsupported {
        Unsupported::Instruction(error)
    }
}

/// Writes a kernel for a device with these features and numbers, in workgroups of so many threads.
pub fn emit(
    plan: &Plan,
    kernel: &Kernel,
    features: Features,
    numbers: &Numbers,
    workgroup: u32,
) -> Result<Module, Unsupported> {
    let out = Emitter::new(features, numbers, workgroup);
    let mut body = Body::new(out, plan, kernel);
    body.stop_after_failures();
    match &kernel.shape {
        Shape::One => {
            body.only_first_thread();
            body.read_cells();
            body.nodes(&kernel.body)?;
            body.write_cells();
        }
        Shape::InOrder { index, .. } => {
            body.only_first_thread();
            body.read_cells();
            let ends = body.iterations();
            body.counted(ends, |body, k| {
                body.define(*index, k);
                body.set_iteration(k);
                body.nodes(&kernel.body)
            })?;
            body.write_cells();
        }
        Shape::Reduce { indices, sums } => {
            body.only_first_thread();
            body.read_cells();
            body.define_counts(indices);
            let whole = Reduce { indices: indices.clone(), sums: sums.clone(), body: kernel.body.clone() };
            body.nodes(&[Node::Reduce(Box::new(whole))])?;
            body.write_cells();
        }
        Shape::Each(indices) => {
            body.read_cells();
            let ends = body.shared_iterations();
            body.counted(ends, |body, k| {
                body.define_indices(indices, k);
                body.set_iteration(k);
                body.nodes(&kernel.body)
            })?;
        }
    }
    let module = body.finish();
    let words = module.words().len();
    if words > MOST_WORDS { Err(Unsupported::Size(words)) } else { Ok(module) }
}

/// Words of a kernel, at most. lavapipe takes more than a minute for one that is larger.
const MOST_WORDS: usize = 30_000;

/// The register of an i64.
const LONG: Register = Register::Int64;

/// A loop from the first value on, below the second, in steps of the third.
type Ends = [Value; 3];
