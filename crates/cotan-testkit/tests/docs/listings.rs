//! What the book shows of the compiler's own output, for the program above it: a block `ir NAME` the core IR of a
//! function, a block `explain NAME p` what `cotan explain` says of its gradient with respect to `p`.

use cotan::{Compiler, Config, DerivativeForm, Request, derivative};
use cotan_testkit::book::pages;
use cotan_testkit::files::is_blessing;
use cotan_testkit::frontend::{checked, lower};

#[test]
fn the_book_shows_what_the_compiler_writes() {
    let compiler = Compiler::new(Config::default()).expect("threads");
    for mut page in pages() {
        let all = page.blocks();
        let path = page.name();
        // From the last to the first, so that what is replaced does not move what is still to come.
        for (k, block) in all.iter().enumerate().rev() {
            let words: Vec<&str> = block.info.split_whitespace().collect();
            if !matches!(words.as_slice(), ["ir", _] | ["explain", _, _]) {
                continue;
            }
            let source = all[..k].iter().rev().find(|block| block.info.starts_with("cot")).expect("a program above");
            let program = checked("program.cot", &source.text).unwrap_or_else(|e| panic!("{path}: {e}"));
            let shown = match words.as_slice() {
                ["explain", name, wrt] => {
                    let request = derivative(name, DerivativeForm::ValueAndGrad, &[wrt]);
                    compiler.explain(&program, &request).unwrap_or_else(|e| panic!("{path}: {e}")).to_string()
                }
                _ => {
                    let lowered =
                        lower(&program, &Request::function(words[1])).unwrap_or_else(|e| panic!("{path}: {e}"));
                    lowered.module.function(&lowered.entry.symbol).expect("the entry").to_string()
                }
            };
            let shown = shown.trim_end().to_owned() + "\n";
            if is_blessing() {
                page.rewrite(block, &shown);
            } else {
                assert_eq!(block.text, shown, "{path}: `{}`: bless with COTAN_BLESS=1", block.info);
            }
        }
        if is_blessing() {
            page.save();
        }
    }
}
