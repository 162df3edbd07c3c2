//! The book as the tests read it: its pages, and the fenced blocks in them.
//!
//! What stands behind the backticks says what a block is. A block of a program or of data may have a name, `cot file NAME`:
//! the sessions of the page have it in their folder. With folders in its name it is that file of the repository.

use crate::files::{files, replace, workspace_file};
use std::fs;
use std::path::PathBuf;

/// The pages outside of the book.
const ROOT_PAGES: [&str; 5] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];

/// A page of the book.
pub struct Page {
    /// Where it lies.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
    /// Whether it says something else than the file.
    is_rewritten: bool,
}

/// A fenced block.
pub struct Block {
    /// What stands behind the backticks.
    pub info: String,
    /// The lines.
    pub text: String,
    /// Where they begin in the page.
    pub start: usize,
    /// The line of the fence, counted from 1.
    pub line: usize,
    /// The paragraph in front of it.
    pub introduction: String,
}

/// The pages of the book, in the order of their paths.
pub fn chapters() -> Vec<Page> {
    files(&workspace_file("docs"), ".md").into_iter().map(page).collect()
}

/// The pages of the book and those at the root of the repository.
pub fn pages() -> Vec<Page> {
    let mut all = chapters();
    all.extend(ROOT_PAGES.map(|name| page(workspace_file(name))));
    all
}

/// One page.
pub fn page(path: PathBuf) -> Page {
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Page { path, text, is_rewritten: false }
}

impl Block {
    /// The name of the file that it is.
    pub fn file(&self) -> Option<&str> {
        match self.info.split_whitespace().collect::<Vec<_>>().as_slice() {
            [_, "file", name, ..] => Some(name),
            _ => None,
        }
    }
}

impl Page {
    /// Its name in messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Puts another text in the place of a block's. Blocks behind it have moved then.
    pub fn rewrite(&mut self, block: &Block, text: &str) {
        self.is_rewritten |= block.text != text;
        self.text.replace_range(block.start..block.start + block.text.len(), text);
    }

    /// Writes the file if the page says something else; several tests may bless the same pages.
    pub fn save(&self) {
        if self.is_rewritten {
            replace(&self.path, &self.text).unwrap_or_else(|e| panic!("{}: {e}", self.name()));
        }
    }

    /// Its fenced blocks.
    pub fn blocks(&self) -> Vec<Block> {
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
    pub fn prose(&self) -> Vec<String> {
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
    pub fn anchors(&self) -> Vec<String> {
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
