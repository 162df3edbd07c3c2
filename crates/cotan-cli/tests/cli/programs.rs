//! Programs of several files, and what programs print.

use crate::cli::Case;
use serde_json::json;

const LAYERS: &[u8] = b"pub const SCALE: f64 = 2.0\npub fn at(v: f64[2], i: i64) -> f64 = SCALE * v[i]\n";
const IMPORTING: &str = "import ./lib/layers\nfn main() -> f64 = layers.at([1.0, 2.0], 1)\n\
                         fn late() -> f64 = layers.at([1.0, 2.0], 2)\n";

fn importing() -> Case {
    let case = Case::new(IMPORTING);
    std::fs::create_dir(case.path("lib")).expect("a folder");
    case.write("lib/layers.cot", LAYERS);
    case
}

#[test]
fn imports_are_files_beside_the_program() {
    let case = importing();
    assert_eq!(case.json(&["run", "program.cot"]), json!({"result": 4.0}));
    assert_eq!(case.run(&["check", "program.cot"]).status, Some(0));
    let ir = case.run(&["emit", "program.cot", "--stage", "ir", "--fn", "main"]);
    assert!(ir.stdout.starts_with("fn main() {"), "{}", ir.stdout);
}

#[test]
fn errors_in_imported_files_have_their_place_there() {
    let case = importing();
    let run = case.run(&["run", "program.cot", "--fn", "late"]);
    assert_eq!(run.status, Some(3));
    assert!(run.stderr.lines().take(2).any(|line| line.contains("lib/layers.cot:2:49")), "{}", run.stderr);
    case.write("lib/layers.cot", b"pub fn at(v: f64[2], i: i64) -> f64 = w[i]\n");
    let run = case.run(&["run", "program.cot"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("lib/layers.cot:1:39"), "{}", run.stderr);
    std::fs::remove_file(case.path("lib/layers.cot")).expect("it was there");
    let run = case.run(&["check", "program.cot"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("lib/layers.cot"), "{}", run.stderr);
}

#[test]
fn output_goes_to_stdout_before_the_result_and_to_stderr_beside_json() {
    let case = Case::new("@io fn main() -> i32 {\n  print(\"x =\", [1.0, 2.0])\n  300\n}");
    for backend in ["cpu", "interp"] {
        let run = case.run(&["run", "program.cot", "--backend", backend]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(44), "x = [1.0, 2.0]\n"));
        let run = case.run(&["run", "program.cot", "--fn", "main", "--backend", backend]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), "x = [1.0, 2.0]\n300\n"));
        let run = case.run(&["run", "program.cot", "--json", "--backend", backend]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), "{\"result\": 300}\n"));
        assert!(run.stderr.contains("x = [1.0, 2.0]\n"), "{}", run.stderr);
    }
}

#[test]
fn a_main_without_result_is_silent_but_for_what_it_prints() {
    for head in ["@io fn main()", "@io fn main() -> ()"] {
        let run = Case::new(&format!("{head} {{ print(1) }}")).run(&["run", "program.cot"]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), "1\n"));
    }
}

#[test]
fn output_before_a_run_time_error_is_seen() {
    let case = Case::new("@io fn main() {\n  for i in 0..3 { print([5.0, 6.0][i]) }\n}");
    let run = case.run(&["run", "program.cot"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(3), "5.0\n6.0\n"));
}

#[test]
fn what_prints_has_no_derivative() {
    let case = Case::new("@io fn f(x: f64) -> f64 {\n  print(x)\n  x\n}");
    let run = case.run(&["grad", "program.cot", "--fn", "f", "--wrt", "x", "--set", "x=1.0"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("E0621"), "{}", run.stderr);
}
