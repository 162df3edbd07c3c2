//! Where in the source a statement comes from.

/// A byte range of a source file. The IR only carries it along; the front end knows what it shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Number of the source file in the front end's source map.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte; equal to `start` for code that no source text stands for.
    pub end: u32,
}

impl Span {
    /// The span of code that no source text stands for.
    pub const NONE: Span = Span { file: 0, start: 0, end: 0 };

    /// Whether this is a place in a source file.
    pub fn is_some(self) -> bool {
        self.end > self.start
    }
}
