//! Every code has a page whose example shows it.

use super::run;
use std::collections::BTreeSet;

/// Codes whose examples would not fit a page: they are about sizes of programs.
const ABOUT_SIZE: [&str; 4] = ["E0348", "E0606", "E0607", "E0609"];

#[test]
fn the_failing_example_of_each_code_fails_with_it_and_with_nothing_else() {
    let mut seen = BTreeSet::new();
    for info in cotan_sema::codes::all() {
        assert!(seen.insert(info.code), "{} stands twice", info.code);
        if ABOUT_SIZE.contains(&info.code.as_str()) {
            continue;
        }
        let (_, diagnostics) = run(info.failing_example);
        let found: BTreeSet<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert_eq!(found, BTreeSet::from([info.code.as_str()]), "{}\n{diagnostics:#?}", info.failing_example);
    }
}

#[test]
fn the_mended_example_of_each_code_is_accepted() {
    for info in cotan_sema::codes::all() {
        let Some((_, mended)) = info.explanation.split_once("Mended:\n\n") else {
            panic!("{} has no mended example", info.code);
        };
        super::accept(mended);
    }
}
