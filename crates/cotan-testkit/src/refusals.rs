//! Traceability of rules to refusals: each rule of a verifier's head has a test that quotes its beginning.

use crate::files::workspace_file;
use std::collections::BTreeSet;
use std::fs;

/// The verifiers, each with the file of its tests.
pub const VERIFIERS: [(&str, &str); 2] = [
    ("crates/cotan-ir/src/verify.rs", "crates/cotan-ir/tests/verify.rs"),
    ("crates/cotan-loops/src/verify/mod.rs", "crates/cotan-loops/tests/verify.rs"),
];

/// The rules of a verifier beside the tests of its refusals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// How many rules the head of the verifier lists.
    pub n_rules: usize,
    /// How many tests quote one.
    pub n_tests: usize,
    /// Rules without a test, and quotations of none or of several.
    pub wrong: Vec<String>,
}

/// Traces the rules of a verifier of the workspace to its tests.
pub fn traced_files((verifier, tests): (&str, &str)) -> Result<Traced, String> {
    let read = |name: &str| fs::read_to_string(workspace_file(name)).map_err(|e| format!("{name}: {e}"));
    Ok(traced(&read(verifier)?, &read(tests)?))
}

/// Traces the rules in the text of a verifier to the text of its tests.
fn traced(verifier: &str, tests: &str) -> Traced {
    let (rules, quoted) = (rules(verifier), quoted(tests));
    let mut with_test = BTreeSet::new();
    let mut wrong = Vec::new();
    for beginning in &quoted {
        let of: Vec<usize> = (0..rules.len()).filter(|k| rules[*k].starts_with(beginning)).collect();
        match of.as_slice() {
            [rule] => {
                with_test.insert(*rule);
            }
            several => wrong.push(format!("\"{beginning}\" begins {} rules", several.len())),
        }
    }
    let without = (0..rules.len()).filter(|k| !with_test.contains(k));
    wrong.extend(without.map(|k| format!("no test refuses what breaks \"{}\"", rules[k])));
    Traced { n_rules: rules.len(), n_tests: quoted.len(), wrong }
}

/// The bullets of the comment at the head of a module, each on one line.
fn rules(text: &str) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
        if let Some(beginning) = line.strip_prefix(" - ") {
            rules.push(beginning.to_owned());
            is_inside = true;
        } else if let (Some(rest), Some(rule), true) = (line.strip_prefix("   "), rules.last_mut(), is_inside) {
            *rule = format!("{rule} {rest}");
        } else {
            is_inside = false;
        }
    }
    rules
}

/// What tests quote.
fn quoted(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("/// Rule: \"")?.strip_suffix("\".")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERIFIER: &str = "//! The verifier.\n//!\n//! Names\n//! - A name is\n//!   bound once.\n//! - A dim is a size.\n//!\n//! \
                            Types\n//! - A type is\n//!   known.\n\nuse x;\n";

    #[test]
    fn rules_without_a_test_and_quotations_of_none_are_found() {
        assert_eq!(rules(VERIFIER), ["A name is bound once.", "A dim is a size.", "A type is known."]);
        let tests = "/// Rule: \"A name is bound\".\n/// Rule: \"A type\".\n/// Rule: \"A unit\".\n/// Rule: \"A \".\n";
        let wrong =
            ["\"A unit\" begins 0 rules", "\"A \" begins 3 rules", "no test refuses what breaks \"A dim is a size.\""];
        let wrong = wrong.map(str::to_owned).to_vec();
        assert_eq!(traced(VERIFIER, tests), Traced { n_rules: 3, n_tests: 4, wrong });
    }
}
