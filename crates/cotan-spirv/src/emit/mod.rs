//! SPIR-V: compute kernels as words, from the instructions of the op table.
//!
//! - [`Emitter`] writes one kernel: it is begun, instructions are appended, it is finished;
//! - [`Emitter::instruction`] is what instructions of the op table mean, on every element type;
//! - [`Kernel`] is the outcome: the words, and what a device must have to run them.
//!
//! Memory is reached by addresses: a kernel gets that of its block of arguments, whose words are addresses and sizes.

mod cast;
mod constants;
mod emitter;
mod flow;
mod instruction;
mod integer;
mod known;
mod mapping;
mod memory;
mod opcode;
mod register;
mod storage;
mod structured;
mod words;

pub use emitter::{Emitter, Kernel, Value};
pub use instruction::NotEmitted;
pub(crate) use known::{LEAST_GRAIN, Range};
pub use mapping::{Computation, Mapping};
pub use register::Register;
pub(crate) use register::{DOUBLE, Format, SINGLE};
pub(crate) use structured::{ThreadArray, Variable};
