//! Values and derivatives of the operations of the op table, from the table alone.

use cotan_ops::Registry;
use cotan_testkit::battery::check_all;

#[test]
fn every_operation_holds_before_all_oracles() {
    let report = check_all(Registry::standard());
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(report.operations > 70, "{} operations", report.operations);
    let (usable, all) = (report.usable, report.double_points);
    assert!(10 * usable >= 9 * all, "differences could judge {usable} of {all} points");
}
