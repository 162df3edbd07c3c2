//! Developer commands of the Cotan project.
fn main() {}
