//! Moves `break`, `continue` and `return` out of operands.

use std::borrow::Cow;

use crate::typed::Program;

/// The program, in which control escapes from statements, arms and the values of blocks only.
pub(super) fn to_statements(program: &Program) -> Cow<'_, Program> {
    Cow::Borrowed(program)
}
