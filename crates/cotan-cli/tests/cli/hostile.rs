//! Files that are made to do harm: archives that unpack to more than memory holds, files without an end, names that stand
//! for two values.

use crate::cli::{Case, Run};
use cotan::host::{Elem, HostValue, Value, write_npy, write_npz};
use std::time::{Duration, Instant};

/// What a command may take to refuse a file.
const SOON: Duration = Duration::from_secs(10);

fn sum() -> Case {
    Case::new("struct P { a: f64, b: f64 }\nfn f[N](x: f64[N]) -> f64 = +/ x\nfn g(p: P) -> f64 = p.a + p.b")
}

fn call(case: &Case, function: &str, source: &str) -> Run {
    case.run(&["run", "program.cot", "--fn", function, "--backend", "interp", "--args", source])
}

/// The run was refused as unreadable input, for this reason.
fn assert_refused(run: &Run, reason: &str) {
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
    assert!(run.stderr.contains(reason), "expected {reason}, found {}", run.stderr);
}

#[test]
fn d5_arrays_that_the_signature_does_not_name_are_not_unpacked() {
    let case = sum();
    let good = ("x".to_owned(), HostValue::f64s(&[2], &[1.0, 2.0]));
    let mut bytes = write_npz(&[("a".to_owned(), HostValue::f64s(&[1], &[7.0])), good]).expect("arrays");
    // The elements of the other array are damaged, which its checksum tells to who reads them.
    let at = bytes.windows(8).position(|bytes| bytes == 7f64.to_le_bytes()).expect("the elements");
    bytes[at] ^= 1;
    case.write("x.npz", &bytes);
    let run = call(&case, "f", "x.npz");
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "3.0\n"), "{}", run.stderr);
    assert!(run.stderr.contains("nothing asks for `a` of `x.npz`"), "{}", run.stderr);
    let at = bytes.windows(8).position(|bytes| bytes == 2f64.to_le_bytes()).expect("the elements");
    bytes[at] ^= 1;
    case.write("x.npz", &bytes);
    let one = Case::new("fn f(x: f64[2], a: f64[1]) -> f64 = x[0]");
    one.write("x.npz", &bytes);
    assert_refused(&call(&one, "f", "x.npz"), "`x.npz`: array `x`: ");
}

#[test]
fn d5_an_array_of_another_type_is_refused_before_its_elements_are_widened() {
    let case = sum();
    let bits = vec![0; 1 << 20];
    let bytes = write_npy(&HostValue::Tensor(Value { elem: Elem::Bool, dims: vec![1 << 20], bits })).expect("an array");
    case.write("x.npy", &bytes);
    assert_refused(&call(&case, "f", "x=x.npy"), "argument `x`: expected f64[N], found bool[1048576]");
}

#[test]
fn d11_a_name_that_stands_for_two_values_is_refused() {
    let case = sum();
    for (function, text) in [
        ("f", r#"{"x": [1], "x": [2]}"#),
        ("f", r#"{"x": [1], "\u0078": [2]}"#),
        ("g", r#"{"p": {"a": 1, "b": 2, "a": 3}}"#),
        ("f", r#"{"x": [1], "unknown": [{"a": 1, "a": 2}]}"#),
    ] {
        case.write("x.json", text.as_bytes());
        assert_refused(&call(&case, function, "x.json"), "stands twice in one object");
    }
    let array = |x: f64| HostValue::f64s(&[1], &[x]);
    let bytes = write_npz(&[("x".to_owned(), array(1.0)), ("b".to_owned(), array(2.0))]).expect("arrays");
    // The letter occurs nowhere else but, by chance, in checksums.
    let twice: Vec<u8> = bytes.iter().map(|byte| if *byte == b'b' { b'x' } else { *byte }).collect();
    case.write("x.npz", &twice);
    assert_refused(&call(&case, "f", "x.npz"), "two of its arrays have one name");
}

#[cfg(unix)]
#[test]
fn d11_files_without_an_end_are_read_up_to_a_limit() {
    let case = sum();
    for name in ["x.npy", "x.npz", "x.json", "zero.cot"] {
        std::os::unix::fs::symlink("/dev/zero", case.path(name)).expect("a link");
    }
    let started = Instant::now();
    let reason = "expected at most 50331648 bytes, found more";
    for source in ["x=x.npy", "x.npz", "x.json"] {
        assert_refused(&call(&case, "f", source), reason);
    }
    assert_refused(&case.run(&["check", "zero.cot"]), reason);
    case.write("imports.cot", b"import ./zero\nfn f() -> f64 = 1.0");
    assert!(case.run(&["check", "imports.cot"]).stderr.contains(reason));
    // A file that says that it is large is not read at all.
    let file = std::fs::File::create(case.path("large.json")).expect("a file");
    file.set_len(1 << 43).expect("a sparse file");
    assert_refused(&call(&case, "f", "large.json"), "bytes, found more");
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}
