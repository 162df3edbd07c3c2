//! Programs of the core IR: their nests do what the interpreter of the core IR does, before any pass and after each.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_cpu::pipeline::{OPTIMIZED, PLAIN};
use cotan_ir::{Const, Module, parse_module, verify_module};
use cotan_loops::pipeline::{FOR_DEVICES, run as run_passes};
use cotan_loops::{
    CPU, DEVICE, LoopFunction, NestContext, NestPass, TargetKind, TaskSizes, VerifiedNests, Width, lower, lower_only,
};
use cotan_nest::{Options, RuntimeError, run, run_with_output};
use cotan_ops::{Registry, Value};

/// The nests of a module after each pass of each pipeline, with what ran.
fn at_every_place(module: &Module) -> Vec<(String, VerifiedNests)> {
    let tasks = TaskSizes::SMALLEST;
    let plain = |target: &'static TargetKind| module.functions().map(|f| lower_only(f, target)).collect();
    let lowered = |target: &'static TargetKind| module.functions().map(|f| lower(f, target)).collect();
    let places = [&CPU, &DEVICE]
        .map(|target| (format!("lowered for {}", target.name), VerifiedNests::new(plain(target)).unwrap()));
    let mut places = Vec::from(places);
    let mut follow = |mut nests: Vec<LoopFunction>, passes: &[&'static NestPass], width: u32| {
        let context = NestContext { tasks, width: Width::new(width), probe: None };
        for pass in passes {
            nests.iter_mut().for_each(|nest| run_passes(&[*pass], nest, &context));
            let verified = VerifiedNests::new(nests.clone()).unwrap_or_else(|e| panic!("after {}: {e}", pass.name));
            places.push((format!("after {}, width {width}", pass.name), verified));
        }
    };
    follow(plain(&CPU), CPU.after_lowering, 1);
    follow(lowered(&CPU), PLAIN, 4);
    follow(lowered(&CPU), OPTIMIZED, 4);
    follow(lowered(&CPU), OPTIMIZED, 1);
    follow(plain(&DEVICE), DEVICE.after_lowering, 1);
    follow(lowered(&DEVICE), FOR_DEVICES, 1);
    places
}

fn module(text: &str) -> (Module, String) {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).unwrap();
    let name = text.trim_start().strip_prefix("fn ").unwrap().split('(').next().unwrap().to_owned();
    (module, name)
}

/// The first function of a text gives the interpreter's bits, or numbers close to them where sums are regrouped.
fn agree(text: &str, args: &[Value]) {
    let (module, name) = module(text);
    let expected = cotan_interp::run(&module, &name, args, &cotan_interp::Options::default()).unwrap();
    for (place, nests) in at_every_place(&module) {
        let found = run(&nests, &name, args, &Options::default()).unwrap_or_else(|e| panic!("{place}: {e}"));
        if nests.iter().any(|nest| nest.regroups_sums) {
            for (a, b) in found.iter().zip(&expected).filter(|(_, b)| b.elem.is_float()) {
                let close = a.floats().unwrap().into_iter().zip(b.floats().unwrap());
                assert!(
                    close.into_iter().all(|(a, b)| (a - b).abs() <= 1e-10 * (1.0 + b.abs())),
                    "{place}: {a:?}, {b:?}"
                );
            }
        } else {
            assert_eq!(found, expected, "{place}");
        }
    }
}

/// The first function of a text fails as it does on the interpreter.
fn fails(text: &str, args: &[Value]) {
    let (module, name) = module(text);
    let expected = cotan_interp::run(&module, &name, args, &cotan_interp::Options::default());
    let Err(cotan_interp::RuntimeError::Check(expected)) = expected else { panic!("{expected:?}") };
    for (place, nests) in at_every_place(&module) {
        let Err(RuntimeError::Check(found)) = run(&nests, &name, args, &Options::default()) else {
            panic!("{place}: no check fails")
        };
        assert_eq!(
            (found.kind, found.args, found.span),
            (expected.kind, expected.args.clone(), expected.span),
            "{place}"
        );
    }
}

fn i64_of(n: i64) -> Value {
    Const::i64(n).into()
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * 7919 + 13) % 1009) as f64 / 1009.0 - 0.3).collect()
}

fn vector(n: usize) -> Value {
    Value::f64s(&[n as i64], &numbers(n))
}

#[test]
fn elements_and_sums_of_them() {
    let text = "fn f(n: i64, x: f64[n], c: f64) {
        y: f64[n] = par i < n (stack) {
          a: f64 = x[i]
          b: f64 = fma a, c, a
          e: f64 = exp b
          yield e
        }
        s: f64 = par j < n (add from 0.5) {
          g: f64 = y[j]
          yield g
        }
        m: f64 = par k < n (max from 0.0) {
          h: f64 = y[k]
          yield h
        }
        return y, s, m
      }";
    for n in [0, 1, 3, 16, 17, 100, 4096, 4097, 9000] {
        agree(text, &[i64_of(n as i64), vector(n), Const::f64(0.7).into()]);
    }
}

#[test]
fn sequential_loops_and_stacks() {
    let text = "fn f(n: i64, x: f64[n]) {
        s: f64, ys: f64[n] = loop i < n (s1: f64 = 0.0) {
          a: f64 = x[i]
          s2: f64 = fma a, s1, a
          yield s2, s1
        }
        return s, ys
      }";
    for n in [0, 1, 40] {
        agree(text, &[i64_of(n as i64), vector(n)]);
    }
}

#[test]
fn iterations_side_by_side_that_branch() {
    let text = "fn f(n: i64, m: i64, x: f64[n], w: f64[m]) {
        y: f64[n] = par i < n (stack) {
          a: f64 = x[i]
          p: bool = lt a, 0.2
          r: f64 = switch p {
            s: f64 = loop j < m (s1: f64 = 0.0) {
              b: f64 = w[j]
              s2: f64 = fma a, b, s1
              yield s2
            }
            yield s
          } {
            e: f64 = sqrt a
            yield e
          }
          yield r
        }
        return y
      }";
    for (n, m) in [(0, 3), (5, 0), (33, 7), (70, 40)] {
        agree(text, &[i64_of(n as i64), i64_of(m as i64), vector(n), vector(m)]);
    }
}

#[test]
fn checks_fail_at_the_lowest_iteration() {
    let text = "fn f(n: i64, x: f64[n], k: i64, at: i64[k]) {
        y: f64[k] = par i < k (stack) {
          j: i64 = at[i]
          ok: bool = in_range j, n
          j2: i64 = check ok R0001(j, n) j @0:10..12
          a: f64 = x[j2]
          yield a
        }
        return y
      }";
    let k = 50;
    let mut at: Vec<i64> = (0..k).map(|i| i % 5).collect();
    let args = |at: &[i64]| [i64_of(5), vector(5), i64_of(k), Value::i64s(&[k], at)];
    agree(text, &args(&at));
    for (place, wrong) in [(49, 5), (20, -1), (7, 99)] {
        at[place] = wrong;
        fails(text, &args(&at));
    }
}

#[test]
fn calls_products_and_routines() {
    let text = "fn f(n: i64, a: f64[n, n]) {
        b: f64[n, n] = transpose a {1, 0}
        s: f64[n, n] = matmul a, b {0}
        r: f64[n, n], t: f64 = call g(n, s)
        return r, t
      }
      fn g(n: i64, s: f64[n, n]) {
        l: f64[n, n] = cholesky s
        t: f64 = l[0, 0]
        return l, t
      }";
    for n in [1_i64, 3, 30] {
        let mut elements = numbers((n * n) as usize);
        (0..n).for_each(|k| elements[(k * n + k) as usize] += 4.0);
        agree(text, &[i64_of(n), Value::f64s(&[n, n], &elements)]);
    }
}

#[test]
fn output_is_written_in_order() {
    let text = "fn f(x: f64[2]) {
        t: i64 = print 0, x {104, 105, 32}
        u: i64 = print t, 1.5
        return u
      }";
    let (module, name) = module(text);
    for (place, nests) in at_every_place(&module) {
        let mut output = String::new();
        let args = [Value::f64s(&[2], &[0.5, -1.0])];
        let found = run_with_output(&nests, &name, &args, &Options::default(), &mut |piece| output += piece);
        assert_eq!((found, output.as_str()), (Ok(vec![i64_of(2)]), "hi [0.5, -1.0]1.5"), "{place}");
    }
}
