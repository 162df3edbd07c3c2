//! `cotan check --fix`, and fixes under `--json`.

use crate::cli::Case;
use serde_json::json;

const FOREIGN: &str = "fn f(a: bool, b: bool, c: bool) -> bool = a and b or c\n";
const MENDED: &str = "fn f(a: bool, b: bool, c: bool) -> bool = a && b || c\n";

fn read(case: &Case, name: &str) -> String {
    std::fs::read_to_string(case.path(name)).expect("a file")
}

#[test]
fn fixes_stand_in_the_json_as_bytes_and_text() {
    let case = Case::new("fn é() -> bool = 1\nfn f(a: bool, b: bool) -> bool = a and b\nfn g() -> f64 = h\n");
    let found = case.run(&["check", "program.cot", "--json"]).json();
    let fixes: Vec<_> = found["diagnostics"].as_array().expect("a list").iter().map(|d| &d["fix"]).collect();
    let text = read(&case, "program.cot");
    let at = text.find("and").expect("the word");
    assert!(fixes.contains(&&json!([{"start": at, "end": at + 3, "text": "&&"}])), "{found}");
    assert!(fixes.contains(&&json!([])), "a help alone is no fix: {found}");
}

#[test]
fn fixes_are_made_in_the_file_and_what_is_left_is_reported() {
    let case = Case::new(FOREIGN);
    let run = case.run(&["check", "program.cot", "--fix"]);
    let told = "program.cot: made 2 fixes\n0 errors, 0 warnings\n";
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", told));
    assert_eq!(read(&case, "program.cot"), MENDED);

    case.write("program.cot", format!("{FOREIGN}fn g() -> f64 = h\n").as_bytes());
    let run = case.run(&["check", "program.cot", "--fix"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.ends_with("1 error, 0 warnings\n"), "{}", run.stderr);
    assert!(read(&case, "program.cot").starts_with(MENDED));
}

#[test]
fn a_program_without_fixes_is_not_written() {
    let case = Case::new("fn g() -> f64 = h\n");
    let written = |case: &Case| std::fs::metadata(case.path("program.cot")).and_then(|m| m.modified()).expect("a time");
    let before = written(&case);
    assert_eq!(case.run(&["check", "program.cot", "--fix"]).status, Some(1));
    assert_eq!(written(&case), before);
}

#[test]
fn a_folder_stands_for_all_programs_below_it() {
    let case = Case::new(FOREIGN);
    std::fs::create_dir_all(case.path("a/b")).expect("a folder");
    case.write("a/b/inner.cot", FOREIGN.as_bytes());
    assert_eq!(case.run(&["check", "."]).status, Some(1));
    assert_eq!(case.run(&["check", ".", "--fix"]).status, Some(0));
    assert_eq!([read(&case, "program.cot"), read(&case, "a/b/inner.cot")], [MENDED, MENDED]);
}

#[test]
fn imported_files_are_left_alone() {
    let case = Case::new("import ./inner\nfn g(a: bool) -> bool = inner.f(a, a, a)\n");
    case.write("inner.cot", format!("pub {FOREIGN}").as_bytes());
    assert_eq!(case.run(&["check", "program.cot", "--fix"]).status, Some(1));
    assert_eq!(read(&case, "inner.cot"), format!("pub {FOREIGN}"));
}
