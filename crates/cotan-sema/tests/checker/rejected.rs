//! Programs with errors, and what is said about them.
