//! A device, to a host that takes the steps of a plan: memory, copies, launches, and what it tells afterwards.

use crate::capacity::Need;
use crate::plan::{Cell, KernelId, Plan};
use cotan_ir::{CheckKind, OutOfMemory, Span};
use cotan_loops::{Buffer, BufferInfo};
use std::fmt;

/// What runs kernels. It may work while the host goes on; whatever gives the host a value waits.
pub trait Device {
    /// Where an element lies.
    type Address: Copy + fmt::Debug;
    /// What memory there was at some time.
    type Mark: Copy;
    /// An array that is there when the call is over.
    type Kept;

    /// Memory for so many elements, with unspecified content, until the scope ends, or the call.
    fn allocate(&mut self, info: &BufferInfo, count: i64, until: Until) -> Result<Self::Address, RunError>;

    /// Memory for more elements, from the first count to the second, that begins with those that lie at an address. It lasts
    /// as long as theirs at least.
    fn extend(&mut self, at: Self::Address, info: &BufferInfo, counts: [i64; 2]) -> Result<Self::Address, RunError>;

    /// What memory there is.
    fn mark(&self) -> Self::Mark;

    /// Releases the memory of scopes that there was not at this time.
    fn release(&mut self, mark: Self::Mark);

    /// Releases all memory that there was not at this time, whatever it was given for: a call has ended.
    fn end_call(&mut self, mark: Self::Mark);

    /// The address so many elements further on.
    fn plus(&self, at: Self::Address, info: &BufferInfo, elements: i64) -> Self::Address;

    /// Writes elements, each the bits of its constant.
    fn write(&mut self, to: Self::Address, info: &BufferInfo, elements: &[u64]) -> Result<(), RunError>;

    /// Reads elements.
    fn read(&mut self, from: Self::Address, info: &BufferInfo, count: usize) -> Result<Vec<u64>, RunError>;

    /// Copies elements; the two ranges are the same, or do not overlap.
    fn copy(&mut self, from: Self::Address, to: Self::Address, info: &BufferInfo, count: i64) -> Result<(), RunError>;

    /// Makes all cells, with unspecified content.
    fn open_cells(&mut self, count: usize) -> Result<(), RunError>;

    /// The scalars in cells.
    fn scalars<const N: usize>(&mut self, cells: [Cell; N]) -> Result<[u64; N], RunError>;

    /// The name of memory in a cell.
    fn name(&mut self, cell: Cell) -> Result<Self::Address, RunError>;

    /// Runs a kernel.
    fn launch(&mut self, plan: &Plan, kernel: KernelId, launch: &Launch<'_, Self::Address>) -> Result<(), RunError>;

    /// Waits for all that was launched, and says whether it failed.
    fn finish(&mut self) -> Result<(), RunError>;

    /// The same, and reads arrays.
    fn finish_with(&mut self, arrays: &[ArrayAt<'_, Self::Address>]) -> Result<Vec<Vec<u64>>, RunError> {
        self.finish()?;
        arrays.iter().map(|array| self.read(array.at, array.info, array.count)).collect()
    }

    /// Keeps an array beyond the end of the call, as memory of its own: nothing else that is kept or was given shares it. It
    /// has its elements once all that was launched has ended.
    fn keep(&mut self, array: &ArrayAt<'_, Self::Address>) -> Result<Self::Kept, RunError>;
}

/// Elements on a device.
#[derive(Clone, Copy, Debug)]
pub struct ArrayAt<'b, A> {
    /// The first one.
    pub at: A,
    /// A buffer with elements of this type.
    pub info: &'b BufferInfo,
    /// How many.
    pub count: usize,
}

/// How long an array has its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until the scope around it ends.
    ScopeEnds,
    /// Until the call ends.
    CallEnds,
}

/// What the host gives a kernel.
#[derive(Debug)]
pub struct Launch<'l, A> {
    /// Its scalars, by local; those that it did not ask for have no meaning.
    pub scalars: &'l [u64],
    /// Where memory lies that the host knows, by buffer.
    pub memory: &'l [Option<A>],
    /// The capacities of what grows, by number.
    pub capacities: &'l [i64],
}

impl<A: Copy> Launch<'_, A> {
    /// Where a buffer lies.
    pub fn address(&self, buffer: Buffer) -> Option<A> {
        self.memory.get(buffer.index()).copied().flatten()
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// The arguments do not fit the parameters: an error of the caller. Nothing has run.
    Arguments(String),
    /// A check of the program failed: an error of the program's user.
    Check {
        /// What is wrong.
        kind: CheckKind,
        /// The values that are reported, as their kind says.
        args: Vec<i128>,
        /// The source text of the statement that needed the check.
        span: Span,
    },
    /// Capacities were too small: the call has to begin anew.
    Needs(Vec<Need>),
    /// The device has no code for what the call reached: a host has to do it from its beginning.
    ForHost,
    /// There is no memory.
    OutOfMemory(Box<OutOfMemory>),
    /// The run has taken as many steps as it may.
    OutOfSteps,
    /// It was asked to stop.
    Stopped,
    /// The device failed: what it said, and what it was doing.
    Device(String),
    /// The plan breaks its contract: a bug of whoever made it.
    Bug(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Arguments(message) => f.write_str(message),
            RunError::Check { kind, args, .. } => f.write_str(&kind.message(args)),
            RunError::Needs(_) => f.write_str("an array of a thread has too little room"),
            RunError::ForHost => f.write_str("the device has no code for what the call reached"),
            RunError::OutOfMemory(error) => error.fmt(f),
            RunError::OutOfSteps => f.write_str("the limit on executed steps is reached"),
            RunError::Stopped => f.write_str("the run was asked to stop"),
            RunError::Device(message) => write!(f, "the device failed: {message}"),
            RunError::Bug(message) => write!(f, "bug: {message}"),
        }
    }
}

impl std::error::Error for RunError {}
