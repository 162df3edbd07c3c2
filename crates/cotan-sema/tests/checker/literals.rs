//! Integer literals that are floats where a float is expected, and those that are not.

use super::{accept, report, run};
use cotan_ir::Elem;

/// The types of the results of functions without a result type of their own: of what `let` binds last.
fn is_float(expression: &str) -> bool {
    // Only one of the two is right: the type is that of the place alone.
    let fits = |ty: &str| {
        let source =
            format!("fn f(x: f64, n: i64, v: f64[3]) -> {ty} {{ let y = {expression}\n let z: {ty} = y\n z }}");
        !run(&source).1.iter().any(cotan_syntax::Diagnostic::is_error)
    };
    assert!(fits("f64") || fits("i64"), "{expression}");
    fits("f64") && !fits("i64")
}

#[test]
fn beside_a_float_a_literal_is_a_float() {
    for expression in ["2 * x", "x * 2", "1 / x", "1 - x", "x - 1", "1/2 * x", "-1 * x", "max(0, x)", "max(x, 0)"] {
        assert!(is_float(expression), "{expression}");
    }
    for expression in ["2 * n", "n / 2", "max(0, n)", "2 ** n", "n ** 2"] {
        assert!(!is_float(expression), "{expression}");
    }
    for expression in ["if x > 0 { 1 } else { x }", "select(x > 0, 1, x)", "[1, 2.0][0]", "sum([1, 2.0])", "sqrt(2)"] {
        assert!(is_float(expression), "{expression}");
    }
    for expression in ["clamp(x, 0, 1)", "fold(0, |a, b| a + b, v)", "sum(2 .* v)", "max/(0 .* v)", "x ** 2", "x ** -1"]
    {
        assert!(is_float(expression), "{expression}");
    }
}

#[test]
fn a_place_of_a_float_takes_literals() {
    accept("fn f() -> f64 = 1");
    accept("fn f() -> f64 = 1/2");
    accept("fn f() -> f64 = -1");
    accept("fn f() -> f64[3] = [1, 2, 3]");
    accept("fn f(v: f64[3]) -> f64[3] = v .+ [1, 2, 3]");
    accept("fn f() -> (f64, i64) = (1, 2)");
    accept("fn f(h: f64 = 1/2) -> f64 = h\nfn g() -> f64 = f()");
    accept("const H: f64 = 1/2\nfn f() -> f64 = H");
    accept("struct P { a: f64, b: f64[2] }\nfn f() -> P = P { a: 1, b: [1, 2] }");
    accept("enum E { A(f64), B }\nfn f() -> E = E.A(1)");
    accept("fn g(x: f64) -> f64 = x\nfn f() -> f64 = g(1) + g(x = 2)");
    accept("fn g[T: Float](x: T) -> T = x\nfn f() -> f64 = g(1)");
    accept("fn f[T: Float](x: T) -> T = 2 * x + 1");
    accept("fn f[N](v: f64[N]) -> f64 { let mut s = 0\n for i in 0..N { s += v[i] }\n s }");
    accept("fn f[N](v: f64[N]) -> f64 { let mut s = 0\n for i in 0..N { s = s + v[i] }\n s }");
    accept("fn f(x: f64) -> f64 = match x { 0 => 1, _ => 2 }");
    accept("fn f(x: f64) -> bool = x == 0 || x > 1 && 2 <= x");
    accept("fn f(x: f64) -> f64 = iterate(3, 1, |s| s * x)");
    accept("fn f(x: f32) -> f32 = 2 * x");
    accept("fn f(x: f16) -> f32 = 2 * x");
    accept("fn f(x: f64) -> f64 { return 1 }");
    accept("fn f(x: f64) -> f64 { let y: f64 = 1/2\n x * y }");
    accept("fn f(x: f64) -> (f64, f64) = value_and_grad(|y: f64| 2 * y ** 2)(x)");
}

#[test]
fn a_default_of_elements_asks_for_nothing() {
    accept("fn f() -> i64[3] { let mut z = zeros(3)\n z[0] = 1\n z }");
    accept("fn f() -> f64 { let z = zeros(3)\n z[0] }");
}

#[test]
fn sizes_and_indices_stay_integers() {
    accept("fn f[N](v: f64[N]) -> f64 { let k = 1\n v[k] + v[0] }");
    accept("fn f[N](v: f64[N]) -> f64 { let n = 10\n let mut s = 0\n for i in 0..n { s += 1 / (n as f64) }\n s }");
    accept("fn f(n: i64) -> f64[n] = zeros(n)");
    accept("fn f() -> f64[4] { let n = 4\n (zeros(n) : f64[4]) }");
}

#[test]
fn a_quotient_of_literals_in_an_exponent_is_a_float() {
    let source = "fn f(x: f64) -> f64 = x ** (1/2) + x ** 2 + 2 ** -1\nfn g(n: i64) -> i64 = n ** (4/2)";
    accept(source);
    let (program, _) = run("fn f(x: f64) -> f64 = x ** (1/2)");
    let text = format!("{program:?}");
    assert!(text.contains("op: Pow,") && !text.contains("PowInt"), "{text}");
}

#[test]
fn a_cast_of_a_quotient_of_literals_decides_it() {
    let (program, diagnostics) = run("fn f() -> f64 = (1/2) as f64");
    assert!(diagnostics.is_empty(), "{}", report("fn f() -> f64 = (1/2) as f64"));
    assert!(!format!("{program:?}").contains(&format!("Of({:?})", Elem::I64)));
}

#[test]
fn what_is_decided_never_converts() {
    for source in [
        "fn f(x: f64) -> f64 { let k = 1\n let v = [x]\n v[k] * k }",
        "fn f(x: f64, n: i64) -> f64 = n * x",
        "fn f[N](x: f64) -> f64 = N * x",
        "fn f(x: f64) -> f64 = x * 1_i64",
        "const K = 2\nfn f(x: f64) -> f64 = K * x",
    ] {
        assert!(!run(source).1.is_empty(), "{source}");
    }
}

#[test]
fn quotients_that_drop_a_remainder_are_warned_of() {
    let warns = |source: &str| {
        let found: Vec<String> = run(source).1.iter().map(|d| d.code.as_str().to_owned()).collect();
        found
    };
    assert_eq!(warns("fn f() -> i64 = 7 / 2"), ["W0301"]);
    assert_eq!(warns("fn f() -> i64 = 6 / 2"), [""; 0]);
    assert_eq!(warns("fn f(x: f64) -> f64 = x .** (7 / 2)"), ["E0305"], "one mistake is one message");
    assert_eq!(warns("fn f() -> f64 = 7 / 2"), [""; 0]);
    assert_eq!(warns("fn f(i: i64, n: i64) -> f64 = (i / n) as f64"), ["W0302"]);
    assert_eq!(warns("fn f(i: i64, n: i64) -> f64 { let q = i / n\n q as f64 }"), [""; 0]);
}

#[test]
fn literals_in_vectors_are_floats() {
    accept("fn f() -> f64 = inner((1, 2), (3, 4)) + sum_leaves((1, 2)) + norm((3, 4))");
    accept("fn f(x: f64) -> (f64, f64) = (1, 2) .* x");
    accept("fn g[T: Differentiable](p: T, d: tangent[T]) -> T = p .- d\nfn f() -> (f64, f64) = g((1, 2), (3, 4))");
    let (program, _) = run("fn f() -> f64 = sum_leaves((1, 2))");
    assert!(!format!("{program:?}").contains(&format!("Of({:?})", Elem::I64)), "{program:?}");
    let (program, _) = run("struct P { a: f64 }\nfn f(p: P) -> P = p .** (1/2)");
    let text = format!("{program:?}");
    assert!(text.contains("op: Pow,") && !text.contains("PowInt"), "{text}");
}
