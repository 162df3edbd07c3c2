//! A pass is one file and one line of a pipeline: a prepared one, which cancels double negations.

use super::tree::{Addition, Tree};

pub(super) const ADDITION: Addition = Addition { add, is_own };

/// The pass.
pub(super) const NAME: &str = "cancel_negations";
/// Its file.
const FILE: &str = "crates/cotan-opt/src/passes/cancel_negations.rs";
/// What stands in its file.
const TEXT: &str = include_str!("cancel_negations.rs.in");
/// Where `new-pass` registers it.
const LIST: &str = "crates/cotan-opt/src/passes/mod.rs";
/// Where the pipelines are.
const PIPELINES: &str = "crates/cotan-opt/src/pipelines.rs";
/// The line that it stands behind, the first of those that are the same.
const BEFORE: &str = "        Run(&passes::contract_fma::PASS),\n";
/// Its file tests, with what is in them.
const FILES: [(&str, &str); 2] = [
    (
        "tests/ir/cancel_negations/fires_on_what.cir",
        "fn f(x: f64) {\n  a: f64 = neg x\n  b: f64 = neg a\n  c: f64 = sin b\n  return c\n}\n// ---\n\
         fn f(x: f64) {\n  a: f64 = neg x\n  b: f64 = neg a\n  c: f64 = sin x\n  return c\n}\n",
    ),
    (
        "tests/ir/cancel_negations/keeps_what.cir",
        "fn f(x: f64) {\n  a: f64 = neg x\n  return a\n}\n// ---\nfn f(x: f64) {\n  a: f64 = neg x\n  return a\n}\n",
    ),
];

fn add(tree: &Tree) -> Result<(), String> {
    tree.cargo(&["xtask", "new-pass", NAME])?;
    tree.write(FILE, TEXT)?;
    for (file, text) in FILES {
        tree.write(file, text)?;
    }
    let line = format!("        Run(&passes::{NAME}::PASS),\n");
    let pipelines = tree.read(PIPELINES)?;
    if !pipelines.contains(BEFORE) {
        return Err(format!("{PIPELINES} has no line `{}`", BEFORE.trim()));
    }
    tree.write(PIPELINES, pipelines.replacen(BEFORE, &format!("{BEFORE}{line}"), 1))
}

fn is_own(name: &str) -> bool {
    [FILE, LIST, PIPELINES].contains(&name) || FILES.iter().any(|(file, _)| name == *file)
}
