//! Diagnostics as text, with the lines of the source that they are about.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::controls::{is_control, shown, visible_line};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::span::{FileId, LineColumn, SourceFile, SourceMap};

/// How text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Characters only.
    Plain,
    /// With colours for a terminal.
    Coloured,
}

/// A diagnostic as text. The first line is `error[E0101]: message`, the next
/// ` --> FILE:LINE:COLUMN`. Control characters of the source and of file names are replaced, so
/// that a program can't write to the terminal of who compiles it, and line breaks of names are, so that none of them begins
/// another diagnostic.
pub fn to_text(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let excerpts = excerpts(diagnostic, sources);
    let message = visible_line(&diagnostic.message);
    let title = level.primary_title(message.as_ref()).id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for excerpt in &excerpts {
        if let Some(LineColumn { line, column }) = excerpt.only_place {
            let origin = Origin::path(excerpt.name.as_str()).line(line as usize).char_column(column as usize);
            group = group.element(origin);
            continue;
        }
        let mut snippet =
            Snippet::source(excerpt.text.as_str()).line_start(excerpt.first_line).path(excerpt.name.as_str());
        for mark in &excerpt.marks {
            let annotation = mark.kind.span(mark.range.clone());
            snippet = snippet.annotation(if mark.text.is_empty() {
                annotation
            } else {
                annotation.label(mark.text.as_str())
            });
        }
        group = group.element(snippet);
    }
    let helps: Vec<_> = diagnostic.help.iter().map(|help| visible_line(help)).collect();
    for help in &helps {
        group = group.element(Level::HELP.message(help.as_ref()));
    }
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    renderer.render(&[group])
}

/// The lines of one file that are shown, and what is marked in them.
struct Excerpt {
    name: String,
    text: String,
    first_line: usize,
    marks: Vec<Mark>,
    /// The place, where the lines are too long to be shown.
    only_place: Option<LineColumn>,
}

struct Mark {
    kind: AnnotationKind,
    range: Range<usize>,
    text: String,
}

/// One excerpt per file, that of the main place first.
fn excerpts(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Excerpt> {
    let mut files: Vec<FileId> = vec![diagnostic.primary.span.file];
    for label in &diagnostic.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
        .into_iter()
        .filter_map(|id| Some((id, sources.get(id)?)))
        .map(|(id, file)| {
            let primary = (AnnotationKind::Primary, &diagnostic.primary);
            let labels = diagnostic.labels.iter().map(|label| (AnnotationKind::Context, label));
            let labels: Vec<_> =
                std::iter::once(primary).chain(labels).filter(|(_, label)| label.span.file == id).collect();
            excerpt(file, &labels)
        })
        .collect()
}

/// Bytes of a line that may stand in front of a label; of longer lines only the place is told.
const LONGEST_BEFORE: usize = 2_000;

/// Bytes from the first label to the last one, at most, of which lines are shown.
const LONGEST_BETWEEN: u32 = 1_000_000;

/// Bytes of a line that are shown after the last label.
const LONGEST_AFTER: u32 = 400;

/// The lines from the first label to the last; the renderer leaves out what lies between. Only
/// these lines are copied, and of long lines a part: files, and lines, may be large.
fn excerpt(file: &SourceFile, labels: &[(AnnotationKind, &Label)]) -> Excerpt {
    let text = file.text();
    let clamp = |offset: u32| {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let first = labels.iter().map(|(_, l)| l.span.start).min().unwrap_or(0);
    let last = labels.iter().map(|(_, l)| l.span.end).max().unwrap_or(0);
    let start = text[..clamp(first)].rfind('\n').map_or(0, |at| at + 1);
    let end = text[clamp(last)..].find('\n').map_or(text.len(), |at| clamp(last) + at);
    let end = end.min(clamp(last.saturating_add(LONGEST_AFTER)));
    let is_long = |(_, label): &(AnnotationKind, &Label)| {
        let at = clamp(label.span.start);
        text[..at].rfind('\n').map_or(at, |line| at - line) > LONGEST_BEFORE
    };
    if last - first.min(last) > LONGEST_BETWEEN || labels.iter().any(is_long) {
        let place = labels.first().map_or(0, |(_, label)| label.span.start);
        return Excerpt {
            name: visible_line(file.name()).into_owned(),
            text: String::new(),
            first_line: 0,
            marks: Vec::new(),
            only_place: Some(file.line_column(place)),
        };
    }
    let marks = labels
        .iter()
        .map(|(kind, label)| Mark {
            kind: *kind,
            range: clamp(label.span.start).max(start) - start..clamp(label.span.end) - start,
            text: visible_line(&label.text).into_owned(),
        })
        .collect();
    let mut excerpt = Excerpt {
        name: visible_line(file.name()).into_owned(),
        text: text[start..end].to_owned(),
        first_line: file.line_column(first).line as usize,
        marks,
        only_place: None,
    };
    hide_controls(&mut excerpt);
    excerpt
}

/// Replaces the control characters of the shown lines and moves the marks along.
fn hide_controls(excerpt: &mut Excerpt) {
    if !excerpt.text.contains(is_control) {
        return;
    }
    let text = std::mem::take(&mut excerpt.text);
    let mut moved: Vec<(usize, usize)> = Vec::new();
    for (at, c) in text.char_indices() {
        moved.push((at, excerpt.text.len()));
        excerpt.text.push(shown(c));
    }
    moved.push((text.len(), excerpt.text.len()));
    let new_offset = |old: usize| moved[moved.partition_point(|&(at, _)| at < old)].1;
    for mark in &mut excerpt.marks {
        mark.range = new_offset(mark.range.start)..new_offset(mark.range.end);
    }
}
