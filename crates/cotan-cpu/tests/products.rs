//! Matrix products in loops that have lanes.

use crate::lowered;
use cotan_cpu::vectorise;

#[test]
fn a_loop_with_products_has_lanes_where_these_are_small() {
    let mut nest = lowered(
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
    );
    vectorise(&mut nest);
    let text = nest.to_string();
    let (side_by_side, one_by_one) = text.split_once("\n  else").expect(&text);
    assert!(side_by_side.contains("lanes(32)") && !side_by_side.contains(" step ("), "{text}");
    assert!(one_by_one.contains(" step ("), "{text}");
}
