//! What is covered: `spec/operations/index.tsv` names the tests of every operation of the manifest, and `spec/coverage.tsv`
//! the operations of the manifest that cover a list of what other systems offer.
//!
//! Tests are named `battery` and `table` (all operations of the op table), `kinks:ID` (a row of `spec/kinks.tsv`),
//! `cases:FILE/FUNCTION` (cases of `spec/operations/FILE.json`) and `run:FILE` (a program of `tests/run`).

use cotan::library::standard;
use cotan::manifest::{Manifest, manifest};
use cotan_ops::{Kind, ManifestEntry};
use cotan_sema::prelude_functions;
use cotan_sema::typed::{CallableKind, FunctionBody, Part, Program};
use cotan_syntax::token::TokenKind;
use cotan_syntax::{FileId, parse};
use cotan_testkit::files::{files, is_blessing, programs, replace, tests_folder, workspace_file};
use cotan_testkit::frontend::loaded;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const INDEX: &str = "spec/operations/index.tsv";
const HEAD: &str = "# Which tests hold which operations: kind, name, tests. Written by the test `coverage` of the testkit under \
                    COTAN_BLESS=1.\n";

/// What nothing covers yet. A name leaves this list as soon as it is there.
const MISSING: [&str; 0] = [];

/// Programs that are named as tests of one operation, at most.
const MOST: usize = 3;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn the_manifest() -> Manifest {
    manifest(&standard()).expect("the library has no errors")
}

/// Tests by kind and name.
type Index = BTreeMap<(Kind, String), Vec<String>>;

/// The rows of the table of kinks, by the primitives that they are about.
fn of_kinks(index: &mut Index) {
    let text = read(&workspace_file("spec/kinks.tsv"));
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let mut columns = line.split('\t');
        if let (Some(id), Some(op)) = (columns.next(), columns.next())
            && op != "-"
        {
            index.entry((Kind::Primitive, op.to_owned())).or_default().push(format!("kinks:{id}"));
        }
    }
}

/// The cases with reference values, by the operations that they name.
fn of_cases(index: &mut Index) {
    for path in files(&workspace_file("spec/operations"), ".json") {
        let file = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let json: Json = serde_json::from_str(&read(&path)).expect("JSON");
        for case in json["cases"].as_array().expect("a list of cases") {
            let (operation, function) = (case["operation"].as_str(), case["function"].as_str());
            let (operation, function) = (operation.expect("an operation"), function.expect("a function"));
            let kind = if operation.contains('.') { Kind::Library } else { Kind::Prelude };
            let tests = index.entry((kind, operation.to_owned())).or_default();
            let id = format!("cases:{file}/{function}");
            if !tests.contains(&id) {
                tests.push(id);
            }
        }
    }
}

/// The functions of a program that a part of it names.
fn named(program: &Program, part: Part<'_>, found: &mut BTreeSet<String>) {
    match part {
        Part::Expr(expr) => expr.each_part(&mut |part| named(program, part, found)),
        Part::Callable(callable) => {
            if let CallableKind::Function { function, .. } = &callable.kind {
                found.insert(program.function(*function).name.clone());
            }
            callable.each_part(&mut |part| named(program, part, found));
        }
    }
}

/// The operations that a program calls by name itself.
fn called(name: &str, text: &str, below: &Path, prelude: &BTreeSet<&str>) -> BTreeSet<(Kind, String)> {
    let (module, _) = parse(FileId(0), text);
    let mut found = BTreeSet::new();
    let tokens: Vec<(&TokenKind, &str)> =
        module.tokens.iter().map(|token| (&token.kind, &text[token.span.range()])).collect();
    for three in tokens.windows(3) {
        let [(_, before), (_, word), (_, after)] = three else { continue };
        if prelude.contains(word) && !["fn", "."].contains(before) && ["(", "["].contains(after) {
            found.insert((Kind::Prelude, (*word).to_owned()));
        }
    }
    if text.contains("import std.") {
        let program = loaded(name, text, below).unwrap_or_else(|e| panic!("{name}: {e}")).checked.program;
        let mut functions = BTreeSet::new();
        for function in program.functions.iter().filter(|function| !function.name.starts_with("std.")) {
            match &function.body {
                FunctionBody::Source(body) => named(&program, Part::Expr(&body.value), &mut functions),
                FunctionBody::Derivative(derivative) => {
                    named(&program, Part::Callable(&derivative.base), &mut functions);
                }
                FunctionBody::Required(_) => {}
            }
        }
        found.extend(functions.into_iter().filter(|f| f.starts_with("std.")).map(|f| (Kind::Library, f)));
    }
    found
}

/// The programs of `tests/run` that call an operation: those about the prelude and the library first.
fn of_programs(index: &mut Index) {
    let folder = tests_folder().join("run");
    let prelude: BTreeSet<&str> = prelude_functions().iter().map(|function| function.name).collect();
    let mut by_operation: Index = BTreeMap::new();
    for path in programs(&folder) {
        let name = path.strip_prefix(&folder).expect("below the folder").to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let below = path.parent().expect("a folder");
        for operation in called(&name, &text, below, &prelude) {
            by_operation.entry(operation).or_default().push(format!("run:{name}"));
        }
    }
    for (operation, mut tests) in by_operation {
        let is_about = |test: &String| test.starts_with("run:prelude/") || test.starts_with("run:library/");
        tests.sort_by_key(|test| (!is_about(test), test.clone()));
        tests.truncate(MOST);
        index.entry(operation).or_default().extend(tests);
    }
}

#[test]
fn the_index_names_the_tests_of_every_operation() {
    let mut index = Index::new();
    of_kinks(&mut index);
    of_cases(&mut index);
    of_programs(&mut index);
    let rows = index.iter().map(|((kind, name), tests)| format!("{}\t{name}\t{}\n", kind.name(), tests.join(" ")));
    let expected = HEAD.to_owned() + &rows.collect::<String>();
    let path = workspace_file(INDEX);
    if is_blessing() {
        replace(&path, &expected).expect("the index can be written");
    }
    assert_eq!(read(&path), expected, "{INDEX} is stale: run this test under COTAN_BLESS=1");
    let known: BTreeSet<(Kind, String)> =
        the_manifest().operations.into_iter().map(|entry| (entry.kind, entry.name)).collect();
    let unknown: Vec<_> = index.keys().filter(|operation| !known.contains(*operation)).collect();
    assert!(unknown.is_empty(), "tests of what is not in the manifest: {unknown:?}");
}

#[test]
fn every_operation_of_the_manifest_has_a_test() {
    let untested: Vec<String> =
        the_manifest().operations.into_iter().filter(|entry| entry.tests.is_empty()).map(|entry| entry.name).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn everything_that_is_to_be_covered_is_covered_by_operations_with_tests() {
    let manifest = the_manifest();
    let (mut problems, mut missing) = (Vec::new(), BTreeSet::new());
    let text = read(&workspace_file("spec/coverage.tsv"));
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).skip(1).collect();
    for line in &lines {
        let [_, operation, kind, names] = line.split('\t').collect::<Vec<_>>()[..] else {
            problems.push(format!("expected four columns: {line}"));
            continue;
        };
        if !["P", "T", "T/S", "S"].contains(&kind) || names.is_empty() {
            problems.push(format!("{operation}: nothing covers it"));
        }
        for name in names.split(' ').filter(|name| !name.is_empty()) {
            let entries: Vec<&ManifestEntry> = manifest.operations.iter().filter(|entry| entry.name == name).collect();
            if entries.is_empty() {
                missing.insert(name);
            }
            problems.extend(entries.iter().filter(|e| e.tests.is_empty()).map(|e| format!("`{}` has no test", e.name)));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert_eq!(missing.into_iter().collect::<Vec<_>>(), MISSING, "names that are not in the manifest");
    assert!(lines.len() > 190, "{} lines", lines.len());
}
