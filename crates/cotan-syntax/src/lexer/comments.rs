//! Comments: `# ...`, `## ...`, `/* ... */`, and those of other languages.

use super::{Comment, CommentKind, Diagnostic, Lexer, codes};

impl Lexer<'_> {
    fn push_comment(&mut self, kind: CommentKind, start: usize) {
        self.comments.push(Comment { kind, span: self.span(start, self.pos), before_token: self.tokens.len() as u32 });
    }

    pub(super) fn line_comment(&mut self) {
        let start = self.pos;
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        self.pos += line.trim_end_matches('\r').len();
        // A row of `#` is a rule between sections, not documentation.
        let kind =
            if line.starts_with("##") && !line.starts_with("###") { CommentKind::Doc } else { CommentKind::Line };
        self.push_comment(kind, start);
    }

    pub(super) fn block_comment(&mut self) {
        let start = self.pos;
        let bytes = self.source.as_bytes();
        let mut depth = 0_usize;
        loop {
            match bytes.get(self.pos..self.pos + 2) {
                Some(b"/*") => {
                    depth += 1;
                    self.pos += 2;
                }
                Some(b"*/") => {
                    depth -= 1;
                    self.pos += 2;
                    if depth == 0 {
                        break;
                    }
                }
                Some(_) => {
                    self.newline |= bytes[self.pos] == b'\n';
                    self.pos += 1;
                }
                None => {
                    self.pos = bytes.len();
                    let opening = self.span(start, start + 2);
                    self.report(
                        Diagnostic::error(
                            codes::UNTERMINATED_COMMENT,
                            opening,
                            "expected `*/` to end the comment, found the end of the file",
                        )
                        .note("the comment starts here")
                        .help("block comments nest: each `/*` inside needs a `*/` of its own"),
                    );
                    break;
                }
            }
        }
        self.push_comment(CommentKind::Block, start);
    }

    /// Whether `//` stands here in front of prose, and not of a tensor that it folds. Prose has two words side by side, which
    /// code has only if one of them is a keyword.
    pub(super) fn at_foreign_comment(&self) -> bool {
        let Some(rest) = self.rest().strip_prefix("//") else { return false };
        let line = rest.lines().next().unwrap_or("");
        let text = line.trim_start_matches(['/', '!']).split(['#', '"']).next().unwrap_or("");
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '\'';
        let is_word = |word: &str| word.chars().all(is_letter) && super::keyword(word).is_none();
        let words: Vec<&str> = text.split_whitespace().collect();
        let ends = ['.', ',', ':', ';', '!', '?'];
        line.trim().is_empty()
            || words.windows(2).any(|pair| is_word(pair[0]) && is_word(pair[1].trim_end_matches(ends)))
    }

    pub(super) fn foreign_comment(&mut self) {
        let start = self.pos;
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let text = line.trim_end_matches('\r');
        let n_marks = text.len() - text.trim_start_matches('/').len();
        let (found, marks) = if n_marks > 2 { ("///", "##") } else { ("//", "#") };
        self.pos += text.len();
        let span = self.span(start, start + n_marks);
        let diagnostic = Diagnostic::error(
            codes::FOREIGN_COMMENT,
            span,
            format!("expected a comment with `{marks}`, found one with `{found}`"),
        );
        self.report(diagnostic.help(format!("write `{marks}`")).fix(span, marks));
        self.push_comment(CommentKind::Line, start);
    }
}
