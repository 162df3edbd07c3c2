//! Programs and calls that would take without end: refused, or stopped, with an error that says what is too much.

use super::Case;

/// Lines that double: each names the one before twice.
fn doubling(n: usize, first: &str, line: impl Fn(usize) -> String) -> String {
    let lines: Vec<String> = (1..n).map(line).collect();
    format!("{first}{}", lines.join("\n"))
}

// Defect D8.
#[test]
fn d8_tuples_and_structs_that_double_are_refused_at_once_and_named() {
    let tuples =
        doubling(60, "fn f(x: f64) -> f64 {\n  let a0 = (x, x)\n", |k| format!("  let a{k} = (a{0}, a{0})", k - 1));
    let structs = doubling(60, "struct S0 { x: f64 }\n", |k| format!("struct S{k} {{ a: S{0}, b: S{0} }}", k - 1));
    for (text, place, what) in [
        // 2^14 is the first power of two above the limit of 10,000.
        (format!("{tuples}\n  x\n}}\n"), (15, 13), "in a value, found 16384"),
        (structs, (15, 8), "in the struct `S14`, found 16384"),
    ] {
        let case = Case::new(&text);
        let run = case.run(&["check", "program.cot", "--json"]);
        let (code, line, column) = run.first_diagnostic();
        assert_eq!((run.status, code.as_str(), (line, column)), (Some(1), "E0608", place), "{}", run.stdout);
        assert!(run.stdout.contains(what), "{}", run.stdout);
        assert_eq!(run.json()["diagnostics"].as_array().map(Vec::len), Some(1), "{}", run.stdout);
    }
}

// Defect D8.
#[test]
fn d8_of_thousands_of_errors_the_first_are_shown_and_the_others_counted() {
    let parsed: String = (0..4000).map(|k| format!("fn h{k}_(x: f64) -> f64 = x +\n")).collect();
    let checked: String = (0..4000).map(|k| format!("fn h{k}_(x: f64) -> f64 = x + y{k}\n")).collect();
    for (text, code, others) in [(parsed, "E0120", "found 3900 more"), (checked, "E0201", "found more")] {
        let case = Case::new(&text);
        let run = case.run(&["check", "program.cot", "--json"]);
        let found = run.json();
        let all = found["diagnostics"].as_array().cloned().unwrap_or_default();
        let codes: Vec<&str> = all.iter().filter_map(|d| d["code"].as_str()).collect();
        assert_eq!(run.status, Some(1));
        assert_eq!((codes.len(), codes[99], codes[100]), (101, code, "E0132"), "{code}");
        let message = all[100]["message"].as_str().unwrap_or_default();
        assert!(message.contains(others), "{message}");
        let text = case.run(&["check", "program.cot"]).stderr;
        assert_eq!(text.matches("error[").count(), 101);
    }
}

#[test]
fn a_struct_that_holds_itself_by_a_parameter_is_refused() {
    let case = Case::new("struct P[T] { v: T, y: f64 }\nstruct A { x: P[A] }\nfn g(a: A) -> f64 = a.x.y\n");
    let run = case.run(&["run", "program.cot", "--fn", "g", "--json"]);
    assert_eq!((run.status, run.first_diagnostic()), (Some(1), ("E0210".to_owned(), 2, 12)), "{}", run.stderr);
}

#[test]
fn constants_that_each_need_the_next_are_refused_where_the_chain_is_too_long() {
    let chain: String = (0..100_000).map(|k| format!("const C{k}: i64 = C{} + 1\n", k + 1)).collect();
    let case = Case::new(&format!("{chain}const C100000: i64 = 1\n"));
    let run = case.run(&["check", "program.cot", "--json"]);
    assert_eq!((run.status, run.first_diagnostic().0.as_str()), (Some(1), "E0606"));
}

const ENDLESS: &str = "fn f(a: f64) -> f64 {
  let mut y = a
  while true {
    y = y * 0.5 + a
    if y > 1e9 { break }
  }
  y
}
@test fn never() -> bool = f(1.0) > 0.0
";

#[test]
fn steps_and_time_of_a_call_are_limited_on_both_backends() {
    let case = Case::new(ENDLESS);
    for backend in ["interp", "cpu"] {
        for (limit, code) in [(["--steps", "100000"], "R0100"), (["--timeout", "0.2"], "R0101")] {
            let point = ["program.cot", "--fn", "f", "--set", "a=1.0", "--backend", backend, "--json"];
            for command in ["run", "grad", "vjp"] {
                let run = case.run(&[&[command] as &[&str], &point, &limit].concat());
                let found = (run.status, run.first_diagnostic());
                assert_eq!(found, (Some(3), (code.to_owned(), 1, 4)), "{command:?} {backend}: {}", run.stderr);
            }
        }
        let run = case.run(&["test", "program.cot", "--backend", backend, "--timeout", "0.2"]);
        assert_eq!(run.status, Some(1), "{}{}", run.stdout, run.stderr);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("the time of the call is over"), "{said}");
    }
    let tape = ["grad", "program.cot", "--fn", "f", "--set", "a=1.0", "--engine", "tape", "--json"];
    for (limit, code) in [(["--steps", "100000"], "R0100"), (["--timeout", "0.2"], "R0101")] {
        let run = case.run(&[&tape[..], &limit].concat());
        assert_eq!((run.status, run.first_diagnostic().0.as_str()), (Some(3), code), "{}{}", run.stdout, run.stderr);
    }
    for wrong in ["-1", "soon", "nan"] {
        assert_eq!(case.run(&["run", "program.cot", "--timeout", wrong]).status, Some(2), "{wrong}");
    }
}
