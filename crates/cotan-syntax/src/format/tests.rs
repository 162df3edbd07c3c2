//! What the formatter keeps, on all programs of the repository and on spoilt copies of them; how it lays
//! programs out, on snapshots.

mod kept;
mod layout;
