//! Calls of compiled functions from Rust: arguments and results in the layout of compiled code, limits, and why a call
//! has no result.

mod buffers;
mod call_into;
mod code;
mod error;
mod function;
mod nan;
mod operand;
mod reports;
mod signature;

pub use code::{CodeMemory, CodeOrigin, MachineCode};
pub use error::RuntimeError;
pub use function::{CallOptions, CallResult, CompiledFunction, Statistics};
pub use reports::{EmittedCheck, Reports};
