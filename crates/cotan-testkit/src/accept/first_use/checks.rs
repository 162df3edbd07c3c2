//! Checks of gradients at and near kinks.

use super::super::{Line, Measured};
use crate::gradient_checks::{CASES, wrong};
use crate::parallel;

pub(super) const LINES: &[Line] = &[Line {
    title: "checks of gradients at and near kinks, each with two seeded wrong rules",
    bar: "at least 40; no right gradient is contradicted, no wrong rule missed, the kinks are named",
    measure: |_| {
        let failures: Result<Vec<Vec<String>>, String> = parallel::map(&CASES, wrong).into_iter().collect();
        let failures = failures?.concat();
        let text = format!("{} points, {} wrong rules; wrong: {failures:?}", CASES.len(), 2 * CASES.len());
        Ok(Measured::new(failures.is_empty() && CASES.len() >= 40, text))
    },
}];
