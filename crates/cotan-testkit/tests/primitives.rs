//! Derivatives of the op table's primitives, from the table alone.

use cotan_testkit::primitives::check_all;

#[test]
fn every_primitive_holds_before_all_oracles() {
    let report = check_all();
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(report.primitives > 50, "{} primitives", report.primitives);
    let (usable, all) = (report.usable, report.double_points);
    assert!(10 * usable >= 9 * all, "differences could judge {usable} of {all} points");
}
