//! The book: its programs do what it says of them, what it shows of the compiler is what the compiler says, and its
//! links lead somewhere.

mod error_index;
mod links;
mod listings;
mod pages;
mod programs;
mod promises;
mod scratch;
