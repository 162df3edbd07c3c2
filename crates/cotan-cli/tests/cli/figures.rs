//! The numbers of the book's figures are those that the commands give which `docs/figures/figures.tsv` names.

use crate::cli::Case;
use cotan_testkit::files::{report, workspace_file};
use std::os::unix::fs::symlink;

/// How far numbers may be apart, in relation to the larger one: another processor may round otherwise.
const TOLERANCE: f64 = 1e-6;

#[test]
fn the_data_of_the_figures_are_what_the_commands_give() {
    let case = Case::new("");
    symlink(workspace_file("examples").canonicalize().expect("the examples"), case.path("examples")).expect("a link");
    let table = std::fs::read_to_string(workspace_file("docs/figures/figures.tsv")).expect("the table");
    let mut failures = Vec::new();
    let mut n_figures = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (name, command) =
            (line.split('\t').next().unwrap_or_default(), line.split('\t').next_back().unwrap_or_default());
        // What is counted by `cotan bench` takes longer, and has tests of its own.
        let Some(args) = command.strip_prefix("run ") else { continue };
        n_figures += 1;
        let args: Vec<&str> = ["run"].into_iter().chain(args.split(' ')).chain(["--out", "data.csv"]).collect();
        let run = case.run(&args);
        assert_eq!(run.status, Some(0), "{name}: {}", run.stderr);
        let read = |path| std::fs::read_to_string(path).expect("a file");
        let (found, kept) = (read(case.path("data.csv")), read(workspace_file(&format!("docs/figures/{name}.csv"))));
        if let Some((found, kept)) = first_difference(&found, &kept) {
            failures.push(format!("{name}: found `{found}`, kept is `{kept}`: `cargo xtask figures` computes it"));
        }
    }
    report(failures, n_figures);
}

/// The first cells that are neither the same text nor about the same number.
fn first_difference<'a>(a: &'a str, b: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut of_a, mut of_b) = (a.split([',', '\n']), b.split([',', '\n']));
    loop {
        let pair = match (of_a.next(), of_b.next()) {
            (None, None) => return None,
            (a, b) => (a.unwrap_or("nothing"), b.unwrap_or("nothing")),
        };
        let is_close = match (pair.0.parse::<f64>(), pair.1.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0),
            _ => false,
        };
        if pair.0 != pair.1 && !is_close {
            return Some(pair);
        }
    }
}
