//! Forms of other languages: each is one error, and its fix makes the program that was meant.

use super::*;
use crate::fix;

/// Bodies of functions with one mistake, and what the fix makes of them.
const MENDED: &[(&str, &str)] = &[
    ("map(lambda t: t * 2.0, v)", "map(|t| t * 2.0, v)"),
    ("fold(0.0, lambda a, b: a + b, v)", "fold(0.0, |a, b| a + b, v)"),
    ("map(t -> 2.0 * t, v)", "map(|t| 2.0 * t, v)"),
    ("fold(0.0, (a, b) => a + b, v)", "fold(0.0, |a, b| a + b, v)"),
    ("v[1:]", "v[1..]"),
    ("v[:n]", "v[..n]"),
    ("v[0:n]", "v[0..n]"),
    ("m[:, 0]", "m[.., 0]"),
    ("a if c else b", "if c { a } else { b }"),
    ("g(a if c else b, 1)", "g(if c { a } else { b }, 1)"),
    ("return a if x > 0.0 else -a", "return if x > 0.0 { a } else { -a }"),
    ("x > 0.0 ? x : -x", "if x > 0.0 { x } else { -x }"),
    ("let y = c ? a : b\ny", "let y = if c { a } else { b }\ny"),
    ("not c", "!c"),
    ("not x > 0.0 && c", "!(x > 0.0) && c"),
    ("print(f\"x = {x}\")", "print(\"x =\", x)"),
    ("print(f\"{x} of {n} m\")", "print(x, \"of\", n, \"m\")"),
    ("println!(\"{} {}\", x, y)", "print(x, y)"),
    ("println!(\"done\")", "print(\"done\")"),
    ("x * std::f64::consts::PI", "x * pi"),
    ("nn::softmax(v)", "nn.softmax(v)"),
    ("loop { break }", "while true { break }"),
    ("double y = x;\ny", "let y: f64 = x;\ny"),
    ("f32 y = x\ny", "let y: f32 = x\ny"),
    ("auto y = x\ny", "let y = x\ny"),
    ("var y = x\ny", "let mut y = x\ny"),
    ("mut y = x\ny", "let mut y = x\ny"),
    ("y: f64[3] = x\ny", "let y: f64[3] = x\ny"),
    ("y := x\ny", "let y = x\ny"),
    ("return a, b", "return (a, b)"),
    ("a, b = b, a + b\na", "(a, b) = (b, a + b)\na"),
    ("a, b = f(x)\na", "(a, b) = f(x)\na"),
    ("let y = x * x;\ny;", "let y = x * x;\ny"),
    ("i++", "i += 1"),
    ("i--", "i -= 1"),
    ("v[0]++", "v[0] += 1"),
    ("x ^ 2", "x ** 2"),
    ("a and b", "a && b"),
    ("f(&x)", "f(x)"),
    ("+x", "x"),
    ("x \u{2264} y", "x <= y"),
    ("m' @ v", "transpose(m) @ v"),
    ("let y = x // the half of it, it's small\ny", "let y = x # the half of it, it's small\ny"),
    ("/// What follows\nx", "## What follows\nx"),
    ("for (int i = 0; i < n; i++) { x }", "for i in 0..n { x }"),
    ("for (i = 1; i <= 2 * n; i += 1) { x }", "for i in 1..=2 * n { x }"),
    ("if x > 0.0: return x\n0.0", "if x > 0.0 { return x }\n0.0"),
    ("if x > 0.0 then x else { 0.0 }", "if x > 0.0 { x } else { 0.0 }"),
    ("while x > 0.0 do x -= 1.0\nx", "while x > 0.0 { x -= 1.0 }\nx"),
    ("if x = 1.0 { a } else { b }", "if x == 1.0 { a } else { b }"),
    (
        "  if x > 0.0:\n    a\n  elif x < 0.0:\n    b\n  else:\n    c\n",
        "  if x > 0.0 {\n    a\n  }\n  else if x < 0.0 {\n    b\n  }\n  else {\n    c\n  }\n",
    ),
    ("  for i in v\n    a(i)\n    b(i)\n  end\n  x", "  for i in v {\n    a(i)\n    b(i)\n  }\n  x"),
];

/// The same of files.
const MENDED_FILES: &[(&str, &str)] = &[
    ("// the loss\nfn f(x: f64) -> f64 = x", "# the loss\nfn f(x: f64) -> f64 = x"),
    ("// loss\nfn f(x: f64) -> f64 = x", "# loss\nfn f(x: f64) -> f64 = x"),
    ("fn f(x: f64): f64 = x", "fn f(x: f64) -> f64 = x"),
    ("fn f(x: f64) f64[3] = x", "fn f(x: f64) -> f64[3] = x"),
    ("fn f(x: f64; y: f64) -> f64 = x", "fn f(x: f64, y: f64) -> f64 = x"),
    ("fn f(x: f64) -> f64 { x };", "fn f(x: f64) -> f64 { x }"),
    ("fn f(x f64) -> f64 = x", "fn f(x: f64) -> f64 = x"),
    ("fn f(f64 x) -> f64 = x", "fn f(x: f64) -> f64 = x"),
    ("fn f(x: &f64, y: i64) -> f64 = x", "fn f(x: f64, y: i64) -> f64 = x"),
    ("fn f(x: [f64; 3]) -> f64 = x", "fn f(x: f64[3]) -> f64 = x"),
    ("def f(x: f64) -> f64:\n  x\n", "fn f(x: f64) -> f64 {\n  x\n}\n"),
    ("function f(x: f64) -> f64 { x }", "fn f(x: f64) -> f64 { x }"),
    ("class P:\n  x: f64\n  y: f64\n\nfn f() -> i64 = 1", "struct P {\n  x: f64\n  y: f64\n}\n\nfn f() -> i64 = 1"),
    ("fn f(x: &[f64]) -> f64 = x", "fn f(x: f64[_]) -> f64 = x"),
    ("fn f(x: Vec<Vec<f64>>) -> f64 = x", "fn f(x: f64[_, _]) -> f64 = x"),
    ("fn f(n: i64) -> f64[n] = vec![0.0; n]", "fn f(n: i64) -> f64[n] = full(n, 0.0)"),
    ("fn f() -> i64 = v[0:n:2]", "fn f() -> i64 = shape.slice(v, 0, n, 2)"),
    ("use std::nn::softmax;\nfn f() -> i64 = 1", "import std.nn\nfn f() -> i64 = 1"),
    ("from std import nn", "import std.nn"),
    ("fn f() -> i64 {\n  1\n\nfn g() -> i64 = 1", "fn f() -> i64 {\n  1\n}\n\nfn g() -> i64 = 1"),
];

/// Files with one mistake whose fix nobody can be certain of, and the help.
const TOLD: &[(&str, &str)] = &[
    ("def f(x):\n  return x\nfn g() -> i64 = 1", "write `fn f(x: f64) -> f64 { ... }`, with the types that are meant"),
    ("function f(x, y)\n  x + y\nend", "write `fn f(x: f64, y: f64) -> f64 { ... }`, with the types that are meant"),
    ("double f(double x) { return x; }", "write `fn f(x: f64) -> f64 { ... }`, with the types that are meant"),
    ("fn f(x, y: i64) { x + y }", "write the types, as in `fn f(x: f64, y: i64) -> f64`"),
    ("fn f(x: f64) { x }", "write `fn f(x: f64) -> f64`, or `-> ()` if there is no result"),
    ("fn f(x: f64):\n  return x\n", "write `fn f(x: f64) -> f64`, or `-> ()` if there is no result"),
    ("fn f() -> i64 = v[m:0:-1]", "import `std.shape`, and write `shape.slice(v, m, 0, -1)`"),
    ("fn f(x: Option<f64>) -> f64 = x", "parameters of a type stand in brackets, as in `Params[N]`"),
    ("fn f() -> i64 = v[1:n]", "write `v[1..n]`: indices start at 0, and the end is not in the slice"),
    ("fn f() -> i64 = [2 * x for x in v]", "write `map(|x| 2 * x, v)`"),
    ("fn f() -> i64 = [2 * i for i in range(n)]", "write `tabulate(n, |i| 2 * i)`"),
    ("fn f() -> i64 = sum(2 * x for x in v)", "write `map(|x| 2 * x, v)`"),
    ("fn f() -> i64 {\n  for i in 1:n { x }\n  1\n}", "write `1..=n`; indices start at 0"),
    ("fn f() -> i64 {\n  int n = 3\n  n\n}", "write `let n: i64 = ...`"),
    ("fn f() -> i64 = g(a b * c, d)", "separate the parts with `,`"),
    ("fn f() -> i64 = print(f\"{x:.3}\")", "write `print(\"x =\", x)`: values are separated by spaces"),
];

fn check_mended(source: &str, expected: &str) {
    let (_, diagnostics) = parse(FileId(0), source);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages.len(), 1, "{source}: {messages:?}");
    let fixed = fix::apply(FileId(0), source, &diagnostics).text;
    assert_eq!(fixed, expected, "{source}: {messages:?}");
    assert_eq!(parse(FileId(0), &fixed).1, [], "{fixed}");
}

#[test]
fn a_form_with_one_meaning_is_one_error_with_a_fix() {
    for (body, expected) in MENDED {
        let in_function = |body: &str| format!("fn f(x: f64) -> f64 {{\n{body}\n}}");
        check_mended(&in_function(body), &in_function(expected));
    }
    for (source, expected) in MENDED_FILES {
        check_mended(source, expected);
    }
}

#[test]
fn other_forms_are_one_error_that_says_what_to_write() {
    for (source, help) in TOLD {
        let (_, diagnostics) = parse(FileId(0), source);
        let helps: Vec<&String> = diagnostics.iter().flat_map(|d| &d.help).collect();
        assert_eq!(helps, [help], "{source}");
        assert!(diagnostics.iter().all(|d| d.fix.is_empty()), "{source}");
    }
}

#[test]
fn words_of_other_languages_are_names_where_nothing_else_fits() {
    let names = "fn f(lambda: f64, not: f64, loop: f64, end: f64, from: f64, double: f64) -> f64 {\n  \
                 let use = lambda + not * loop - f(double)\n  from[0] = use\n  loop(end)\n}\nstruct loop { x: f64 }";
    assert_eq!(parse(FileId(0), names).1, []);
    assert_eq!(parse(FileId(0), "fn f(x: f64) -> loop = loop { x: x }").1, []);
    assert_eq!(parse(FileId(0), "fn f(v: f64[3]) -> f64 {\n  // v\n}").1, [], "a fold by division");
}
