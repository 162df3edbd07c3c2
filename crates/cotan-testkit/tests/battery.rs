//! Values and derivatives of the operations of the op table, from the table alone.

use cotan_ops::Registry;
use cotan_testkit::battery::mutants::{Fate, judge_all};
use cotan_testkit::battery::{check_all, check_forms};

#[test]
fn every_operation_holds_before_all_oracles() {
    let report = check_all(Registry::standard());
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(report.operations > 70, "{} operations", report.operations);
    let (usable, all) = (report.usable, report.double_points);
    assert!(10 * usable >= 9 * all, "differences could judge {usable} of {all} points");
}

#[test]
fn every_operation_is_the_same_in_loops_of_views_in_storage_on_tensors_and_beside_nan() {
    let report = check_forms(Registry::standard());
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(
        report.operations > 70 && report.points > 1000,
        "{} operations, {} points",
        report.operations,
        report.points
    );
}

/// The most mutants that may be the same function as the rule, in a hundred.
const MOST_SAME: usize = 3;

#[test]
fn every_broken_rule_is_noticed_unless_it_is_the_same_function() {
    let mutants = judge_all(Registry::standard()).expect("derivatives");
    let of = |fate: Fate| mutants.iter().filter(move |mutant| mutant.fate == fate);
    assert_eq!(of(Fate::Missed).map(|mutant| (mutant.operation, &mutant.what)).collect::<Vec<_>>(), []);
    let (noticed, same) = (of(Fate::Noticed).count(), of(Fate::Same).count());
    assert!(noticed > 2000 && 100 * same <= MOST_SAME * mutants.len(), "{noticed} noticed, {same} the same");
}
