//! One pass per file.

pub mod compact;
pub mod contract;
pub mod cse;
pub mod dce;
pub mod hoist;
mod identities;
pub mod inline;
pub mod own_slots;
mod rename;
pub mod trap_nan;
