//! Arguments from files, hostile ones included.

use crate::cli::Case;
use serde_json::json;

/// An `.npy` file with this header and data.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn dot() -> Case {
    Case::new("fn f[N](x: f64[N], y: f64[N], n: i64) -> f64 = (n as f64) * (+/ (x .* y))")
}

#[test]
fn arguments_come_from_every_kind_of_source() {
    let case = dot();
    let data: Vec<u8> = [1.0f64, 2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    case.write("x.npy", &npy("{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }", &data));
    case.write("y.json", b"{\"y\": [10, 1]}");
    let args = ["run", "program.cot", "--fn", "f", "--args", "x=x.npy", "--args", "y.json", "--set", "n=3"];
    assert_eq!(case.json(&args), json!({"result": 36.0}));
}

#[test]
fn archives_of_arrays_are_read() {
    let case = Case::new("fn f(x: f64[2], y: i64) -> (f64[2], i64) = (x, y)");
    case.write("args.json", b"{\"x\": [1, 2], \"y\": 3}");
    let run = ["run", "program.cot", "--fn", "f", "--args"];
    assert_eq!(case.run(&[&run[..], &["args.json", "--out", "out.npz"]].concat()).status, Some(0));
    case.write("again.cot", b"struct R { a: f64[2], b: i64 }\nfn g(x: f64[2]) -> f64[2] = x");
    // The archive names its arrays after the parts of the result.
    let refused = case.run(&["run", "again.cot", "--fn", "g", "--args", "out.npz", "--json"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stdout.contains("`result.0`"), "{}", refused.stdout);
}

#[test]
fn hostile_arrays_are_refused_with_a_reason() {
    let case = dot();
    let header =
        |descr: &str, shape: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    for (bytes, reason) in [
        (npy(&header("|O", "(1,)"), &[0; 8]), "Python objects are never read"),
        (npy(&header("<f8", "(9223372036854775807, 9)"), &[]), "more than memory holds"),
        (npy(&header("<f8", "(3,)"), &[0; 8]), "needs 24 bytes, found 8"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f".to_vec(), "expected a header of at most 65536 bytes"),
        (b"GIF89a".to_vec(), "no .npy file"),
    ] {
        case.write("x.npy", &bytes);
        let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "x=x.npy"]);
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(reason), "expected {reason}, found {}", run.stderr);
    }
    case.write("x.npz", b"PK\x03\x04 and nothing more");
    assert_eq!(case.run(&["run", "program.cot", "--fn", "f", "--args", "x.npz"]).status, Some(2));
}

#[test]
fn arguments_that_do_not_fit_are_told_at_the_parameter() {
    let case = dot();
    for (args, code, place, message) in [
        (&br#"{"x": [1, 2], "n": 1}"#[..], "A0001", (1, 20), "argument `y` is missing: expected f64[N], found none"),
        (br#"{"x": [1], "y": [1], "n": 1, "z": 0}"#, "A0002", (1, 4), "there is no parameter `z`"),
        (br#"{"x": [1], "y": [1], "n": 1.5}"#, "A0003", (1, 31), "argument `n`: expected i64, found 1.5"),
        (
            br#"{"x": [1], "y": [1], "n": 18446744073709551615}"#,
            "A0003",
            (1, 31),
            "argument `n`: expected i64 from -9223372036854775808 to 9223372036854775807, found 18446744073709551615",
        ),
        (br#"{"x": [[1], [2, 3]], "y": [1], "n": 1}"#, "A0003", (1, 9), "argument `x`: expected f64[N]"),
        (br#"{"x": [1, 2], "y": [1, 2, 3], "n": 1}"#, "A0004", (1, 20), "expected extent N = 2 on axis 0, found 3"),
    ] {
        case.write("args.json", args);
        let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "args.json", "--json"]);
        assert_eq!(run.status, Some(2), "{}", run.stdout);
        let (found, line, column) = run.first_diagnostic();
        assert_eq!((found.as_str(), (line, column)), (code, place), "{}", run.stdout);
        let text = run.json()["diagnostics"][0]["message"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains(message), "expected {message}, found {text}");
    }
}

#[test]
fn element_types_of_arrays_are_not_converted() {
    let case = Case::new("fn f(x: f64[2]) -> f64 = x[0]");
    case.write("x.npy", &npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", &[0; 8]));
    let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "x=x.npy"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("argument `x`: expected f64[2], found f32[2]"), "{}", run.stderr);
}

#[test]
fn an_enum_is_no_array() {
    let case = Case::new("enum Shape { Dot, Circle(f64) }\nfn f(s: Shape) -> Shape = s");
    case.write("s.npy", &npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &[0; 8]));
    let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "s=s.npy"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("argument `s`: expected Shape, found f64[1]"), "{}", run.stderr);
    case.write("s.json", b"{\"s\": {\"Circle\": 1.5}}");
    let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "s.json", "--out", "r.npy"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("`r.npy`") && run.stderr.contains("a .json file"), "{}", run.stderr);
}

#[test]
fn sizes_that_follow_from_nothing_are_given_by_name() {
    let case = Case::new("fn f[N](x: f64) -> f64 = x * (N as f64)");
    let run = case.run(&["run", "program.cot", "--fn", "f", "--set", "x=2", "--json"]);
    assert_eq!((run.status, run.first_diagnostic().0.as_str()), (Some(2), "A0005"));
    assert_eq!(case.json(&["run", "program.cot", "--fn", "f", "--set", "x=2", "--set", "N=3"]), json!({"result": 6.0}));
}

#[test]
fn files_that_are_no_arguments_are_unreadable_input() {
    let case = dot();
    case.write("list.json", b"[1]");
    case.write("broken.json", b"{\"x\": ");
    for source in ["missing.json", "list.json", "broken.json", "args.yaml"] {
        let run = case.run(&["run", "program.cot", "--fn", "f", "--args", source]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{source}");
        assert!(run.stderr.contains(source), "{}", run.stderr);
    }
}
