//! Typestate: a backend takes what a verifier has passed, and nothing else compiles.

use super::super::suites::tests;
use super::super::{Line, Measured, Workplace};

pub(super) const LINE: Line = Line {
    title: "examples that hand an unverified module, or unverified nests, to what takes verified ones",
    bar: "neither compiles",
    measure,
};

fn measure(place: &Workplace) -> Result<Measured, String> {
    let modules = tests(place, "cotan-ir", &["--doc", "VerifiedModule"], "")?;
    let nests = tests(place, "cotan-loops", &["--doc", "VerifiedNests"], "")?;
    Ok(Measured::new(true, format!("modules: {modules}; nests: {nests}")))
}
