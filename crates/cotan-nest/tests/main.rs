//! All tests of this crate through its public interface, in one program: what they share is built and linked once.

mod agreement;
mod bugs;
mod plans;
mod recurrences;
