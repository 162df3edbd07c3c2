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

/// Whether a name is a function of the prelude, a form, or a public function of the library.
fn is_function(name: &str) -> bool {
    // A module that is imported may have the name of a function of the prelude.
    let imports = if name.contains('.') { imports() } else { String::new() };
    let used = format!("{imports}fn f(x: f64) -> f64 {{\n  let r = {name}\n  x\n}}\n");
    let told = errors(&used);
    // A function without a call is no value: that it is one is what the message says.
    told.len() == 1 && (told[0].contains("found the function") || told[0].contains("found a function"))
        || ["vmap", "vjp", "jvp", "tabulate"].contains(&name)
}

#[test]
fn every_proposal_for_a_value_compiles() {
    let mut wrong = Vec::new();
    let mut n = 0;
    for (names, row) in foreign::values() {
        n += names.split(' ').count();
        if row.code.is_empty() {
            assert!(!row.why.is_empty(), "{names}: nothing is proposed");
            continue;
        }
        if row.is_other_name() {
            if !is_function(row.code) {
                wrong.push(format!("{names}: `{}` is no function", row.code));
            }
            continue;
        }
        let body = format!("{}{AROUND}fn f[N, M, K]({PARAMS}) -> f64 {{\n  let r = {}\n  s\n}}\n", imports(), row.code);
        wrong.extend(errors(&body).into_iter().map(|error| format!("{names}: {}: {error}", row.code)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n >= 300, "{n} names");
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
