//! Derivatives as the derivative passes write them, of first and second order: most of what is compiled is such code.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, numbers};
use cotan_ad::{Limits, derivative};
use cotan_ir::{Derived, Function, Mode, Module, parse_module};
use cotan_ops::{Registry, Value};

/// Writes a derivative in all float parameters and results into a module.
fn derive(module: &mut Module, f: &Function, mode: Mode) -> std::sync::Arc<Function> {
    let wrt = (0..f.params.len()).filter(|k| f.ty(f.params[*k]).is_float()).collect();
    let outs = (0..f.body.results.len()).filter(|k| f.is_float(f.body.results[*k])).collect();
    let d = Derived { of: f.name.clone(), mode, wrt, outs };
    derivative(module, &d, &Limits::default()).unwrap()
}

/// Arguments of a derivative: those of the function, then tangents or cotangents of known shapes.
fn with_directions(args: &[Value], like: &[Value]) -> Vec<Value> {
    let direction = |v: &Value| {
        let elements: Vec<f64> = numbers(v.bits.len() + 3).split_off(3).iter().map(|x| x / 8.0).collect();
        Value::f64s(&v.dims, &elements)
    };
    let floats = like.iter().filter(|v| v.elem.is_float()).map(direction);
    args.iter().cloned().chain(floats).collect()
}

/// Both derivatives agree, and the four of second order.
fn derivatives_agree(text: &str, args: &[Value]) {
    let mut module = parse_module(text, Registry::standard()).unwrap();
    let f = module.function("f").unwrap().clone();
    let values = Program::of_module(module.clone(), "f").agree(args);
    for mode in [Mode::Jvp, Mode::Vjp] {
        let like = if mode == Mode::Jvp { args } else { &values };
        let first_args = with_directions(args, like);
        let g = derive(&mut module, &f, mode);
        let firsts = Program::of_module(module.clone(), &g.name).agree(&first_args);
        for outer in [Mode::Jvp, Mode::Vjp] {
            let like = if outer == Mode::Jvp { &first_args } else { &firsts };
            let second_args = with_directions(&first_args, like);
            let h = derive(&mut module, &g, outer);
            Program::of_module(module.clone(), &h.name).agree(&second_args);
        }
    }
}

#[test]
fn of_a_recurrence_in_place() {
    derivatives_agree(
        "fn f(n: i64, x: f64[n], w: f64) {
           m: i64 = sub n, 1
           y: f64[n] = loop i < m (a: f64[n] = x) {
             j: i64 = add i, 1
             p: f64 = a[i]
             q: f64 = a[j]
             s: f64 = sin p
             t: f64 = mul s, w
             u: f64 = mul t, q
             b: f64[n] = update a[j] = u
             yield b
           }
           r: f64 = y[m]
           return r, y
         }",
        &[i64_of(6), f64s(&numbers(6)), f64_of(0.7)],
    );
}

#[test]
fn of_whiles_in_a_par() {
    derivatives_agree(
        "fn f(n: i64, x: f64[n]) {
           r: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             sq: f64 = mul a, a
             b: f64 = add sq, 1.0
             k: i64, go: bool, y: f64 = while t (on: bool = true, z: f64 = b) {
               q: f64 = div b, z
               s: f64 = add z, q
               z2: f64 = mul s, 0.5
               d: f64 = sub z2, z
               e: f64 = abs d
               more: bool = gt e, 1e-9
               yield more, z2
             }
             yield y
           }
           return r
         }",
        &[i64_of(5), f64s(&numbers(5))],
    );
}

#[test]
fn of_a_triangular_nest_in_place() {
    derivatives_agree(
        "fn f(n: i64, x: f64[n, n]) {
           y: f64[n, n] = loop i < n (a: f64[n, n] = x) {
             b: f64[n, n] = loop j < i (c: f64[n, n] = a) {
               p: f64 = c[i, j]
               q: f64 = c[j, j]
               r: f64 = mul p, q
               pos: bool = gt r, 0.0
               d: f64[n, n] = switch pos {
                 s: f64 = mul r, 0.01
                 e: f64[n, n] = update c[i, j] = s
                 yield e
               } {
                 yield c
               }
               u: f64 = d[i, j]
               v: f64 = mul u, 0.125
               w: f64 = add v, q
               g: f64[n, n] = update d[j, i] = w
               yield g
             }
             yield b
           }
           return y
         }",
        &[i64_of(4), Value::f64s(&[4, 4], &numbers(16))],
    );
}

#[test]
fn of_reductions_and_histograms() {
    derivatives_agree(
        "fn f(n: i64, x: f64[n], m: i64, bin: i64[n]) {
           zero: f64[m] = fill 0.0
           hi: f64, total: f64, h: f64[m] = par i < n (max from -100.0, add from 0.5) acc (a: f64[m] add from zero) {
             v: f64 = x[i]
             k: i64 = bin[i]
             e: f64 = mul v, v
             acc_add a[k] = e
             yield v, e
           }
           shifted: f64 = par j < n (add from 0.0) {
             v2: f64 = x[j]
             d: f64 = sub v2, hi
             g: f64 = exp d
             yield g
           }
           l: f64 = log shifted
           lse: f64 = add l, hi
           return lse, total, h
         }",
        &[i64_of(7), f64s(&numbers(7)), i64_of(3), Value::i64s(&[7], &[0, 1, 2, 2, 1, 0, 2])],
    );
}

#[test]
fn of_matrix_products_and_rows() {
    derivatives_agree(
        "fn f(n: i64, a: f64[n, n], b: f64[n]) {
           c: f64[n, n] = matmul a, a {0}
           d: f64[n] = matmul c, b {0}
           t: f64[n, n] = transpose a {1, 0}
           e: f64[n] = par i < n (stack) {
             row: f64[n] = t[i]
             s: f64 = matmul row, d {0}
             u: f64 = tanh s
             yield u
           }
           return e
         }",
        &[i64_of(3), Value::f64s(&[3, 3], &numbers(9)), f64s(&numbers(3))],
    );
}
