//! What happens when LLVM gives up.
//!
//! LLVM reports a few conditions ("cannot select", out of memory) by calling a fatal error handler
//! and then ends the process. The handler here does not return: it hands the message to whoever
//! waits for this thread and parks the thread for ever, which costs its stack and saves the process.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};

type Listener = Box<dyn FnOnce(String)>;

thread_local! {
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// Calls `listener` with the message if LLVM gives up on this thread; the thread then never
/// continues. Threads without a listener are ended by LLVM together with the process.
pub(crate) fn listen_on_this_thread(listener: impl FnOnce(String) + 'static) {
    LISTENER.with_borrow_mut(|slot| *slot = Some(Box::new(listener)));
}

/// The handler that is installed in every loaded library.
///
/// # Safety
/// `reason` is a NUL-terminated string.
pub(super) unsafe extern "C" fn on_fatal_error(reason: *const c_char) {
    let Some(listener) = LISTENER.with_borrow_mut(Option::take) else {
        return;
    };
    // SAFETY: by this function's contract.
    let message = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    listener(message);
    loop {
        std::thread::park();
    }
}
