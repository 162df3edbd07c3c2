//! `cotan fmt`.

use crate::cli::{Case, Run};
use std::io::Write;
use std::process::Stdio;

const UGLY: &str = "fn  f( x:f64 )->f64 = 2.0*x # twice\n";
const NEAT: &str = "fn f(x: f64) -> f64 = 2.0 * x # twice\n";

fn read(case: &Case, name: &str) -> String {
    std::fs::read_to_string(case.path(name)).expect("a file")
}

#[test]
fn files_are_formatted_in_place() {
    let case = Case::new(UGLY);
    let run = case.run(&["fmt", "program.cot"]);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", "formatted program.cot\n"));
    assert_eq!(read(&case, "program.cot"), NEAT);
    let run = case.run(&["fmt", "program.cot"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_folder_stands_for_all_programs_below_it() {
    let case = Case::new(UGLY);
    std::fs::create_dir_all(case.path("a/b")).expect("a folder");
    case.write("a/b/inner.cot", UGLY.as_bytes());
    case.write("a/notes.txt", UGLY.as_bytes());
    assert_eq!(case.run(&["fmt", "."]).status, Some(0));
    assert_eq!([read(&case, "program.cot"), read(&case, "a/b/inner.cot")], [NEAT, NEAT]);
    assert_eq!(read(&case, "a/notes.txt"), UGLY);
}

#[test]
fn the_check_shows_the_difference_and_changes_nothing() {
    let case = Case::new(UGLY);
    case.write("neat.cot", NEAT.as_bytes());
    let run = case.run(&["fmt", "--check", "neat.cot", "program.cot"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.starts_with("--- program.cot\n"), "{}", run.stdout);
    assert!(run.stdout.contains(&format!("\n-{UGLY}+{NEAT}")), "{}", run.stdout);
    assert_eq!(read(&case, "program.cot"), UGLY);
    let run = case.run(&["fmt", "--check", "neat.cot"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_file_with_errors_is_reported_and_left_alone_and_the_others_are_formatted() {
    let case = Case::new("fn f( x:f64 -> f64 = x\n");
    case.write("second.cot", UGLY.as_bytes());
    let run = case.run(&["fmt", "program.cot", "second.cot"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("program.cot:1:"), "{}", run.stderr);
    assert_eq!(read(&case, "program.cot"), "fn f( x:f64 -> f64 = x\n");
    assert_eq!(read(&case, "second.cot"), NEAT);
}

#[test]
fn the_standard_input_is_formatted_to_the_output() {
    let case = Case::new("");
    let with_input = |args: &[&str]| {
        let mut command = case.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        child.stdin.take().expect("a pipe").write_all(UGLY.as_bytes()).expect("input");
        Run::of(child.wait_with_output().expect("the command ends"))
    };
    let run = with_input(&["fmt", "-"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), NEAT));
    assert_eq!(with_input(&["fmt", "-", "--check"]).status, Some(1));
}

#[test]
fn a_missing_file_is_wrong_usage() {
    let run = Case::new("").run(&["fmt", "missing.cot"]);
    assert_eq!(run.status, Some(2), "{}", run.stderr);
}
