//! What messages show of names that others chose.

use crate::cli::holds;
use cotan_testkit::accept::sound;

/// Defect D10: names went to the terminal as they were, and a line break in one forged a diagnostic.
#[test]
fn d10_no_message_has_a_raw_control_character() {
    holds(sound::messages::messages);
}
