//! What a plan does, in short, for people: its kernels with their threads and arrays, and what the host does.

use crate::parallel::is_wide;
use crate::plan::{Kernel, Plan, Size, Step};
use crate::print::shape_text;
use cotan_loops::{NestText, Node};

/// A kernel in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSummary {
    /// How its threads come about.
    pub threads: String,
    /// Whether threads share the work.
    pub is_parallel: bool,
    /// The arrays that each thread has of its own.
    pub arrays: Vec<ArraySummary>,
}

/// An array of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySummary {
    /// Its name.
    pub name: String,
    /// Its bytes, as a product of extents; `None` if only a run knows.
    pub bytes: Option<String>,
}

/// Something that the host does between kernels, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSummary {
    /// What it does.
    pub step: String,
    /// Why the device does not.
    pub why: &'static str,
}

impl Plan {
    /// Its kernels.
    pub fn kernel_summaries(&self) -> Vec<KernelSummary> {
        let text = NestText::new(&self.function);
        self.kernels.iter().map(|kernel| self.kernel_summary(&text, kernel)).collect()
    }

    fn kernel_summary(&self, text: &NestText<'_>, kernel: &Kernel) -> KernelSummary {
        let arrays = kernel.regions.iter().map(|region| {
            let info = &self.function.buffers[region.buffer.index()];
            let bytes = match &region.size {
                Size::Known(extents) => {
                    let extents = extents.iter().map(|extent| text.operand(*extent));
                    Some(extents.fold(info.elem.bytes().to_string(), |all, extent| format!("{all} * {extent}")))
                }
                Size::Growing(_) => None,
            };
            ArraySummary { name: text.buffer(region.buffer), bytes }
        });
        KernelSummary {
            threads: shape_text(text, &kernel.shape),
            is_parallel: kernel.shape.is_parallel(),
            arrays: arrays.collect(),
        }
    }

    /// How many loops with independent iterations, or reductions, share their iterations among threads, and how many are
    /// left to one thread. Of nested ones the outermost counts.
    pub fn independent_loops(&self) -> [usize; 2] {
        let [mut shared, mut alone] = [0; 2];
        for kernel in &self.kernels {
            if kernel.shape.is_parallel() {
                shared += 1;
            } else {
                alone += outermost_wide(&kernel.body);
            }
        }
        [shared, alone]
    }

    /// What the host does, beside memory, launches and numbers that follow from sizes, in order.
    pub fn host_summaries(&self) -> Vec<HostSummary> {
        let mut all = Vec::new();
        self.summarise(&NestText::new(&self.function), &self.steps, &mut all);
        all
    }

    fn summarise(&self, text: &NestText<'_>, steps: &[Step], all: &mut Vec<HostSummary>) {
        for step in steps {
            let found = match step {
                Step::Node(Node::Routine(routine)) => {
                    Some((routine.op.name().to_owned(), "a library of the host computes it"))
                }
                Step::Node(Node::Print { .. }) => Some(("print".to_owned(), "output is written by the host")),
                Step::ReadBack(local) => Some((
                    format!("read back {}", text.operand((*local).into())),
                    "a result, or it decides a branch, a number of iterations or a size",
                )),
                Step::ReadName(buffer) => {
                    Some((format!("read back {}", text.buffer(*buffer)), "which array it is decides a later step"))
                }
                Step::While(go, _) => Some((
                    format!("while {}", text.operand((*go).into())),
                    "the number of iterations depends on the device, and kernels are inside",
                )),
                Step::Node(_)
                | Step::Launch(_)
                | Step::Scope(_)
                | Step::For { .. }
                | Step::If(..)
                | Step::Switch(..) => None,
            };
            all.extend(found.map(|(step, why)| HostSummary { step, why }));
            step.lists().into_iter().for_each(|list| self.summarise(text, list, all));
        }
    }
}

/// How many of the outermost loops in a list could be shared among threads.
fn outermost_wide(nodes: &[Node]) -> usize {
    let of_node = |node: &Node| {
        if is_wide(node) { 1 } else { node.lists().into_iter().map(outermost_wide).sum::<usize>() }
    };
    nodes.iter().map(of_node).sum()
}
