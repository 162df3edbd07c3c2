//! The book: its programs do what it says of them, what it shows of the compiler is what the compiler says, and its
//! links lead somewhere.

mod copies;
mod error_index;
mod idioms;
mod links;
mod listings;
mod programs;
mod promises;
mod scratch;
