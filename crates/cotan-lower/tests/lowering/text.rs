//! The IR as text: names from the source, nothing superfluous.

use crate::lowering::harness::text;
use expect_test::expect;

#[test]
fn a_loss_reads_like_its_source() {
    let source = "fn loss[N](w: f32[N], x: f32[N], y: f32) -> f32 { let pred = +/(w .* x)
let err = pred - y
err * err }";
    expect![[r#"
        fn loss(N: i64, w: f32[N], x: f32[N], y: f32) {
          mul: f32[N] = mul w, x
          pred: f32 = par i < N (add from 0.0_f32) {
            elem: f32 = mul[i]
            yield elem
          }
          err: f32 = sub pred, y
          mul.1: f32 = mul err, err
          return mul.1
        }
    "#]]
    .assert_eq(&text(source, "loss"));
}

#[test]
fn a_loop_with_a_break_reads_like_its_source() {
    let source = "fn root(a: f64, n: i64) -> f64 {
  let mut x = a
  for k in 0..n {
    let step = 0.5 * (x - a / x)
    if abs(step) < 1e-9 { break }
    x -= step
  }
  x
}";
    expect![[r#"
        fn root(a: f64, n: i64) {
          lt: bool = lt 0, n
          trips: i64, running: bool, x: f64 = while k (running.1: bool = lt, x.1: f64 = a) {
            div: f64 = div a, x.1
            sub: f64 = sub x.1, div
            step: f64 = mul 0.5, sub
            abs: f64 = abs step
            lt.1: bool = lt abs, 1e-9
            x.2: f64, running.2: bool = switch lt.1 {
              yield x.1, false
            } {
              x.3: f64 = sub x.1, step
              add: i64 = add k, 1
              lt.2: bool = lt add, n
              yield x.3, lt.2
            }
            yield running.2, x.2
          }
          return x
        }
    "#]]
    .assert_eq(&text(source, "root"));
}

#[test]
fn a_generic_call_passes_sizes_and_extents() {
    let source = "fn triangle[D](below: f64[D*(D-1)/2], v: f64[D]) -> f64 = below[0] * v[D - 1]
fn f[N](x: f64[N], y: f64[N*(N-1)/2]) -> f64 = triangle(y, x)";
    expect![[r#"
        fn f(N: i64, y_extent: i64, x: f64[N], y: f64[y_extent]) {
          mul: f64 = call triangle(N, y_extent, y, x)
          return mul
        }

        fn triangle(D: i64, below_extent: i64, below: f64[below_extent], v: f64[D]) {
          in_range: bool = in_range 0, below_extent
          checked: i64 = check in_range R0001(0, below_extent) 0
          elem: f64 = below[checked]
          sub: i64 = sub D, 1
          in_range.1: bool = in_range sub, D
          sub.1: i64 = check in_range.1 R0001(sub, D) sub
          elem.1: f64 = v[sub.1]
          mul: f64 = mul elem, elem.1
          return mul
        }
    "#]]
    .assert_eq(&text(source, "f"));
}

#[test]
fn a_hessian_is_written_with_calls_of_derivatives() {
    let source = "fn cube(x: f64[3]) -> f64 = +/ (x .* x .* x)
fn f(x: f64[3]) -> f64[3, 3] = hessian(cube)(x)";
    expect![[r#"
        fn cube(x: f64[3]) {
          mul: f64[3] = mul x, x
          mul.1: f64[3] = mul mul, x
          sum: f64 = par i < 3 (add from 0.0) {
            elem: f64 = mul.1[i]
            yield elem
          }
          return sum
        }

        fn cube.grad(x: f64[3]) {
          sum: f64, x_cot: f64[3] = call cube.vjp_0_of_0(x, 1.0)
          return x_cot
        }

        derive cube.grad.jvp_0_of_0 = jvp cube.grad wrt (0) of (0)

        derive cube.vjp_0_of_0 = vjp cube wrt (0) of (0)

        fn f(x: f64[3]) {
          fill: f64[3] = fill 0.0
          x_cot_tan: f64[3, 3] = par i < 3 (stack) {
            basis: f64[3] = update fill[i] = 1.0
            x_cot: f64[3], x_cot_tan.1: f64[3] = call cube.grad.jvp_0_of_0(x, basis)
            yield x_cot_tan.1
          }
          transpose: f64[3, 3] = transpose x_cot_tan {1, 0}
          return transpose
        }
    "#]]
    .assert_eq(&text(source, "f"));
}

#[test]
fn a_kernel_is_one_parallel_loop_for_each_of_its_outermost_loops() {
    let source = "kernel f[N](v: f64[N], bin: i64[N]) -> (f64[N], f64[4], f64) {
  let mut w = v
  let mut h = zeros[f64](4)
  let mut most = 0.0
  for i in 0..N {
    w[i] *= v[i]
    h[bin[i]] += w[i]
    most max= v[i]
  }
  (w, h, most)
}";
    expect![[r#"
        fn f(N: i64, v: f64[N], bin: i64[N]) {
          h: f64[4] = fill 0.0
          w: f64[N], h.1: f64[4], most: f64 = par i < N (stack) acc (h.2: f64[4] add from h, most.1: f64 max from 0.0) {
            w.1: f64 = v[i]
            in_range: bool = in_range i, N
            i.1: i64 = check in_range R0001(i, N) i
            elem: f64 = v[i.1]
            in_range.1: bool = in_range i, N
            i.2: i64 = check in_range.1 R0001(i, N) i
            w.2: f64 = mul w.1, elem
            in_range.2: bool = in_range i, N
            i.3: i64 = check in_range.2 R0001(i, N) i
            in_range.3: bool = in_range i, N
            i.4: i64 = check in_range.3 R0001(i, N) i
            elem.1: i64 = bin[i.4]
            in_range.4: bool = in_range elem.1, 4
            elem.2: i64 = check in_range.4 R0001(elem.1, 4) elem.1
            acc_add h.2[elem.2] = w.2
            in_range.5: bool = in_range i, N
            i.5: i64 = check in_range.5 R0001(i, N) i
            elem.3: f64 = v[i.5]
            acc_add most.1[] = elem.3
            yield w.2
          }
          return w, h.1, most
        }
    "#]]
    .assert_eq(&text(source, "f"));
}
