//! Records: what a loop saves in the forward sweep for its reverse, and how the reverse loop restores values.
//!
//! Note [What a loop records]: the reverse body is built from placeholders for the carried values. Dead code elimination
//! leaves the placeholders that the reverse reads. Each takes the first of these that applies, and only then is the forward
//! copy of the loop, which stands already, changed:
//!
//! | | when | cost |
//! |---|---|---|
//! | unchanged | the next value is the parameter itself | nothing |
//! | induction | an i64 that grows by a constant | nothing |
//! | reads | an array from which the body, at its top, reads only scalars | one scalar per read |
//! | undo log | an array changed only by updates, at any depth (`undo_log.rs`), but not all of it | old value and indices, per update |
//! | whole | anything else | the value, per iteration |
//!
//! This is the plain record. Results that are expensive to recompute are recorded beside it or in its place
//! (`residuals.rs`), and records of inner loops move to the outer one (`inner_records.rs`). A loop with a budget of bytes
//! records nothing and runs again from checkpoints (`replay.rs`).

mod inner_records;
mod min_cut;
mod recompute_graph;
mod replay;
mod residuals;
mod restore;
mod undo_log;
