//! All tests of this crate through its public interface, in one program.
