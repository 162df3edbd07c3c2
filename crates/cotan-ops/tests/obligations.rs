//! The proof obligations on file are those of the table.

use std::path::Path;

#[test]
fn the_rules_that_are_proved_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proofs/generated/Rules_gen.v");
    let text = cotan_ops::proof_script();
    if std::env::var_os("COTAN_BLESS").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    let on_file = std::fs::read_to_string(&path).expect("the file is there");
    assert!(on_file == text, "proofs/generated/Rules_gen.v is stale: run `cargo xtask export-rules`");
}

/// The number of mutants is that of the run that `docs` quote; each is refused by Coq or listed there.
#[test]
fn every_proved_rule_has_mutants() {
    for rule in cotan_ops::obligations().iter().filter(|rule| rule.proof == cotan_ops::Proof::Proved) {
        assert!(!rule.mutants().is_empty(), "{}", rule.name);
    }
}
