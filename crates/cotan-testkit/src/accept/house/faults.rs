//! Ten faults, one in each of ten passes: seeded into a copy of the tree, each is found and its pass named.

use super::super::suites::built;
use super::super::{Line, Measured, Workplace};

pub(super) const LINE: Line = Line {
    title: "faults, one in each of ten passes (five of the core IR, two before derivatives, three of loop nests)",
    bar: "each is named by a verifier or an interpreter, with the name of its pass; without one none is named",
    measure,
};

fn measure(place: &Workplace) -> Result<Measured, String> {
    let text = built(place, "faults", &["passes"], &[])?;
    let named = text.lines().filter(|line| line.contains("found by ")).count();
    Ok(Measured::new(named >= 10, text.lines().map(str::trim).collect::<Vec<_>>().join("; ")))
}
