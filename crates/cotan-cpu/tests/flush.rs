//! The loops in which subnormal results may become zero.

use cotan_cpu::vectorise;
use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, lower};
use cotan_ops::Registry;

/// The heads of loops that may flush.
fn flushing(text: &str) -> Vec<String> {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    let callee = "fn g(n: i64, y: f64[n]) {\n  return n\n}";
    module.insert(parse_function(callee, Registry::standard()).unwrap());
    verify_module(&module).unwrap();
    let mut nest = lower(&f, &CPU);
    let marked = |text: String| -> Vec<String> {
        text.lines().filter(|line| line.contains("flushing")).map(|line| line.trim().to_owned()).collect()
    };
    let before = marked(nest.to_string());
    vectorise(&mut nest);
    assert_eq!(marked(nest.to_string()).len(), before.len(), "lanes keep the marks");
    before
}

/// A reverse sweep: `x[i, j]` times a weight that comes from outside, added up; `body` adds what else is done.
fn sweep(body: &str, result: &str) -> String {
    format!(
        "fn f(n: i64, x: f64[n, n], w: f64[n]) {{
           z: f64[n] = fill 0.0
           total: f64[n], other: f64[n] = loop i < n acc (total.1: f64[n] add from z, other.1: f64[n] add from z) {{
             c: f64 = w[i]
             d: f64 = mulc c, c
             par j < n {{
               a: f64 = x[i, j]
               p: f64 = mulc a, d
               acc_add total.1[j] = p
               {body}
               yield
             }}
             yield
           }}
           return {result}
         }}"
    )
}

#[test]
fn a_loop_around_others_that_gives_derivatives_alone_may_flush() {
    assert_eq!(
        flushing(&sweep("q: f64 = mul a, a\n s: f64 = mulc q, d\n acc_add other.1[j] = s", "total, other")),
        ["for i < n flushing {"]
    );
}

#[test]
fn a_value_that_leaves_the_loop_keeps_its_bits() {
    assert!(flushing(&sweep("q: f64 = mul a, a\n acc_add other.1[j] = q", "total, other")).is_empty());
}

#[test]
fn a_value_that_is_printed_or_goes_into_a_call_keeps_its_bits() {
    for use_of_it in ["k: i64 = print 0, other {104}", "k: i64 = call g(n, other)"] {
        let text = sweep("q: f64 = mul a, a\n acc_add other.1[j] = q", "total, k");
        let text = text.replace("return", &format!("{use_of_it}\n return"));
        assert!(flushing(&text).is_empty(), "{use_of_it}");
    }
}

#[test]
fn a_decision_in_the_loop_sees_subnormal_numbers() {
    let decides = "q: f64 = mul a, a\n c1: bool = lt q, a\n r: f64 = select c1, p, d\n acc_add other.1[j] = r";
    assert!(flushing(&sweep(decides, "total, other")).is_empty());
}

#[test]
fn code_without_derivatives_never_flushes() {
    let text = sweep("", "total").replace("mulc", "mul");
    assert!(flushing(&text).is_empty());
}
