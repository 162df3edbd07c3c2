//! Policy for the reverse of a loop: checkpoints, recomputation, mode. Only reverse mode reads it; values and derivatives are
//! the same under every policy.

use crate::Mode;
use std::fmt;

/// The policy by which a reverse sweep restores the values of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReversePolicy {
    /// The iterations whose values are recorded; without it all of them.
    pub checkpoint: Option<Checkpoint>,
    /// Whether the loop is run again, and recorded only then.
    pub recompute: bool,
    /// The mode in which the author wants it differentiated inside a reverse sweep, where there is a choice.
    pub mode: Option<Mode>,
}

/// A scheme of checkpoints: values between two of them are recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// One in this many iterations, at least one.
    Every(i64),
    /// As many as there are iterations between two of them.
    Sqrt,
    /// Segments within segments, this many loops deep, at least one.
    Levels(i64),
    /// As many states and records of iterations as fit this many bytes.
    Budget(i64),
    /// All iterations, and those of the loops inside: no loop is run again.
    All,
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Checkpoint::Every(n) => write!(out, "every {n}"),
            Checkpoint::Sqrt => out.write_str("sqrt"),
            Checkpoint::Levels(n) => write!(out, "levels {n}"),
            Checkpoint::Budget(bytes) => write!(out, "budget {bytes}"),
            Checkpoint::All => out.write_str("all"),
        }
    }
}

impl fmt::Display for ReversePolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(checkpoint) = self.checkpoint {
            write!(out, " checkpoint {checkpoint}")?;
        }
        if self.recompute {
            out.write_str(" recompute")?;
        }
        match self.mode {
            Some(Mode::Jvp) => out.write_str(" forward"),
            Some(Mode::Vjp) => out.write_str(" reverse"),
            None => Ok(()),
        }
    }
}
