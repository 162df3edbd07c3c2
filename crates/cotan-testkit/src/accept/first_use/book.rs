//! The README and the book: what they show is made by commands, and idioms of other languages give what Cotan gives.

use super::super::suites::tests;
use super::super::{Line, Measured, Workplace};
use crate::book::pages;
use crate::idioms::{Framework, Idiom, LANGUAGES, against_cotan, against_python, against_rust, idioms};

pub(super) const LINES: &[Line] = &[
    Line {
        title: "listings, sessions, figures and tables of README and book are what commands give",
        bar: "all",
        measure: shown,
    },
    Line {
        title: "idioms of other languages: Cotan's side runs, and the other one gives the same value where it can be run",
        bar: "at least 80; Cotan and Rust always, NumPy, JAX and PyTorch where they are installed",
        measure: compared,
    },
];

fn shown(place: &Workplace) -> Result<Measured, String> {
    let programs = tests(place, "cotan-testkit", &["--test", "all", "docs::"], "")?;
    let sessions = tests(place, "cotan-cli", &["--test", "all", "--", "sessions::", "figures::"], "")?;
    let drawings = tests(place, "xtask", &["figures::"], "")?;
    let kinds = ["cot", "console", "output", "ir", "explain"].map(|kind| format!("{} {kind}", count(kind)));
    Ok(Measured::new(true, format!("blocks: {}; {programs}, {sessions}, {drawings}", kinds.join(", "))))
}

/// The blocks of a kind.
fn count(kind: &str) -> usize {
    let of_kind = |info: &str| info.split_whitespace().next() == Some(kind);
    pages().iter().flat_map(|page| page.blocks()).filter(|block| of_kind(&block.info)).count()
}

fn compared(_place: &Workplace) -> Result<Measured, String> {
    let mut parts = Vec::new();
    let mut failures = Vec::new();
    let mut n_idioms = 0;
    for language in LANGUAGES {
        let of_language = idioms(language)?;
        n_idioms += of_language.len();
        failures.extend(against_cotan(&of_language)?);
        parts.push(format!(
            "{} of {language}: {}",
            of_language.len(),
            other_side(language, &of_language, &mut failures)?
        ));
    }
    parts.extend(failures.iter().cloned());
    Ok(Measured::new(n_idioms >= 80 && failures.is_empty(), parts.join("; ")))
}

/// Runs the other side of idioms; says whether it could be run.
fn other_side(language: &str, idioms: &[Idiom], failures: &mut Vec<String>) -> Result<&'static str, String> {
    if language == "rust" {
        failures.extend(against_rust(idioms, &std::env::temp_dir())?);
        return Ok("compiled and run");
    }
    let Some(framework) = Framework::ALL.iter().find(|framework| framework.language == language) else {
        return Ok("text");
    };
    match against_python(framework, idioms)? {
        Some(found) => {
            failures.extend(found);
            Ok("run")
        }
        None => Ok("not installed"),
    }
}
