//! The table of operations: one row for each primitive, derivative included.
