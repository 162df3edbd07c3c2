//! Compiled code against the interpreter, on generated programs.

use super::Reached;
use crate::derived_case::{Case, Subject};
use crate::generate::{ir, source};
use crate::oracles::{Verdict, compiled_quickly};

/// The program of a seed does what it does on the interpreter, in one variant of compilation: to judge it in all of them takes
/// seconds, and the campaigns of random programs do.
pub(super) fn compare(seed: u64) -> Result<Reached, String> {
    let subject: Subject = if seed.is_multiple_of(2) { ir::small_subject(seed) } else { source::short_subject(seed)? };
    let mut reached: Reached = subject.constructs.iter().map(|construct| format!("{construct:?}")).collect();
    reached.extend(subject.variants.iter().map(|variant| (*variant).to_owned()));
    let case = Case::new(subject)?;
    match compiled_quickly(&case) {
        Verdict::Holds | Verdict::Unusable(_) => Ok(reached),
        Verdict::Fails(reason) => Err(reason),
    }
}
