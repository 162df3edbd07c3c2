//! First drafts of twelve programs, as they were written from the tour and the reference alone, under `tests/drafts`.
//!
//! Beside each stand what is said about it, what its fixes make of it, and `NAME.patches`: for each error how its writer mends
//! that one by hand. An error that goes away with another one was told twice.

use super::{Mended, mended, name, rendered, texts};
use cotan::Program;
use cotan_sema::Limits;
use cotan_syntax::Diagnostic;
use cotan_testkit::files::{expect_file, report};
use std::path::{Path, PathBuf};

/// The most errors in all drafts together, and after their fixes.
const MOST_ERRORS: usize = 25;
const MOST_LEFT: usize = 8;

fn check(path: &Path, text: &str) -> Program {
    Program::check(&name(path), text, &Limits::default())
}

fn errors(program: &Program) -> Vec<&Diagnostic> {
    program.diagnostics.iter().filter(|d| d.is_error()).collect()
}

#[test]
fn what_is_said_about_each_draft_stands_beside_it() {
    let all = texts("drafts");
    let compare = |(path, text): &(PathBuf, String)| {
        let program = check(path, text);
        expect_file(&path.with_extension("stderr"), &rendered(&program.diagnostics, &program.sources)).err()
    };
    report(all.iter().filter_map(compare).collect(), all.len());
}

#[test]
fn what_fixes_make_of_each_draft_stands_beside_it() {
    let all = texts("drafts");
    let compare = |(path, text): &(PathBuf, String)| {
        let Mended { text: found, program, n_fixes } = mended(path, text);
        if n_fixes == 0 && found != *text {
            return Some(format!("{}: changed without a fix", name(path)));
        }
        let left = rendered(&program.diagnostics, &program.sources);
        let found = format!("{}\n# --- {n_fixes} fixes; left:\n\n{left}", found.trim_end());
        expect_file(&path.with_extension("mended"), found.trim_end()).err()
    };
    report(all.iter().filter_map(compare).collect(), all.len());
}

#[test]
fn drafts_have_few_errors_and_fewer_after_their_fixes() {
    let all = texts("drafts");
    let n: usize = all.iter().map(|(path, text)| errors(&check(path, text)).len()).sum();
    let left: usize = all.iter().map(|(path, text)| errors(&mended(path, text).program).len()).sum();
    assert!(n <= MOST_ERRORS && left <= MOST_LEFT, "{n} errors, {left} after their fixes");
}

#[test]
fn no_error_of_a_draft_goes_away_with_another() {
    let all = texts("drafts");
    let judge = |(path, text): &(PathBuf, String)| -> Vec<String> {
        let program = check(path, text);
        let errors = errors(&program);
        let patches = std::fs::read_to_string(path.with_extension("patches")).unwrap_or_default();
        let patches: Vec<Patch> = Patch::all(&patches);
        if patches.len() != errors.len() {
            return vec![format!("{}: {} errors, {} patches", name(path), errors.len(), patches.len())];
        }
        let judged =
            errors.iter().zip(&patches).map(|(error, patch)| judge_patch((path, text.as_str()), &errors, error, patch));
        judged.filter_map(Result::err).map(|failure| format!("{}: {failure}", name(path))).collect()
    };
    report(all.iter().flat_map(judge).collect(), all.len());
}

/// How one error is mended by hand: pieces of code that others take the place of, each where it stands first.
struct Patch<'p> {
    code: &'p str,
    pieces: Vec<(&'p str, &'p str)>,
}

impl<'p> Patch<'p> {
    /// The patches of a file, in the order of the errors: `# CODE`, then pairs of lines with `-` and `+` before them.
    fn all(text: &'p str) -> Vec<Patch<'p>> {
        let mut patches: Vec<Patch<'p>> = Vec::new();
        let mut old = "";
        for line in text.lines() {
            if let Some(code) = line.strip_prefix("# ") {
                patches.push(Patch { code, pieces: Vec::new() });
            } else if let Some(line) = line.strip_prefix('-') {
                old = line;
            } else if let (Some(line), Some(patch)) = (line.strip_prefix('+'), patches.last_mut()) {
                patch.pieces.push((old, line));
            }
        }
        patches
    }

    fn apply(&self, text: &str) -> Result<String, String> {
        self.pieces.iter().try_fold(text.to_owned(), |text, (old, new)| {
            let is_there = text.contains(old);
            is_there
                .then(|| text.replacen(old, new, 1))
                .ok_or_else(|| format!("the patch of {} needs `{old}`", self.code))
        })
    }
}

/// What an error is told from others by: a mistake that is repeated may have its first place elsewhere afterwards.
fn identity(d: &Diagnostic) -> (&str, &str) {
    let what = d.repeated.as_ref().map_or(d.message.as_str(), |repeated| repeated.mistake.as_str());
    (d.code.as_str(), what)
}

/// Mends one error, and looks for all others.
fn judge_patch(
    (path, text): (&Path, &str),
    all: &[&Diagnostic],
    error: &Diagnostic,
    patch: &Patch<'_>,
) -> Result<(), String> {
    if error.code.as_str() != patch.code {
        return Err(format!("a patch for {}, where {} is the error", patch.code, error.code));
    }
    let after = check(path, &patch.apply(text)?);
    let after = errors(&after);
    let same = |all: &[&Diagnostic], d: &Diagnostic| all.iter().filter(|other| identity(other) == identity(d)).count();
    let told = |all: &[&Diagnostic]| all.iter().filter(|other| other.message == error.message).count();
    if told(&after) >= told(all) {
        return Err(format!("the patch leaves `{}`", error.message));
    }
    let goes_away = |other: &&&Diagnostic| {
        let is_other = identity(other) != identity(error);
        same(&after, other) < same(all, other) - usize::from(!is_other)
    };
    match all.iter().find(goes_away) {
        Some(other) => Err(format!("`{}` goes away with `{}`", other.message, error.message)),
        None => Ok(()),
    }
}
