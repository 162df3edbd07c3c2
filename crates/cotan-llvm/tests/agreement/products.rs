//! Matrix products: by loops and by the library, with the same bits.

use crate::agreement::harness::{Program, i64_of, irrational};
use cotan_ad::{Limits, derivative};
use cotan_ir::{Const, Derived, Elem, Mode, Module, parse_module};
use cotan_ops::{Registry, Value};
use cotan_runtime::RuntimeError;
use cotan_runtime::Watch;

/// Rows, columns and terms around the limits of the library, and around the ends of blocks and of runs.
const SIZES: [[i64; 3]; 14] = [
    [25, 26, 25],
    [32, 32, 16],
    [33, 35, 37],
    [16, 32, 32],
    [16, 32, 31],
    [3, 400, 60],
    [4, 130, 64],
    [130, 4, 32],
    [110, 100, 3],
    [23, 22, 512],
    [23, 23, 513],
    [5, 103, 1030],
    [257, 5, 90],
    [258, 260, 5],
];

fn matrix(elem: Elem, dims: &[i64], seed: usize) -> Value {
    let n = dims.iter().product::<i64>() as usize;
    let numbers = irrational(n + seed).split_off(seed);
    Value { elem, dims: dims.to_vec(), bits: numbers.into_iter().map(|x| Const::float(elem, x).bits()).collect() }
}

#[test]
fn products_of_all_sizes_agree() {
    for elem in [Elem::F64, Elem::F32] {
        let program = Program::new(&format!(
            "fn f(m: i64, n: i64, k: i64, a: {elem}[m, k], b: {elem}[k, n]) {{
               ab: {elem}[m, n] = matmul a, b {{0}}
               return ab
             }}"
        ));
        for [m, n, k] in SIZES {
            let (a, b) = (matrix(elem, &[m, k], 1), matrix(elem, &[k, n], 7));
            program.agree(&[i64_of(m), i64_of(n), i64_of(k), a, b]);
        }
    }
}

#[test]
fn sums_of_one_run_agree() {
    let program = Program::new(
        "fn f(m: i64, n: i64, k: i64, a: f64[k, m], b: f64[k, n]) {
           at: f64[m, k] = transpose a {1, 0}
           ab: f64[m, n] = matmul at, b {2}
           return ab
         }",
    );
    for [m, n, k] in [[2, 3, 4], [23, 23, 512], [23, 23, 513], [3, 4, 1030]] {
        let (a, b) = (matrix(Elem::F64, &[k, m], 1), matrix(Elem::F64, &[k, n], 7));
        program.agree(&[i64_of(m), i64_of(n), i64_of(k), a, b]);
    }
}

#[test]
fn transposed_factors_agree() {
    for elem in [Elem::F64, Elem::F32] {
        let program = Program::new(&format!(
            "fn f(m: i64, n: i64, k: i64, a: {elem}[k, m], b: {elem}[n, k], c: {elem}[m, k], d: {elem}[k, n]) {{
               at: {elem}[m, k] = transpose a {{1, 0}}
               bt: {elem}[k, n] = transpose b {{1, 0}}
               both: {elem}[m, n] = matmul at, bt {{0}}
               left: {elem}[m, n] = matmul at, d {{0}}
               right: {elem}[m, n] = matmul c, bt {{0}}
               return both, left, right
             }}"
        ));
        for [m, n, k] in SIZES {
            let args = [[k, m], [n, k], [m, k], [k, n]].into_iter().enumerate();
            let args = args.map(|(seed, dims)| matrix(elem, &dims, seed));
            let args: Vec<Value> = [m, n, k].map(i64_of).into_iter().chain(args).collect();
            program.agree(&args);
        }
    }
}

#[test]
fn a_matrix_that_changes_after_it_was_transposed_is_multiplied_as_it_was() {
    let program = Program::new(
        "fn f(n: i64, a: f64[n, n], i: i64) {
           copy: f64[n, n] = add a, 1.0
           t: f64[n, n] = transpose copy {1, 0}
           changed: f64[n, n] = update copy[i, i] = 99.0
           product: f64[n, n] = matmul t, changed {0}
           again: f64[n, n] = loop j < n (s: f64[n, n] = product) {
             u: f64[n, n] = matmul t, changed {0}
             v: f64[n, n] = add s, u
             yield v
           }
           return product, changed, again
         }",
    );
    for n in [1, 5, 40] {
        program.agree(&[i64_of(n), matrix(Elem::F64, &[n, n], 3), i64_of(0)]);
    }
}

#[test]
fn batches_agree() {
    let program = Program::new(
        "fn f(p: i64, q: i64, m: i64, n: i64, k: i64, a: f64[p, q, m, k], b: f64[p, q, n, k]) {
           t: f64[p, q, k, n] = transpose b {0, 1, 3, 2}
           ab: f64[p, q, m, n] = matmul a, t {0}
           return ab
         }",
    );
    for ([p, q], [m, n, k]) in
        [([2, 3], [5, 4, 3]), ([2, 3], [32, 33, 34]), ([0, 2], [40, 40, 40]), ([1, 1], [4, 128, 64])]
    {
        let (a, b) = (matrix(Elem::F64, &[p, q, m, k], 2), matrix(Elem::F64, &[p, q, n, k], 5));
        program.agree(&[i64_of(p), i64_of(q), i64_of(m), i64_of(n), i64_of(k), a, b]);
    }
}

#[test]
fn products_in_a_parallel_loop_agree_whether_they_are_small_or_not() {
    let program = Program::new(
        "fn f(p: i64, n: i64, a: f64[p, n, n], b: f64[n, n]) {
           y: f64[p, n, n] = par i < p (stack) {
             x: f64[n, n] = a[i]
             s: f64[n, n] = sin x
             c: f64[n, n] = matmul s, b {0}
             d: f64[n, n] = matmul c, x {0}
             yield d
           }
           return y
         }",
    );
    for (p, n) in [(100, 3), (40, 8), (3, 33), (40, 40), (0, 40), (1, 64)] {
        program.agree(&[i64_of(p), i64_of(n), matrix(Elem::F64, &[p, n, n], 0), matrix(Elem::F64, &[n, n], 4)]);
    }
}

#[test]
fn products_beside_a_loop_that_wants_lanes_agree_whether_they_are_small_or_not() {
    let program = Program::new(
        "fn f(p: i64, n: i64, a: f64[p]) {
           y: f64[p] = par i < p (stack) {
             v: f64 = a[i]
             w: f64 = loop k < 10000 (s: f64 = v) {
               t: f64 = mul s, 0.999
               yield t
             }
             r: f64[n, n] = fill w
             x: f64[n, n] = update r[0, 0] = v
             c: f64[n, n] = matmul x, x {0}
             e: f64 = c[0, 0]
             yield e
           }
           return y
         }",
    );
    for (p, n) in [(40, 3), (17, 8), (17, 33)] {
        program.agree(&[i64_of(p), i64_of(n), matrix(Elem::F64, &[p], 0)]);
    }
}

#[test]
fn sides_that_only_an_iteration_knows_agree() {
    let program = Program::new(
        "fn f(p: i64, n: i64, a: f64[n, n]) {
           total: f64[n, n] = loop i < p (s: f64[n, n] = a) {
             k: i64 = rem i, n
             j: i64 = add k, 1
             left: f64[n, j] = slice a, 0 {1}
             right: f64[j, n] = slice a, 0 {0}
             c: f64[n, n] = matmul left, right {0}
             t: f64[n, n] = add s, c
             yield t
           }
           return total
         }",
    );
    for (p, n) in [(3, 2), (40, 40)] {
        program.agree(&[i64_of(p), i64_of(n), matrix(Elem::F64, &[n, n], 0)]);
    }
}

#[test]
fn empty_sides_and_sums_agree() {
    let program = Program::new(
        "fn f(m: i64, n: i64, k: i64, a: f64[m, k], b: f64[k, n]) {
           ab: f64[m, n] = matmul a, b {0}
           return ab
         }",
    );
    for [m, n, k] in [[0, 40, 40], [40, 0, 40], [40, 40, 0], [0, 0, 0]] {
        let (a, b) = (matrix(Elem::F64, &[m, k], 0), matrix(Elem::F64, &[k, n], 0));
        let found = program.agree(&[i64_of(m), i64_of(n), i64_of(k), a, b]);
        assert_eq!(found[0].bits, vec![0; (m * n) as usize]);
    }
}

#[test]
fn infinities_nan_and_signed_zeros_agree() {
    let program = Program::new(
        "fn f(n: i64, a: f64[n, n], b: f64[n, n]) {
           ab: f64[n, n] = matmul a, b {0}
           ba: f64[n, n] = matmul b, a {0}
           strong: f64[n, n] = matmul a, b {1}
           return ab, ba, strong
         }",
    );
    for n in [4_i64, 40] {
        let mut a = matrix(Elem::F64, &[n, n], 0);
        let mut b = matrix(Elem::F64, &[n, n], 9);
        let put = |m: &mut Value, k: usize, x: f64| m.bits[k] = x.to_bits();
        put(&mut a, 1, f64::INFINITY);
        put(&mut b, n as usize, 0.0);
        put(&mut a, n as usize + 2, f64::NAN);
        put(&mut a, 2 * n as usize + 1, f64::NEG_INFINITY);
        // A row of products that are all a zero with a sign, and one whose products are too small for a number.
        (0..n as usize).for_each(|k| put(&mut a, 3 * n as usize + k, -0.0));
        (0..n as usize).for_each(|k| put(&mut b, k * n as usize, if k == 0 { -1e-200 } else { 0.0 }));
        put(&mut a, 0, 1e-200);
        program.agree(&[i64_of(n), a, b]);
    }
}

/// `sum (a b)^2`-like chains: values, gradients of both modes, and second order.
const CHAIN: &str = "fn f(n: i64, a: f64[n, n], b: f64[n, n]) {
  c: f64[n, n] = matmul a, b {0}
  s: f64[n, n] = tanh c
  d: f64[n, n] = matmul s, a {0}
  return d
}";

fn derive(module: &mut Module, name: &str, mode: Mode) -> String {
    let f = module.function(name).unwrap().clone();
    let wrt = (0..f.params.len()).filter(|k| f.ty(f.params[*k]).is_float()).collect();
    let outs = (0..f.body.results.len()).collect();
    derivative(module, &Derived { of: f.name.clone(), mode, wrt, outs }, &Limits::default()).unwrap().name.to_string()
}

fn dot(a: &Value, b: &Value) -> f64 {
    a.bits.iter().zip(&b.bits).map(|(x, y)| f64::from_bits(*x) * f64::from_bits(*y)).sum()
}

#[test]
fn gradients_of_large_products_agree_with_forward_mode_and_with_differences() {
    for n in [6_i64, 36] {
        let mut module = parse_module(CHAIN, Registry::standard()).unwrap();
        let [a, b, a_tan, b_tan, cot] = [1, 2, 3, 4, 5].map(|seed| matrix(Elem::F64, &[n, n], seed));
        let value = Program::of_module(module.clone(), "f");
        let (jvp, vjp) = (derive(&mut module, "f", Mode::Jvp), derive(&mut module, "f", Mode::Vjp));
        let point = [i64_of(n), a.clone(), b.clone()];
        let with = |more: &[&Value]| point.iter().chain(more.iter().copied()).cloned().collect::<Vec<Value>>();
        // Gradients are compared as they run: with plain products, which the library does.
        let plain = |name: &str| cotan_opt::plain_products(&module, name).unwrap();
        let tangent = Program::of_module(plain(&jvp), &jvp).agree(&with(&[&a_tan, &b_tan]));
        let cotangents = Program::of_module(plain(&vjp), &vjp).agree(&with(&[&cot]));
        let forward = dot(&tangent[1], &cot);
        let backward = dot(&cotangents[1], &a_tan) + dot(&cotangents[2], &b_tan);
        let scale = forward.abs().max(1.0);
        assert!((forward - backward).abs() < 1e-11 * scale, "n = {n}: {forward}, backwards {backward}");
        let at = |h: f64| {
            let moved = |x: &Value, tan: &Value| {
                let bits = x.bits.iter().zip(&tan.bits);
                let bits = bits.map(|(x, t)| (f64::from_bits(*x) + h * f64::from_bits(*t)).to_bits()).collect();
                Value { bits, ..x.clone() }
            };
            dot(&value.agree(&[i64_of(n), moved(&a, &a_tan), moved(&b, &b_tan)])[0], &cot)
        };
        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((forward - difference).abs() < 1e-6 * scale, "n = {n}: {forward}, by differences {difference}");
    }
}

#[test]
fn second_derivatives_of_large_products_agree() {
    let n = 34;
    for first in [Mode::Jvp, Mode::Vjp] {
        for second in [Mode::Jvp, Mode::Vjp] {
            let mut module = parse_module(CHAIN, Registry::standard()).unwrap();
            let inner = derive(&mut module, "f", first);
            let outer = derive(&mut module, &inner, second);
            let plain = cotan_opt::plain_products(&module, &outer).unwrap();
            let f = plain.function(&outer).unwrap();
            let n_matrices = f.params.len() - 1;
            let matrices = (0..n_matrices).map(|seed| matrix(Elem::F64, &[n, n], seed));
            let args: Vec<Value> = std::iter::once(i64_of(n)).chain(matrices).collect();
            Program::of_module(plain, &outer).agree(&args);
        }
    }
}

#[test]
fn a_product_by_the_library_can_be_stopped() {
    let program = Program::new(
        "fn f(n: i64, a: f64[n, n]) {
           c: f64[n, n] = matmul a, a {0}
           return c
         }",
    );
    let n = 300;
    let args = [i64_of(n), matrix(Elem::F64, &[n, n], 0)];
    for f in program.on_all_threads() {
        let call = |watch: Watch| {
            let options = cotan_runtime::CallOptions { watch: Some(watch.into()), ..Default::default() };
            f.call_with(&args, &options).map(drop)
        };
        assert_eq!(call(Watch::new(Some(1000))), Err(RuntimeError::OutOfSteps));
        assert_eq!(call(Watch::new(Some(1 << 40))), Ok(()));
        let watch = Watch::new(None);
        watch.cancel();
        assert_eq!(call(watch), Err(RuntimeError::Cancelled));
    }
}

#[test]
fn the_reverse_sweep_of_a_product_written_as_loops_is_two_products() {
    let text = "fn f(m: i64, n: i64, l: i64, a: f64[m, l], b: f64[l, n]) {
      c: f64[m, n] = par i < m (stack) {
        r: f64[n] = par j < n (stack) {
          s: f64 = par k < l (add from 0.0) {
            x: f64 = a[i, k]
            y: f64 = b[k, j]
            p: f64 = mul x, y
            yield p
          }
          yield s
        }
        yield r
      }
      return c
    }";
    let mut module = parse_module(text, Registry::standard()).unwrap();
    let vjp = derive(&mut module, "f", Mode::Vjp);
    let finished =
        cotan_opt::BEFORE_CODE.run(module.function(&vjp).unwrap().as_ref().clone(), &cotan_opt::PassContext::default());
    assert_eq!(finished.to_string().matches("= matmul").count(), 2, "{finished}");
    let sweep = Program::of_module(module.clone(), &vjp);
    module.insert(finished);
    let plain = cotan_opt::plain_products(&module, &vjp).unwrap();
    let by_products = Program::of_module(plain, &vjp);
    for [m, n, l] in [[2, 3, 4], [40, 30, 35], [7, 90, 33]] {
        let (a, b, cot) = (matrix(Elem::F64, &[m, l], 1), matrix(Elem::F64, &[l, n], 2), matrix(Elem::F64, &[m, n], 3));
        let args = [i64_of(m), i64_of(n), i64_of(l), a, b, cot];
        let (found, expected) = (by_products.agree(&args), sweep.agree(&args));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.dims, expected.dims);
            let is_close = |(x, y): (&u64, &u64)| (f64::from_bits(*x) - f64::from_bits(*y)).abs() < 1e-12;
            assert!(found.bits.iter().zip(&expected.bits).all(is_close), "{m}, {n}, {l}");
        }
    }
}
