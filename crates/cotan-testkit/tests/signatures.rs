//! Generated signatures: a part of them. All run in `cargo xtask accept sound`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_testkit::signatures::judge;

/// Where the part begins, and how many there are in it.
const PART: std::ops::Range<u64> = 4_000..4_200;

#[test]
fn generated_signatures_end_in_an_error_with_its_place_or_a_right_result() {
    let counts = judge(PART).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(counts.signatures as u64, PART.end - PART.start);
    // Every way to end is there.
    assert!(counts.told > 20 && counts.refused > 20 && counts.failed > 50, "{counts:?}");
    assert!(counts.calls > counts.refused + counts.failed + 100, "{counts:?}");
}
