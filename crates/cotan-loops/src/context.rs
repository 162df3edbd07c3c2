//! The context of passes on nests: what they are told beside the nest.

use std::num::NonZeroU32;
use std::str::FromStr;

/// What passes on nests are told.
#[derive(Clone, Debug, Default)]
pub struct NestContext {
    /// The probes around the nests of the function.
    pub probe: Option<Probe>,
    /// How large the pieces of loops are.
    pub tasks: TaskSizes,
    /// How many lanes an operation works on at most; `None` for all of them.
    pub width: Option<Width>,
}

/// What probes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// When nests begin and end.
    Times,
    /// What nests compute, too. The function is much slower for it.
    Counts,
}

/// How many lanes an operation works on: a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(NonZeroU32);

impl Width {
    /// Scalars.
    pub const ONE: Width = Width(NonZeroU32::MIN);

    /// So many lanes; `None` if that is no power of two.
    pub fn new(lanes: u32) -> Option<Width> {
        NonZeroU32::new(lanes).filter(|lanes| lanes.is_power_of_two()).map(Width)
    }

    /// The number of lanes.
    pub fn lanes(self) -> u32 {
        self.0.get()
    }
}

impl FromStr for Width {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Width, &'static str> {
        text.parse().ok().and_then(Width::new).ok_or("expected a power of two, such as 1, 4 or 8")
    }
}

/// How large the pieces of loops are: chunks for threads, those of wavefronts, of loops that are distributed, and of nests
/// that are skewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskSizes {
    /// The steps of a chunk of a parallel loop, about.
    pub steps_of_chunk: f64,
    /// Steps of a parallel loop inside of a sequential one from which on it is cut into chunks.
    pub least_inside: f64,
    /// The steps of a piece of work for a thread, about.
    pub steps_of_task: f64,
    /// The steps of a range of the inner loop for one iteration of the outer one, at least, about.
    pub steps_of_range: f64,
    /// Ranges of the inner loop at most, about.
    pub most_ranges: f64,
    /// Bytes of what stages hand on, at most; a nest with more runs on one thread.
    pub bytes: f64,
    /// Iterations of a strip of a distributed loop, whose parts hand on values in arrays of that length.
    pub strip: i64,
    /// Iterations from which on a loop is distributed.
    pub least_distributed: i64,
    /// Rows of a strip of a skewed nest, whose diagonals run in lanes.
    pub rows: i64,
    /// What the parts of a distributed loop, or the lanes of a skewed nest, may cost, of what the loop does.
    pub worth: f64,
}

impl TaskSizes {
    /// The same with the chunks that sums are usually cut into, so that they have the usual bits.
    #[must_use]
    pub fn in_usual_chunks(self) -> TaskSizes {
        let TaskSizes { steps_of_chunk, least_inside, .. } = TaskSizes::USUAL;
        TaskSizes { steps_of_chunk, least_inside, ..self }
    }

    /// For tests: pieces as small as they get, so that small programs meet all that is done with large ones.
    pub const SMALLEST: TaskSizes = TaskSizes {
        steps_of_chunk: 64.0,
        least_inside: 128.0,
        steps_of_task: 1.0,
        steps_of_range: 1.0,
        strip: 4,
        least_distributed: 1,
        rows: 4,
        worth: f64::INFINITY,
        ..TaskSizes::USUAL
    };

    /// Handing a chunk to a thread costs about a hundredth of its steps. Inside of a sequential loop threads are called again
    /// and again, which some 10 us of work are worth. What a strip hands on stays in the first cache, and the operations of
    /// some vectors of rows fill the time that each of them takes.
    const USUAL: TaskSizes = TaskSizes {
        steps_of_chunk: (1 << 15) as f64,
        least_inside: (1 << 18) as f64,
        steps_of_task: (1 << 14) as f64,
        steps_of_range: 256.0,
        most_ranges: 32.0,
        bytes: (8 << 20) as f64,
        strip: 128,
        least_distributed: 32,
        rows: 16,
        worth: 0.67,
    };
}

impl Default for TaskSizes {
    fn default() -> TaskSizes {
        TaskSizes::USUAL
    }
}
