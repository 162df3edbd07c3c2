//! The pages of the book and the fenced blocks in them.

use cotan_testkit::files::{files, workspace_file};
use std::fs;
use std::path::PathBuf;

/// A page of the book.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A fenced block: what stands behind the backticks, the lines, and where they stand in the page.
pub(crate) struct Block {
    pub(crate) info: String,
    pub(crate) text: String,
    pub(crate) start: usize,
    /// The line of the fence, counted from 1.
    pub(crate) line: usize,
    /// The paragraph in front of it.
    pub(crate) introduction: String,
}

/// All pages, in the order of their paths.
pub(crate) fn pages() -> Vec<Page> {
    files(&workspace_file("docs"), ".md").into_iter().map(page).collect()
}

/// One page.
pub(crate) fn page(path: PathBuf) -> Page {
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Page { path, text }
}

impl Page {
    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Its fenced blocks.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        let (mut paragraph, mut is_ended) = (String::new(), false);
        let mut at = 0;
        for (k, line) in self.text.split_inclusive('\n').enumerate() {
            at += line.len();
            match (line.strip_prefix("```"), &mut open) {
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(info), None) => {
                    let (info, introduction) = (info.trim().to_owned(), std::mem::take(&mut paragraph));
                    open = Some(Block { info, text: String::new(), start: at, line: k + 1, introduction });
                }
                (None, Some(block)) => block.text += line,
                // The empty line between a paragraph and what follows it does not end it.
                (None, None) if line.trim().is_empty() => is_ended = true,
                (None, None) => {
                    if std::mem::take(&mut is_ended) {
                        paragraph.clear();
                    }
                    paragraph += line;
                }
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name());
        blocks
    }

    /// The lines outside of fenced blocks, without what stands in backticks.
    pub(crate) fn prose(&self) -> Vec<String> {
        let mut is_inside = false;
        let mut prose = Vec::new();
        for line in self.text.lines() {
            if line.starts_with("```") {
                is_inside = !is_inside;
            } else if !is_inside {
                // Every second part is code.
                prose.push(line.split('`').step_by(2).collect());
            }
        }
        prose
    }

    /// The anchors of its headings, as mdBook and GitHub make them.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        let mut is_inside = false;
        for line in self.text.lines() {
            is_inside ^= line.starts_with("```");
            let title = line.trim_start_matches('#');
            if is_inside || title.len() == line.len() || !title.starts_with(' ') {
                continue;
            }
            let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'));
            let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase();
            let n_before = anchors.iter().filter(|other| **other == anchor).count();
            anchors.push(if n_before == 0 { anchor } else { format!("{anchor}-{n_before}") });
        }
        anchors
    }
}
