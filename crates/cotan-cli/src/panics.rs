//! Panics, each of which is a bug of Cotan: told in one line, and turned into a failure of the command.

use crate::diagnostics::{self, Failure};
use cotan::diagnostics::HOW_TO_REPORT;
use cotan::on_deep_stack;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Tells of every panic in one line and what to do about it, never by a trace. It is told at once: what the panic leads to
/// may end the process.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let message = info.payload_as_str().unwrap_or(NO_MESSAGE);
        diagnostics::eprint(&format!("error[B0001]: this is a bug of Cotan: {message}{place}"));
        diagnostics::eprint(&format!("  help: {HOW_TO_REPORT}"));
    }));
}

/// Runs the command on a large stack. A panic in it becomes a failure of Cotan itself.
pub(crate) fn guarded(command: impl FnOnce() -> Result<u8, Failure> + Send) -> Result<u8, Failure> {
    // Whatever the command was at work on is gone with it.
    catch_unwind(AssertUnwindSafe(|| on_deep_stack(command)))
        .unwrap_or_else(|panic| Err(Failure::bug(message(&*panic)).told()))
}

const NO_MESSAGE: &str = "no message";

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or(NO_MESSAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::USAGE;
    use cotan::codes;
    use serde_json::json;

    fn below_another_thread() -> Result<u8, Failure> {
        let ended = std::thread::scope(|scope| scope.spawn(|| -> Result<u8, Failure> { panic!("below") }).join());
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    #[test]
    fn a_panic_is_a_failure_of_cotan_itself() {
        type Case = (fn() -> Result<u8, Failure>, &'static str);
        let cases: [Case; 4] = [
            (|| panic!("injected"), "injected"),
            (|| panic!("injected {}", 2), "injected 2"),
            (|| std::panic::panic_any(3), "no message"),
            (below_another_thread, "below"),
        ];
        for (panic, says) in cases {
            let failure = guarded(panic).expect_err("a failure");
            assert_eq!(failure.status, 70);
            let reports = failure.into_reports();
            let object = json!(diagnostics::objects(&reports)[0]);
            assert_eq!(object["code"], codes::BUG.as_str());
            assert_eq!(object["message"], format!("this is a bug of Cotan: {says}"));
            assert_eq!(object["help"], HOW_TO_REPORT);
        }
    }

    #[test]
    fn what_a_command_gives_is_passed_on() {
        assert!(matches!(guarded(|| Ok(3)), Ok(3)));
        let failure = guarded(|| Err(Failure::plain(USAGE, codes::UNFIT_REQUEST, "no"))).expect_err("a failure");
        assert_eq!(failure.status, USAGE);
    }
}
