//! What is checked of one function: values unchanged, forward mode against central differences, reverse mode against
//! forward mode by the dot product; and the same again for the derivatives themselves.
#![allow(dead_code, reason = "every test file uses a part of this")]

use cotan_ad::{Lengths, Limits, derivative};
use cotan_interp::{Options, Stats, run_counted};
use cotan_ir::{Derived, Elem, Function, Mode, Module, Symbol, parse_module, verify_module};
use cotan_ops::{Registry, Value};
use std::sync::Arc;

/// The module of a text.
pub(crate) fn module(text: &str) -> Module {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"));
    if let Err(errors) = verify_module(&module) {
        panic!("{errors:#?}");
    }
    module
}

/// A small generator of numbers with a fixed sequence per seed (SplitMix64).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between -1 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A value of the same type and shape.
    pub(crate) fn like(&mut self, v: &Value) -> Value {
        map(v, |_| self.unit())
    }
}

/// The value with another number at every element.
pub(crate) fn map(v: &Value, mut f: impl FnMut(f64) -> f64) -> Value {
    let elements: Vec<f64> = floats(v).into_iter().map(&mut f).collect();
    of_elem(v.elem, &v.dims, &elements)
}

pub(crate) fn of_elem(elem: Elem, dims: &[i64], elements: &[f64]) -> Value {
    let bits = elements.iter().map(|x| cotan_ir::Const::float(elem, *x).bits()).collect();
    Value { elem, dims: dims.to_vec(), bits }
}

pub(crate) fn floats(v: &Value) -> Vec<f64> {
    v.floats().expect("a float value")
}

pub(crate) fn scalar(x: f64) -> Value {
    Value::f64s(&[], &[x])
}

pub(crate) fn vector(xs: &[f64]) -> Value {
    Value::f64s(&[xs.len() as i64], xs)
}

pub(crate) fn int(n: i64) -> Value {
    Value::i64s(&[], &[n])
}

pub(crate) fn ints(ns: &[i64]) -> Value {
    Value::i64s(&[ns.len() as i64], ns)
}

/// The results of a function of the module.
pub(crate) fn run(module: &Module, name: &str, args: &[Value]) -> Vec<Value> {
    counted(module, name, args).0
}

/// The results, and what the run did.
pub(crate) fn counted(module: &Module, name: &str, args: &[Value]) -> (Vec<Value>, Stats) {
    run_counted(module, name, args, &Options::default()).unwrap_or_else(|e| {
        panic!("{e:?}\nin {name}\n{}", module.function(name).map(|f| f.to_string()).unwrap_or_default())
    })
}

pub(crate) fn float_params(f: &Function) -> Vec<usize> {
    (0..f.params.len()).filter(|k| f.ty(f.params[*k]).is_float()).collect()
}

pub(crate) fn float_results(f: &Function) -> Vec<usize> {
    (0..f.body.results.len()).filter(|k| f.is_float(f.body.results[*k])).collect()
}

/// The derivative with respect to every float parameter, for every float result.
pub(crate) fn whole(module: &Module, of: &str, mode: Mode) -> Derived {
    let f = module.function(of).expect("a function");
    Derived { of: of.into(), mode, wrt: float_params(f), outs: float_results(f) }
}

pub(crate) fn derive(module: &mut Module, of: &str, mode: Mode) -> Arc<Function> {
    let d = whole(module, of, mode);
    derivative(module, &d, &Limits::REVERSE_ALONE).unwrap_or_else(|e| panic!("{e}"))
}

/// The values of the lengths that a `vjp` wants with cotangents of these results.
pub(crate) fn length_values(module: &Module, of: &str, results: &[Value]) -> Vec<Value> {
    let f = module.function(of).expect("a function");
    let outs = float_results(f);
    let lengths = Lengths::of(f, &outs);
    let find = |n: usize| {
        let mut places = lengths.axes.iter().zip(&outs).flat_map(|(axes, k)| axes.iter().zip(&results[*k].dims));
        places.find(|(axis, _)| **axis == Some(n)).map(|(_, d)| int(*d)).expect("a length of an axis")
    };
    (0..lengths.names.len()).map(find).collect()
}

fn dot(xs: &[Value], ys: &[Value]) -> (f64, f64) {
    let mut sum = 0.0;
    let mut size = 0.0;
    for (x, y) in xs.iter().zip(ys) {
        assert_eq!(x.dims, y.dims);
        for (a, b) in floats(x).into_iter().zip(floats(y)) {
            sum += a * b;
            size += (a * b).abs();
        }
    }
    (sum, size)
}

pub(crate) fn select(values: &[Value], at: &[usize]) -> Vec<Value> {
    at.iter().map(|k| values[*k].clone()).collect()
}

fn same_values(found: &[Value], expected: &[Value], tolerance: f64, what: &str) {
    for (f, e) in found.iter().zip(expected) {
        assert_eq!((f.elem, &f.dims), (e.elem, &e.dims), "{what}");
        match (f.floats(), e.floats()) {
            (Some(f), Some(e)) => f.iter().zip(&e).for_each(|(a, b)| close(*a, *b, 0.0, 0.1 * tolerance, what)),
            _ => assert_eq!(f, e, "{what}"),
        }
    }
}

pub(crate) fn close(a: f64, b: f64, scale: f64, tolerance: f64, what: &str) {
    let near = (a - b).abs() <= tolerance * (1.0 + a.abs() + b.abs() + scale) || (a.is_nan() && b.is_nan()) || a == b;
    assert!(near, "{what}: {a} vs {b}");
}

/// Derivatives along `directions` by central differences of fourth order.
fn differences(module: &Module, name: &str, args: &[Value], wrt: &[usize], directions: &[Value]) -> Vec<Value> {
    const STEP: f64 = 3e-6;
    let at = |h: f64| {
        let mut args = args.to_vec();
        for (k, d) in wrt.iter().zip(directions) {
            let d = floats(d);
            let mut n = 0;
            args[*k] = map(&args[*k], |x| {
                n += 1;
                x + h * d[n - 1]
            });
        }
        run(module, name, &args)
    };
    let f = module.function(name).expect("a function");
    let outs = float_results(f);
    let [up, down, far_up, far_down] = [1.0, -1.0, 2.0, -2.0].map(|h| select(&at(h * STEP), &outs));
    (0..outs.len())
        .map(|k| {
            let all = [&up[k], &down[k], &far_up[k], &far_down[k]];
            assert!(all.iter().all(|v| v.dims == up[k].dims), "{name}: a length depends on the step");
            let [u, d, far_u, far_d] = all.map(floats);
            let slope = |n: usize| (8.0 * (u[n] - d[n]) - (far_u[n] - far_d[n])) / (12.0 * STEP);
            of_elem(up[k].elem, &up[k].dims, &(0..u.len()).map(slope).collect::<Vec<_>>())
        })
        .collect()
}

/// A function with arguments at which it is to be checked.
pub(crate) type At = (Symbol, Vec<Value>);

/// First-order checks; gives the two derivatives with the arguments at which they were evaluated.
pub(crate) fn check_once(
    module: &mut Module,
    name: &str,
    args: &[Value],
    rng: &mut Rng,
    differentiable: bool,
) -> [At; 2] {
    let f = module.function(name).expect("a function").clone();
    let (wrt, outs) = (float_params(&f), float_results(&f));
    let results = run(module, name, args);
    // Up to rounding, in the coarsest type that occurs.
    let exact = if f.vars.iter().any(|v| v.ty.elem == Elem::F32) { 1e-5 } else { 1e-12 };
    let tangents: Vec<Value> = wrt.iter().map(|k| rng.like(&args[*k])).collect();
    let cots: Vec<Value> = outs.iter().map(|k| rng.like(&results[*k])).collect();

    let jvp = derive(module, name, Mode::Jvp);
    let forward_args: Vec<Value> = args.iter().chain(&tangents).cloned().collect();
    let forward = run(module, &jvp.name, &forward_args);
    same_values(&forward[..results.len()], &results, exact, &jvp.name);
    let forward = &forward[results.len()..];
    if differentiable {
        for (found, expected) in forward.iter().zip(differences(module, name, args, &wrt, &tangents)) {
            assert_eq!(found.dims, expected.dims, "{}", jvp.name);
            let scale = floats(&expected).iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (a, b) in floats(found).into_iter().zip(floats(&expected)) {
                close(a, b, scale, 1e-6, &format!("{} against differences", jvp.name));
            }
        }
    }

    let vjp = derive(module, name, Mode::Vjp);
    let lengths = length_values(module, name, &results);
    let reverse_args: Vec<Value> = args.iter().chain(&lengths).chain(&cots).cloned().collect();
    let reverse = run(module, &vjp.name, &reverse_args);
    same_values(&reverse[..results.len()], &results, exact, &vjp.name);
    let reverse = &reverse[results.len()..];
    let ((a, size_a), (b, size_b)) = (dot(forward, &cots), dot(&tangents, reverse));
    close(a, b, size_a + size_b, exact, &format!("{}: dot product", vjp.name));
    [(jvp.name.clone(), forward_args), (vjp.name.clone(), reverse_args)]
}

/// Checks up to an order: at order 2 all mixes of the two modes, above that on top of reverse over reverse.
pub(crate) fn check(module: &mut Module, name: &str, args: &[Value], seed: u64, order: usize, differentiable: bool) {
    let mut rng = Rng::new(seed);
    let mut todo: Vec<(At, usize)> = vec![((name.into(), args.to_vec()), 1)];
    while let Some(((name, args), n)) = todo.pop() {
        let below = check_once(module, &name, &args, &mut rng, differentiable && n <= 2);
        if n < order {
            let from = usize::from(n >= 2);
            todo.extend(below.into_iter().skip(from).map(|at| (at, n + 1)));
        }
    }
}

/// The results and cotangents of the `vjp` for cotangents that are all 1.
pub(crate) fn gradient(module: &mut Module, name: &str, args: &[Value]) -> (Vec<Value>, Stats) {
    let results = run(module, name, args);
    let f = module.function(name).expect("a function").clone();
    let vjp = derive(module, name, Mode::Vjp);
    let ones = float_results(&f).into_iter().map(|k| map(&results[k], |_| 1.0));
    let args: Vec<Value> = args.iter().cloned().chain(length_values(module, name, &results)).chain(ones).collect();
    let (all, stats) = counted(module, &vjp.name, &args);
    (all[results.len()..].to_vec(), stats)
}

pub(crate) fn truth(value: bool) -> Value {
    cotan_ir::Const::bool(value).into()
}
