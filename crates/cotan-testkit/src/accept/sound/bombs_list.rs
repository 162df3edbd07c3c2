//! Small programs that grow, and large ones: each by a number that says how far.

use std::fmt::Write;

/// A program that grows with a number.
pub(super) struct Bomb {
    pub(super) name: &'static str,
    /// How far it goes in `cargo xtask accept sound`.
    pub(super) whole: usize,
    /// How far in the ordinary tests.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests go so far"))]
    pub(super) small: usize,
    /// What is done with it.
    pub(super) command: Command,
    pub(super) program: fn(usize) -> String,
}

/// What is done with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// It is checked.
    Check,
    /// `f(x: f64)` is called.
    Run,
    /// The gradient of `f(x: f64)` is computed.
    Grad,
}

const fn bomb(name: &'static str, command: Command, [whole, small]: [usize; 2], program: fn(usize) -> String) -> Bomb {
    Bomb { name, whole, small, command, program }
}

/// `head`, a line for each number from 1 on, and `tail`.
fn lines(head: &str, n: usize, line: impl Fn(usize) -> String, tail: &str) -> String {
    let mut text = String::from(head);
    for k in 1..n {
        text += &line(k);
        text.push('\n');
    }
    text + tail
}

/// The body of `f(x: f64)`.
fn body(head: &str, n: usize, line: impl Fn(usize) -> String, tail: &str) -> String {
    lines(&format!("fn f(x: f64) -> f64 {{\n{head}"), n, line, &format!("  {tail}\n}}\n"))
}

fn joined(n: usize, between: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(between)
}

fn nested(n: usize, open: &str, close: &str) -> String {
    format!("fn f(x: f64) -> f64 = {}x{}\n", open.repeat(n), close.repeat(n))
}

/// A use of a program that is not called.
const UNUSED: &str = "fn f(x: f64) -> f64 = x\n";

/// A file of so many bytes that consists of functions.
fn large_file(bytes: usize) -> String {
    let mut text = String::from(UNUSED);
    let mut k = 0;
    while text.len() < bytes {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "## Function number {k}.\nfn g{k}_(x: f64, n: i64) -> f64 {{\n  let mut y = x\n  for i in 0..n {{ y += sin(x) * {k}.0 }}\n  y\n}}"
        );
        k += 1;
    }
    text
}

/// The same function applied to itself by lambdas in lambdas.
fn lambdas(n: usize) -> String {
    let open = joined(n, "", |k| format!("t(|y{k}_| "));
    let close = (0..n).rev().map(|k| if k == 0 { ", x)".to_owned() } else { format!(", y{}_)", k - 1) });
    let last = n.saturating_sub(1);
    format!(
        "fn t(g: (f64) -> f64, x: f64) -> f64 = g(g(x))\nfn f(x: f64) -> f64 = {open}y{last}_ + 1.0{}\n",
        close.collect::<String>()
    )
}

fn patterns(n: usize) -> String {
    let arm =
        |k: usize| format!("  ({}) => {k}.0,\n", joined(n, ", ", |j| if j == k { "true" } else { "_" }.to_owned()));
    format!(
        "fn g(t: ({})) -> f64 = match t {{\n{}  _ => 0.5\n}}\n{UNUSED}",
        joined(n, ", ", |_| "bool".to_owned()),
        joined(n, "", arm)
    )
}

pub(super) const BOMBS: &[Bomb] = &[
    // Nesting.
    bomb("parentheses in each other", Command::Check, [100_000, 300], |n| nested(n, "(", ")")),
    bomb("blocks in each other", Command::Check, [100_000, 300], |n| nested(n, "{", "}")),
    bomb("signs in a row", Command::Check, [1_000_000, 300], |n| nested(n, "-", "")),
    bomb("calls in each other", Command::Run, [900, 100], |n| nested(n, "sin(", ")")),
    bomb("tuple types in each other", Command::Check, [100_000, 300], |n| {
        format!("fn g(t: {}f64{}) -> f64 = 1.0\n{UNUSED}", "(f64, ".repeat(n), ")".repeat(n))
    }),
    bomb("comments in each other", Command::Check, [1_000_000, 300], |n| {
        format!("{}{}\n{UNUSED}", "/* ".repeat(n), " */".repeat(n))
    }),
    // Doubling types.
    bomb("tuples of tuples", Command::Check, [60, 10], |n| {
        body("  let a0 = (x, x)\n", n, |k| format!("  let a{k} = (a{}, a{})", k - 1, k - 1), "x")
    }),
    bomb("tuples of tuples by a function", Command::Check, [60, 8], |n| {
        format!(
            "fn pair[T](t: T) -> (T, T) = (t, t)\n{}",
            body("  let a0 = pair(x)\n", n, |k| format!("  let a{k} = pair(a{})", k - 1), "x")
        )
    }),
    bomb("arrays of arrays", Command::Check, [60, 6], |n| {
        body("  let a0 = [x, x]\n", n, |k| format!("  let a{k} = [a{}, a{}]", k - 1, k - 1), "x")
    }),
    bomb("structs of structs", Command::Check, [60, 10], |n| {
        lines("struct S0 { x: f64 }\n", n, |k| format!("struct S{k} {{ a: S{}, b: S{} }}", k - 1, k - 1), UNUSED)
    }),
    bomb("generic structs of structs", Command::Check, [60, 10], |n| {
        let head = "struct P[T: Differentiable] { a: T, b: T }\n";
        let first = "  let a0 = P { a: x, b: x }\n";
        format!("{head}{}", body(first, n, |k| format!("  let a{k} = P {{ a: a{}, b: a{} }}", k - 1, k - 1), "x"))
    }),
    bomb("enums of enums", Command::Check, [60, 10], |n| {
        lines("enum E0 { A(f64), B }\n", n, |k| format!("enum E{k} {{ A(E{}), B(E{}) }}", k - 1, k - 1), UNUSED)
    }),
    bomb("aliases of tuples of aliases", Command::Check, [60, 10], |n| {
        lines("type T0 = (f64, f64)\n", n, |k| format!("type T{k} = (T{}, T{})", k - 1, k - 1), UNUSED)
    }),
    bomb("instances at types that double", Command::Check, [60, 8], |n| {
        lines("fn p0[T](t: T) -> f64 = 1.0\n", n, |k| format!("fn p{k}[T](t: T) -> f64 = p{}((t, t))", k - 1), "")
            + &format!("fn f(x: f64) -> f64 = p{}(x)\n", n - 1)
    }),
    bomb("a long tuple used often", Command::Check, [3_000, 100], |n| {
        format!(
            "fn f(x: f64) -> f64 {{\n  let t = ({})\n{}  x\n}}\n",
            joined(n, ", ", |_| "x".to_owned()),
            joined(n, "", |k| format!("  let t{k} = t\n"))
        )
    }),
    // Doubling calls.
    bomb("functions that call the one before twice", Command::Grad, [14, 5], |n| {
        lines(
            "fn g0(x: f64) -> f64 = sin(x) + 1.0\n",
            n,
            |k| format!("fn g{k}(x: f64) -> f64 = g{}(g{}(x))", k - 1, k - 1),
            "",
        ) + &format!("fn f(x: f64) -> f64 = g{}(x)\n", n - 1)
    }),
    bomb("lambdas in lambdas, each called twice", Command::Run, [30, 6], lambdas),
    bomb("derivatives of derivatives", Command::Run, [8, 3], |n| {
        lines(
            "fn g0(x: f64) -> f64 = sin(x) * exp(x)\n",
            n,
            |k| format!("fn g{k}(x: f64) -> f64 = grad(g{})(x)", k - 1),
            "",
        ) + &format!("fn f(x: f64) -> f64 = g{}(x)\n", n - 1)
    }),
    // Chains.
    bomb("structs that each hold the one before", Command::Check, [9_000, 100], |n| {
        lines("struct S0 { x: f64 }\n", n, |k| format!("struct S{k} {{ s: S{}, x: f64 }}", k - 1), UNUSED)
    }),
    bomb("structs that hold each other in a ring", Command::Check, [20_000, 50], |n| {
        joined(n, "\n", |k| format!("struct S{k} {{ s: S{} }}", (k + 1) % n)) + "\n" + UNUSED
    }),
    bomb("structs that hold each other by parameters", Command::Check, [5_000, 50], |n| {
        let chain = joined(n, "\n", |k| format!("struct S{k} {{ s: P[S{}] }}", (k + 1) % n));
        format!("struct P[T] {{ v: T }}\n{chain}\nfn g(s: S0) -> f64 = 1.0\n{UNUSED}")
    }),
    bomb("structs that hold their neighbours", Command::Check, [5_000, 50], |n| {
        joined(n, "\n", |k| format!("struct S{k} {{ a: S{}, b: S{} }}", (k + 1) % n, (k + n - 1) % n)) + "\n" + UNUSED
    }),
    bomb("constants that each need the next", Command::Check, [100_000, 300], |n| {
        let chain = joined(n, "\n", |k| format!("const C{k}: i64 = C{} + 1", k + 1));
        format!("{chain}\nconst C{n}: i64 = 1\n{UNUSED}")
    }),
    bomb("aliases that each need the next", Command::Check, [100_000, 300], |n| {
        format!("{}\ntype T{n} = f64\n{UNUSED}", joined(n, "\n", |k| format!("type T{k} = T{}", k + 1)))
    }),
    bomb("100,000 functions", Command::Check, [100_000, 300], |n| {
        lines(
            "fn g0(x: f64) -> f64 = x\n",
            n,
            |k| format!("fn g{k}(x: f64) -> f64 = g{}(x) + 1.0", k - k.min(7)),
            UNUSED,
        )
    }),
    bomb("functions that each call the one before", Command::Run, [20_000, 100], |n| {
        lines("fn g0(x: f64) -> f64 = x\n", n, |k| format!("fn g{k}(x: f64) -> f64 = g{}(x) + 1.0", k - 1), "")
            + &format!("fn f(x: f64) -> f64 = g{}(x)\n", n - 1)
    }),
    bomb("functions that all call the first, which calls them", Command::Check, [20_000, 100], |n| {
        let chain = joined(n, "\n", |k| format!("fn g{k}(x: f64) -> f64 = g{}(x) + g0(x)", k + 1));
        format!("{chain}\nfn g{n}(x: f64) -> f64 = x\n{UNUSED}")
    }),
    // Errors.
    bomb("unknown names", Command::Check, [4_000, 200], |n| {
        joined(n, "\n", |k| format!("fn h{k}_(x: f64) -> f64 = x + y{k}")) + "\n"
    }),
    bomb("unknown names in one body", Command::Check, [100_000, 200], |n| {
        body("", n, |k| format!("  let z{k} = y{k}"), "x")
    }),
    bomb("missing operands", Command::Check, [100_000, 200], |n| {
        joined(n, "\n", |k| format!("fn h{k}_(x: f64) -> f64 = x +")) + "\n"
    }),
    bomb("unknown characters", Command::Check, [3_000_000, 200], |n| "$ ".repeat(n)),
    bomb("the same declaration again and again", Command::Check, [50_000, 200], |n| {
        "fn g(x: f64) -> f64 = x\n".repeat(n)
    }),
    bomb("attributes that say the same", Command::Check, [50_000, 100], |n| "@grad(x)\n".repeat(n) + UNUSED),
    // Size.
    bomb("a file of 10 MB", Command::Check, [10_000_000, 5_000], large_file),
    bomb("a comment of 10 MB", Command::Check, [10_000_000, 5_000], |n| format!("# {}\n{UNUSED}", "x".repeat(n))),
    bomb("a name of 10 MB", Command::Check, [10_000_000, 5_000], |n| {
        format!("fn f({0}: f64) -> f64 = {0}\n", "x".repeat(n))
    }),
    bomb("a number of 10 MB", Command::Check, [10_000_000, 5_000], |n| {
        format!("fn f(x: f64) -> f64 = 0.{}\n", "7".repeat(n))
    }),
    bomb("a sum of 10 MB", Command::Check, [2_500_000, 500], |n| {
        format!("fn f(x: f64) -> f64 = x{}\n", " + x".repeat(n))
    }),
    bomb("100,000 terms", Command::Run, [100_000, 500], |n| format!("fn f(x: f64) -> f64 = x{}\n", " + x".repeat(n))),
    bomb("a long array", Command::Run, [100_000, 500], |n| {
        format!("fn f(x: f64) -> f64 = +/ [{}]\n", joined(n, ", ", |k| format!("{k}.5")))
    }),
    bomb("a tuple of many parts", Command::Check, [200_000, 500], |n| {
        format!("fn f(x: f64) -> f64 = ({}).1\n", joined(n, ", ", |_| "x".to_owned()))
    }),
    bomb("many parameters", Command::Run, [5_000, 50], |n| {
        let params = joined(n, ", ", |k| format!("x{k}: f64"));
        format!("fn g({params}) -> f64 = x0\nfn f(x: f64) -> f64 = g({})\n", joined(n, ", ", |_| "x".to_owned()))
    }),
    bomb("a struct of many fields", Command::Run, [9_000, 50], |n| {
        let fields = joined(n, ", ", |k| format!("x{k}: f64"));
        let values = joined(n, ", ", |k| format!("x{k}: x"));
        format!("struct S {{ {fields} }}\nfn f(x: f64) -> f64 {{\n  let s = S {{ {values} }}\n  s.x0\n}}\n")
    }),
    bomb("an enum of many variants", Command::Check, [5_000, 50], |n| {
        let variants = joined(n, ", ", |k| format!("V{k}(f64)"));
        let arms = joined(n, ",\n", |k| format!("  V{k}(x) => x"));
        format!("enum E {{ {variants} }}\nfn g(e: E) -> f64 = match e {{\n{arms}\n}}\n{UNUSED}")
    }),
    bomb("patterns that cover one another", Command::Check, [60, 8], patterns),
    bomb("many impls", Command::Check, [5_000, 50], |n| {
        let one =
            |k: usize| format!("struct S{k} {{ x: f64 }}\nimpl A for S{k} {{ fn area(self: Self) -> f64 = self.x }}");
        lines("trait A { fn area(self: Self) -> f64 }\n", n, one, UNUSED)
    }),
    bomb("locals one after the other", Command::Run, [50_000, 200], |n| {
        body("  let y0 = x\n", n, |k| format!("  let y{k} = y{}", k - 1), "x")
    }),
    bomb("locals that hide one another", Command::Run, [20_000, 200], |n| {
        body("", n, |_| "  let x = x + 1.0".to_owned(), "x")
    }),
    bomb("loops one after the other", Command::Run, [400, 20], |n| {
        body("  let mut y = x\n", n, |_| "  for i in 0..10 { y = y * 0.5 + x }".to_owned(), "y")
    }),
    bomb("choices one after the other", Command::Grad, [500, 20], |n| {
        let line = |k| format!("  if y > {k}.5 {{ y = y * 1.5 - x }} else {{ y = y + sin(y) }}");
        body("  let mut y = x\n", n, line, "y")
    }),
    bomb("a straight function of 2,000 lines", Command::Grad, [2_000, 50], |n| {
        body("  let y0 = x\n", n, |k| format!("  let y{k} = sin(y{}) * x + {k}.0", k - 1), &format!("y{}", n - 1))
    }),
    bomb("a size of many terms", Command::Check, [20_000, 100], |n| {
        format!("fn g[N](x: f64[N{}]) -> f64 = 1.0\n{UNUSED}", " + 1".repeat(n))
    }),
    bomb("a size that is a long product", Command::Check, [1_000, 5], |n| {
        format!("fn g[N, M, K](x: f64[{}]) -> f64 = 1.0\n{UNUSED}", joined(n, " * ", |_| "(N + M + K + 1)".to_owned()))
    }),
    bomb("a tensor of many axes", Command::Run, [2_000, 8], |n| {
        format!("fn f(x: f64) -> f64 = x + (+/[all] zeros[f64]({}))\n", joined(n, ", ", |_| "1".to_owned()))
    }),
];
