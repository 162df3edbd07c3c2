//! Kernels of plans as SPIR-V modules.
//!
//! Threads share the iterations of a kernel in steps of their number (grid-stride loop), so there may be more iterations
//! than a device takes groups. Where a check fails, or an array has too little room, a thread says so in the report and
//! ends; a launch after it does nothing.

mod body;
mod chains;
mod control;
mod gamma;
mod host;
mod indices;
mod layout;
mod memory;
mod reduction;
mod remainder;

use crate::emit::{Emitter, Kernel as Module, NotEmitted, Register, Value};
use crate::features::Features;
use crate::numbers::Numbers;
use body::Body;
use cotan_device::{Kernel, Plan, Region, Shape, Size};
pub use layout::{NUMBERS, Report, Word, layout};
use std::fmt;

/// What has no code on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// An instruction.
    Instruction(NotEmitted),
    /// A function that only a host computes.
    Host(String),
    /// A kernel of so many words and early ends of threads, more than drivers compile in a time that one waits for.
    Size {
        /// Words of SPIR-V.
        words: usize,
        /// Places where a thread may end early.
        exits: usize,
    },
    /// A node that no kernel should hold: a bug of whoever made the plan.
    Node(String),
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Instruction(error) => error.fmt(f),
            Unsupported::Host(name) => write!(f, "there is no SPIR-V for the function `{name}`"),
            Unsupported::Size { words, exits } => {
                write!(f, "a kernel has {words} words of SPIR-V and {exits} checks, more than drivers compile in time")
            }
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

/// A launch of its own in which a part of a kernel is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All of it.
    Whole(Growing),
    /// Of a reduction, the values of the iterations, into partial results.
    Chains(Growing),
    /// The same of the totals of blocks. It is launched for each level of blocks above the lowest.
    Totals,
    /// The total of the last block, into the sums.
    Last,
}

/// Where arrays of a thread lie whose size only the run knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growing {
    /// In device memory.
    InMemory,
    /// In private memory, where they may, with the capacity that [`Region::private`] says.
    Private,
}

impl Growing {
    /// With how many elements a region lies in private memory, if it does.
    pub fn private(self, region: &Region) -> Option<u32> {
        match (&region.size, self) {
            (Size::Known(_), _) | (Size::Growing(_), Growing::Private) => region.private,
            (Size::Growing(_), Growing::InMemory) => None,
        }
    }
}

impl Stage {
    /// The stages of a kernel. What comes in two forms is launched in one of them.
    pub fn of(kernel: &Kernel) -> Vec<Stage> {
        let grows = |region: &Region| matches!(region.size, Size::Growing(_)) && region.private.is_some();
        let mut forms = vec![Growing::InMemory];
        if kernel.regions.iter().any(grows) {
            forms.push(Growing::Private);
        }
        match kernel.shape {
            Shape::Reduce { .. } => forms.into_iter().map(Stage::Chains).chain([Stage::Totals, Stage::Last]).collect(),
            Shape::One | Shape::Each(_) | Shape::InOrder { .. } => forms.into_iter().map(Stage::Whole).collect(),
        }
    }

    /// Where its arrays lie whose size only the run knows.
    pub fn growing(self) -> Growing {
        match self {
            Stage::Whole(growing) | Stage::Chains(growing) => growing,
            Stage::Totals | Stage::Last => Growing::InMemory,
        }
    }
}

/// Writes the stages of a kernel for a device with these features and numbers, in workgroups of so many threads.
pub fn emit(
    plan: &Plan,
    kernel: &Kernel,
    features: Features,
    numbers: &Numbers,
    workgroup: u32,
) -> Result<Vec<Module>, Unsupported> {
    Stage::of(kernel)
        .into_iter()
        .map(|stage| {
            let out = Emitter::new(features, numbers, workgroup);
            let mut body = Body::new(out, plan, kernel, stage);
            body.stop_after_failures();
            body.stop_unless_wanted();
            body.stage(stage)?;
            let module = body.finish();
            let (words, exits) = (module.words().len(), module.exits());
            if compile_cost(words, exits) > MOST_COST { Err(Unsupported::Size { words, exits }) } else { Ok(module) }
        })
        .collect()
}

impl Body<'_> {
    fn stage(&mut self, stage: Stage) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        match (&kernel.shape, stage) {
            (Shape::Reduce { indices, sums }, Stage::Chains(_)) => {
                self.open();
                self.read_cells();
                self.chains(indices, sums)
            }
            (Shape::Reduce { sums, .. }, Stage::Totals) => self.chains_of_totals(sums),
            (Shape::Reduce { sums, .. }, Stage::Last) => {
                self.only_first_thread();
                self.combine_totals(sums)
            }
            (shape @ (Shape::One | Shape::Each(_) | Shape::InOrder { .. }), _) | (shape, Stage::Whole(_)) => {
                self.open();
                self.in_one_launch(shape)
            }
        }
    }

    fn in_one_launch(&mut self, shape: &Shape) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        match shape {
            Shape::One => {
                self.only_first_thread();
                self.read_cells();
                self.nodes(&kernel.body)?;
                self.write_cells();
                Ok(())
            }
            Shape::InOrder { index, .. } => {
                self.only_first_thread();
                self.read_cells();
                let ends = self.iterations();
                self.counted(ends, |body, k| {
                    body.define(*index, k);
                    body.set_iteration(k);
                    body.nodes(&kernel.body)
                })?;
                self.write_cells();
                Ok(())
            }
            Shape::Each(indices) => {
                self.read_cells();
                let ends = self.shared_iterations();
                self.each_iteration(indices, ends, |body| body.nodes(&kernel.body))
            }
            Shape::Reduce { .. } => Err(Unsupported::Node("a reduction in one launch".to_owned())),
        }
    }
}

/// What a kernel takes a driver to compile, in words of straight code: behind each early end of a thread all else is
/// conditional, so that these cost their square.
fn compile_cost(words: usize, exits: usize) -> usize {
    words + 30 * exits * exits
}

/// The cost of a kernel, at most: some five seconds on lavapipe, by the figures of `decisions/vulkan.md`.
const MOST_COST: usize = 120_000;

/// The register of an i64.
const LONG: Register = Register::Int64;

/// A loop from the first value on, below the second, in steps of the third.
type Ends = [Value; 3];
