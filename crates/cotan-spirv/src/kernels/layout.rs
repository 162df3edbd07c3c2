//! The block of arguments of a module: words of 64 bits, listed once for what writes the module and for what launches it.

use super::Stage;
use cotan_device::{Kernel, Plan, Shape, Size};
use cotan_loops::node::{BufferUse, walk};
use cotan_loops::{Buffer, Local};

/// One word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The address of the report.
    Report,
    /// The number of the launch.
    Launch,
    /// The address of the cells.
    Cells,
    /// How many iterations there are.
    Iterations,
    /// How many threads share them.
    Threads,
    /// The address of the memory of threads: words of 64 bits. Workgroups have a tile each, in which those of the same element of
    /// all threads lie side by side.
    Slab,
    /// How many elements a thread has there.
    Row,
    /// The address of the numbers of messages, [`NUMBERS`] words for each thread.
    Numbers,
    /// How often an index counts, by its position.
    Count(usize),
    /// A scalar that the host gives.
    Scalar(Local),
    /// The address of memory that the host gives.
    Memory(Buffer),
    /// The first element of a region in the memory of a thread, by its position.
    Region(usize),
    /// The capacity of an array that grows, by its number.
    Capacity(usize),
    /// How many partial results there are of each sum.
    Chains,
    /// The address of the partial results that an earlier stage has left, by the position of the sum.
    From(usize),
    /// The address of those that this one leaves.
    To(usize),
}

/// Words of the numbers of a message.
pub const NUMBERS: usize = 14;

/// Words of the report: the least number of a failed check, the first launches that failed and that a host has to do, then
/// the need of each array that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report;

impl Report {
    /// The iteration that failed times 2^16, and the number of the check; all bits set where none did.
    pub const CHECK: usize = 0;
    /// The number of the launch that failed first; all bits set where none did.
    pub const LAUNCH: usize = 1;
    /// The number of the launch that first reached what only a host computes; all bits set where none did.
    pub const HOST: usize = 2;
    /// The needs, by number.
    pub const NEEDS: usize = 3;
}

/// The words of a stage of a kernel, in their order.
pub fn layout(plan: &Plan, kernel: &Kernel, stage: Stage) -> Vec<Word> {
    let n_sums = match &kernel.shape {
        Shape::Reduce { sums, .. } => sums.len(),
        Shape::One | Shape::Each(_) | Shape::InOrder { .. } => 0,
    };
    let common = [Word::Report, Word::Launch, Word::Cells, Word::Iterations, Word::Threads];
    let mut words = common.to_vec();
    match stage {
        Stage::Whole(_) => words.extend(of_body(plan, kernel)),
        Stage::Chains(_) => {
            words.push(Word::Chains);
            words.extend(of_body(plan, kernel));
            words.extend((0..n_sums).map(Word::To));
        }
        Stage::Totals => {
            words.push(Word::Chains);
            words.extend((0..n_sums).map(Word::From));
            words.extend((0..n_sums).map(Word::To));
        }
        Stage::Last => words.extend((0..n_sums).map(Word::From)),
    }
    words
}

/// What the body of a kernel needs.
fn of_body(plan: &Plan, kernel: &Kernel) -> Vec<Word> {
    let mut words = vec![Word::Slab, Word::Row, Word::Numbers];
    words.extend((0..kernel.shape.indices().len()).map(Word::Count));
    words.extend(kernel.arguments.iter().copied().map(Word::Scalar));
    words.extend(kernel.buffers.iter().copied().map(Word::Memory));
    words.extend((0..kernel.regions.len()).map(Word::Region));
    words.extend(growing(plan, kernel).into_iter().map(Word::Capacity));
    words
}

/// The arrays that a kernel lets grow, by number.
fn growing(plan: &Plan, kernel: &Kernel) -> Vec<usize> {
    let mut numbers = Vec::new();
    let mut add = |number: usize| {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    };
    for region in &kernel.regions {
        if let Size::Growing(number) = region.size {
            add(number);
        }
    }
    walk(&kernel.body, &mut |node| {
        node.each_buffer(&mut |buffer, usage| {
            if usage == BufferUse::ExtendStack
                && let Some(number) = plan.growing.iter().position(|other| *other == buffer)
            {
                add(number);
            }
        });
    });
    numbers
}
