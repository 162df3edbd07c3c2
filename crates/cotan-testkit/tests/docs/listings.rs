//! The listings of the core IR in the book: a block `ir NAME` shows the function of the program above it.

use crate::pages::pages;
use cotan::Request;
use cotan_testkit::files::{is_blessing, replace};
use cotan_testkit::front::{checked, lower};

#[test]
fn the_book_shows_the_ir_that_the_compiler_writes() {
    for mut page in pages() {
        let all = page.blocks();
        let path = page.name();
        // From the last to the first, so that what is replaced does not move what is still to come.
        for (k, block) in all.iter().enumerate().rev() {
            let Some(name) = block.info.strip_prefix("ir ") else { continue };
            let source = all[..k].iter().rev().find(|block| block.info.starts_with("cot")).expect("a program above");
            let program = checked(&path, &source.text).unwrap_or_else(|e| panic!("{path}: {e}"));
            let lowered = lower(&program, &Request::function(name)).unwrap_or_else(|e| panic!("{path}: {e}"));
            let f = lowered.module.function(&lowered.entry.symbol).expect("the entry").to_string();
            let f = f.trim_end().to_owned() + "\n";
            if is_blessing() {
                page.text.replace_range(block.start..block.start + block.text.len(), &f);
            } else {
                assert_eq!(block.text, f, "{path}: `{name}`: bless with COTAN_BLESS=1");
            }
        }
        if is_blessing() {
            replace(&page.path, &page.text).expect("a page that can be written");
        }
    }
}
