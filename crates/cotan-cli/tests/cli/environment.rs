//! What the environment decides: LLVM, threads, the cache, pipes.

use crate::cli::{Case, LOSS, LOSS_ARGS, Run};
use std::io::Read;
use std::process::Stdio;

fn loss() -> Case {
    let case = Case::new(LOSS);
    case.write("args.json", LOSS_ARGS);
    case
}

const GRAD: [&str; 8] = ["grad", "program.cot", "--fn", "loss", "--wrt", "w", "--args", "args.json"];

#[test]
fn an_empty_environment_is_enough() {
    let case = loss();
    let mut command = case.command(&GRAD);
    command.env_clear();
    let run = Run::of(command.output().expect("the command runs"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(run.stdout, "gradient of `w`: f32[3], norm 16.03901493234544\n  3.5 -7.0 14.0\n");
}

#[test]
fn without_an_llvm_the_interpreter_runs_and_one_line_says_so() {
    let case = loss();
    let mut command = case.command(&[&GRAD[..], &["--json"]].concat());
    command.env("COTAN_LLVM", "none");
    let run = Run::of(command.output().expect("the command runs"));
    assert_eq!(run.status, Some(0));
    assert_eq!(run.stdout, "{\"value\": 12.25, \"grad\": {\"w\": [3.5, -7.0, 14.0]}}\n");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("the interpreter is used; install libLLVM"), "{}", run.stderr);
    let quiet = case.run(&[&GRAD[..], &["--backend", "interp"]].concat());
    assert_eq!((quiet.status, quiet.stderr.as_str()), (Some(0), ""));
}

#[test]
fn compiled_code_is_kept_between_runs() {
    let case = loss();
    let doctor = || case.json(&["doctor"])["cache"]["bytes"].as_u64().unwrap_or_default();
    assert_eq!(doctor(), 0);
    assert_eq!(case.run(&GRAD).status, Some(0));
    let filled = doctor();
    assert!(filled > 0);
    assert_eq!(case.run(&GRAD).status, Some(0));
    assert_eq!(doctor(), filled);
}

#[test]
fn a_failure_keeps_its_place_in_a_second_run_and_moves_with_the_source() {
    let program = "fn pick(x: f64[2], i: i64) -> f64 = x[i]\n";
    let case = Case::new(program);
    case.write("args.json", br#"{"x": [1.0, 2.0], "i": 2}"#);
    let run = || case.run(&["run", "program.cot", "--fn", "pick", "--args", "args.json"]);
    let (first, second) = (run(), run());
    assert_eq!(first.status, Some(3));
    assert!(first.stderr.contains("program.cot:1:39"), "{}", first.stderr);
    assert_eq!((second.status, second.stderr), (first.status, first.stderr));
    case.write("program.cot", format!("# One line more.\n{program}").as_bytes());
    assert!(run().stderr.contains("program.cot:2:39"));
}

#[test]
fn a_number_of_threads_that_is_none_is_wrong_usage() {
    let case = loss();
    let mut command = case.command(&GRAD);
    command.env("COTAN_THREADS", "many");
    let run = Run::of(command.output().expect("the command runs"));
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("`COTAN_THREADS`"), "{}", run.stderr);
}

/// Defect F7: `--threads 100000` held the machine for minutes.
#[test]
fn f7_more_threads_than_the_bound_are_wrong_usage() {
    let case = loss();
    let cores = std::thread::available_parallelism().expect("a number of cores").get();
    let expected = |name: &str, found: &str| {
        format!(
            "error[A0020]: `{name}`: expected at most {} threads, which is 16 for each core that this process may use, found \
             {found}\n  help: leave it out: there is one thread for each core then\n",
            16 * cores
        )
    };
    for command in ["grad", "run", "jacobian", "bench"] {
        let run = case.run(&[command, "program.cot", "--fn", "loss", "--args", "args.json", "--threads", "100000"]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
        assert_eq!(run.stderr, expected("--threads", "100000"));
    }
    let mut command = case.command(&[&GRAD[..], &["--backend", "interp"]].concat());
    command.env("COTAN_THREADS", "18446744073709551615");
    let run = Run::of(command.output().expect("the command runs"));
    assert_eq!((run.status, run.stderr), (Some(2), expected("COTAN_THREADS", "18446744073709551615")));
    let most = (16 * cores).to_string();
    assert_eq!(case.run(&[&GRAD[..], &["--threads", &most]].concat()).status, Some(0));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let case = Case::new("");
    let mut child =
        case.command(&["ops", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), stderr.as_str()), (Some(0), ""));
}
