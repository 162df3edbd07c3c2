//! The page of promises and the rules for dependencies.

use crate::accept::suites::tests;
use crate::accept::{Line, Measured, Workplace};

pub(super) const LINE: Line = Line {
    title: "`SECURITY.md`, `deny.toml` and the page of promises",
    bar: "limits and defaults are those of the code, dependencies those that are allowed, advisories have a decision",
    measure,
};

fn measure(place: &Workplace) -> Result<Measured, String> {
    let library = tests(place, "cotan-testkit", &["--test", "all", "docs::promises"], "")?;
    let command = tests(place, "cotan-cli", &["--bins", "promises"], "")?;
    let rules = tests(place, "xtask", &["dependencies"], "")?;
    Ok(Measured::new(true, format!("page: {library}; command: {command}; deny.toml: {rules}")))
}
