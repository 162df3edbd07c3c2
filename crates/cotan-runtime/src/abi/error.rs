//! Error reports: the slot of a context that says why a call failed, and the codes of the host.

/// How many numbers a failed check may report.
pub const MAX_CHECK_ARGS: usize = 13;

/// Why a call failed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorSlot {
    /// Codes of failed checks are positive and chosen by the emitter; those of the host are the
    /// negative ones of [`code`].
    pub code: i32,
    /// The id of the source position, chosen by the emitter.
    pub span: i64,
    /// What the message shows, such as an index and an extent.
    pub args: [i64; MAX_CHECK_ARGS],
}

impl ErrorSlot {
    /// A bug, with as much of its text as there is room for.
    #[must_use]
    pub(crate) fn bug(text: impl AsRef<str>) -> ErrorSlot {
        let text = text.as_ref();
        let mut slot = ErrorSlot { code: code::BUG, ..ErrorSlot::default() };
        let kept = text.floor_char_boundary(size_of_val(&slot.args));
        for (word, bytes) in slot.args.iter_mut().zip(text.as_bytes()[..kept].chunks(size_of::<i64>())) {
            let mut word_bytes = [0; size_of::<i64>()];
            word_bytes[..bytes.len()].copy_from_slice(bytes);
            *word = i64::from_le_bytes(word_bytes);
        }
        slot
    }

    /// The text of [`code::BUG`].
    #[must_use]
    pub(crate) fn bug_text(&self) -> String {
        let bytes: Vec<u8> = self.args.iter().flat_map(|word| word.to_le_bytes()).collect();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
    }
}

/// The error codes of the host's functions.
pub mod code {
    /// The memory limit of the call, or the machine's memory, is exhausted. The arguments: the bytes of the tensor or
    /// stack that does not fit, the bytes that the call holds, and the limit, or [`NO_LIMIT`]. The span is the number
    /// of the place that asked, chosen by the emitter, from 1 on.
    pub const OUT_OF_MEMORY: i32 = -1;
    /// Stands for the limit where the machine refuses what the limit allows.
    pub const NO_LIMIT: i64 = -1;
    /// The call was cancelled.
    pub const CANCELLED: i32 = -2;
    /// The step budget is used up.
    pub const OUT_OF_STEPS: i32 = -3;
    /// The time of the call is over.
    pub const TIMED_OUT: i32 = -4;
    /// Compiled code has described an array with extents that no array has: a bug of whoever made it. The span is the rank,
    /// the arguments are the extents.
    pub const BAD_EXTENTS: i32 = -5;
    /// The host panicked, or found what cannot be. The arguments are the first bytes of a text, and zeros.
    pub const BUG: i32 = -6;
}
