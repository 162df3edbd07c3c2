//! The interpreter and the tape engine on small programs in text form.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod constructs;
mod dependence;
mod errors;
mod rows;
mod support;
mod tape;
