//! Files and settings that do not fit: what is said of each stands in `misfits.txt`, which `UPDATE_EXPECT=1` writes anew.

use cotan::host::{Budget, Elem, HostValue, Inputs, Malformed, Unbound, Value, write_npy, write_npz};
use cotan::{Compiler, Config, Request};
use expect_test::expect_file;

const PROGRAM: &str = "\
struct P { w: f64[2], rate: f64 }
struct Deep { p: P, n: i64 }
struct Point { x: f64, y: f64 }
enum Shape { Dot, Circle(f64) }
fn vector[N](x: f64[N]) -> f64 = +/ x
fn single[N](x: f32[N]) -> f32 = +/ x
fn half[N](x: f16[N]) -> i64 = N
fn matrix[N, M](x: f64[N, M]) -> i64 = N
fn count(n: i64) -> i64 = n
fn byte(n: u8) -> u8 = n
fn truth(b: bool) -> bool = b
fn number(x: f64) -> f64 = x
fn two[N](x: f64[N], y: f64[N]) -> f64 = +/ (x .* y)
fn params(p: P) -> f64 = p.rate
fn deep(d: Deep) -> f64 = d.p.rate
fn pair(t: (f64[2], i64)) -> i64 = t.1
fn points[N](p: Point[N]) -> i64 = N
fn shape(s: Shape) -> Shape = s
fn size[N](x: f64) -> f64 = x * (N as f64)
";

/// A function, sources, settings.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

const CASES: &[Case] = &[
    // Sources that are none.
    ("vector", &["x=data.yaml"], &[]),
    ("vector", &["data"], &[]),
    ("vector", &["x={\"x\": [1]}"], &[]),
    ("vector", &["x=a.npz:"], &[]),
    ("vector", &["x=a.npz:a..b"], &[]),
    ("vector", &["x=a.npz:\"a"], &[]),
    ("vector", &["x.npy"], &[]),
    ("vector", &["list.json"], &[]),
    ("vector", &["plain.csv"], &[]),
    ("vector", &["{\"x\": [1}"], &[]),
    ("vector", &["{\"x\": [1], \"x\": [2]}"], &[]),
    ("vector", &["broken.npz"], &[]),
    ("vector", &["x=broken.npy"], &[]),
    ("matrix", &["x=ragged.csv"], &[]),
    // Names.
    ("two", &[], &[]),
    ("two", &["{\"x\": [1]}"], &[]),
    ("two", &["a.npz"], &[]),
    ("vector", &["names.csv"], &[]),
    ("vector", &["x=x.npy", "z=x.npy"], &[]),
    ("vector", &["x=x.npy"], &["z=1"]),
    ("two", &["both.json", "x=x.npy"], &[]),
    ("two", &["both.json", "{\"y\": [1]}"], &[]),
    ("number", &[], &["x=1", "x=2"]),
    ("params", &["run.json:grad"], &[]),
    // Parts.
    ("vector", &["x=a.npz"], &[]),
    ("vector", &["x=a.npz:c"], &[]),
    ("vector", &["x=run.json"], &[]),
    ("vector", &["x=run.json:grad.v"], &[]),
    ("vector", &["x=run.json:grad.w.0.0"], &[]),
    ("vector", &["x=x.npy:0"], &[]),
    ("vector", &["x=names.csv"], &[]),
    ("vector", &["x=names.csv:width"], &[]),
    ("vector", &["x=plain.csv:7"], &[]),
    ("vector", &["x=twice.csv:a"], &[]),
    // Types and shapes of arrays.
    ("single", &["x=x.npy"], &[]),
    ("half", &["x=x.npy"], &[]),
    ("count", &["n=x.npy"], &[]),
    ("byte", &["n=n.npy"], &[]),
    ("count", &["n=f.npy"], &[]),
    ("truth", &["b=n.npy"], &[]),
    ("number", &["x=x.npy"], &[]),
    ("matrix", &["x=x.npy"], &[]),
    ("vector", &["x=large.npy"], &[]),
    ("vector", &["x=bools.npy"], &[]),
    ("size", &["x=f.npy", "N=f.npy"], &[]),
    // Structs, tuples and enums.
    ("params", &["p=x.npy"], &[]),
    ("params", &["p=short.npz"], &[]),
    ("params", &["p=a.npz"], &[]),
    ("deep", &["d=wide.npz"], &[]),
    ("points", &["p=points.npz"], &[]),
    ("pair", &["t=pair.npz"], &[]),
    ("shape", &["s=a.npz:a"], &[]),
    ("shape", &["s=plain.csv"], &[]),
    ("shape", &["{\"s\": \"Square\"}"], &[]),
    ("params", &["{\"p\": {\"w\": [1, 2]}}"], &[]),
    ("params", &["{\"p\": {\"w\": [1, true], \"rate\": 1}}"], &[]),
    ("params", &["{\"p\": {\"w\": [1, 2], \"rate\": 1, \"v\": 2}}"], &[]),
    // Tables.
    ("vector", &["x=gaps.csv:age"], &[]),
    ("vector", &["x=gaps.csv:name"], &[]),
    ("matrix", &["x=semicolons.csv"], &[]),
    ("matrix", &["x=names.csv:length"], &[]),
    ("number", &["x=names.csv:length"], &[]),
    ("params", &["p=names.csv"], &[]),
    ("points", &["p=names.csv"], &[]),
    // Settings.
    ("number", &[], &["x"]),
    ("number", &[], &["x=one"]),
    ("count", &[], &["n=1.5"]),
    ("size", &[], &["x=1", "N=two"]),
    ("deep", &[], &["d.p.rate=1"]),
    ("deep", &["d={}"], &[]),
    ("deep", &["whole.json"], &["d.p.speed=1"]),
    ("deep", &["whole.json"], &["d.p.rate=true"]),
    ("deep", &["whole.json"], &["d.p.w.0=1"]),
    ("pair", &[], &["t.0=[1, 2]", "t.2=1"]),
    ("pair", &[], &["t.1=1"]),
    ("deep", &["whole.json"], &["d.n=1", "d.n=2"]),
];

fn array(elem: Elem, dims: &[i64], bits: &[u64]) -> HostValue {
    HostValue::Tensor(Value { elem, dims: dims.to_vec(), bits: bits.to_vec() })
}

/// The files that cases are about.
fn read(name: &str) -> Result<Vec<u8>, Malformed> {
    let npy = |value: HostValue| write_npy(&value).expect("an array");
    let npz = |arrays: &[(&str, HostValue)]| {
        let arrays: Vec<_> = arrays.iter().map(|(name, array)| ((*name).to_owned(), array.clone())).collect();
        write_npz(&arrays).expect("arrays")
    };
    let floats = |n: i64| HostValue::f64s(&[n], &vec![0.5; n as usize]);
    Ok(match name {
        "x.npy" => npy(HostValue::f64s(&[3], &[0.5, 1.5, 2.5])),
        "n.npy" => npy(HostValue::i64(3)),
        "f.npy" => npy(HostValue::f64(2.0)),
        "large.npy" => npy(array(Elem::I64, &[2], &[1, (1 << 53) + 1])),
        "bools.npy" => npy(array(Elem::Bool, &[1], &[1])),
        "broken.npy" => b"\x93NUMPY\x01\x00".to_vec(),
        "broken.npz" => b"PK and no more".to_vec(),
        "a.npz" => npz(&[("a", floats(2)), ("b", floats(3))]),
        "short.npz" => npz(&[("p.w", floats(2))]),
        "wide.npz" => npz(&[("d.p.w", floats(2)), ("d.p.rate", HostValue::f64(1.0)), ("d.n", floats(1))]),
        "points.npz" => npz(&[("p.x", floats(2)), ("p.y", floats(3))]),
        "pair.npz" => npz(&[("result.0", floats(2)), ("result.1", HostValue::f64(1.0))]),
        "list.json" => b"[1, 2]".to_vec(),
        "both.json" => br#"{"x": [1], "y": [2]}"#.to_vec(),
        "run.json" => br#"{"value": 1.0, "grad": {"w": [[1], [2]]}}"#.to_vec(),
        "whole.json" => br#"{"d": {"p": {"w": [1, 2], "rate": 1}, "n": 3}}"#.to_vec(),
        "plain.csv" => b"1,2\n3,4\n".to_vec(),
        "names.csv" => b"length,height\n1,2\n3,4\n".to_vec(),
        "twice.csv" => b"a,a\n1,2\n".to_vec(),
        "gaps.csv" => b"name,age\nAda,36\nKurt,\n".to_vec(),
        "semicolons.csv" => b"a;b\n1;2\n".to_vec(),
        "ragged.csv" => b"1,2\n3\n".to_vec(),
        _ => return Err(Malformed { message: format!("there is no file `{name}`"), help: None }),
    })
}

/// What is said of a case.
fn said(compiler: &Compiler, program: &cotan::Program, (function, sources, settings): &Case) -> String {
    let signature = compiler.signature(program, &Request::function(*function)).expect("a signature");
    let mut inputs = Inputs::default();
    let added = sources.iter().try_for_each(|source| inputs.add(source, None, &mut read));
    let added = added.and_then(|()| settings.iter().try_for_each(|setting| inputs.set(setting)));
    let (code, message, help) = match added {
        Err(malformed) => ("A0007", malformed.message, malformed.help),
        Ok(()) => match inputs.bind(&signature, &mut Budget::default()) {
            Ok(_) => ("", "no misfit".to_owned(), None),
            Err(Unbound::Malformed(malformed)) => ("A0007", malformed.message, malformed.help),
            Err(Unbound::Misfit { misfit, help }) => (misfit.code().as_str(), misfit.to_string(), help),
        },
    };
    let mut text = function.to_string();
    sources.iter().for_each(|source| text += &format!(" --args '{source}'"));
    settings.iter().for_each(|setting| text += &format!(" --set '{setting}'"));
    text += &format!("\n  {code}: {message}\n");
    text + &help.map_or_else(String::new, |help| format!("  help: {help}\n"))
}

#[test]
fn what_does_not_fit_is_told_with_both_sides_and_a_remedy() {
    let compiler = Compiler::new(Config::default()).expect("a compiler");
    let program = compiler.check("misfits.cot", PROGRAM);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    assert!(CASES.len() >= 60, "{} cases", CASES.len());
    let all: Vec<String> = CASES.iter().map(|case| said(&compiler, &program, case)).collect();
    assert!(all.iter().all(|text| !text.contains("no misfit")), "{}", all.join("\n"));
    expect_file!["misfits.txt"].assert_eq(&all.join("\n"));
}
