//! Diagnostics for people and for tools.

mod json;
mod text;

pub use json::{JsonDiagnostic, JsonLabel, to_json};
pub use text::{Style, to_text};

#[cfg(test)]
mod tests;
