//! Exit codes, and what happens should Cotan itself fail.

use crate::diagnostics;
use std::process::ExitCode;

/// The command did its job.
pub(crate) const DONE: u8 = 0;
/// The program has errors, or a check failed.
pub(crate) const PROGRAM: u8 = 1;
/// Wrong usage, unreadable input, arguments that do not fit.
pub(crate) const USAGE: u8 = 2;
/// A run-time error of the program.
pub(crate) const RUN_TIME: u8 = 3;

/// Reserved, not used: programs nest, and so do the walks over them. Pages are taken as the stack grows.
const STACK_BYTES: usize = 512 << 20;

/// Runs the command on a large stack. A panic becomes a message and an exit code, never a trace.
pub(crate) fn guarded(command: fn() -> ExitCode) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let message = info.payload_as_str().unwrap_or("no message");
        diagnostics::eprint(&format!("error[B0001]: this is a bug of Cotan: {message}{place}"));
    }));
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(command);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => PROGRAM.into(),
        Err(e) => {
            diagnostics::eprint(&format!("error: no thread for the command: {e}"));
            PROGRAM.into()
        }
    }
}
