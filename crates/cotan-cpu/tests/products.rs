//! Matrix products in loops that have lanes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_cpu::vectorise;
use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, lower};
use cotan_ops::Registry;

#[test]
fn a_loop_with_products_has_lanes_where_these_are_small() {
    let f = parse_function(
        "fn f(p: i64, n: i64, a: f64[p]) {
           y: f64[p] = par i < p (stack) {
             v: f64 = a[i]
             w: f64 = loop k < 10000 (s: f64 = v) {
               t: f64 = mul s, 0.999
               yield t
             }
             x: f64[n, n] = fill w
             c: f64[n, n] = matmul x, x {0}
             e: f64 = c[0, 0]
             yield e
           }
           return y
         }",
        Registry::standard(),
    );
    let mut module = Module::default();
    let f = module.insert(f.unwrap());
    verify_module(&module).unwrap();
    let mut nest = lower(&f, &CPU);
    vectorise(&mut nest);
    let text = nest.to_string();
    let (side_by_side, one_by_one) = text.split_once("\n  else").expect(&text);
    assert!(side_by_side.contains("lanes(32)") && !side_by_side.contains(" step ("), "{text}");
    assert!(one_by_one.contains(" step ("), "{text}");
}
