//! Exit codes, and what happens should Cotan itself fail.

use crate::diagnostics;
use cotan::syntax::on_deep_stack;
use std::process::ExitCode;

/// The command did its job.
pub(crate) const DONE: u8 = 0;
/// The program has errors, or a check failed.
pub(crate) const PROGRAM: u8 = 1;
/// Wrong usage, unreadable input, arguments that do not fit.
pub(crate) const USAGE: u8 = 2;
/// A run-time error of the program.
pub(crate) const RUN_TIME: u8 = 3;

/// Runs the command on a large stack. A panic becomes a message and an exit code, never a trace.
pub(crate) fn guarded(command: fn() -> ExitCode) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let message = info.payload_as_str().unwrap_or("no message");
        diagnostics::eprint(&format!("error[B0001]: this is a bug of Cotan: {message}{place}"));
    }));
    std::panic::catch_unwind(|| on_deep_stack(command)).unwrap_or_else(|_| PROGRAM.into())
}
