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
    case.write("again.cot", b"fn g(x: f64[2]) -> f64[2] = x");
    // The archive names its arrays after the parts of the result.
    let run = ["run", "again.cot", "--fn", "g", "--args"];
    assert_eq!(case.json(&[&run[..], &["x=out.npz:result.0"]].concat()), json!({"result": [1.0, 2.0]}));
    let refused = case.run(&[&run[..], &["out.npz"]].concat());
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("help: `out.npz` has `result`: `x=out.npz:result`"), "{}", refused.stderr);
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
fn several_missing_arguments_are_told_at_once() {
    let case = dot();
    let run = case.run(&["run", "program.cot", "--fn", "f", "--json"]);
    assert_eq!((run.status, run.first_diagnostic().0.as_str()), (Some(2), "A0001"));
    let first = run.json()["diagnostics"][0].clone();
    assert_eq!(first["message"], json!("3 arguments are missing: `x: f64[N]`, `y: f64[N]`, `n: i64`"));
    let columns: Vec<u64> =
        first["related"].as_array().expect("places").iter().flat_map(|p| p["column"].as_u64()).collect();
    assert_eq!(columns, [20, 31]);
}

#[test]
fn what_no_parameter_is_called_is_a_note_and_a_name_that_is_given_an_error() {
    let case = Case::new("fn f(x: f64) -> f64 = x");
    case.write("args.json", br#"{"x": 1, "y": 2, "z": 3}"#);
    let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "args.json", "--json"]);
    assert_eq!((run.status, run.json()), (Some(0), json!({"result": 1.0})));
    assert_eq!(run.stderr, "note: nothing asks for `y`, `z` of `args.json`\n");
    for given in [["--set", "z=1"], ["--args", "z=args.json"]] {
        let run = case.run(&[&["run", "program.cot", "--fn", "f", "--set", "x=1", "--json"], &given[..]].concat());
        assert_eq!((run.status, run.first_diagnostic().0.as_str()), (Some(2), "A0002"), "{given:?}");
    }
}

#[test]
fn element_types_are_converted_where_nothing_is_lost() {
    let case = Case::new("fn f(x: f64[2]) -> f64 = x[1]\nfn g(x: f32[2]) -> f32 = x[1]");
    let array = |descr: &str, data: &[u8]| {
        npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}"), data)
    };
    let bytes = |numbers: [f32; 2]| numbers.map(f32::to_le_bytes).concat();
    case.write("x.npy", &array("<f4", &bytes([1.0, 0.1])));
    let run = case.run(&["grad", "program.cot", "--fn", "f", "--args", "x=x.npy", "--json"]);
    assert_eq!(run.json()["value"], json!(f64::from(0.1f32)));
    assert_eq!(run.stderr, "note: `x`: f32[2] of `x.npy` is taken as f64\n");
    case.write("x.npy", &array("<i2", &[1, 0, 255, 255]));
    assert_eq!(case.json(&["run", "program.cot", "--fn", "g", "--args", "x=x.npy"]), json!({"result": -1.0}));
    case.write("x.npy", &array("<f8", &[0; 16]));
    let run = case.run(&["run", "program.cot", "--fn", "g", "--args", "x=x.npy"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("argument `x`: expected f32[2], found f64[2]"), "{}", run.stderr);
    assert!(run.stderr.contains("help: a conversion could round: save"), "{}", run.stderr);
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
