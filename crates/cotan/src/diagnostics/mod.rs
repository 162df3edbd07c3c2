//! Diagnostics: what is wrong, where, and what to do about it; with the source text, and as text or JSON.

mod failures;
mod mending;

pub use cotan_sema::closest;
pub use cotan_syntax::render::{
    JsonDiagnostic, JsonEdit, Style, to_json, to_text, visible_json, visible_line, visible_text,
};
pub use cotan_syntax::{Code, Diagnostic, Edit, FileId, Severity, SourceMap, Span, decode};
pub use failures::HOW_TO_REPORT;
pub use mending::{Mended, mend};
