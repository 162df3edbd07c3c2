//! The floating-point mode of a thread: rounding, and whether subnormal numbers become zero.
//!
//! Compiled code changes it for loops of derivatives, and what other threads do of such a loop has to be done in the same
//! mode: they inherit it.

/// A mode; nothing where code does not change it.
#[derive(Clone, Copy)]
pub(super) struct FloatMode {
    #[cfg(target_arch = "x86_64")]
    control: u32,
}

/// While it lives, its thread has another mode.
pub(super) struct Inherited {
    before: FloatMode,
}

impl FloatMode {
    #[cfg(target_arch = "x86_64")]
    pub(super) fn of_this_thread() -> FloatMode {
        let mut control = 0_u32;
        // SAFETY: it writes the register to the four bytes.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags)) };
        FloatMode { control }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn of_this_thread() -> FloatMode {
        FloatMode {}
    }

    /// The mode with more bits of the control register.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub(super) fn with(self, bits: u32) -> FloatMode {
        FloatMode { control: self.control | bits }
    }

    /// Gives the mode to this thread for a while.
    pub(super) fn inherited(self) -> Inherited {
        let before = FloatMode::of_this_thread();
        self.set();
        Inherited { before }
    }

    #[cfg(target_arch = "x86_64")]
    fn set(self) {
        // SAFETY: the value is one that the register had on another thread or before.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const self.control, options(nostack, preserves_flags)) };
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn set(self) {}
}

impl Drop for Inherited {
    fn drop(&mut self) {
        self.before.set();
    }
}
