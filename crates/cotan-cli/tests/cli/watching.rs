//! `cotan run --watch`.

use crate::cli::Case;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn a_program_runs_again_when_it_or_its_data_changes() {
    let case = Case::new("import ./scale\nfn f(x: f64) -> f64 = scale.by() * x");
    case.write("scale.cot", b"pub fn by() -> f64 = 2.0");
    case.write("args.json", b"{\"x\": 3}");
    let args = ["run", "program.cot", "--fn", "f", "--args", "args.json", "--watch", "--backend", "interp"];
    let mut child = case.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().and_then(Result::ok);
    assert_eq!(next().as_deref(), Some("6.0"));
    case.write("scale.cot", b"pub fn by() -> f64 = 10.0");
    assert_eq!(next().as_deref(), Some("30.0"), "a program beside it");
    case.write("args.json", b"{\"x\": 3.5}");
    assert_eq!(next().as_deref(), Some("35.0"), "a file of arguments");
    // A program with a mistake is waited for.
    case.write("program.cot", b"fn f(x: f64) -> f64 = y");
    case.write("program.cot", b"fn f(x: f64) -> f64 = 0.5 * x + 0.25");
    assert_eq!(next().as_deref(), Some("2.0"));
    child.kill().expect("it runs until it is stopped");
    child.wait().expect("it is gone");
}
