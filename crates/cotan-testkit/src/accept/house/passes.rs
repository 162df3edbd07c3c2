//! Passes as records: their documentation and their file tests.

use super::super::suites::tests;
use super::super::{Line, Measured, Workplace};
use cotan_opt::PASSES;

pub(super) const LINES: &[Line] = &[Line {
    title: "passes of the core IR with a doc, a file in which they fire and one that they keep",
    bar: "all of them",
    measure,
}];

fn measure(place: &Workplace) -> Result<Measured, String> {
    let without: Vec<&str> = PASSES.iter().filter(|pass| pass.doc.is_empty()).map(|pass| pass.name).collect();
    let result = tests(place, "cotan-testkit", &["--test", "all", "ir::"], "")?;
    Ok(Measured::new(without.is_empty(), format!("{} passes, without a doc: {without:?}; {result}", PASSES.len())))
}
