//! How much is tested: what the harness of these programs and the campaign of random ones asks must not shrink unseen.

use cotan_testkit::engines::Engine;
use cotan_testkit::files::{programs, tests_folder};
use cotan_testkit::header::{self, Expected};
use cotan_testkit::oracles::{COMPILED, FIRST_ORDER};
use cotan_testkit::variant::Variant;
use std::collections::BTreeMap;

/// Programs and cases at least, and the oracles that a random program is put before.
const PROGRAMS: usize = 486;
const CASES: usize = 1765;
const ORACLES: usize = 16;

#[expect(clippy::print_stdout, reason = "the counts are shown by `-- --nocapture`")]
fn print(line: &str) {
    println!("{line}");
}

#[test]
fn there_are_as_many_programs_cases_and_oracles_as_there_were() {
    let root = tests_folder().join("run");
    let (mut n_programs, mut kinds, mut variants) = (0, BTreeMap::new(), BTreeMap::new());
    for path in programs(&root) {
        n_programs += 1;
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for case in header::cases(&text).expect("a header") {
            let kind = match (&case.expected, case.wrt.is_empty()) {
                (Expected::Value { .. }, true) => "values",
                (Expected::Value { .. }, false) => "values with gradient",
                (Expected::Error { .. }, _) => "errors",
                (Expected::Nan { .. }, _) => "NaN",
            };
            *kinds.entry(kind).or_insert(0) += 1;
        }
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let engines = Engine::of(&name, 1);
        assert!(engines.len() >= 2 && engines[0] == Engine::Interpreter, "{name}: {engines:?}");
        for variant in Variant::of(&name, 1) {
            *variants.entry(format!("{variant:?}")).or_insert(0) += 1;
        }
    }
    let n_cases: usize = kinds.values().sum();
    let n_oracles = FIRST_ORDER.len() + COMPILED.len() + 1;
    print(&format!("{n_programs} programs, {n_cases} cases: {kinds:?}"));
    print(&format!("{n_oracles} oracles for random programs; variants by programs: {variants:#?}"));
    assert!(n_programs >= PROGRAMS && n_cases >= CASES && n_oracles >= ORACLES);
    assert_eq!(variants.len(), Variant::ALL.len(), "a variant that no program is compiled in");
}
