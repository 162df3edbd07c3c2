//! What the compiler has to say about a program: a code, a message, places and help.

use std::fmt;

use crate::span::Span;

/// The stable name of a kind of diagnostic, such as `E0101`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

impl Code {
    /// The name as text.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The page of one code: what `cotan explain E0101` prints. Each crate has a slice of its own
/// codes; the `cotan` crate joins them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// One line that says what is wrong.
    pub title: &'static str,
    /// Why it is an error and how to mend it, with the mended program.
    pub explanation: &'static str,
    /// A program for which the code is reported.
    pub failing_example: &'static str,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program runs, and is perhaps what was meant. Nothing counts notes.
    Note,
    /// The program runs, but is probably not what was meant.
    Warning,
    /// The program does not compile, or it failed while running.
    Error,
}

impl Severity {
    /// The word that stands in rendered messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place with a remark about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark; may be empty.
    pub text: String,
}

/// A replacement of the text of a place; an empty place gets the text inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// A mistake that is told once for a file, however often the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// What tells the mistake from others: all places with the same text are one.
    pub mistake: String,
    /// The remark at this place, where another one comes before it.
    pub remark: String,
}

/// One thing to tell the user.
///
/// The message is one line, has names in backticks and says what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable name of this kind of diagnostic.
    pub code: Code,
    /// Error, warning or note.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where it is wrong.
    pub primary: Label,
    /// Other places that matter.
    pub labels: Vec<Label>,
    /// What to do about it; each entry is one concrete proposal.
    pub help: Vec<String>,
    /// The edits that together mend it; empty unless it is certain that their result is what was meant.
    pub fix: Vec<Edit>,
    /// Set where other places of the file may have the same mistake.
    pub repeated: Option<Repeated>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, span, message.into())
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message.into())
    }

    /// A note at `span`.
    pub fn info(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, span, message.into())
    }

    fn new(code: Code, severity: Severity, span: Span, message: String) -> Self {
        Self {
            code,
            severity,
            message,
            primary: Label { span, text: String::new() },
            labels: Vec::new(),
            help: Vec::new(),
            fix: Vec::new(),
            repeated: None,
        }
    }

    /// Adds the remark shown at the primary place.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds another place that matters.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a proposal.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds an edit to the fix: what replaces the text of `span`. The edits of a diagnostic do not overlap, and are made
    /// together. Only where the result is certain: a guess is a proposal, and belongs into the help.
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix.push(Edit { span, text: text.into() });
        self
    }

    /// Makes it one with what the file has of the same mistake: the first place is told, the others are labels of it.
    pub fn repeated(mut self, mistake: impl Into<String>, remark: impl Into<String>) -> Self {
        self.repeated = Some(Repeated { mistake: mistake.into(), remark: remark.into() });
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
