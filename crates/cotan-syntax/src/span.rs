//! Positions in source text: spans are byte offsets into a file, and a [`SourceMap`] turns them
//! into lines and columns.

use std::fmt;
use std::sync::Arc;

/// The number of a file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// The bytes `start..end` of one file.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file that the bytes belong to.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The smallest span that covers both; they belong to one file.
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span where this one ends.
    pub fn after(self) -> Self {
        Self { start: self.end, ..self }
    }

    /// The empty span where this one starts.
    pub fn before(self) -> Self {
        Self { end: self.start, ..self }
    }

    /// The number of bytes.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the span covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether the byte at `offset` lies inside.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }

    /// The span as indices into the text of its file.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A position as people count it: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

/// One source file: its name for messages, its text, and where its lines start.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// A file with the given text. Lines end at `\n`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// The name to show in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of `span`, or the empty string if the span does not lie on character boundaries
    /// of this file.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The number of lines; an empty file has one.
    pub fn n_lines(&self) -> usize {
        self.line_starts.len()
    }

    /// Line and column of a byte offset. Offsets past the end count as the end, and an offset
    /// inside a character counts as that character.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start as usize <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let column =
            self.text[start..].char_indices().take_while(|(at, c)| start + at + c.len_utf8() <= offset).count();
        LineColumn { line: line as u32 + 1, column: column as u32 + 1 }
    }
}

/// All files of a compilation, in the order in which they were added. A copy shares their texts.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and gives its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(Arc::new(SourceFile::new(name, text)));
        FileId(self.files.len() as u32 - 1)
    }

    /// The file with this number, if it was added here.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize).map(|file| &**file)
    }

    /// All files with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(at, file)| (FileId(at as u32), &**file))
    }

    /// The text of a span, empty if its file is unknown.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).map_or("", |file| file.slice(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_start_at_one() {
        let file = SourceFile::new("a.cot", "äb\nc\n");
        let at = |offset| {
            let position = file.line_column(offset);
            (position.line, position.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(1), (1, 1), "inside `ä`");
        assert_eq!(at(2), (1, 2));
        assert_eq!(at(3), (1, 3));
        assert_eq!(at(4), (2, 1));
        assert_eq!(at(6), (3, 1));
        assert_eq!(at(1000), (3, 1));
        assert_eq!(file.n_lines(), 3);
    }

    #[test]
    fn a_joined_span_covers_both_parts() {
        let span = |start, end| Span::new(FileId(0), start, end);
        assert_eq!(span(4, 6).to(span(1, 2)), span(1, 6));
        assert_eq!(span(4, 6).after(), span(6, 6));
        assert_eq!(span(4, 6).before(), span(4, 4));
    }

    #[test]
    fn a_map_finds_text_by_file() {
        let mut map = SourceMap::new();
        let first = map.add("a.cot", "one");
        let second = map.add("b.cot", "two");
        assert_eq!(map.slice(Span::new(first, 0, 2)), "on");
        assert_eq!(map.slice(Span::new(second, 1, 3)), "wo");
        assert_eq!(map.slice(Span::new(FileId(7), 1, 3)), "");
        let names: Vec<_> = map.iter().map(|(id, file)| (id.0, file.name())).collect();
        assert_eq!(names, [(0, "a.cot"), (1, "b.cot")]);
    }
}
