//! Every fix of every test program, alone: it mends what it is for, and changes no value silently.
//!
//! A fix of an error belongs to a program that does not run, so no value can change; a fix of a warning or a note must keep
//! what all functions give.

use super::{FilesBelow, name, texts};
use cotan::Program;
use cotan_sema::Limits;
use cotan_syntax::{Diagnostic, FileId, fix};
use cotan_testkit::behaviour::{functions, outcomes};
use cotan_testkit::files::{report, tests_folder};
use std::path::Path;

fn load(path: &Path, text: &str) -> Program {
    let loader = FilesBelow(&tests_folder());
    Program::load(&name(path), text, &loader, &cotan::library::standard(), &Limits::default())
}

fn n_errors(program: &Program) -> usize {
    program.diagnostics.iter().filter(|d| d.is_error()).count()
}

#[test]
fn each_fix_mends_and_keeps_values() {
    let all: Vec<_> = ["mistakes", "ui", "drafts"].into_iter().flat_map(texts).collect();
    let mut n_fixes = 0;
    let mut failures = Vec::new();
    for (path, text) in &all {
        let before = load(path, text);
        let own = before.diagnostics.iter().filter(|d| !d.fix.is_empty() && d.primary.span.file == FileId(0));
        for diagnostic in own {
            n_fixes += 1;
            failures.extend(judge((path, text.as_str()), &before, diagnostic).err());
        }
    }
    assert!(n_fixes > 100, "{n_fixes} fixes");
    report(failures, n_fixes);
}

fn judge((path, text): (&Path, &str), before: &Program, diagnostic: &Diagnostic) -> Result<(), String> {
    let what = format!("{}: the fix of `{}`", name(path), diagnostic.message);
    let fixed = fix::apply(FileId(0), text, std::slice::from_ref(diagnostic)).text;
    let after = load(path, &fixed);
    let is_same = |d: &&Diagnostic| d.message == diagnostic.message && d.primary.span == diagnostic.primary.span;
    if after.diagnostics.iter().any(|d| is_same(&d)) {
        return Err(format!("{what} leaves it\n{fixed}"));
    }
    if n_errors(&after) > n_errors(before) {
        let messages: Vec<&str> = after.diagnostics.iter().map(|d| d.message.as_str()).collect();
        return Err(format!(
            "{what} leaves {} errors of {}: {messages:?}\n{fixed}",
            n_errors(&after),
            n_errors(before)
        ));
    }
    if n_errors(before) > 0 {
        return Ok(());
    }
    for f in functions(before) {
        let (before, after) = (outcomes(before, &f.name)?, outcomes(&after, &f.name)?);
        if before != after {
            return Err(format!("{what} changes `{}` from {before:?} to {after:?}", f.name));
        }
    }
    Ok(())
}
