//! Generated programs keep their tree when they are formatted, and formatting again changes nothing.

use cotan_syntax::format::format;
use cotan_syntax::{Diagnostic, FileId, dump, parse};
use cotan_testkit::files::{files, workspace_file};
use std::fs;

use cotan_testkit::generate::source::generate;

#[test]
fn generated_programs_keep_their_tree() {
    for seed in 0..200 {
        let text = generate(seed).program.text();
        let formatted = format(FileId(0), &text).unwrap_or_else(|e| panic!("program {seed}: {e:?}\n{text}"));
        let tree = |source: &str| {
            let (module, diagnostics) = parse(FileId(0), source);
            assert!(!diagnostics.iter().any(Diagnostic::is_error), "program {seed}: {diagnostics:?}\n{source}");
            dump::module(&module)
        };
        assert_eq!(tree(&formatted), tree(&text), "program {seed}\n{text}\n-----\n{formatted}");
        assert_eq!(format(FileId(0), &formatted).as_ref(), Ok(&formatted), "program {seed}\n{text}");
    }
}

#[test]
fn the_examples_are_formatted() {
    for path in files(&workspace_file("examples"), ".cot") {
        let text = fs::read_to_string(&path).expect("a file");
        let is_formatted = format(FileId(0), &text).as_ref() == Ok(&text);
        assert!(is_formatted, "{}: run `cotan fmt examples`", path.display());
    }
}
