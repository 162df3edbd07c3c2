//! Where probes stand, and what they count.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, Probe, ProbeEvent, insert_probes, lower};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn check(text: &str, probe: Probe, expected: Expect) {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    let mut nest = lower(&f, &CPU);
    insert_probes(&mut nest, probe);
    expected.assert_eq(&nest.to_string());
}

const TWO_LOOPS: &str = "fn f(n: i64, x: f64[n]) {
  y: f64[n] = par i < n (stack) {
    a: f64 = x[i]
    b: f64 = mul a, a
    c: f64 = add b, 1.0
    yield c
  }
  z: f64[n] = par j < n (stack) {
    d: f64 = y[j]
    e: f64 = sqrt d
    yield e
  }
  return y, z
}";

#[test]
fn every_outermost_loop_has_a_probe_on_either_side() {
    check(
        TWO_LOOPS,
        Probe::Times,
        expect![[r#"
        fn f(n: i64, x[]: f64[n]) {
          alloc y: f64[n] as result 0
          print "\u{1}begin for i: y"
          for i < n may fork(steps 4.0) {
            a = x[i]
            b = mul.f64 a, a
            c = add.f64 b, 1.0
            y[i] = c
          }
          print "\u{1}end"
          alloc z: f64[n] as result 1
          print "\u{1}begin for j: z"
          for j < n may fork(steps 3.0) {
            d = y[j]
            e = sqrt.f64 d
            z[j] = e
          }
          print "\u{1}end"
          return y[]: f64[n], z[]: f64[n]
        }
    "#]],
    );
}

#[test]
fn operations_and_bytes_are_counted_where_they_happen() {
    check(
        TWO_LOOPS,
        Probe::Counts,
        expect![[r#"
        fn f(n: i64, x[]: f64[n]) {
          alloc counts: i64[2] in frame
          counts[] = 0
          counts[1] = 0
          alloc y: f64[n] as result 0
          print "\u{1}begin for i: y"
          for i < n may fork(steps 4.0) {
            counts[] add= 2
            counts[1] add= 16
            a = x[i]
            b = mul.f64 a, a
            c = add.f64 b, 1.0
            y[i] = c
          }
          print "\u{1}end"
          print "\u{1}flops ", counts[]: i64[]
          print "\u{1}bytes ", counts[1]: i64[]
          counts[] = 0
          counts[1] = 0
          alloc z: f64[n] as result 1
          print "\u{1}begin for j: z"
          for j < n may fork(steps 3.0) {
            counts[] add= 1
            counts[1] add= 16
            d = y[j]
            e = sqrt.f64 d
            z[j] = e
          }
          print "\u{1}end"
          print "\u{1}flops ", counts[]: i64[]
          print "\u{1}bytes ", counts[1]: i64[]
          counts[] = 0
          counts[1] = 0
          return y[]: f64[n], z[]: f64[n]
        }
    "#]],
    );
}

#[test]
fn output_of_the_program_is_no_event() {
    assert_eq!(ProbeEvent::read("begin for i"), None);
    assert_eq!(ProbeEvent::read("12"), None);
    assert_eq!(ProbeEvent::read("\u{1}begin for i: y"), Some(ProbeEvent::Begin("for i: y")));
    assert_eq!(ProbeEvent::read("\u{1}end"), Some(ProbeEvent::End));
    assert_eq!(ProbeEvent::read("\u{1}flops 12"), Some(ProbeEvent::Flops(12)));
    assert_eq!(ProbeEvent::read("\u{1}bytes 96\n"), Some(ProbeEvent::Bytes(96)));
}
