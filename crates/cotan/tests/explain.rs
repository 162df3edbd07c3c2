//! What is said of the records of gradients, and whether it is so.

use cotan::explain::RecordCounts;
use cotan::host::{Arguments, HostValue, fit_arguments};
use cotan::{Compiler, Config, DerivativeForm, DerivativeMode, Engine, Program, ReadyModule, Request, derivative};
use cotan_interp::{Options, run_counted};
use expect_test::{Expect, expect};

const PROGRAM: &str = include_str!("explain.cot");

fn compiler() -> Compiler {
    Compiler::new(Config::default()).expect("threads")
}

fn program(compiler: &Compiler) -> Program {
    let program = compiler.check("explain.cot", PROGRAM);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    program
}

/// The gradient with all loops run backwards.
fn gradient(function: &str, wrt: &str) -> Request {
    let mut request = derivative(function, DerivativeForm::ValueAndGrad, &[wrt]);
    if let Some(form) = &mut request.form {
        form.mode = Some(DerivativeMode::Reverse);
    }
    request
}

/// The explanation of a gradient.
fn check(function: &str, wrt: &str, expected: &Expect) {
    let compiler = compiler();
    let explanation = compiler.explain(&program(&compiler), &gradient(function, wrt)).expect("a gradient");
    expected.assert_eq(&explanation.to_string());
}

#[test]
fn a_value_that_the_next_iteration_replaces_is_recorded_and_others_are_not() {
    check(
        "powers",
        "x",
        &expect![[r#"
            explain.cot:7:3: for i in 0..n {
              records `y`: 8 * n bytes, f64 for each iteration, as the next one replaces what its reverse reads
              records `sin`: 8 * n bytes, f64 for each iteration, at a cost of 16 instead of 30 to compute it again
              not `k`: it is computed from the number of the iteration
              not `z`: the reverse of an iteration does not read it
              with @checkpoint(sqrt): about 32 * sqrt(n) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 48 * n^(1/3) bytes, and the body runs twice more

            At any one time there are at most 16 * n bytes of records.
        "#]],
    );
}

#[test]
fn a_linear_loop_records_nothing() {
    check(
        "damped",
        "x",
        &expect![[r#"
        explain.cot:17:3: for i in 0..n { v = 0.95 * v + 0.01 }
          records nothing
          not `v`: the reverse of an iteration does not read it

        Nothing is recorded: what the reverse sweep needs, it computes again.
    "#]],
    );
}

#[test]
fn a_dynamic_program_records_the_scalars_that_it_reads() {
    check(
        "products",
        "x",
        &expect![[r#"
            explain.cot:23:3: for i in 1..N { s[i] = s[i - 1] * s[i] }
              records `s[..]`: 16 * N - 16 bytes, 2 f64 for each iteration, which reads it from a carried array
              not `s`: the scalars that an iteration reads from it are enough
              with @checkpoint(sqrt): about 16 * N + 24 * sqrt(N) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 16 * N + 16 * N^(2/3) + 32 * N^(1/3) bytes, and the body runs twice more

            At any one time there are at most 16 * N - 16 bytes of records.
        "#]],
    );
}

#[test]
fn updates_through_branches_and_inner_loops_are_recorded_to_be_undone() {
    check(
        "squarings",
        "x",
        &expect![[r#"
            explain.cot:29:3: for t in 0..steps {
              records `a[..]`: 8 * steps + 16 * updates(loop at 29:3) bytes, f64 and its place for each update, to undo it
              with @checkpoint(sqrt): about 8 * N * sqrt(steps) + 16 * largest updates(loop at 29:3) + 8 * sqrt(steps) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 16 * N * steps^(1/3) + 16 * largest updates(loop at 29:3) + 8 * steps^(1/3) bytes, and the body runs twice more

            explain.cot:30:5: for i in 0..N {
              records `a[..]`: 8 * N bytes, f64 for each iteration, which reads it from a carried array; during one iteration of 29:3
              not `a`: the scalars that an iteration reads from it are enough
              with @checkpoint(sqrt): about 8 * N^(3/2) + 8 * sqrt(N) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 16 * N^(4/3) + 8 * N^(1/3) bytes, and the body runs twice more

            At any one time there are at most 8 * N + 8 * steps + 16 * updates(loop at 29:3) bytes of records.
        "#]],
    );
}

#[test]
fn records_of_an_inner_loop_live_during_one_iteration_of_the_outer_one() {
    check(
        "triangle",
        "x",
        &expect![[r#"
            explain.cot:39:3: for i in 0..N {
              records nothing
              not `total`: the reverse of an iteration does not read it

            explain.cot:41:5: for j in 0..i { v = sin(v) }
              records `v`: 8 * i bytes, f64 for each iteration, as the next one replaces what its reverse reads; during one iteration of 39:3
              with @checkpoint(sqrt): about 16 * sqrt(N) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 24 * N^(1/3) bytes, and the body runs twice more

            At any one time there are at most 8 * N bytes of records.
        "#]],
    );
}

#[test]
fn the_length_of_a_record_of_a_while_is_its_trips() {
    check(
        "root",
        "a",
        &expect![[r#"
            explain.cot:49:3: while abs(x * x - a) > 1e-12 {
              records `x`: 8 * trips(while at 49:3) bytes, f64 for each iteration, as the next one replaces what its reverse reads
              with @checkpoint(sqrt): about 24 * sqrt(trips(while at 49:3)) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 49 * trips(while at 49:3)^(1/3) bytes, and the body runs twice more

            At any one time there are at most 8 * trips(while at 49:3) bytes of records.
        "#]],
    );
}

#[test]
fn threads_share_a_parallel_loop_and_its_records() {
    check(
        "roots",
        "a",
        &expect![[r#"
            explain.cot:49:3: while abs(x * x - a) > 1e-12 {
              records `x`: 8 * trips(while at 49:3) bytes, f64 for each iteration, as the next one replaces what its reverse reads; during one iteration of 55:36
              with @checkpoint(sqrt): about 24 * sqrt(largest trips(while at 49:3)) * threads bytes, and the body runs once more
              with @checkpoint(levels = 3): about 49 * largest trips(while at 49:3)^(1/3) * threads bytes, and the body runs twice more

            At any one time there are at most 8 * largest trips(while at 49:3) * threads bytes of records.
        "#]],
    );
}

#[test]
fn sizes_are_told_by_the_names_of_the_source() {
    check(
        "several",
        "x",
        &expect![[r#"
            explain.cot:59:3: for i in 0..N / 2 { row = sin(row) .* x[i] }
              records `row`: 4 * M * N bytes, f64[M] for each iteration, as the next one replaces what its reverse reads
              records `sin`: 4 * M * N bytes, f64[M] for each iteration, at a cost of 1024 instead of 1920 to compute it again
              with @checkpoint(sqrt): about 17 * M * sqrt(N) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 25.4 * M * N^(1/3) bytes, and the body runs twice more

            explain.cot:61:3: for i in first..max(N, M - 5) { r = sin(r) }
              records `r`: 8 * max(max(N, M - 5), first) - 8 * first bytes, f64 for each iteration, as the next one replaces what its reverse reads
              with @checkpoint(sqrt): about 16 * sqrt(max(max(N, M - 5), first)) - 8 * first / sqrt(max(max(N, M - 5), first)) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 24 * max(max(N, M - 5), first)^(1/3) - 8 * first * max(max(N, M - 5), first)^(-2/3) bytes, and the body runs twice more

            At any one time there are at most 8 * M * N + 8 * max(max(N, M - 5), first) - 8 * first bytes of records.
        "#]],
    );
}

#[test]
fn a_function_called_twice_records_twice() {
    check(
        "twice",
        "x",
        &expect![[r#"
            explain.cot:67:3: for i in 0..n { y = sin(y) }
              records `y`: 8 * n bytes, f64 for each iteration, as the next one replaces what its reverse reads
              records `y`: 24 * n bytes, f64 for each iteration, as the next one replaces what its reverse reads
              with @checkpoint(sqrt): about 35.7 * sqrt(n) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 42.6 * n^(1/3) bytes, and the body runs twice more

            At any one time there are at most 32 * n bytes of records.
        "#]],
    );
}

#[test]
fn checkpoints_of_the_source_show_in_the_records() {
    check(
        "segments",
        "x",
        &expect![[r#"
            explain.cot:75:3: @checkpoint(sqrt) for i in 0..n { y = sin(y) }
              records `y`: 8 * sqrt(n) bytes, f64 for each iteration, as the next one replaces what its reverse reads
              records `y`: 8 * sqrt(n) bytes, f64 for each iteration, as the next one replaces what its reverse reads; while one segment is reversed
              with @checkpoint(sqrt): about 16 * sqrt(n) bytes, and the body runs once more
              with @checkpoint(levels = 3): about 24 * n^(1/3) bytes, and the body runs twice more

            At any one time there are at most 16 * sqrt(n) bytes of records.
        "#]],
    );
}

#[test]
fn a_loop_that_is_differentiated_forward_says_what_it_carries_and_why() {
    let compiler = compiler();
    let of = |function: &str, wrt: &[&str]| {
        let request = derivative(function, DerivativeForm::Grad, wrt);
        compiler.explain(&program(&compiler), &request).expect("a gradient")
    };
    let chosen = of("waves", &["x", "w"]);
    expect![[r#"
        explain.cot:81:3: for i in 0..n { y = sin(w * y) + 0.1 }
          differentiated forward, with tangents for `y`, `w`: an iteration costs 46 instead of 88
          records nothing

        Nothing is recorded: what the reverse sweep needs, it computes again.
    "#]]
    .assert_eq(&chosen.to_string());
    expect![[r#"{"tangents":["y","w"],"cost":46,"reverse_cost":88,"asked":false}"#]]
        .assert_eq(&chosen.to_json()["loops"][0]["forward"].to_string());
    expect![[r#"
        explain.cot:87:20: @mode(forward) { for i in 0..n { y = 0.9 * y + 0.1 } }
          differentiated forward, with a tangent for `y`, as asked: an iteration costs 3, and 20 in reverse
          records nothing

        Nothing is recorded: what the reverse sweep needs, it computes again.
    "#]]
    .assert_eq(&of("asked", &["x"]).to_string());
    let refused = of("refused", &["x"]);
    expect![[r#"
        explain.cot:93:20: @mode(forward) { for i in 0..N { y = sin(y) * x[i] } }
          not differentiated forward, as asked: derivatives flow through `x`, which is no scalar
          records `y`: 8 * N bytes, f64 for each iteration, as the next one replaces what its reverse reads
          records `sin`: 8 * N bytes, f64 for each iteration, at a cost of 16 instead of 30 to compute it again
          with @checkpoint(sqrt): about 24 * sqrt(N) bytes, and the body runs once more
          with @checkpoint(levels = 3): about 32 * N^(1/3) bytes, and the body runs twice more

        At any one time there are at most 16 * N bytes of records.
    "#]]
    .assert_eq(&refused.to_string());
    expect![[r#""derivatives flow through `x`, which is no scalar""#]]
        .assert_eq(&refused.to_json()["loops"][0]["not_forward"].to_string());
}

/// What the counter of a gradient gives, and what the interpreter counts while the gradient runs.
fn counted(function: &str, wrt: &str, args: &Arguments) -> (RecordCounts, i64) {
    let compiler = compiler();
    let lowered = compiler.lower(&program(&compiler), &gradient(function, wrt)).expect("a gradient");
    let flat = fit_arguments(&lowered.entry, args).expect("fitting arguments");
    let ReadyModule { entry, module, traps: _ } = &lowered;
    let (_, stats) = run_counted(module, &entry.symbol, &flat, &Options::default()).expect("a value");
    let counter = compiler.bind(compiler.record_counter(&lowered), Engine::INTERPRETER).expect("a function");
    let counts = RecordCounts::of(&counter.call(args).expect("numbers")).expect("two numbers");
    (counts, i64::try_from(stats.recorded_bytes).expect("few bytes"))
}

fn args<const N: usize>(pairs: [(&str, HostValue); N]) -> Arguments {
    Arguments::from(pairs.map(|(name, value)| (name.to_owned(), value)))
}

fn vector(n: i64) -> HostValue {
    let elements: Vec<f64> = (0..n).map(|i| 0.1 + (0.618 * i as f64).fract()).collect();
    HostValue::f64s(&[n], &elements)
}

#[test]
fn the_counter_gives_the_bytes_that_a_gradient_records() {
    let number = |x: f64| HostValue::f64(x);
    let int = |n: i64| HostValue::i64(n);
    let x_and_n = |n: i64| args([("x", number(0.7)), ("n", int(n))]);
    let array = |n: i64| args([("x", vector(n))]);
    for (function, wrt, args, peak) in [
        ("powers", "x", x_and_n(10), 2 * 80),
        ("powers", "x", x_and_n(0), 0),
        ("powers", "x", x_and_n(-3), 0),
        ("damped", "x", x_and_n(10), 0),
        ("products", "x", array(20), 2 * 8 * 19),
        ("triangle", "x", array(10), 8 * 9),
        ("root", "a", args([("a", number(2.0))]), 8 * 5),
        ("root", "a", args([("a", number(1.0))]), 0),
        ("segments", "x", x_and_n(100), 2 * 80),
        ("segments", "x", x_and_n(10_000), 2 * 800),
        ("twice", "x", x_and_n(7), 8 * 7 + 8 * 21),
    ] {
        let (counts, recorded) = counted(function, wrt, &args);
        assert_eq!((counts.peak, counts.written), (peak, recorded), "{function}");
    }
    let steps = args([("x", vector(9)), ("steps", int(5))]);
    let (counts, recorded) = counted("squarings", "x", &steps);
    assert_eq!(counts.written, recorded);
    assert!(counts.peak < counts.written, "records of the inner loop live during one iteration: {counts:?}");
}
