//! Data goes out and comes in: what one process writes, another reads, with the same bits.

use crate::cli::Case;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::process::Stdio;

/// A model, its training by gradient descent, and what it gives.
const MODEL: &str = "\
struct Layer { w: f64[2, 3], b: f64[2] }
struct Model { layer: Layer, scale: (f64, f32), steps: i64, is_trained: bool }
struct Point { x: f64, at: f32[2] }
enum Kernel { Linear, Gauss(f64) }

fn start() -> Model = Model {
  layer: Layer { w: tabulate([2, 3], |i, j| 0.1 * ((i + 2 * j) as f64) - 0.05), b: [0.3, -0.7] },
  scale: (1.0 / 3.0, 0.1_f32), steps: 0, is_trained: false
}
fn loss(m: Model, x: f64[3]) -> f64 {
  let y = (m.layer.w @ x) .+ m.layer.b
  m.scale.0 * (y @ y)
}
fn train(x: f64[3], rate: f64, n: i64) -> Model {
  let mut m = start()
  for i in 0..n {
    let g = grad[m](loss)(m, x)
    m.layer.w = m.layer.w .- rate .* g.layer.w
    m.layer.b = m.layer.b .- rate .* g.layer.b
    m.scale = (m.scale.0 * 0.99, m.scale.1)
    m.steps = i + 1
  }
  m.is_trained = true
  m
}
fn evaluate(m: Model, x: f64[3]) -> (Model, f64) = (m, loss(m, x))
fn cloud(n: i64) -> Point[n] =
  tabulate(n, |i| Point { x: exp(i as f64) / 3.0, at: [0.1_f32, (i as f32) / 7.0_f32] })
fn same_cloud[N](p: Point[N]) -> Point[N] = p
fn vectors(n: i64) -> (f64[n], i64[n]) = (tabulate(n, |i| 1.0 / ((i + 1) as f64)), tabulate(n, |i| i * i))
fn same_vectors[N](v: (f64[N], i64[N])) -> (f64[N], i64[N]) = v
fn matrix(n: i64) -> f64[n, 2] = tabulate([n, 2], |i, j| sqrt((i + j) as f64) - 1.0)
fn same_matrix[N](m: f64[N, 2]) -> f64[N, 2] = m
fn kernels() -> (Kernel, Kernel) = (Kernel.Gauss(1.0 / 3.0), Kernel.Linear)
fn same_kernels(k: (Kernel, Kernel)) -> (Kernel, Kernel) = k
struct Table { t: f64[3], y: f32[3], is_there: bool[3] }
fn table() -> Table = Table { t: [0.1, -0.0, 1e300], y: [0.1_f32, 1.0_f32, 3.4e38_f32], is_there: [true, false, true] }
fn same_table(table: Table) -> Table = table
";

fn case() -> Case {
    Case::new(MODEL)
}

/// What a function gives, as JSON with all digits.
fn result(case: &Case, function: &str, more: &[&str]) -> Json {
    case.json(&[&["run", "program.cot", "--fn", function], more].concat())["result"].clone()
}

/// Writes what a function gives to a file, which holds it alone.
fn save(case: &Case, function: &str, more: &[&str], file: &str) {
    let run = case.run(&[&["run", "program.cot", "--fn", function], more, &["--out", file]].concat());
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""), "{file}: {}", run.stderr);
}

#[test]
fn a_model_is_trained_saved_loaded_and_evaluated_with_equal_bits() {
    let case = case();
    let training = ["--set", "x=[0.1, 0.2, 0.7]", "--set", "rate=0.05", "--set", "n=20"];
    let model = result(&case, "train", &training);
    assert_eq!((&model["steps"], &model["is_trained"]), (&json!(20), &json!(true)));
    for file in ["run.json", "run.npz", "run.safetensors"] {
        save(&case, "train", &training, file);
        let source = format!("m={file}");
        let point = ["--args", &source, "--set", "x=[0.1, 0.2, 0.7]"];
        let evaluated = result(&case, "evaluate", &point);
        assert_eq!(evaluated[0], model, "{file}");
        let layer = format!("m={file}:result");
        assert_eq!(result(&case, "evaluate", &["--args", &layer, "--set", "x=[0.1, 0.2, 0.7]"]), evaluated, "{file}");
        // What `grad` writes goes in too: the gradient is a part of its file.
        let gradient = case.json(&[&["grad", "program.cot", "--fn", "loss", "--wrt", "x"], &point[..]].concat());
        let out = format!("grad{file}");
        let run =
            case.run(&[&["grad", "program.cot", "--fn", "loss", "--wrt", "x", "--out", &out], &point[..]].concat());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let step = format!("x={out}:grad.x");
        let stepped = result(&case, "evaluate", &["--args", &source, "--args", &step]);
        let given = format!("x={}", gradient["grad"]["x"]);
        assert_eq!(stepped, result(&case, "evaluate", &["--args", &source, "--set", &given]), "{file}");
    }
}

#[test]
fn tensors_of_structs_tuples_enums_and_tables_read_back_with_equal_bits() {
    let case = case();
    for (make, same, parameter, more, files) in [
        ("cloud", "same_cloud", "p", &["--set", "n=3"][..], &["c.json", "c.npz", "c.safetensors"][..]),
        ("vectors", "same_vectors", "v", &["--set", "n=4"], &["v.json", "v.npz", "v.csv"]),
        ("matrix", "same_matrix", "m", &["--set", "n=3"], &["m.json", "m.npz", "m.npy", "m.csv", "m.safetensors"]),
        ("kernels", "same_kernels", "k", &[], &["k.json"]),
        ("table", "same_table", "table", &[], &["t.json", "t.npz", "t.csv", "t.safetensors"]),
    ] {
        let made = result(&case, make, more);
        for file in files {
            save(&case, make, more, file);
            assert_eq!(result(&case, same, &["--args", &format!("{parameter}={file}")]), made, "{file}");
        }
    }
    let names =
        cotan::host::files::Archive::open(std::fs::read(case.path("c.npz")).expect("a file")).expect("an archive");
    assert_eq!(names.names().collect::<Vec<_>>(), ["result.at", "result.x"]);
    assert_eq!(
        std::fs::read_to_string(case.path("t.csv")).expect("a file"),
        "t,y,is_there\n0.1,0.1,1\n-0.0,1.0,0\n1e300,3.4e38,1\n"
    );
}

#[test]
fn what_a_format_cannot_hold_is_refused_with_one_that_can() {
    let case = case();
    for (function, more, file, help) in [
        ("kernels", &[][..], "k.npz", "write it to a .json file"),
        ("kernels", &[], "k.csv", "everything into a .json file"),
        ("cloud", &["--set", "n=0"], "c.npz", "write it to a .json file"),
        ("cloud", &["--set", "n=2"], "c.csv", "arrays of several shapes fit into an .npz file"),
        ("vectors", &["--set", "n=2"], "v.npy", "several arrays fit into an .npz file"),
    ] {
        let run = case.run(&[&["run", "program.cot", "--fn", function], more, &["--out", file]].concat());
        assert_eq!(run.status, Some(2), "{file}");
        assert!(run.stderr.contains(help), "{file}: {}", run.stderr);
        assert!(!case.path(file).exists(), "{file}");
    }
}

#[test]
fn parts_of_a_parameter_are_set_over_a_file_or_make_the_whole() {
    let case = Case::new("struct P { w: f64[2], rate: f64, at: (f64, i64) }\nfn f(p: P) -> P = p");
    case.write("p.json", br#"{"p": {"w": [1, 2], "rate": 0.5, "at": [0.25, 3]}}"#);
    let set = |more: &[&str]| result(&case, "f", more);
    let over = ["--args", "p.json", "--set", "p.rate=nan", "--set", "p.at.1=7"];
    assert_eq!(set(&over), json!({"w": [1.0, 2.0], "rate": "nan", "at": [0.25, 7]}));
    let whole = ["--set", "p.w=[3,4]", "--set", "p.rate=1", "--set", "p.at.0=2", "--set", "p.at.1=5"];
    let expected = json!({"w": [3.0, 4.0], "rate": 1.0, "at": [2.0, 5]});
    assert_eq!(set(&whole), expected);
    let nested = ["--set", "p.at.1=5", "--set", "p.w=[3,4]", "--set", "p.rate=1", "--set", "p.at=[2, 1]"];
    assert_eq!(set(&nested), expected);
    // A whole value goes over that of the file, and a part over it, in any order.
    let text = format!("p={expected}");
    let both = ["--set", "p.rate=9", "--args", "p.json", "--set", &text];
    assert_eq!(set(&both), json!({"w": [3.0, 4.0], "rate": 9.0, "at": [2.0, 5]}));
}

#[test]
fn json_comes_inline_and_on_standard_input() {
    let case = Case::new("fn f(x: f64[2], y: f64) -> f64 = x[1] * y");
    assert_eq!(result(&case, "f", &["--args", r#"{"x": [1, 2], "y": 3}"#]), json!(6.0));
    let piped = |args: &[&str]| {
        let mut command = case.command(&[&["run", "program.cot", "--fn", "f"], args].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(br#"{"result": {"x": [1, 2], "y": 3}, "x": [4, 5], "y": 1}"#).expect("written");
        drop(stdin);
        String::from_utf8(child.wait_with_output().expect("an output").stdout).expect("text")
    };
    assert_eq!(piped(&["--args", "-", "--backend", "interp"]), "5.0\n");
    assert_eq!(piped(&["--args", "x=-:result.x", "--args", "y=-:result.y", "--backend", "interp"]), "6.0\n");
}

#[test]
fn columns_of_a_table_are_arguments_by_name_by_number_and_all_as_a_matrix() {
    let case = Case::new(
        "fn f[N](age: f64[N], n: i64[N]) -> f64 = age[1] * (n[0] as f64)\nfn g[N, M](x: f64[N, M]) -> f64[M] = x[N - 1]",
    );
    case.write("d.csv", b"n,age,height\n2,36.5,1.7\n4,41,1.8\n");
    let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "d.csv"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "82.0\n"), "{}", run.stderr);
    assert_eq!(run.stderr, "note: nothing asks for `height` of `d.csv`\n");
    assert_eq!(result(&case, "f", &["--args", "age=d.csv:2", "--args", "n=d.csv:n"]), json!(2.0 * 1.8));
    assert_eq!(result(&case, "g", &["--args", "x=d.csv"]), json!([4.0, 41.0, 1.8]));
}
