//! Layout: a flat list of pieces of text and possible line breaks, and the printer that decides which
//! of them become line ends.
//!
//! The scheme is that of D. Oppen, "Prettyprinting" (TOPLAS 2, 1980): a group is printed on one line
//! if it fits, else all of its breaks end lines. The list is flat and widths are prefix sums, so a file
//! of any size takes linear time and no stack.
//!
//! Three things are added. A *hug* lets one argument of a call go over lines while the others stay on
//! the line of the call, as in `tabulate(n, |i| { ... })`. A *fill* breaks only where the line is full.
//! An *assignment* puts its right side on the next line only if it then fits there.
//!
//! Braces and array literals stay on several lines where the author wrote them so. What the printer
//! breaks must therefore look, when it is read again, as if the author had broken it: a break that the
//! author can force is *sticky*, and a line that fits up to a sticky break counts as fitting whether
//! or not the break was forced.

use super::WIDTH;

/// What one level of indentation adds.
const INDENT: usize = 2;

/// What is printed.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    Text(&'a str),
    Space,
    /// A line end in a group that is broken, else `flat`.
    Break {
        flat: &'static str,
        blank: bool,
        sticky: bool,
    },
    /// A line end where what follows up to the piece `until` does not fit, else a space.
    Fill {
        until: usize,
    },
    /// A line end, with an empty line if `blank`.
    Newline {
        blank: bool,
    },
    Comment(Comment<'a>),
    /// Printed only if the group around is broken, or only if it is not.
    When {
        broken: bool,
        text: &'static str,
    },
    Open(Group),
    Close,
    /// One level more up to the matching [`Piece::Dedent`]; if not `always`, only in a broken group.
    Indent {
        always: bool,
    },
    Dedent,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    end: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Plain,
    /// The pieces of the one argument that may go over lines alone.
    Hug {
        start: usize,
        end: usize,
    },
    Assignment,
}

/// A comment with what stands around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'a> {
    /// The whole comment.
    pub(super) text: &'a str,
    /// Whether it has its line, or lines, for itself.
    pub(super) begins_line: bool,
    /// Whether an empty line stands before it.
    pub(super) blank_before: bool,
    /// Line ends between the comment and what follows it.
    pub(super) newlines_after: usize,
}

impl Comment<'_> {
    /// Whether the comment takes the rest of its line or begins one.
    fn ends_line(&self) -> bool {
        self.begins_line || self.newlines_after > 0 || self.text.contains('\n')
    }
}

/// A group that is not closed yet.
#[must_use]
pub(super) struct OpenGroup(usize);

/// The list of pieces.
#[derive(Default)]
pub(super) struct Layout<'a> {
    pieces: Vec<Piece<'a>>,
    /// For each open group the fill that waits for the next one.
    fills: Vec<Option<usize>>,
}

impl<'a> Layout<'a> {
    pub(super) fn text(&mut self, text: &'a str) {
        self.pieces.push(Piece::Text(text));
    }

    pub(super) fn space(&mut self) {
        self.pieces.push(Piece::Space);
    }

    /// Whether the last piece is text, so that the next text would touch it.
    pub(super) fn ends_in_text(&self) -> bool {
        matches!(self.pieces.last(), Some(Piece::Text(_)))
    }

    pub(super) fn line_or(&mut self, flat: &'static str) {
        self.pieces.push(Piece::Break { flat, blank: false, sticky: false });
    }

    /// A break that the author can force.
    pub(super) fn sticky_line_or(&mut self, flat: &'static str, blank: bool) {
        self.pieces.push(Piece::Break { flat, blank, sticky: true });
    }

    pub(super) fn newline(&mut self, blank: bool) {
        self.pieces.push(Piece::Newline { blank });
    }

    pub(super) fn fill(&mut self) {
        let at = self.pieces.len();
        self.end_fill(at);
        if let Some(open) = self.fills.last_mut() {
            *open = Some(at);
        }
        self.pieces.push(Piece::Fill { until: at });
    }

    fn end_fill(&mut self, at: usize) {
        if let Some(last) = self.fills.last_mut().and_then(Option::take)
            && let Some(Piece::Fill { until }) = self.pieces.get_mut(last)
        {
            *until = at;
        }
    }

    pub(super) fn comment(&mut self, comment: Comment<'a>) {
        self.pieces.push(Piece::Comment(comment));
    }

    pub(super) fn when_broken(&mut self, text: &'static str) {
        self.pieces.push(Piece::When { broken: true, text });
    }

    pub(super) fn when_flat(&mut self, text: &'static str) {
        self.pieces.push(Piece::When { broken: false, text });
    }

    pub(super) fn indent(&mut self) {
        self.pieces.push(Piece::Indent { always: false });
    }

    /// One level more, even where the group around is not broken.
    pub(super) fn indent_always(&mut self) {
        self.pieces.push(Piece::Indent { always: true });
    }

    pub(super) fn dedent(&mut self) {
        self.pieces.push(Piece::Dedent);
    }

    pub(super) fn open(&mut self) -> OpenGroup {
        self.open_kind(Kind::Plain)
    }

    /// Opens the group of a right side, which begins with a break.
    pub(super) fn open_assignment(&mut self) -> OpenGroup {
        self.open_kind(Kind::Assignment)
    }

    fn open_kind(&mut self, kind: Kind) -> OpenGroup {
        self.pieces.push(Piece::Open(Group { end: 0, kind }));
        self.fills.push(None);
        OpenGroup(self.pieces.len() - 1)
    }

    pub(super) fn close(&mut self, open: OpenGroup) {
        let at = self.pieces.len();
        self.end_fill(at);
        self.fills.pop();
        self.pieces.push(Piece::Close);
        if let Some(Piece::Open(group)) = self.pieces.get_mut(open.0) {
            group.end = at;
        }
    }

    /// The place that the next piece gets.
    pub(super) fn mark(&self) -> usize {
        self.pieces.len()
    }

    /// Lets the pieces between two marks go over lines without the rest of the group.
    pub(super) fn hug(&mut self, open: &OpenGroup, start: usize, end: usize) {
        if let Some(Piece::Open(group)) = self.pieces.get_mut(open.0) {
            group.kind = Kind::Hug { start, end };
        }
    }

    /// The text.
    pub(super) fn print(&self) -> String {
        Printer::new(&self.pieces).print()
    }
}

/// What stands between the text so far and the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Space,
    Line,
    EmptyLine,
}

struct Printer<'p, 'a> {
    pieces: &'p [Piece<'a>],
    /// The width on one line of all pieces before each.
    widths: Vec<usize>,
    /// How many line ends there are in any case before each piece.
    n_forced: Vec<u32>,
    /// The first piece from here on that may end the line.
    next_break: Vec<u32>,
    /// The first piece from here on that ends the line in any case, or is sticky.
    next_turn: Vec<u32>,
    out: String,
    /// Characters on the last line of `out`.
    column: usize,
    gap: Gap,
    /// Whether nothing can follow on the line.
    ends_in_line_comment: bool,
    /// For each group that is open, whether it is broken.
    broken: Vec<bool>,
    indents: Vec<usize>,
}

impl<'p, 'a> Printer<'p, 'a> {
    fn new(pieces: &'p [Piece<'a>]) -> Self {
        let n = pieces.len();
        let mut widths = Vec::with_capacity(n + 1);
        let mut n_forced = Vec::with_capacity(n + 1);
        let (mut width, mut forced) = (0, 0);
        for piece in pieces {
            widths.push(width);
            n_forced.push(forced);
            width += flat_width(piece);
            forced += u32::from(ends_line(piece));
        }
        widths.push(width);
        n_forced.push(forced);
        let mut next_break = vec![n as u32; n + 1];
        let mut next_turn = vec![n as u32; n + 1];
        for (at, piece) in pieces.iter().enumerate().rev() {
            let is_sticky = matches!(piece, Piece::Break { sticky: true, .. });
            // A comment at the end of a line may go over the edge.
            let is_break = matches!(piece, Piece::Break { .. } | Piece::Fill { .. } | Piece::Comment(_));
            next_break[at] = if is_break || ends_line(piece) { at as u32 } else { next_break[at + 1] };
            next_turn[at] = if is_sticky || ends_line(piece) { at as u32 } else { next_turn[at + 1] };
        }
        Self {
            pieces,
            widths,
            n_forced,
            next_break,
            next_turn,
            out: String::new(),
            column: 0,
            gap: Gap::Nothing,
            ends_in_line_comment: false,
            broken: Vec::new(),
            indents: vec![0],
        }
    }

    fn print(mut self) -> String {
        for (at, piece) in self.pieces.iter().enumerate() {
            match *piece {
                Piece::Text(text) => self.text(text),
                Piece::Space => self.gap = self.gap.max(Gap::Space),
                Piece::Break { flat, blank, .. } => {
                    if self.is_broken() {
                        self.line(blank);
                    } else if !flat.is_empty() {
                        self.gap = self.gap.max(Gap::Space);
                    }
                }
                Piece::Fill { until } => {
                    if self.fits_to(at, until) {
                        self.gap = self.gap.max(Gap::Space);
                    } else {
                        self.line(false);
                    }
                }
                Piece::Newline { blank } => self.line(blank),
                Piece::Comment(comment) => self.comment(&comment),
                Piece::When { broken, text } => {
                    if broken == self.is_broken() {
                        self.text(text);
                    }
                }
                Piece::Open(group) => {
                    let is_broken = self.must_break(at, &group);
                    self.broken.push(is_broken);
                }
                Piece::Close => {
                    self.broken.pop();
                }
                Piece::Indent { always } => {
                    let more = if always || self.is_broken() { INDENT } else { 0 };
                    self.indents.push(self.indent() + more);
                }
                Piece::Dedent => {
                    self.indents.pop();
                }
            }
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    fn is_broken(&self) -> bool {
        self.broken.last().copied().unwrap_or(true)
    }

    fn indent(&self) -> usize {
        self.indents.last().copied().unwrap_or(0)
    }

    /// Whether so many characters have place on the line that the next text stands on.
    fn has_place(&self, width: usize) -> bool {
        let column = if self.gap >= Gap::Line { self.indent() } else { self.column };
        column + width <= WIDTH
    }

    /// The width from one piece to another, and on to where the line may end.
    fn width(&self, from: usize, to: usize) -> usize {
        let end = self.next_break[to] as usize;
        let commas = self.pieces[to..end].iter().filter(|p| matches!(p, Piece::When { broken: true, .. })).count();
        self.widths[end] - self.widths[from] + commas
    }

    fn is_forced(&self, from: usize, to: usize) -> bool {
        self.n_forced[from] != self.n_forced[to]
    }

    /// Whether the pieces fit on the line, all of them or up to a line end that is there anyway.
    fn fits_to(&self, at: usize, until: usize) -> bool {
        let turn = self.next_turn[at + 1] as usize;
        let fits = !self.is_forced(at, until) && self.has_place(self.width(at, until));
        fits || (turn < until && self.has_place(self.widths[turn] - self.widths[at]))
    }

    fn must_break(&self, at: usize, group: &Group) -> bool {
        let is_forced = self.is_forced(at, group.end);
        let width = self.width(at, group.end);
        if !is_forced && self.has_place(width) {
            return false;
        }
        match group.kind {
            Kind::Plain => true,
            Kind::Hug { start, end } => {
                let turn = self.next_turn[start] as usize;
                let is_alone = !self.is_forced(at, start) && !self.is_forced(end, group.end);
                !(is_alone && turn < end && self.has_place(self.widths[turn] - self.widths[at]))
            }
            Kind::Assignment => !is_forced && self.indent() + INDENT + width <= WIDTH,
        }
    }

    fn line(&mut self, blank: bool) {
        self.gap = self.gap.max(if blank { Gap::EmptyLine } else { Gap::Line });
    }

    fn text(&mut self, text: &str) {
        let opens = self.out.ends_with(['{', '(', '[']);
        let closes = text.starts_with(['}', ')', ']']);
        if self.gap == Gap::EmptyLine && (opens || closes) {
            self.gap = Gap::Line;
        }
        self.write_gap();
        self.ends_in_line_comment = false;
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn write_gap(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::Nothing);
        if self.out.is_empty() {
            return;
        }
        match gap {
            Gap::Nothing => {}
            Gap::Space => {
                self.out.push(' ');
                self.column += 1;
            }
            Gap::Line | Gap::EmptyLine => {
                self.out.push_str(if gap == Gap::Line { "\n" } else { "\n\n" });
                self.column = self.indent();
                self.out.extend(std::iter::repeat_n(' ', self.column));
            }
        }
    }

    fn comment(&mut self, comment: &Comment<'_>) {
        if comment.begins_line {
            self.line(comment.blank_before);
        } else if comment.newlines_after > 0 && !self.ends_in_line_comment {
            // It ends the line of what stands before it, whatever was to come there.
            self.gap = Gap::Space;
        } else if self.gap == Gap::Nothing && !self.out.ends_with(['(', '[', ' ']) {
            self.gap = Gap::Space;
        }
        let is_first = self.out.ends_with('{') && self.gap == Gap::EmptyLine;
        if is_first {
            self.gap = Gap::Line;
        }
        self.write_gap();
        let text = comment.text.trim_end();
        self.ends_in_line_comment = text.starts_with('#');
        self.out.push_str(text);
        self.column = match text.rfind('\n') {
            Some(at) => text[at + 1..].chars().count(),
            None => self.column + text.chars().count(),
        };
        self.gap = match comment.newlines_after {
            0 => Gap::Space,
            1 => Gap::Line,
            _ => Gap::EmptyLine,
        };
    }
}

fn flat_width(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Text(text) => text.chars().count(),
        Piece::Break { flat, .. } => flat.len(),
        Piece::Space | Piece::Fill { .. } => 1,
        Piece::When { broken, text } => {
            if *broken {
                0
            } else {
                text.len()
            }
        }
        Piece::Comment(comment) => comment.text.chars().count() + 2,
        Piece::Newline { .. } | Piece::Open(_) | Piece::Close | Piece::Indent { .. } | Piece::Dedent => 0,
    }
}

/// Whether the line ends here in any case.
fn ends_line(piece: &Piece<'_>) -> bool {
    match piece {
        Piece::Newline { .. } => true,
        Piece::Comment(comment) => comment.ends_line(),
        Piece::Text(_)
        | Piece::Space
        | Piece::Break { .. }
        | Piece::Fill { .. }
        | Piece::When { .. }
        | Piece::Open(_)
        | Piece::Close
        | Piece::Indent { .. }
        | Piece::Dedent => false,
    }
}
