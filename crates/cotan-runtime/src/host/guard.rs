//! Panics are caught where compiled code called: nothing unwinds through its frames, and the call ends with an error that
//! says what the panic said.
//!
//! What panics is work of others, such as the host's function for output or the routine of an operation of one's own, or
//! a bug. The state that is left is that of a call that failed: results that nobody reads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi::{Ctx, ErrorSlot, FAILED, Status};

/// Does what may panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, ErrorSlot> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| ErrorSlot::bug(message(payload)))
}

/// Does the work of an export; a panic is its failure.
pub(super) fn reporting(ctx: &mut Ctx, work: impl FnOnce(&mut Ctx) -> Status) -> Status {
    guarded(|| work(&mut *ctx)).unwrap_or_else(|error| {
        ctx.error = error;
        FAILED
    })
}

/// What a panic said.
fn message(payload: Box<dyn Any + Send>) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    // What the payload does when it is dropped may panic as well, so it is not.
    std::mem::forget(payload);
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_says_what_it_said() {
        assert_eq!(guarded(|| 5), Ok(5));
        for (error, text) in [
            (guarded(|| -> i32 { panic!("a routine is broken") }), "a routine is broken"),
            (guarded(|| -> i32 { panic!("number {}", 7) }), "number 7"),
            (guarded(|| -> i32 { std::panic::panic_any(7) }), "a panic without a message"),
        ] {
            assert_eq!(error.map_err(|error| error.bug_text()), Err(text.to_owned()));
        }
        // Of a long text as much as a slot holds, to the end of a character.
        let long = "é".repeat(100);
        let kept = ErrorSlot::bug(format!("x{long}")).bug_text();
        assert!(long.starts_with(&kept[1..]) && kept.len() > 90, "{kept}");
    }
}
