//! Checks of gradients at and near kinks.

use cotan_testkit::files::report;
use cotan_testkit::gradient_checks::{CASES, wrong};
use cotan_testkit::parallel;

#[test]
fn near_kinks_right_gradients_are_never_contradicted_and_wrong_rules_always() {
    let failures = parallel::map(&CASES, |case| wrong(case).unwrap_or_else(|e| vec![e]));
    report(failures.concat(), CASES.len());
}
