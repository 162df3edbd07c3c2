//! Blocks that are files of the repository, `file NAME`, or parts of them, `part NAME`, say what these say.

use cotan_testkit::book::pages;
use cotan_testkit::files::{is_blessing, report, workspace_file};
use std::fs;

#[test]
fn what_the_book_shows_of_files_is_what_they_say() {
    let mut failures = Vec::new();
    let mut n_blocks = 0;
    for mut page in pages() {
        for block in page.blocks().iter().rev() {
            let words: Vec<&str> = block.info.split_whitespace().collect();
            let [_, kind @ ("file" | "part"), name, ..] = words.as_slice() else { continue };
            if !name.contains('/') {
                continue;
            }
            n_blocks += 1;
            let place = format!("{}:{}: {name}", page.name(), block.line);
            let text = fs::read_to_string(workspace_file(name)).unwrap_or_else(|e| panic!("{place}: {e}"));
            match *kind {
                "part" if !text.contains(&block.text) => failures.push(format!("{place}: this is no part of it")),
                "file" if is_blessing() => page.rewrite(block, &text),
                "file" if text != block.text => failures.push(format!("{place}: bless with COTAN_BLESS=1")),
                _ => {}
            }
        }
        if is_blessing() {
            page.save();
        }
    }
    report(failures, n_blocks);
}
