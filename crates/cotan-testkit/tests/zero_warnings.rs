//! Warnings that a derivative is zero (W0501) are true: over a part of `tests/run` that a hash of names picks.
//! `cargo xtask accept sound` asks all.

use cotan_testkit::files::{programs, report, tests_folder};
use cotan_testkit::parallel;
use cotan_testkit::tier::hash;
use cotan_testkit::zeros::{Claims, of_program};

/// One in so many programs.
const ASKED: u64 = 12;

#[test]
fn f5_warnings_of_zero_derivatives_are_true() {
    let below = tests_folder().join("run");
    let name = |path: &std::path::PathBuf| path.strip_prefix(&below).unwrap_or(path).display().to_string();
    let picked = |path: &std::path::PathBuf| hash(&name(path)).is_multiple_of(ASKED) && !name(path).starts_with("nans");
    let picked: Vec<_> = programs(&below).into_iter().filter(picked).collect();
    let judged = parallel::map(&picked, |path| {
        let text = std::fs::read_to_string(path).expect("a file");
        of_program(&name(path), &text, &below).unwrap_or_else(|e| panic!("{}: {e}", name(path)))
    });
    let claims = judged.into_iter().fold(Claims::default(), Claims::and);
    assert!(claims.asked >= 30, "{} parameters", claims.asked);
    report(claims.wrong, claims.asked);
}
