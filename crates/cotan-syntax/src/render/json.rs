//! Diagnostics as JSON objects.

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Edit, Label};
use crate::span::{LineColumn, SourceMap, Span};

/// A diagnostic as tools read it: positions are 1-based, columns count characters, and the end is
/// one past the last character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonDiagnostic {
    /// `"error"`, `"warning"` or `"note"`.
    pub severity: &'static str,
    /// Such as `"E0101"`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The name of the file.
    pub file: String,
    /// Where it starts.
    pub line: u32,
    /// Where it starts.
    pub column: u32,
    /// Where it ends.
    pub end_line: u32,
    /// Where it ends.
    pub end_column: u32,
    /// All proposals, joined by newlines; `null` if there are none.
    pub help: Option<String>,
    /// Other places that matter, the remark at the main place first if it has one.
    pub related: Vec<JsonLabel>,
    /// The edits that together mend it, in the file at hand; empty if no fix is certain.
    pub fix: Vec<JsonEdit>,
}

/// A replacement of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonEdit {
    /// The first byte that is replaced, from 0.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// What stands there afterwards.
    pub text: String,
}

/// A place with a remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonLabel {
    /// The remark.
    pub message: String,
    /// The name of the file.
    pub file: String,
    /// Where it starts.
    pub line: u32,
    /// Where it starts.
    pub column: u32,
    /// Where it ends.
    pub end_line: u32,
    /// Where it ends.
    pub end_column: u32,
}

/// A diagnostic as tools read it.
pub fn to_json(diagnostic: &Diagnostic, sources: &SourceMap) -> JsonDiagnostic {
    let place = Place::of(diagnostic.primary.span, sources);
    let related = std::iter::once(&diagnostic.primary)
        .filter(|label| !label.text.is_empty())
        .chain(&diagnostic.labels)
        .map(|label| json_label(label, sources))
        .collect();
    JsonDiagnostic {
        severity: diagnostic.severity.as_str(),
        code: diagnostic.code.as_str(),
        message: diagnostic.message.clone(),
        file: place.file,
        line: place.start.line,
        column: place.start.column,
        end_line: place.end.line,
        end_column: place.end.column,
        help: (!diagnostic.help.is_empty()).then(|| diagnostic.help.join("\n")),
        related,
        fix: diagnostic.fix.iter().map(json_edit).collect(),
    }
}

fn json_edit(edit: &Edit) -> JsonEdit {
    JsonEdit { start: edit.span.start, end: edit.span.end, text: edit.text.clone() }
}

fn json_label(label: &Label, sources: &SourceMap) -> JsonLabel {
    let place = Place::of(label.span, sources);
    JsonLabel {
        message: label.text.clone(),
        file: place.file,
        line: place.start.line,
        column: place.start.column,
        end_line: place.end.line,
        end_column: place.end.column,
    }
}

struct Place {
    file: String,
    start: LineColumn,
    end: LineColumn,
}

impl Place {
    fn of(span: Span, sources: &SourceMap) -> Self {
        let first = LineColumn { line: 1, column: 1 };
        match sources.get(span.file) {
            Some(file) => Self {
                file: file.name().to_owned(),
                start: file.line_column(span.start),
                end: file.line_column(span.end),
            },
            None => Self { file: "<unknown>".to_owned(), start: first, end: first },
        }
    }
}
