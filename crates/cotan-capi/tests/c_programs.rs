//! C programs against the library: compiled as C11 and C++17 by the compilers that are there, without a warning, and run.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it leaves out")]

use cotan::host::Elem;
use cotan_c::Status;
use std::path::{Path, PathBuf};
use std::process::Command;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Compilers, how they take C, and how C++.
const COMPILERS: [[&str; 2]; 2] = [["gcc", "g++"], ["clang", "clang++"]];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the library, which is built with the tests.
fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    assert!(folder.join("libcotan_c.so").exists(), "no libcotan_c.so in {}", folder.display());
    folder
}

fn is_there(compiler: &str) -> bool {
    let is_there = Command::new(compiler).arg("--version").output().is_ok();
    if !is_there {
        eprintln!("no {compiler}, so nothing is compiled by it");
    }
    is_there
}

/// Compiles a program in a language; what it prints when it runs.
fn run(program: &str, compiler: &str, language: &[&str], more: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (built, library) = (folder.path().join(program), library());
    let mut command = Command::new(compiler);
    command.args(language).arg(here().join(format!("tests/c/{program}.c"))).args(["-x", "none"]);
    command.args(WARNINGS).args(more).arg("-I").arg(here().join("include"));
    command.arg("-o").arg(&built).arg("-L").arg(&library).arg(format!("-Wl,-rpath,{}", library.display()));
    let compiled = command.args(["-lcotan_c", "-lm"]).output().unwrap();
    assert!(compiled.status.success(), "{compiler} {language:?}: {}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&built).env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && err.is_empty(), "{compiler} {language:?}: {}\n{out}{err}", ran.status);
    out.into_owned()
}

/// What a program prints, compiled in all ways that there are.
fn in_all_ways(program: &str) -> Vec<String> {
    let mut all = Vec::new();
    for [c, cpp] in COMPILERS {
        if is_there(c) {
            all.push(run(program, c, &["-std=c11", "-x", "c"], &[]));
        }
        if is_there(cpp) {
            all.push(run(program, cpp, &["-std=c++17", "-x", "c++"], &[]));
        }
    }
    if is_there("clang") {
        all.push(run(program, "clang", &["-std=c11", "-x", "c"], &["-g", "-fsanitize=address,undefined"]));
    }
    assert!(!all.is_empty(), "there is no compiler of C");
    all
}

#[test]
fn the_example_fits_a_mixture() {
    let root = here().join("../..");
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let built = folder.path().join("fit");
    if !is_there("gcc") {
        return;
    }
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-O2"]).args(WARNINGS).arg(root.join("examples/c/fit.c"));
    command.arg("-I").arg(here().join("include")).arg("-L").arg(&library).arg("-lcotan_c");
    let compiled = command.arg(format!("-Wl,-rpath,{}", library.display())).arg("-o").arg(&built).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&built).arg(root.join("examples/gmm/gmm.cot")).output().unwrap();
    let out = String::from_utf8_lossy(&ran.stdout);
    let page = std::fs::read_to_string(root.join("examples/c/README.md")).unwrap();
    assert!(
        ran.status.success() && !out.is_empty() && page.contains(&*out),
        "{out}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn calls_of_a_c_program_are_right() {
    assert!(in_all_ways("calls").iter().all(|out| out == "all calls are right\n"));
}

#[test]
fn every_misuse_has_its_status_and_text() {
    let all = in_all_ways("misuse");
    assert!(all.iter().all(|out| *out == all[0]));
    let expected = here().join("tests/c/misuse.txt");
    if std::env::var_os("COTAN_BLESS").is_some() {
        std::fs::write(&expected, &all[0]).unwrap();
    }
    assert_eq!(all[0], std::fs::read_to_string(&expected).unwrap());
}

/// The names that a text has behind `before`.
fn functions(text: &str, before: &str) -> Vec<String> {
    let name = |part: &str| part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut all: Vec<String> = text.match_indices(before).map(|(at, _)| name(&text[at + before.len() - 6..])).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn the_header_declares_what_the_library_exports() {
    let header = std::fs::read_to_string(here().join("include/cotan.h")).unwrap();
    let files = ["call", "compiler", "function", "status"].map(|file| here().join(format!("src/{file}.rs")));
    let code: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let exported = functions(&code, "extern \"C\" fn cotan_");
    let declared = header.lines().filter(|line| line.contains('(') && !line.trim_start().starts_with('*'));
    let declared: Vec<String> = declared.flat_map(|line| functions(line, "cotan_")).collect();
    let missing: Vec<&String> = exported.iter().filter(|name| !declared.contains(name)).collect();
    assert!(missing.is_empty() && exported.len() >= 14, "not in the header: {missing:?} of {exported:?}");
}

/// The numbers of an enum of the header, by their names without `COTAN_`.
fn numbers(header: &str, name: &str) -> Vec<(String, i32)> {
    let (_, rest) = header.split_once(&format!("typedef enum {name} {{")).unwrap();
    let (body, _) = rest.split_once('}').unwrap();
    let pairs = body.split([',', '\n']).filter_map(|part| part.trim().strip_prefix("COTAN_")?.split_once(" = "));
    pairs.map(|(name, number)| (name.to_lowercase(), number.parse().unwrap())).collect()
}

#[test]
fn numbers_of_the_header_are_those_of_the_library() {
    let header = std::fs::read_to_string(here().join("include/cotan.h")).unwrap();
    let elements: Vec<(String, i32)> =
        Elem::ALL.into_iter().map(|elem| (elem.name().to_owned(), cotan_c::number_of(elem))).collect();
    let mut found = numbers(&header, "cotan_element");
    found.sort_by_key(|(name, _)| elements.iter().position(|(other, _)| other == name));
    assert_eq!(found, elements);
    let statuses = Status::ALL.map(|status| (format!("{status:?}").to_lowercase(), status as i32));
    assert_eq!(numbers(&header, "cotan_status"), statuses);
}
