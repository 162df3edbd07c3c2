//! Parallel loops: stacked and reduced results, nested, at sizes around every block of the reduction.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, irrational, numbers};
use cotan_ir::{Const, Elem};
use cotan_ops::Value;
use cotan_ops::reduce::reduce;

const MAP: &str = "fn f(n: i64, x: f64[n]) {
  y: f64[n] = par i < n (stack) {
    a: f64 = x[i]
    b: f64 = exp a
    yield b
  }
  return y
}";

#[test]
fn a_map_agrees_at_every_size() {
    let program = Program::new(MAP);
    for n in [0, 1, 2, 17, 5000, 100_000] {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n))]);
    }
}

#[test]
fn reductions_follow_the_documented_tree() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], start: f64) {
           s: f64, p: f64, hi: f64, lo: f64 = par i < n (add from start, mul from 1.0, max from -inf, min from inf) {
             a: f64 = x[i]
             b: f64 = mul a, 0.001
             c: f64 = add b, 1.0
             yield a, c, a, a
           }
           return s, p, hi, lo
         }",
    );
    for n in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 100, 4095, 4096, 4097, 8192, 20_000] {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n)), f64_of(-0.0)]);
    }
    program.agree(&[i64_of(3), f64s(&[-0.0, -0.0, -0.0]), f64_of(-0.0)]);
    program.agree(&[i64_of(3), f64s(&[1.0, f64::NAN, 3.0]), f64_of(0.5)]);
}

/// A function with a reduction of the first values of `x`, and of rows of `z`, for every width.
fn of_known_widths(elem: Elem, widths: impl Iterator<Item = usize>) -> Program {
    let name = elem.name();
    let (mut body, mut results) = (String::new(), Vec::new());
    for w in widths {
        let scalars = format!("s{w}: {name}, p{w}: {name}, hi{w}: {name}, lo{w}: {name}");
        let rows = format!("t{w}: {name}[3], q{w}: {name}[3], up{w}: {name}[3]");
        body += &format!(
            "  {scalars} = par i{w} < {w} (add from start, mul from start, max from start, min from start) {{
               a{w}: {name} = x[i{w}]
               yield a{w}, a{w}, a{w}, a{w}
             }}
             {rows} = par k{w} < {w} (add from starts, mul from starts, max from starts) {{
               row{w}: {name}[3] = z[k{w}]
               yield row{w}, row{w}, row{w}
             }}\n"
        );
        results.extend(["s", "p", "hi", "lo", "t", "q", "up"].map(|result| format!("{result}{w}")));
    }
    let results = results.join(", ");
    let program = Program::new(&format!(
        "fn f(start: {name}, starts: {name}[3], x: {name}[40], z: {name}[40, 3]) {{\n{body}  return {results}\n}}"
    ));
    assert!(!program.on_one_thread().regroups_sums());
    program
}

#[test]
fn reductions_of_known_width_follow_the_documented_tree() {
    for elem in [Elem::F64, Elem::F32] {
        let value = |dims: &[i64], numbers: &[f64]| Value {
            elem,
            dims: dims.to_vec(),
            bits: numbers.iter().map(|x| Const::float(elem, *x).bits()).collect(),
        };
        let program = of_known_widths(elem, 1..=40);
        let agree = |start: f64, x: &[f64]| {
            let rows: Vec<f64> = x.iter().flat_map(|x| [*x, -x, 0.5 - x]).collect();
            let starts = value(&[3], &[start, -start, 1.0]);
            program.agree(&[value(&[], &[start]), starts, value(&[40], x), value(&[40, 3], &rows)])
        };
        let some = irrational(40);
        let expected = |width: usize, start: f64| {
            let singles: Vec<f32> = some[..width].iter().map(|x| *x as f32).collect();
            let sum = if elem == Elem::F32 {
                f64::from(reduce(&singles, start as f32, |a, b| a + b))
            } else {
                reduce(&some[..width], start, |a, b| a + b)
            };
            value(&[], &[sum])
        };
        let found = agree(0.25, &some);
        for width in 1..=40 {
            assert_eq!(found[7 * (width - 1)], expected(width, 0.25), "{} of width {width}", elem.name());
        }
        agree(-0.0, &[-0.0; 40]);
        // One of them is none, or nothing else counts.
        for (place, special) in [0, 1, 7, 8, 15, 16, 31, 32, 39]
            .into_iter()
            .flat_map(|k| [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|x| (k, x)))
        {
            let mut x = some.clone();
            x[place] = special;
            agree(-0.5, &x);
            x[39 - place] = f64::INFINITY;
            agree(-f64::INFINITY, &x);
        }
    }
}

#[test]
fn lanes_reduce_known_widths_each_for_itself() {
    for w in [1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 33] {
        let program = Program::new(&format!(
            "fn f(n: i64, x: f64[n, {w}]) {{
               s: f64[n], p: f64[n], hi: f64[n] = par i < n (stack, stack, stack) {{
                 a: f64, b: f64, c: f64 = par j < {w} (add from 0.25, mul from 1.5, max from -inf) {{
                   e: f64 = x[i, j]
                   yield e, e, e
                 }}
                 yield a, b, c
               }}
               return s, p, hi
             }}"
        ));
        for n in [1, 16, 21] {
            let mut x = irrational(n * w);
            program.agree(&[i64_of(n as i64), Value::f64s(&[n as i64, w as i64], &x)]);
            x[n * w / 2] = f64::NAN;
            program.agree(&[i64_of(n as i64), Value::f64s(&[n as i64, w as i64], &x)]);
        }
    }
}

#[test]
fn a_reduction_climbs_to_the_third_level() {
    let program = Program::new(
        "fn f(n: i64) {
           s: f64 = par i < n (add from 0.25) {
             a: f64 = to_f64 i
             b: f64 = add a, 0.5
             c: f64 = div 1.0, b
             yield c
           }
           return s
         }",
    );
    let n = 4096 * 4096 + 4096 * 3 + 5;
    let terms: Vec<f64> = (0..n).map(|i| 1.0 / (i as f64 + 0.5)).collect();
    let expected = cotan_ops::reduce::reduce(&terms, 0.25, |a, b| a + b);
    let found = program.on_one_thread().call(&[i64_of(n)]).unwrap();
    assert_eq!(found, [f64_of(expected)]);
}

#[test]
fn integers_and_truth_values_are_reduced() {
    let program = Program::new(
        "fn f(n: i64, x: i64[n]) {
           s: i64, all: bool, any: bool = par i < n (add from 3, and from true, or from false) {
             a: i64 = x[i]
             p: bool = gt a, 0
             q: bool = gt a, 90
             yield a, p, q
           }
           return s, all, any
         }",
    );
    for n in [0, 1, 5, 50, 5000] {
        let x: Vec<i64> = (0..n).map(|k| (k * 37) % 101).collect();
        program.agree(&[i64_of(n), Value::i64s(&[n], &x)]);
    }
}

#[test]
fn tensors_are_reduced_element_by_element() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m], start: f64[m]) {
           s: f64[m] = par i < n (add from start) {
             row: f64[m] = x[i]
             yield row
           }
           return s
         }",
    );
    for n in [0, 1, 5, 17, 4097] {
        for m in [0, 1, 3] {
            let x = Value::f64s(&[n, m], &numbers((n * m) as usize));
            program.agree(&[i64_of(n), i64_of(m), x, f64s(&numbers(m as usize))]);
        }
    }
}

#[test]
fn nested_pars_write_rows_in_place() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           y: f64[n, m], s: f64[n] = par i < n (stack, stack) {
             row: f64[m] = x[i]
             z: f64[m] = par j < m (stack) {
               a: f64 = row[j]
               b: f64 = mul a, a
               yield b
             }
             t: f64 = par j2 < m (add from 0.0) {
               c: f64 = z[j2]
               yield c
             }
             yield z, t
           }
           return y, s
         }",
    );
    for (n, m) in [(0, 3), (3, 0), (1, 1), (4, 5), (700, 60)] {
        program.agree(&[i64_of(n), i64_of(m), Value::f64s(&[n, m], &numbers((n * m) as usize))]);
    }
}

#[test]
fn several_levels_are_one_space() {
    let program = Program::new(
        "fn f(n: i64, m: i64) {
           y: i64[n, m, 2], s: f64 = par i < n, j < m, k < 2 (stack, add from 0.5) {
             a: i64 = mul i, 100
             b: i64 = add a, j
             c: i64 = sub b, k
             d: f64 = to_f64 c
             yield c, d
           }
           return y, s
         }",
    );
    for (n, m) in [(0, 3), (3, 0), (4, 5), (30, 100)] {
        program.agree(&[i64_of(n), i64_of(m)]);
    }
}

#[test]
fn a_stacked_parameter_is_copied() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[m]) {
           y: f64[n, m] = par i < n (stack) {
             yield x
           }
           return y, x
         }",
    );
    program.agree(&[i64_of(3), i64_of(2), f64s(&[1.0, 2.0])]);
}

#[test]
fn a_par_without_levels_runs_once() {
    let program = Program::new(
        "fn f(x: f64) {
           y: f64 = par (stack) {
             a: f64 = add x, 1.0
             yield a
           }
           return y
         }",
    );
    program.agree(&[f64_of(2.0)]);
}

#[test]
fn p1_loops_around_empty_axes_end_at_once() {
    let program = Program::new(
        "fn f(n: i64, m: i64, z: f64[m]) {
           x: f64[n, m] = par i < n, j < m (stack) {
             a: f64 = to_f64 i
             yield a
           }
           y: f64[n, m] = fill z
           t: f64[m, n] = transpose y {1, 0}
           r: f64[n, m] = reverse x {0}
           c: f64[n, m] = slice r, 0 {1}
           rows: f64[n, m] = par i2 < n (stack) {
             row: f64[m] = par j2 < m (stack) {
               b: f64 = z[j2]
               yield b
             }
             yield row
           }
           s: f64 = par i3 < n, j3 < m, k3 < n (add from 0.5) {
             e: f64 = z[j3]
             yield e
           }
           w: f64[m] = par i4 < n (add from z) {
             row2: f64[m] = x[i4]
             yield row2
           }
           return x, y, t, r, c, rows, s, w
         }",
    );
    let empty = Value { elem: Elem::F64, dims: vec![0], bits: Vec::new() };
    for n in [0, 1, 10_000_000_000, i64::MAX] {
        let start = std::time::Instant::now();
        program.agree(&[i64_of(n), i64_of(0), empty.clone()]);
        assert!(start.elapsed().as_secs() < 10, "{n}");
    }
    let three = f64s(&numbers(3));
    program.agree(&[i64_of(5), i64_of(3), three]);
}
