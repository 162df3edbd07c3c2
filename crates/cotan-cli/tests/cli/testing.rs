//! `cotan test` and `cotan new`.

use crate::cli::Case;
use serde_json::json;

const TESTED: &str = "\
## Twice a number.
## ```
## let x = 2.0
## twice(x) == 4.0
## ```
fn twice(x: f64) -> f64 = 2.0 * x

@test fn good() -> bool = twice(3.0) == 6.0

@test fn wrong() -> bool = twice(3.0) == 7.0

fn at(v: f64[2], i: i64) -> f64 = v[i]
@test
fn out_of_range() -> bool = at([1.0, 2.0], 2) > 0.0
";

#[test]
fn tests_and_examples_are_run_and_counted() {
    let case = Case::new(TESTED);
    for engine in [&[][..], &["--backend", "interp"]] {
        let run = case.run(&[&["test", "program.cot"], engine].concat());
        assert_eq!(run.status, Some(1), "{}", run.stderr);
        let expected = "ok   program.cot: example of twice\nok   program.cot: good\nFAIL program.cot:10:10: wrong\n\
                        FAIL program.cot:14:4: out_of_range\n2 passed, 2 failed\n";
        assert_eq!(run.stdout, expected, "{}", run.stderr);
        let why = "program.cot:10:10: `wrong` gave false\n  twice(3.0) = 6.0\n";
        assert!(run.stderr.contains(why), "{}", run.stderr);
        assert!(run.stderr.contains("program.cot:12:") && run.stderr.contains("R0001"), "{}", run.stderr);
    }
}

#[test]
fn a_filter_chooses_tests_by_name() {
    let case = Case::new(TESTED);
    let run = case.run(&["test", "program.cot", "--filter", "oo"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "ok   program.cot: good\n1 passed, 0 failed\n"));
}

#[test]
fn one_object_tells_what_became_of_each_test() {
    let case = Case::new(TESTED);
    let run = case.run(&["test", "--json"]);
    assert_eq!(run.status, Some(1));
    let found = run.json();
    assert_eq!((&found["passed"], &found["failed"]), (&json!(2), &json!(2)));
    let failed = &found["tests"][3];
    assert_eq!((&failed["name"], &failed["line"], &failed["ok"]), (&json!("out_of_range"), &json!(14), &json!(false)));
    assert_eq!((&failed["diagnostics"][0]["code"], &failed["diagnostics"][0]["line"]), (&json!("R0001"), &json!(12)));
}

#[test]
fn an_example_that_does_not_compile_is_shown_in_its_comment() {
    let case = Case::new("## One.\n## ```\n## unknown(1.0)\n## ```\nfn one() -> f64 = 1.0\n");
    let run = case.run(&["test", "--json"]);
    assert_eq!(run.status, Some(1));
    let first = &run.json()["diagnostics"][0];
    assert_eq!((&first["line"], &first["column"]), (&json!(3), &json!(4)), "{first}");
}

#[test]
fn an_example_that_gives_false_fails() {
    let case = Case::new("## One.\n## ```\n## one() == 2.0\n## ```\nfn one() -> f64 = 1.0\n");
    let run = case.run(&["test"]);
    assert_eq!((run.status, run.stdout.ends_with("0 passed, 1 failed\n")), (Some(1), true), "{}", run.stdout);
}

#[test]
fn a_new_folder_runs_has_a_right_gradient_and_passes_its_tests() {
    let case = Case::new("");
    let run = case.run(&["new", "line"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    let inside = |args: &[&str]| {
        let mut command = case.command(args);
        command.current_dir(case.path("line"));
        crate::cli::Run::of(command.output().expect("the command runs"))
    };
    let run = inside(&["test"]);
    assert_eq!(run.status, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.ends_with("2 passed, 0 failed\n"), "{}", run.stdout);
    assert_eq!(inside(&["check", "line.cot", "--deny", "warnings"]).status, Some(0));
    assert_eq!(inside(&["fmt", "--check", "."]).status, Some(0));
    // The commands of the README, word by word.
    let readme = std::fs::read_to_string(case.path("line/README.md")).expect("a file");
    let commands: Vec<&str> =
        readme.lines().filter_map(|line| line.split('`').nth(1)?.strip_prefix("cotan ")).collect();
    assert_eq!(commands.len(), 5, "{readme}");
    for command in commands {
        let run = inside(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(run.status, Some(0), "{command}\n{}", run.stderr);
    }
}

#[test]
fn nothing_is_overwritten_by_a_new_folder() {
    let case = Case::new("");
    case.write("taken", b"text");
    let run = case.run(&["new", "taken"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("`taken` is there already"), "{}", run.stderr);
    assert_eq!(std::fs::read(case.path("taken")).expect("a file"), b"text");
    assert_eq!(case.run(&["new", "-"]).status, Some(2));
}
