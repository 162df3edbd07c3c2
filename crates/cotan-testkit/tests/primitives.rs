//! Derivatives of the op table's primitives, from the table alone.

use cotan_testkit::primitives::check_all;

#[test]
fn every_primitive_holds_before_all_oracles() {
    let report = check_all();
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(report.primitives > 50, "{} primitives", report.primitives);
    assert!(10 * report.usable >= 9 * report.points, "{} of {} points", report.usable, report.points);
}
