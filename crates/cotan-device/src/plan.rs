//! The plan: what a host does, step by step, and the kernels that it launches.

use cotan_ir::Symbol;
use cotan_loops::{Buffer, Local, LoopFunction, Node, Operand, Sum};
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::Deref;

/// A program cut for a device: its [parts](PlanParts), to be read. Whoever runs one may rest on it being what
/// [`plan`](crate::plan) has made of verified nests, so nothing else makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan(PlanParts);

impl Plan {
    pub(crate) fn new(parts: PlanParts) -> Plan {
        Plan(parts)
    }

    /// Whether any of its kernels has more than one thread.
    pub fn is_parallel(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.shape.is_parallel())
    }
}

impl Deref for Plan {
    type Target = PlanParts;

    fn deref(&self) -> &PlanParts {
        &self.0
    }
}

/// The parts of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanParts {
    /// The tables of locals and buffers, parameters and results. All calls stand in it as what they call, and its body is
    /// in the steps.
    pub function: LoopFunction,
    /// What the host does.
    pub steps: Vec<Step>,
    /// What the device runs.
    pub kernels: Vec<Kernel>,
    /// What kernels hand over to each other and to the host.
    pub cells: Cells,
    /// The arrays whose size only the run of a kernel knows: stacks, and arrays whose extents a thread computes. Each has a
    /// [capacity](crate::Capacities) by its number in this list.
    pub growing: Vec<Buffer>,
}

/// One step of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A node without inner lists: scalars of the host, memory, copies, checks, routines, output.
    Node(Node),
    /// Runs a kernel.
    Launch(KernelId),
    /// Waits for the device, and gives the host the value of a scalar that lies there.
    ReadBack(Local),
    /// The same of a name of memory.
    ReadName(Buffer),
    /// A body whose memory is released at its end.
    Scope(Vec<Step>),
    /// A counted loop.
    For {
        /// The iteration number.
        index: Local,
        /// How many iterations.
        count: Operand,
        /// Taken once per iteration.
        body: Vec<Step>,
    },
    /// Takes its body as long as the local is true.
    While(Local, Vec<Step>),
    /// A loop whose length only the device knows, with rounds queued ahead.
    Rounds(Rounds),
    /// Two branches.
    If(Operand, Vec<Step>, Vec<Step>),
    /// Several branches by number.
    Switch(Operand, Vec<Vec<Step>>),
}

impl Step {
    /// The steps in it.
    pub fn lists(&self) -> Vec<&[Step]> {
        match self {
            Step::Node(_) | Step::Launch(_) | Step::ReadBack(_) | Step::ReadName(_) => Vec::new(),
            Step::Scope(body) | Step::For { body, .. } | Step::While(_, body) | Step::Rounds(Rounds { body, .. }) => {
                vec![body]
            }
            Step::If(_, yes, no) => vec![yes, no],
            Step::Switch(_, arms) => arms.iter().map(Vec::as_slice).collect(),
        }
    }

    /// The same, to be changed.
    pub(crate) fn lists_mut(&mut self) -> Vec<&mut Vec<Step>> {
        match self {
            Step::Node(_) | Step::Launch(_) | Step::ReadBack(_) | Step::ReadName(_) => Vec::new(),
            Step::Scope(body) | Step::For { body, .. } | Step::While(_, body) | Step::Rounds(Rounds { body, .. }) => {
                vec![body]
            }
            Step::If(_, yes, no) => vec![yes, no],
            Step::Switch(_, arms) => arms.iter_mut().collect(),
        }
    }
}

/// A loop whose length only the device knows. The host takes rounds ahead, whose kernels do nothing once the loop has ended,
/// and goes back to what it knew behind the last one that was.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// Whether there is another round: a scalar of the device.
    pub live: Local,
    /// How many there have been: a scalar of the device.
    pub count: Local,
    /// A round.
    pub body: Vec<Step>,
}

/// A kernel: an index into the plan's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelId(pub u32);

impl KernelId {
    /// The index into the list of kernels.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one launch runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// How its threads come about.
    pub shape: Shape,
    /// Run once by each thread.
    pub body: Vec<Node>,
    /// Scalars that the host gives.
    pub arguments: Vec<Local>,
    /// Scalars that are read from their cells before the body.
    pub reads: Vec<Local>,
    /// Scalars whose cells are written behind the body.
    pub writes: Vec<Local>,
    /// Memory that the host gives.
    pub buffers: Vec<Buffer>,
    /// Memory that each thread has of its own.
    pub regions: Vec<Region>,
    /// Names of memory that are read from their cells before the body.
    pub reads_names: Vec<Buffer>,
    /// Names of memory whose cells are written behind the body.
    pub writes_names: Vec<Buffer>,
    /// A condition in a cell without which it does nothing.
    pub only_if: Option<Local>,
}

/// An array of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// The array.
    pub buffer: Buffer,
    /// Its size.
    pub size: Size,
    /// With how many elements it may lie in the private memory of a thread, if it may.
    pub private: Option<u32>,
    /// The names of memory that are bound to it, where it may.
    pub names: Vec<Buffer>,
}

/// How many elements a region has.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// As many as the host computes from these extents.
    Known(Vec<Operand>),
    /// As many as the capacity of this number.
    Growing(usize),
}

/// How the threads of a kernel come about.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One thread.
    One,
    /// One for each index tuple, outermost index first.
    Each(Vec<(Local, Operand)>),
    /// One for each index tuple of a reduction, whose sums take up a value of each in the documented order. That order has
    /// partial results, so threads may have one each; what the kernel leaves are the sums alone.
    Reduce {
        /// The indices, outermost first.
        indices: Vec<(Local, Operand)>,
        /// What is reduced: scalars.
        sums: Vec<Sum>,
    },
    /// Iterations that combine values into memory that they share: one thread, in their order. Only what nobody knows the
    /// size of is left to it.
    InOrder {
        /// The iteration number.
        index: Local,
        /// How many iterations.
        count: Operand,
    },
}

impl Shape {
    /// Whether threads share the work.
    pub fn is_parallel(&self) -> bool {
        match self {
            Shape::One | Shape::InOrder { .. } => false,
            Shape::Each(_) | Shape::Reduce { .. } => true,
        }
    }

    /// The indices that it gives threads, each with how often it counts.
    pub fn indices(&self) -> Vec<(Local, Operand)> {
        match self {
            Shape::One => Vec::new(),
            Shape::Each(indices) | Shape::Reduce { indices, .. } => indices.clone(),
            Shape::InOrder { index, count } => vec![(*index, *count)],
        }
    }
}

/// A place in device memory of one scalar or one name of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(pub u32);

/// What kernels hand over to each other and to the host, each with its cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Scalars.
    pub locals: FxHashMap<Local, Cell>,
    /// Names of memory that kernels bind.
    pub buffers: FxHashMap<Buffer, Cell>,
}

impl Cells {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.locals.len() + self.buffers.len()
    }
}

/// Why a program has no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// There is no function of this name.
    NoFunction(Symbol),
    /// Functions call each other in a ring.
    Recursion(Symbol),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::NoFunction(name) => write!(f, "there is no function `{name}`"),
            PlanError::Recursion(name) => write!(f, "`{name}` calls itself"),
        }
    }
}

impl std::error::Error for PlanError {}
