//! Diagnostics for people and for tools.

mod controls;
mod json;
mod text;

pub use controls::{visible_json, visible_line, visible_text};
pub use json::{JsonDiagnostic, JsonEdit, JsonLabel, to_json};
pub use text::{Style, to_text};

#[cfg(test)]
mod tests;
