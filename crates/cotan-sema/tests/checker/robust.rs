//! Programs of any kind and size: the checker never panics, and takes its time in proportion.

use super::{accept, run};

const PROGRAM: &str = "struct P[N] { x: f64[N], n: i64 }\n\
    type Pair = (f64, f64)\n\
    fn loss[T: Float, N](w: T[N], x: T[N]) -> T { let e = +/(w .* x)\n e * e }\n\
    @grad(w) fn dloss[N](w: f64[N], x: f64[N]) -> f64[N] = loss(w, x)\n\
    fn f[N](p: P[N], c: bool) -> f64 {\n let mut s = 0.0\n for i in (0..N).rev() { if c { s += p.x[i] } else { continue } }\n\
    while s > 1.0 { s /= 2.0 }\n s + max/ map(|v| v * 2.0, p.x) |> exp }\n\
    fn g(n: i64) -> f64[n] = tabulate(n, |i| iterate(3, i as f64, |y| y ** 2.0))\n\
    fn h[N](w: f64[N]) -> f64[N, N] = hessian[w](|w| +/(w .** 3))(w)\n";

/// A fixed sequence of numbers (G. Marsaglia 2003, xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn the_program_that_is_mutated_is_right() {
    accept(PROGRAM);
}

#[test]
fn mutated_programs_never_panic() {
    let words: Vec<&str> = PROGRAM.split_inclusive([' ', '(', '[', ',', ')', ']', ':', '\n', '.']).collect();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..1500 {
        let mut mutated = words.clone();
        for _ in 0..=numbers.below(3) {
            let (at, from) = (numbers.below(mutated.len()), numbers.below(words.len()));
            match numbers.below(3) {
                0 => {
                    mutated.remove(at);
                }
                1 => mutated.insert(at, words[from]),
                _ => mutated[at] = words[from],
            }
        }
        run(&mutated.concat());
    }
}

#[test]
fn truncated_programs_never_panic() {
    for end in (0..PROGRAM.len()).step_by(7) {
        run(&PROGRAM[..end]);
    }
}

#[test]
fn long_chains_are_flat() {
    let terms = vec!["x"; 20_000].join(" + ");
    accept(&format!("fn f(x: f64) -> f64 = {terms}"));
    let terms = vec!["x > 0.0"; 20_000].join(" && ");
    accept(&format!("fn f(x: f64) -> bool = {terms}"));
    let stages = vec!["exp"; 20_000].join(" |> ");
    accept(&format!("fn f(x: f64) -> f64 = x |> {stages}"));
    let literals = vec!["1"; 20_000].join(" + ");
    accept(&format!("fn f() -> f64 = ({literals}) as f64"));
}

#[test]
fn deep_nesting_is_a_diagnostic_at_worst() {
    // The parser recurses on the stack that it is given.
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(|| {
        accept(&format!("fn f(x: f64) -> f64 = {}x{}", "(-".repeat(400), ")".repeat(400)));
        let casts = format!("fn f(x: f64) -> f64 = x{}", " as f64".repeat(20_000));
        let (_, diagnostics) = run(&casts);
        assert_eq!(diagnostics.iter().map(|found| found.code.as_str()).collect::<Vec<_>>(), ["E0606"]);
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn ten_thousand_functions_that_call_each_other() {
    let mut source = "fn g0(x: f64) -> f64 = x\n".to_owned();
    for at in 1..10_000 {
        source += &format!("fn g{at}(x: f64) -> f64 = g{}(x) + 1.0\n", at - 1);
    }
    let checked = accept(&source);
    assert_eq!(checked.program.order.first(), checked.program.function_named("g0").as_ref());
}

#[test]
fn specialisations_are_bounded_with_the_chain() {
    let mut source = "fn a0(f: (f64) -> f64, x: f64) -> f64 = f(x)\n".to_owned();
    for at in 1..20 {
        let below = at - 1;
        source +=
            &format!("fn a{at}(f: (f64) -> f64, x: f64) -> f64 = a{below}(|y| f(y), x) + a{below}(|y| -f(y), x)\n");
    }
    source += "fn g(x: f64) -> f64 = a19(exp, x)";
    let text = super::report(&source);
    assert!(text.starts_with("E0607") && text.contains("10000 specialisations"), "{text}");
    let mut source = "fn a0(f: (f64) -> f64, x: f64) -> f64 = f(x)\n".to_owned();
    for at in 1..80 {
        source += &format!("fn a{at}(f: (f64) -> f64, x: f64) -> f64 = a{}(f, x)\n", at - 1);
    }
    source += "fn g(x: f64) -> f64 = a79(exp, x)";
    let text = super::report(&source);
    assert!(text.starts_with("E0607") && text.contains("`g`, `a79`"), "{text}");
}

#[test]
fn specialisations_by_types_and_packs_are_bounded_too() {
    let mut source = "fn a0[T](x: T) -> i64 = 1\n".to_owned();
    for at in 1..20 {
        let below = at - 1;
        source += &format!("fn a{at}[T](x: T) -> i64 = a{below}((x, 1.0)) + a{below}((x, 1))\n");
    }
    let text = super::report(&(source + "fn g() -> i64 = a19(1.0)"));
    assert!(
        text.starts_with("E0607") && text.contains("10000 specialisations") && text.contains("`g`, `a19`"),
        "{text}"
    );
    for (generics, ty, arg) in [("T", "T", "x"), ("..S", "f64[..S]", "broadcast(x, [1, ..S])")] {
        let mut source = format!("fn a0[{generics}](x: {ty}) -> i64 = 1\n");
        for at in 1..80 {
            source += &format!("fn a{at}[{generics}](x: {ty}) -> i64 = a{}({arg})\n", at - 1);
        }
        let text = super::report(&(source + "fn g(x: f64) -> i64 = a79(x)"));
        assert!(text.starts_with("E0607") && text.contains("64 calls") && text.contains("`g`, `a79`"), "{text}");
    }
}
