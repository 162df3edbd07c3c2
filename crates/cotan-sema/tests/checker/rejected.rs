//! Programs with errors: the code, the place that it points at, and what the help proposes.

use super::{report, run};

/// One error, with this code, at this text, whose help contains `help`.
fn reject(source: &str, code: &str, place: &str, help: &str) {
    let (_, diagnostics) = run(source);
    let found: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            let text = source.get(diagnostic.primary.span.range()).unwrap_or("<outside>");
            (diagnostic.code.as_str(), text)
        })
        .collect();
    assert_eq!(found, [(code, place)], "{source}\n{}", report(source));
    let proposals = diagnostics[0].help.join("\n");
    assert!(proposals.contains(help), "{source}\n{}", report(source));
}

#[test]
fn the_wrong_kind_of_operator_names_the_right_one() {
    reject("fn f[N](a: f64[N], b: f64[N]) -> f64[N] = a + b", "E0304", "+", "write `.+`");
    reject("fn f(a: f64, b: f64) -> f64 = a .* b", "E0305", ".*", "write `*`");
    reject("fn f[N](a: f64[N]) -> bool[N] = a < 1.0", "E0304", "<", "write `.<`");
    reject("fn f[N](v: f64[N]) -> f64[N] { let mut w = v\n w += 1.0\n w }", "E0304", "+=", "write `.+=`");
    reject("fn f(x: f64) -> f64 { let mut y = x\n y .+= 1.0\n y }", "E0305", ".+=", "write `+=`");
}

#[test]
fn numbers_are_not_converted_silently() {
    reject("fn f() -> f64 = 1_i64", "E0301", "1_i64", "leave the suffix out: `1`");
    reject("fn f(x: f64, n: i64) -> f64 = x * n", "E0302", "*", "write `(n as f64)`");
    reject("fn f(x: f64, n: i64) -> f64 = n * (n - 1) / x", "E0302", "/", "write `((n * (n - 1)) as f64)`");
    reject("fn f(n: i64) -> f64 = 0.5 * n", "E0302", "*", "write `(n as f64)`");
    reject("fn f(n: i64) -> f64 = 1.0 / (n - 1)", "E0302", "/", "write `((n - 1) as f64)`");
    reject("fn f(n: i64) -> i64 = n + 1.5", "E0302", "+", "write `(n as f64)`");
    reject("fn f(x: f32, y: f64) -> f64 = y * x", "E0302", "*", "write `(x as f64)`");
    reject("fn f(x: f32, y: f64) -> f64 = x * y", "E0302", "*", "write `(x as f64)`");
    reject("fn f(a: i32, b: i64) -> i64 = b * a", "E0302", "*", "write `(a as i64)`");
    reject("fn g(n: i64) -> i64 = n\nfn f() -> i64 = g(2.0)", "E0301", "2.0", "write the integer `2`");
    reject("fn g(n: i64) -> i64 = n\nfn f() -> i64 = g(2.5)", "E0301", "2.5", "round");
    reject("fn g(n: i64) -> i64 = n\nfn f(x: f64) -> i64 = g(x)", "E0301", "x", "write `(x as i64)`");
    reject("fn f(n: i64) -> f64 = sqrt(n)", "E0308", "n", "(n as f64)");
    reject("fn f(n: i64) -> f64 = n", "E0301", "n", "(n as f64)");
    reject("fn f(c: bool) -> f64 = c", "E0301", "c", "which is 0 or 1");
    reject("fn f(n: i64) -> bool = n as bool", "E0313", "n as bool", "x != 0");
    reject("fn f(n: i64, x: f64) -> i64 = n ** x", "E0302", "**", "as");
}

#[test]
fn literals_fit_their_types() {
    reject("fn f() -> i8 = 128", "E0312", "128", "-128 to 127");
    reject("fn f() -> u8 = -1", "E0312", "-1", "0 to 255");
    reject("fn f[T: Integer](x: T) -> T = x + 200", "E0312", "200", "-128 to 127");
    reject("fn f() -> f32 = 1e39", "E0312", "1e39", "wider");
    reject("fn f() -> f32 = 16777217", "E0312", "16777217", "wider");
    reject("fn f() -> f64 = 9007199254740993", "E0312", "9007199254740993", "round");
    reject("fn f[T: Float](x: T) -> T = x + 16777217", "E0312", "16777217", "wider");
}

#[test]
fn a_fold_binds_tighter_than_infix_operators() {
    reject("fn f[N](a: f64[N], b: f64[N]) -> f64 = +/ a .* b", "E0301", "+/ a .* b", "parentheses");
    reject("fn f(x: f64) -> f64 = +/ x", "E0328", "+/", "parentheses");
}

#[test]
fn shapes_of_the_signature_are_compared_by_normal_form() {
    reject("fn f[N, M](a: f64[N], b: f64[M]) -> f64[N] = a .+ b", "E0401", "b", "(b : f64[N])");
    reject("fn f[N](a: f64[N]) -> f64[N + 1] = a", "E0401", "a", "declare `f64[N]`");
    reject("fn f[N, M](a: f64[N, M], b: f64[N]) -> f64[N] = a @ b", "E0401", "b", "transpose(a) @ b");
    reject("fn f[N](v: f64[2 * N]) -> i64 = N\nfn g() -> i64 = f([1.0, 2.0, 3.0])", "E0401", "[1.0, 2.0, 3.0]", "size");
    reject("fn f() -> f64[3] = (zeros(4) : f64[3])", "E0401", "zeros(4)", "size");
    reject("fn f[N, M](m: f64[N, M], v: f64[M]) -> f64[N, M] = m .+ v", "E0402", "v", "broadcast");
    reject("fn f(v: f64[3]) -> f64[4] = reshape(v, [4])", "E0401", "reshape(v, [4])", "product");
    reject(
        "fn f[N](v: f64[N], c: bool) -> f64 = +/(if c { v } else { v[1..] })",
        "E0401",
        "v[1..]",
        "give all arms one length",
    );
}

#[test]
fn indices_are_integers_within_the_rank() {
    reject("fn f[N](v: f64[N]) -> f64 = v[1.0]", "E0311", "1.0", "without a point");
    reject("fn f[N](v: f64[N]) -> f64 = v[0, 1]", "E0310", "v[0, 1]", "one index or slice");
    reject("fn f(x: f64) -> f64 = x[0]", "E0309", "x", "tensors");
    reject("fn f[N](v: f64[N], w: f64[N]) -> f64[N] = v[w]", "E0311", "w", "integer");
}

#[test]
fn misspelt_names_find_the_right_one() {
    reject("fn f(weight: f64) -> f64 = wieght", "E0201", "wieght", "did you mean `weight`?");
    reject("fn f(x: f64) -> f64 = sqroot(x)", "E0201", "sqroot", "");
    reject("fn f(x: f64) -> f64 = tahn(x)", "E0201", "tahn", "did you mean `tanh`?");
    reject("fn f(x: flaot) -> f64 = 1.0", "E0202", "flaot", "");
    reject("fn f(x: double) -> f64 = 1.0", "E0202", "double", "write `f64`");
    reject("struct P { width: f64 }\nfn f(p: P) -> f64 = p.widht", "E0203", "widht", "did you mean `width`?");
    reject("fn f(x: f64) -> f64 = ln(x)", "E0201", "ln", "write `log(x)`");
    reject("@grda(x) fn f(x: f64) -> f64 = x", "E0208", "grda", "did you mean `@grad`?");
    reject("@grad(y) fn f(x: f64) -> f64 = x", "E0503", "y", "`x`");
}

#[test]
fn one_mistake_gives_one_error() {
    reject("fn f(x: f64) -> f64 { let y = unknown + 1.0\n let z = y * x\n z + y }", "E0201", "unknown", "");
    reject("fn f(x: Unknown) -> f64 { let y = x.a[3]\n y * 2.0 + x }", "E0202", "Unknown", "");
    reject("fn f[N](a: f64[N]) -> f64 { let b = a + a\n +/(b .* b) }", "E0304", "+", "");
    reject("fn g(x: Unknown) -> f64 = 1.0\nfn f() -> f64 = g(2.0) + g(true)", "E0202", "Unknown", "");
}

#[test]
fn lambdas_and_functions_stand_where_functions_are_needed() {
    reject("fn f[N](v: f64[N]) -> f64[N] = map(v, v)", "E0321", "v", "lambda");
    reject("fn f(x: f64) -> f64 { let g = exp\n x }", "E0322", "exp", "as an argument");
    reject("fn f[N](v: f64[N]) -> f64 = fold(0.0, |x| x, v)", "E0324", "|x| x", "|a, b|");
    reject("fn f[N](v: f64[N]) -> f64 = v(0)", "E0306", "v", "v[i]");
    reject("fn f[N](v: f64[N]) -> f64 = v.sum()", "E0330", "sum", "sum(v)");
    reject("fn f(x: f64) -> f64 = max(x)", "E0307", "max(x)", "missing");
}

#[test]
fn only_mutable_variables_change() {
    reject("fn f(x: f64) -> f64 {\n x = 1.0\n x }", "E0601", "x", "let mut x = x");
    reject("fn f() -> f64 {\n let y = 1.0\n y += 1.0\n y }", "E0601", "y", "let mut y");
    reject("fn f[N](v: f64[N]) -> f64 {\n let mut s = 0.0\n map(|x| { s = x\n x }, v)[0] }", "E0603", "s", "for");
    reject("fn f(x: f64) -> f64 {\n f2(x) = 1.0\n x }\nfn f2(x: f64) -> f64 = x", "E0602", "f2(x)", "places");
}

#[test]
fn values_are_used() {
    reject("fn f(a: f64, b: f64) -> f64 {\n let y = a\n - b\n y }", "E0320", "- b", "end that one with `-`");
    reject("fn f(a: f64, b: f64) -> f64 {\n a + b\n a }", "E0320", "a + b", "let");
    reject("fn f(a: f64, b: f64) -> f64 {\n a\n - b }", "E0320", "a", "end it with `-`");
}

#[test]
fn recursion_names_the_cycle() {
    reject("fn f(n: i64) -> i64 = f(n - 1)", "E0605", "f", "loop");
    let source = "fn a(x: f64) -> f64 = b(x)\nfn b(x: f64) -> f64 = c(x)\nfn c(x: f64) -> f64 = a(x)";
    reject(source, "E0605", "a", "loop");
    assert!(report(source).contains("`a` calls `b` calls `c` calls `a`"), "{}", report(source));
}

#[test]
fn only_floats_have_derivatives() {
    reject("@grad(n) fn f(x: f64, n: i64) -> i64 = x ** n", "E0501", "@grad(n)", "floats");
    reject("@grad(x) fn f[N](x: f64[N]) -> f64[N] = x .* x", "E0502", "x .* x", "+/ v");
    reject("@grad(x) fn f[N](x: f64[N]) -> f64 = +/ x", "E0504", "fn f[N](x: f64[N]) -> f64", "-> f64[N]");
    reject("fn f(n: i64) -> f64 = n as f64\nfn g() -> f64 = grad(f)(3)", "E0505", "grad(f)", "floats");
    reject("fn f(x: f64) -> f64 = x\nfn g() -> f64 = grad[y](f)(1.0)", "E0503", "y", "`x`");
    reject("fn f[T: Integer](x: T) -> T = x\nfn g() -> i64 = grad[x](f)(1)", "E0501", "x", "floats");
    reject("@jvp(w) fn f(w: f64, d: i64) -> (f64, f64) = w", "E0507", "d", "tangents");
}

#[test]
fn a_match_shows_a_value_that_it_lacks() {
    let shape = "enum Shape { Dot, Circle(f64), Box { w: f64, h: f64 } }\nfn f(s: Shape, n: i64) -> i64 = ";
    let reject = |arms: &str, place: &str, part: &str| reject(&format!("{shape}{arms}"), "E0342", place, part);
    reject("match s { Circle(_) => 1, Box { .. } => 2 }", "s", "Shape.Dot =>");
    reject("match s { Dot | Box { w: 0.0, .. } => 1, Circle(_) => 2 }", "s", "Shape.Box { .. } =>");
    reject("match (n, s) { (1..=5, Dot) => 1, (_, Circle(_) | Box { .. }) => 2 }", "(n, s)", "(0, Shape.Dot) =>");
}

#[test]
fn sizes_and_types_in_brackets_are_given_or_inferred() {
    reject("fn s[N]() -> f64[N] = zeros[f64](N)\nfn f() -> f64[4] = s()", "E0403", "s()", "s[N]");
    reject("fn one[T: Float]() -> T = 1 as T\nfn f() -> i64 = one() as i64", "E0315", "one()", "brackets");
    reject("fn half[T: Float](x: T) -> T = x\nfn f(n: i64) -> i64 = half(n)", "E0314", "n", "f32, f64");
    reject("fn f[N](x: f64[N]) -> f64 = +/ x\nfn g() -> f64 = f[f64](zeros(3))", "E0317", "f64", "size");
    reject("fn f(x: f64[N]) -> f64 = +/ x", "E0211", "N", "[N]");
    reject("struct P { x: f64[_] }", "E0407", "_", "struct P[N]");
}

#[test]
fn what_would_decide_about_sizes_and_types_is_reported_once_when_it_is_wrong() {
    let sum = "fn sum[N](v: f64[N]) -> f64 = +/ v\n";
    reject(&format!("{sum}fn f(x: f64[-1]) -> f64 = sum(x)"), "E0405", "-1", "sizes count");
    reject("fn sum[N](v: f64[N, -1]) -> f64 = 0.0\nfn f() -> f64 = sum([[1.0]])", "E0405", "-1", "sizes count");
    reject(&format!("{sum}fn f() -> f64 = sum(nobody)"), "E0201", "nobody", "");
    reject(&format!("{sum}fn f() -> f64 = sum(ones[f64](-2))"), "E0405", "-2", "sizes count");
    reject("fn all[..S](v: f64[..S]) -> f64 = 0.0\nfn f(x: f64[-1]) -> f64 = all(x)", "E0405", "-1", "sizes count");
    reject(
        "fn any[T: Differentiable](v: T) -> f64 = 0.0\nfn f(x: f64[-1]) -> f64 = any(x)",
        "E0405",
        "-1",
        "sizes count",
    );
    reject("fn num[T: Float](v: T) -> f64 = 0.0\nfn f(x: f64[-1]) -> f64 = num(x)", "E0405", "-1", "sizes count");
    reject("struct P[N] { x: f64[N] }\nfn f(x: f64[-1]) -> P[2] = P { x: x }", "E0405", "-1", "sizes count");
}

#[test]
fn warnings_show_where_a_derivative_stops() {
    reject("@grad(x) fn d(x: f64) -> f64 = (x as i64) as f64", "W0501", "@grad(x)", "floats");
    reject(
        "fn step(x: f64) -> f64 = if x > 0.0 { 1.0 } else { 0.0 }\n@grad(x) fn d(x: f64) -> f64 = step(x)",
        "W0501",
        "@grad(x)",
        "floats",
    );
    reject(
        "@grad(x) fn d(x: f64) -> f64 {\n let mut y = 1.0\n while y < x { y = y * 2.0 }\n y * x }",
        "W0502",
        "y < x",
        "integer",
    );
    super::accept("@grad(x) fn d(x: f64) -> f64 = if x > 0.0 { x } else { 0.0 }");
    let newton = "@grad(a) fn d(a: f64) -> f64 {\n let mut x = 1.0\n let mut dx = 1.0\n while abs(dx) > 1e-12 {\n\
                  dx = (x * x - a) / x\n x = x - dx }\n x }";
    assert_eq!(report(newton), "", "the loop runs at least once");
}

#[test]
fn f5_zero_is_said_of_a_derivative_only_where_it_is() {
    let choose = "fn choose[T](m: bool, a: T, b: T) -> T = if m { a } else { b }\n\
                  @grad(v) fn g(v: f64[3]) -> f64[3] = choose(v[0] > 0.0, v[1], v[2])";
    assert_eq!(report(choose), "", "a type parameter may be a float");
    let read = "fn read[T, N](x: T[N], i: i64) -> T = x[i]\n@grad(v) fn g(v: f64[3]) -> f64[3] = read(v, 1)";
    assert_eq!(report(read), "");
    let rule = "fn q(x: f64) -> f64 = round(x)\n@vjp_for(q) fn r(x: f64, y: f64, y_cot: f64) -> f64 = y_cot\n\
                @grad(x) fn g(x: f64) -> f64 = q(x)";
    assert_eq!(report(rule), "", "a rule says what the derivative is");
    reject("@grad(x) fn g(x: f64) -> f64 = copysign(2.0, x)", "W0501", "@grad(x)", "floats");
}

#[test]
fn vectors_are_of_one_type() {
    let p = "struct P { a: f64, n: i64 }\nstruct Q { a: f64 }\n";
    let reject = |body: &str, code: &str, place: &str, help: &str| reject(&format!("{p}{body}"), code, place, help);
    reject("fn f(p: P) -> P = p * 2.0", "E0304", "*", "write `.*`");
    reject("fn f(p: P, q: Q) -> P = p .+ q", "E0301", "q", "P");
    reject("fn f(p: P, d: tangent[P]) -> P = d .+ p", "E0301", "d .+ p", "tangent");
    reject("fn f(p: P, v: f64[2]) -> P = p .+ v", "E0303", "v", "every leaf");
    reject("fn f(p: P, n: i64) -> P = p .+ n", "E0303", "n", "every leaf");
    reject("fn f(p: P) -> bool = p .< p", "E0303", ".<", "fields");
    reject("fn f(n: i64) -> f64 = sum_leaves(n)", "E0308", "n", "floats");
    reject("fn g[T: Differentiable](p: T) -> T = p\nfn f(p: P) -> P = g(p)", "E0361", "g(p)", "tangent[T]");
}
