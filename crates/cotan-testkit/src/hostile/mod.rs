//! Files of arguments that are broken, or made to do harm.

pub mod bombs;
pub mod mutants;
