//! The tables of foreign names: everything that they propose is there, and compiles.

use cotan::Program;
use cotan::library::{STANDARD, standard};
use cotan_sema::Limits;
use cotan_sema::foreign::{self, Foreign};
use cotan_sema::modules::NoFiles;
use std::collections::BTreeMap;

/// A function with a parameter for each letter that stands for an operand in the tables.
const AROUND: &str = "\
fn h(s: f64) -> f64 = s * s
fn loss[N](x: f64[N]) -> f64 = x @ x
";

const PARAMS: &str = "x: f64[N], y: f64[N], m: f64[N, M], a: f64[N, N], b: f64[N, N], s: f64, t: f64, u: f64, \
    n: i64, k: i64, i: i64, at: i64[K], mask: bool[N], p: bool, q: bool, key: u64, z: complex.complex[f64]";

fn imports() -> String {
    STANDARD.iter().map(|module| format!("import {}\n", module.name)).collect()
}

fn errors(text: &str) -> Vec<String> {
    let program = Program::load("proposals.cot", text, &NoFiles, &standard(), &Limits::default());
    let told = program.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    told.map(|diagnostic| format!("{}: {}", program.sources.slice(diagnostic.primary.span), diagnostic.message))
        .collect()
}

/// Forms of the language, which are no functions without the one that they take.
const FORMS: [&str; 3] = ["vmap", "vjp", "jvp"];

#[test]
fn every_expression_that_is_proposed_compiles() {
    let rows: Vec<(&str, Foreign)> = foreign::values().collect();
    let expressions = rows.iter().filter(|(_, row)| !row.code.is_empty() && !row.is_other_name());
    let functions = expressions
        .enumerate()
        .map(|(at, (_, row))| format!("fn row{at}[N, M, K]({PARAMS}) -> f64 {{\n  let r = {}\n  s\n}}\n", row.code));
    let text = format!("{}{AROUND}{}", imports(), functions.collect::<String>());
    assert_eq!(errors(&text), Vec::<String>::new());
    assert!(rows.iter().all(|(_, row)| !row.code.is_empty() || !row.why.is_empty()), "a row proposes nothing");
    let n_names: usize = rows.iter().map(|(names, _)| names.split(' ').count()).sum();
    assert!(n_names >= 300, "{n_names} names");
}

#[test]
fn every_other_name_is_that_of_a_function() {
    let codes = foreign::values().map(|(_, row)| row).filter(Foreign::is_other_name).map(|row| row.code);
    for code in codes.filter(|code| !FORMS.contains(code)) {
        // A module that is imported may have the name of a function of the prelude.
        let import = code.split_once('.').map(|(module, _)| format!("import std.{module}\n")).unwrap_or_default();
        let told = errors(&format!("{import}fn f(x: f64) -> f64 {{\n  let r = {code}\n  x\n}}\n"));
        // A function without a call is no value: that it is one is what the message says.
        let is_function = |told: &String| told.contains("found the function") || told.contains("found a function");
        assert!(told.len() == 1 && told.iter().all(is_function), "{code}: {told:#?}");
    }
}

#[test]
fn every_proposal_for_a_type_is_one() {
    for (names, row) in foreign::types() {
        if row.code.is_empty() {
            assert!(!row.why.is_empty(), "{names}: nothing is proposed");
            continue;
        }
        let text = format!("{}fn f[N, M](x: f64[N, M], v: f64[N], r: {}) -> f64 = 1.0\n", imports(), row.code);
        assert_eq!(errors(&text), Vec::<String>::new(), "{names}");
    }
}

#[test]
fn no_name_stands_in_two_rows() {
    for table in [foreign::values().collect::<Vec<_>>(), foreign::types().collect()] {
        let mut seen: BTreeMap<&str, Foreign> = BTreeMap::new();
        for (names, row) in table {
            for name in names.split(' ') {
                assert_eq!(seen.insert(name, row), None, "`{name}` stands twice");
            }
        }
    }
}
