//! All tests of this crate through its public interface, in one program: what they share is built and linked once.
//!
//! `fatal` is a program of its own, as it changes what the whole process sees.

mod agreement;
mod compile;
mod function_cache;
mod object_cache;
mod pages;
mod runtime;
mod search;
