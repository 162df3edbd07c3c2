//! Integer literals where floats are expected, and the generated code of what was written before.

use super::super::suites::{built, campaign};
use super::super::{Line, Measured, Workplace};
use crate::files::workspace_file;
use std::fs;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "programs of the rule of literals: accepted with their values, refused with place and fix",
        bar: "at least 200, on all engines",
        measure: table,
    },
    Line {
        title: "texts of core IR, of loop nests and of LLVM IR of every program beside those of the start (`--start DIR`)",
        bar: "identical, those of new and rewritten programs aside",
        measure: texts,
    },
];

/// How many rows a table of literals has.
fn rows(name: &str) -> Result<usize, String> {
    let path = workspace_file("tests/literals").join(name);
    Ok(fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?.lines().skip(1).count())
}

fn table(place: &Workplace) -> Result<Measured, String> {
    let (accepted, refused) = (rows("accepted.tsv")?, rows("refused.tsv")?);
    let result = campaign(place, "cotan-testkit", &["--test", "all", "literals::"])?;
    let holds = accepted + refused >= 200;
    Ok(Measured::new(holds, format!("{accepted} accepted, {refused} refused; {result}")))
}

fn texts(place: &Workplace) -> Result<Measured, String> {
    let folder = place.of_start("texts")?.display().to_string();
    let text = built(place, "texts", &["--compare", &folder], &[])?;
    Ok(Measured::new(true, text.lines().map(str::trim).collect::<Vec<_>>().join("; ")))
}
