//! Whole strips of lanes whose checks come before everything that they write: no masks, and iterations one after the other
//! where a lane fails.

use crate::agreement::harness::{Program, f64s, i64_of, i64s, numbers};
use cotan_interp::{Options, run_with_output};
use cotan_ir::{CheckKind, Const, Elem, Span, parse_function, parse_module};
use cotan_llvm::CompileOptions;
use cotan_ops::{Registry, Value};
use cotan_runtime::{CallOptions, RuntimeError};

/// The loops that a program becomes.
fn nest(text: &str) -> String {
    let f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    CompileOptions::default().nest(&f).to_string()
}

/// A program whose whole strips have no masks for their checks.
fn without_masks(text: &str) -> Program {
    let nest = nest(text);
    assert!(nest.contains("lanes(") && nest.contains("fails"), "no strip is run again:\n{nest}");
    Program::new(text)
}

/// Elements of either precision.
fn floats(elem: Elem, numbers: &[f64]) -> Value {
    let bits = numbers.iter().map(|x| Const::float(elem, *x).bits()).collect();
    Value { elem, dims: vec![numbers.len() as i64], bits }
}

/// Numbers of iterations below, at and above those that fill strips of every width, and places in them: first and last
/// lanes of whole strips, and of what is left.
const TRIPS: [usize; 8] = [1, 3, 15, 16, 17, 32, 64, 77];

fn places(n: usize) -> impl Iterator<Item = usize> {
    [0, 3, 4, 7, 8, 15, 16, 31, 32, 47, 63, 64, 76].into_iter().filter(move |place| *place < n)
}

#[test]
fn the_lowest_of_all_bad_indices_is_reported() {
    for elem in [Elem::F64, Elem::F32] {
        let program = without_masks(&format!(
            "fn f(n: i64, x: {0}[5], at: i64[n]) {{
               y: {0}[n] = par i < n (stack) {{
                 j: i64 = at[i]
                 ok: bool = in_range j, 5
                 k: i64 = check ok R0001(j, 5) j @0:10..12
                 a: {0} = x[k]
                 yield a
               }}
               return y
             }}",
            elem.name()
        ));
        let x = floats(elem, &numbers(5));
        let args = |at: &[i64]| [i64_of(at.len() as i64), x.clone(), i64s(at)];
        for n in TRIPS {
            let fine: Vec<i64> = (0..n as i64).map(|i| i * 3 % 5).collect();
            program.agree(&args(&fine));
            for first in places(n) {
                // By itself, with another one in the same strip or the next, and with all that follow; each has another
                // wrong index, far outside of whatever memory there is.
                for last in [first, first + 1, first + 16, n - 1] {
                    let mut at = fine.clone();
                    let wrong = |i: usize| if i.is_multiple_of(2) { 1 << (20 + i % 40) } else { -1 - i as i64 };
                    for i in [first, last.min(n - 1)] {
                        at[i] = wrong(i);
                    }
                    if last == n - 1 {
                        (first..n).for_each(|i| at[i] = wrong(i));
                    }
                    let expected = RuntimeError::Check {
                        kind: CheckKind::IndexRange,
                        args: vec![wrong(first).into(), 5],
                        span: Span::new(0, 10, 12),
                    };
                    assert_eq!(program.fail(&args(&at)), expected);
                }
            }
            program.agree(&args(&fine));
        }
    }
}

#[test]
fn a_lower_lane_that_fails_later_comes_before_a_higher_one_that_fails_at_once() {
    let program = without_masks(
        "fn f(n: i64, x: f64[5], least: f64, at: i64[n]) {
           y: f64[n] = par i < n (stack) {
             j: i64 = at[i]
             ok: bool = in_range j, 5
             k: i64 = check ok R0001(j, 5) j @0:1..2
             a: f64 = x[k]
             fine: bool = ge a, least
             b: f64 = check fine R0009() a @0:3..4
             all: bool = lt least, 100.0
             c: f64 = check all R0007(i, 4) b @0:5..6
             r: f64 = sqrt c
             yield r
           }
           return y
         }",
    );
    let run = |least: f64, at: &[i64]| {
        let least = Value::f64s(&[], &[least]);
        [i64_of(at.len() as i64), f64s(&[1.0, 4.0, 9.0, 0.5, 200.0]), least, i64s(at)]
    };
    let place = |error: RuntimeError| {
        let RuntimeError::Check { span, args, .. } = error else { panic!("{error}") };
        (span.start, args)
    };
    for n in TRIPS.into_iter().filter(|n| *n > 2) {
        let fine = vec![1; n];
        for first in places(n - 1) {
            let mut at = fine.clone();
            (at[first], at[first + 1]) = (3, 9);
            assert_eq!(place(program.fail(&run(1.0, &at))), (3, vec![]));
            (at[first], at[first + 1]) = (9, 3);
            assert_eq!(place(program.fail(&run(1.0, &at))), (1, vec![9, 5]));
            // What holds for no lane is reported by the first one, unless that fails before.
            (at[first], at[first + 1]) = (4, 9);
            at[..first].fill(4);
            assert_eq!(place(program.fail(&run(150.0, &at))), (5, vec![0, 4]));
        }
    }
}

#[test]
fn integers_are_divided_and_added_up_only_where_that_is_defined() {
    for (elem, least) in [("i8", -128), ("i32", i64::from(i32::MIN)), ("i64", i64::MIN)] {
        let program = without_masks(&format!(
            "fn f(n: i64, x: {elem}[n], y: {elem}[n]) {{
               q: {elem}[n], r: {elem}[n] = par i < n (stack, stack) {{
                 a: {elem} = x[i]
                 b: {elem} = y[i]
                 some: bool = ne b, 0_{elem}
                 b1: {elem} = check some R0004() b @0:1..2
                 fits: bool = div_fits a, b1
                 a1: {elem} = check fits R0003(a, b) a @0:3..4
                 sums: bool = add_fits a1, b1
                 b2: {elem} = check sums R0003(b, a) b1 @0:5..6
                 c: {elem} = div a1, b1
                 d: {elem} = add a1, b2
                 yield c, d
               }}
               return q, r
             }}"
        ));
        let typed = Elem::from_name(elem).unwrap();
        let integers = |all: &[i64]| Value {
            elem: typed,
            dims: vec![all.len() as i64],
            bits: all.iter().map(|k| Const::integer(typed, i128::from(*k)).bits()).collect(),
        };
        for n in TRIPS {
            let x: Vec<i64> = (0..n as i64).map(|i| i * 7 % 23 - 11).collect();
            let y: Vec<i64> = (0..n as i64).map(|i| i * 5 % 9 - 10).collect();
            program.agree(&[i64_of(n as i64), integers(&x), integers(&y)]);
            for place in places(n) {
                for (a, b) in [(3, 0), (least, 0), (least, -1), (least, -2), (-(least + 1), 1)] {
                    let (mut x, mut y) = (x.clone(), y.clone());
                    (x[place], y[place]) = (a, b);
                    program.fail(&[i64_of(n as i64), integers(&x), integers(&y)]);
                    // Something else is wrong in the last iteration.
                    (x[n - 1], y[n - 1]) = if place == n - 1 { (a, b) } else { (1, 0) };
                    program.fail(&[i64_of(n as i64), integers(&x), integers(&y)]);
                }
            }
        }
    }
}

#[test]
fn what_strips_add_and_scatter_is_done_once_for_each_iteration() {
    let program = without_masks(
        "fn f(n: i64, x: f64[n], at: i64[n]) {
           zero: i64[5] = fill 0
           start: f64[5] = fill -inf
           y: f64[n], bins: i64[5], most: f64[5], count: i64 = par i < n (stack) acc (b: i64[5] add from zero, h: f64[5] max from start, t: i64 add from 100) {
             j: i64 = at[i]
             ok: bool = in_range j, 5
             k: i64 = check ok R0001(j, 5) j @0:10..12
             a: f64 = x[i]
             acc_add b[k] = 1
             acc_add h[k] = a
             acc_add t[] = j
             r: f64 = mul a, a
             r1: f64 = sqrt r
             r2: f64 = div a, r1
             r3: f64 = div r1, r2
             r4: f64 = div r2, r3
             r5: f64 = div r3, r4
             r6: f64 = div r4, r5
             yield r6
           }
           return y, bins, most, count
         }",
    );
    for n in TRIPS {
        let fine: Vec<i64> = (0..n as i64).map(|i| i * i % 5).collect();
        let args = |at: &[i64]| [i64_of(n as i64), f64s(&numbers(n)), i64s(at)];
        program.agree(&args(&fine));
        for place in places(n) {
            let mut at = fine.clone();
            at[place] = 5;
            program.fail(&args(&at));
            // Nothing of it is left behind.
            program.agree(&args(&fine));
        }
    }
}

#[test]
fn what_comes_before_a_strip_that_fails_has_happened() {
    let text = "fn f(n: i64, m: i64, at: i64[m, n], x: f64[5]) {
      s: f64, last: i64 = loop r < m (s0: f64 = 0.0, token: i64 = 0) {
        y: f64[n] = par i < n (stack) {
          j: i64 = at[r, i]
          ok: bool = in_range j, 5
          k: i64 = check ok R0001(j, 5) j @0:10..12
          a: f64 = x[k]
          yield a
        }
        b: f64 = y[0]
        s1: f64 = add s0, b
        next: i64 = print token, y {10}
        yield s1, next
      }
      return s, last
    }";
    let program = without_masks(text);
    let module = parse_module(text, Registry::standard()).unwrap();
    let (m, n) = (3, 40);
    for bad in [0, 15, n - 1, n, n + 20, 2 * n + 31] {
        let mut at: Vec<i64> = (0..(m * n) as i64).map(|i| i * 3 % 5).collect();
        at[bad] = 7;
        let at = Value::i64s(&[m as i64, n as i64], &at);
        let args = [i64_of(n as i64), i64_of(m as i64), at, f64s(&numbers(5))];
        let error = program.fail(&args);
        let mut expected = String::new();
        run_with_output(&module, "f", &args, &Options::default(), &mut |text| expected += text).unwrap_err();
        assert_eq!(expected.lines().count(), if bad < n { 0 } else { 1 + bad / n }, "{expected}");
        for f in program.on_all_threads() {
            let mut found = String::new();
            let outcome = f.call_with_output(&args, &CallOptions::default(), &mut |text| found += text);
            assert_eq!((outcome.unwrap_err(), found), (error.clone(), expected.clone()));
        }
    }
}

#[test]
fn whole_strips_with_arrays_and_rows_of_lanes_stop_at_the_lowest_bad_index() {
    // As many iterations as fill strips, so that bodies of any length have whole strips. Where lanes do not pay the loop
    // stands beside them as it was.
    let text = "fn f(n: i64, m: i64, at: i64[64], x: f64[n], w: f64[64, m]) {
           y: f64[64] = par i < 64 (stack) {
             j: i64 = at[i]
             ok: bool = in_range j, n
             k: i64 = check ok R0001(j, n) j @0:10..12
             a: f64 = x[k]
             t: f64[9] = par l < 9 (stack) {
               c: f64 = to_f64 l
               d: f64 = mul a, c
               yield d
             }
             s: f64 = loop p < 9 (s1: f64 = 0.25) {
               e: f64 = t[p]
               s2: f64 = loop q < m (s3: f64 = s1) {
                 g: f64 = w[i, q]
                 s4: f64 = fma e, g, s3
                 yield s4
               }
               yield s2
             }
             yield s
           }
           return y
         }";
    assert!(nest(text).contains("lanes(") && nest(text).contains("if pays"), "{}", nest(text));
    let program = Program::new(text);
    for m in [0, 1, 7] {
        let w = Value::f64s(&[64, m], &numbers(64 * m as usize));
        let fine: Vec<i64> = (0..64).map(|i| i * 3 % 11).collect();
        let args = |at: &[i64]| [i64_of(11), i64_of(m), i64s(at), f64s(&numbers(11)), w.clone()];
        program.agree(&args(&fine));
        for place in places(64) {
            let mut at = fine.clone();
            (at[place], at[63]) = (11, -1);
            program.fail(&args(&at));
        }
    }
}
