//! `cotan jacobian --sparse` and `cotan hessian --sparse`.

use crate::cli::Case;
use serde_json::json;

/// Each element and the one before.
const CHAIN: &str = "fn f[N](x: f64[N], k: f64) -> f64[N] = tabulate(N, |i| if i == 0 { k } else { x[i] * x[i - 1] })";

const CUBIC: &str = "fn f(x: f64[2], y: f64) -> f64 = x[0] * x[0] * x[1] + y * x[1]";

fn case(program: &str, args: &[u8]) -> Case {
    let case = Case::new(program);
    case.write("args.json", args);
    case
}

fn chain() -> Case {
    case(CHAIN, b"{\"x\": [2, 3, 5], \"k\": 7}")
}

fn with<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command, "program.cot", "--fn", "f", "--args", "args.json", "--sparse"], more].concat()
}

#[test]
fn a_jacobian_comes_in_compressed_rows() {
    let case = chain();
    let by_x = json!({
        "shape": [3, 3],
        "indptr": [0, 0, 2, 4],
        "indices": [0, 1, 1, 2],
        "data": [3.0, 2.0, 5.0, 3.0],
        "colours": 2,
        "mode": "forward",
    });
    let expected = json!({"value": [7.0, 6.0, 15.0], "jacobian": {"x": by_x}});
    for more in [&[][..], &["--mode", "forward"], &["--backend", "interp"], &["--opt", "0"]] {
        assert_eq!(case.json(&with("jacobian", more)), expected, "{more:?}");
    }
    let reverse = case.json(&with("jacobian", &["--mode", "reverse"]));
    assert_eq!(reverse["jacobian"]["x"]["mode"], json!("reverse"));
    assert_eq!(reverse["jacobian"]["x"]["data"], json!([3.0, 2.0, 5.0, 3.0]));
    let both = case.json(&with("jacobian", &["--wrt", "x,k"]));
    assert_eq!(both["jacobian"]["x"], by_x);
    let by_k = json!({
        "shape": [3, 1], "indptr": [0, 1, 1, 1], "indices": [0], "data": [1.0], "colours": 1, "mode": "forward",
    });
    assert_eq!(both["jacobian"]["k"], by_k);
}

#[test]
fn a_hessian_has_a_block_for_each_pair_of_parameters() {
    let case = case(CUBIC, b"{\"x\": [3, 5], \"y\": 2}");
    let block = |shape: [i64; 2], indptr: &[i64], indices: &[i64], data: &[f64], colours: i64| {
        json!({
            "shape": shape, "indptr": indptr, "indices": indices, "data": data, "colours": colours, "mode": "forward",
        })
    };
    let one = case.json(&with("hessian", &["--wrt", "x"]));
    let by_x = block([2, 2], &[0, 2, 3], &[0, 1, 0], &[10.0, 6.0, 6.0], 2);
    assert_eq!(one, json!({"value": 55.0, "hessian": {"x": by_x}}));
    let both = case.json(&with("hessian", &["--wrt", "x,y"]));
    let expected = json!({
        "x": {"x": by_x, "y": block([2, 1], &[0, 0, 1], &[0], &[1.0], 2)},
        "y": {"x": block([1, 2], &[0, 1], &[1], &[1.0], 2), "y": block([1, 1], &[0, 0], &[], &[], 2)},
    });
    assert_eq!(both["hessian"], expected);
}

#[test]
fn people_see_size_colours_and_the_first_rows() {
    let run = chain().run(&with("jacobian", &[]));
    let expected = "value: f64[3], norm 17.60681686165901\n  7.0 6.0 15.0\n\
        Jacobian of `x`: 3 x 3, 4 entries (44.444 %), 2 colours, forward\n  \
        row 0:\n  row 1: [0] 3.0 [1] 2.0\n  row 2: [1] 5.0 [2] 3.0\n";
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), expected), "{}", run.stderr);
}

#[test]
fn arrays_go_to_files() {
    let case = chain();
    let run = case.run(&with("jacobian", &["--out", "j.npz"]));
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    let bytes = std::fs::read(case.path("j.npz")).expect("the file is there");
    let arrays = cotan::host::read_npz(bytes, &mut cotan::host::Budget::default()).expect("an archive");
    let find = |name: &str| arrays.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
    assert_eq!(find("jacobian.x.data"), Some(cotan::host::HostValue::f64s(&[4], &[3.0, 2.0, 5.0, 3.0])));
    assert!(find("jacobian.x.indptr").is_some() && find("jacobian.x.mode").is_none());
    let run = case.run(&with("jacobian", &["--out", "j.json"]));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let text = std::fs::read_to_string(case.path("j.json")).expect("the file is there");
    assert!(text.contains("\"mode\": \"forward\""), "{text}");
}

#[test]
fn a_picture_shows_where_the_entries_are() {
    let case = chain();
    let run = case.run(&with("jacobian", &["--wrt", "x", "--spy", "x.svg"]));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let svg = std::fs::read_to_string(case.path("x.svg")).expect("the file is there");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("Jacobian of `f` by `x`") && svg.contains("3 x 3, 4 entries, 2 colours, forward"), "{svg}");
    assert_eq!(svg.matches("class=\"mark\"").count(), 2, "two entries of a row are one mark");
}

#[test]
fn a_drawing_asks_for_a_sparse_matrix() {
    let case = chain();
    let run =
        case.run(&["jacobian", "program.cot", "--fn", "f", "--args", "args.json", "--wrt", "x", "--spy", "x.svg"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(case.path("x.svg").exists());
}

#[test]
fn what_does_not_fit_together_is_wrong_usage() {
    let case = chain();
    let usage = |args: &[&str]| {
        let run = case.run(args);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
        run.stderr
    };
    let two = usage(&with("jacobian", &["--wrt", "x,k", "--spy", "x.svg"]));
    assert!(two.starts_with("error[A0008]: --spy: expected one parameter, found `x`, `k`"), "{two}");
    usage(&["run", "program.cot", "--fn", "f", "--args", "args.json", "--sparse"]);
    assert!(!case.path("x.svg").exists());
    let missing = usage(&with("jacobian", &["--wrt", "x", "--spy", "no/such/folder/x.svg"]));
    assert!(missing.starts_with("error[A0006]: writing `no/such/folder/x.svg`"), "{missing}");
}

#[test]
fn an_error_of_the_run_has_its_place() {
    let case = case("fn f[N](x: f64[N], k: i64) -> f64[1] = [x[k]]", b"{\"x\": [1, 2], \"k\": 2}");
    let run = case.run(&with("jacobian", &[]));
    assert_eq!(run.status, Some(3), "{}", run.stderr);
    assert!(run.stderr.starts_with("error[R0001]: index out of range"), "{}", run.stderr);
    assert!(run.stderr.contains(" --> program.cot:1:43\n"), "{}", run.stderr);
}
