//! Reverse mode where nothing is rounded.

use super::Verdict;
use crate::derived_case::Case;
use crate::model::graph;

/// On residues the reverse derivative gives the cotangents of the tape, bit for bit.
pub fn residues(case: &Case) -> Verdict {
    match graph(case) {
        Ok(Ok(_)) => Verdict::Holds,
        Ok(Err(reason)) => Verdict::Unusable(reason),
        Err(reason) => Verdict::Fails(reason),
    }
}
