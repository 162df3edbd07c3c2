//! Placeholder until the first slice.
fn main() {}
