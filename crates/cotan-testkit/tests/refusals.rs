//! Every rule of both verifiers has a test of its refusal.

use cotan_testkit::refusals::{VERIFIERS, traced_files};

#[test]
fn every_rule_of_a_verifier_has_a_test_that_quotes_it() {
    for files in VERIFIERS {
        let traced = traced_files(files).unwrap_or_else(|e| panic!("{e}"));
        assert!(traced.n_rules >= 20, "{files:?} has {} rules", traced.n_rules);
        assert!(traced.wrong.is_empty(), "{}", traced.wrong.join("\n"));
    }
}
