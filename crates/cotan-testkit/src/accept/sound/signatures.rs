//! Generated signatures, with bounds of every kind: an error with its place, or a right result.

use super::super::{Line, Measured, Workplace};
use crate::signatures::judge;

/// So many signatures are judged.
const SIGNATURES: u64 = 10_000;

pub(super) const LINE: Line = Line {
    title: "generated signatures, extents from -3 up, every kind of bound of index, slice and count, on both engines",
    bar: "10,000: an error with its place, before the run where that is known, or a right result",
    measure: signatures,
};

fn signatures(_: &Workplace) -> Result<Measured, String> {
    let counts = judge(0..SIGNATURES)?;
    let text = format!(
        "{} signatures, {} told before the run; {} calls on each engine: {} refused, {} failed checks, {} results",
        counts.signatures,
        counts.told,
        counts.calls,
        counts.refused,
        counts.failed,
        counts.calls - counts.refused - counts.failed
    );
    Ok(Measured::new(counts.signatures >= SIGNATURES as usize, text))
}
