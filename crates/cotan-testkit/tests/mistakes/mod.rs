//! Typical mistakes of newcomers, under `tests/mistakes`: what is said about each, and what its certain fixes make of it.
//!
//! Beside each program stand the rendered text, `NAME.stderr`, and the program after `cotan check --fix` with what is left to
//! report, `NAME.mended`; `COTAN_BLESS=1` writes both.

mod drafts;
mod fixes;
mod intended;

use cotan::Program;
use cotan::diagnostics::{Mended, mend};
use cotan_sema::Limits;
use cotan_sema::modules::NoFiles;
use cotan_syntax::render::{Style, to_text};
use cotan_syntax::{Diagnostic, FileId, SourceMap, fix, parse};
use cotan_testkit::files::{FilesBelow, expect_file, programs, report, tests_folder};
use std::path::{Path, PathBuf};

/// The programs of a folder of tests, with their texts. Texts that are not UTF-8 have no fixes.
fn texts(folder: &str) -> Vec<(PathBuf, String)> {
    let paths = programs(&tests_folder().join(folder));
    paths.into_iter().filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?))).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn mended(path: &Path, text: &str) -> Mended {
    mend(&name(path), text, &NoFiles, &cotan::library::standard(), &Limits::default())
}

fn rendered(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let texts = diagnostics.iter().map(|d| to_text(d, sources, Style::Plain) + "\n");
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_said_about_each_mistake_stands_beside_it() {
    let all = texts("mistakes");
    let compare = |(path, text): &(PathBuf, String)| {
        let program = Program::check(&name(path), text, &Limits::default());
        expect_file(&path.with_extension("stderr"), &rendered(&program.diagnostics, &program.sources)).err()
    };
    report(all.iter().filter_map(compare).collect(), all.len());
}

#[test]
fn what_fixes_make_of_each_mistake_stands_beside_it() {
    let all = texts("mistakes");
    let compare = |(path, text): &(PathBuf, String)| {
        let Mended { text, n_fixes, program } = mended(path, text);
        let left = rendered(&program.diagnostics, &program.sources);
        let found = format!("{}\n# --- {n_fixes} fixes; left:\n\n{left}", text.trim_end());
        expect_file(&path.with_extension("mended"), found.trim_end()).err()
    };
    report(all.iter().filter_map(compare).collect(), all.len());
}

#[test]
fn no_fix_of_any_program_adds_an_error_of_syntax() {
    let all: Vec<_> = ["mistakes", "ui"].into_iter().flat_map(texts).collect();
    let n_errors = |text: &str| parse(FileId(0), text).1.iter().filter(|d| d.is_error()).count();
    let judge = |(path, text): &(PathBuf, String)| -> Vec<String> {
        let program = Program::load(
            &name(path),
            text,
            &FilesBelow(&tests_folder()),
            &cotan::library::standard(),
            &Limits::default(),
        );
        let before = n_errors(text);
        let own = program.diagnostics.iter().filter(|d| !d.fix.is_empty() && d.primary.span.file == FileId(0));
        let worse = |d: &&Diagnostic| {
            let fixed = fix::apply(FileId(0), text, std::slice::from_ref(d));
            // A fix of a mistake in the syntax leaves one less.
            let most = if d.code.as_str().starts_with("E01") { before.saturating_sub(1) } else { before };
            fixed.n_fixes != 1 || n_errors(&fixed.text) > most
        };
        own.filter(worse)
            .map(|d| format!("{}: the fix of `{}` at {:?}", name(path), d.message, d.primary.span))
            .collect()
    };
    report(all.iter().flat_map(judge).collect(), all.len());
}

#[test]
fn fixes_come_to_an_end() {
    let all: Vec<_> = ["mistakes", "ui"].into_iter().flat_map(texts).collect();
    let goes_on = |(path, text): &(PathBuf, String)| {
        let Mended { text, program, .. } = mended(path, text);
        let left = fix::apply(FileId(0), &text, &program.diagnostics).n_fixes;
        (left > 0).then(|| format!("{}: {left} fixes are left", name(path)))
    };
    report(all.iter().filter_map(goes_on).collect(), all.len());
}
