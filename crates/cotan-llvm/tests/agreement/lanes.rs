//! Loops whose iterations run side by side: every form of control flow and memory access, at sizes around the number of
//! lanes.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, i64s, numbers};
use cotan_ir::{CheckKind, Const, Elem, Span, parse_function};
use cotan_llvm::{CompileOptions, Width};
use cotan_ops::{Registry, Value};
use cotan_runtime::{CallOptions, RuntimeError};

pub(crate) const SIZES: [usize; 9] = [0, 1, 2, 7, 8, 15, 16, 33, 100];

/// A program of which some loop has lanes.
pub(crate) fn with_lanes(text: &str) -> Program {
    let nest = CompileOptions::default().nest(&parse_function(text, Registry::standard()).unwrap()).to_string();
    assert!(nest.contains("lanes("), "no loop has lanes:\n{nest}");
    Program::new(text)
}

/// Runs a function of a vector at every size.
fn agree_on_vectors(text: &str) {
    let program = with_lanes(text);
    for n in SIZES {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n))]);
    }
}

/// A loop with a mask, elements that lie anywhere, a call of the host, a sum in lanes, and a loop that follows its data.
const EVERYTHING: &str = "fn f(n: i64, x: f64[n]) {
  y: f64[n], s: f64 = par i < n (stack, add from 0.5) {
    a: f64 = x[i]
    more: bool = gt a, 1.0
    t: i64, go: bool, r: f64 = while j (g: bool = more, r1: f64 = a) {
      r2: f64 = mul r1, 0.75
      g2: bool = gt r2, 1.0
      yield g2, r2
    }
    k: i64 = rem i, 7
    k1: i64 = min k, i
    b: f64 = x[k1]
    c: f64 = digamma b
    d: f64 = add c, r
    yield d, b
  }
  return y, s
}";

/// The longest vector of a text of LLVM IR.
fn longest_vector(text: &str) -> u32 {
    let lengths = text.split('<').filter_map(|part| part.split_once(" x ")?.0.parse().ok());
    lengths.max().unwrap_or(1)
}

#[test]
fn no_operation_has_more_lanes_than_the_width_and_every_width_gives_the_same_bits() {
    agree_on_vectors(EVERYTHING);
    let program = with_lanes(EVERYTHING);
    assert_eq!(longest_vector(&program.llvm_ir(None)), 16);
    for width in [1, 2, 4, 8, 16] {
        assert_eq!(longest_vector(&program.llvm_ir(Width::new(width))), width);
    }
}

#[test]
fn single_precision_has_the_same_bits_at_every_width() {
    let text = EVERYTHING.replace("f64", "f32").replace("0.5)", "0.5_f32)");
    let text = text.replace("1.0", "1.0_f32").replace("0.75", "0.75_f32");
    let program = with_lanes(&text);
    for n in SIZES {
        let bits = numbers(n).iter().map(|x| Const::float(Elem::F32, *x).bits()).collect();
        program.agree(&[i64_of(n as i64), Value { elem: Elem::F32, dims: vec![n as i64], bits }]);
    }
}

#[test]
fn arms_run_for_the_lanes_that_take_them() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n], z: f64[n] = par i < n (stack, stack) {
             a: f64 = x[i]
             p: bool = lt a, 0.0
             b: f64, c: f64 = switch p {
               d: f64 = sqrt a
               e: f64 = exp d
               yield e, 1.0
             } {
               d1: f64 = mul a, a
               yield d1, a
             }
             yield b, c
           }
           return y, z
         }",
    );
}

#[test]
fn one_of_several_arms_is_chosen_by_number() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             k: i64 = to_i64 a
             b: f64 = switch k {
               yield 1.5
             } {
               c: f64 = sin a
               yield c
             } {
               c1: f64 = par j < n (add from a) {
                 d: f64 = x[j]
                 yield d
               }
               yield c1
             }
             yield b
           }
           return y
         }",
    );
}

#[test]
fn a_while_runs_until_no_lane_is_left() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n], trips: i64[n] = par i < n (stack, stack) {
             a: f64 = x[i]
             a1: f64 = abs a
             more: bool = gt a1, 1.0
             t: i64, go: bool, r: f64 = while j (g: bool = more, r1: f64 = a1) {
               r2: f64 = mul r1, 0.75
               g2: bool = gt r2, 1.0
               yield g2, r2
             }
             yield r, t
           }
           return y, trips
         }",
    );
}

#[test]
fn inner_loops_may_have_other_trips_in_each_lane() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             s: f64 = loop j < i (s1: f64 = 0.25) {
               a: f64 = x[j]
               s2: f64 = fma a, 0.5, s1
               yield s2
             }
             yield s
           }
           return y
         }",
    );
}

#[test]
fn each_lane_has_arrays_of_its_own() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             t: f64[n] = par j < n (stack) {
               b: f64 = x[j]
               c: f64 = mul a, b
               yield c
             }
             u: f64[n] = update t[i] = -1.0
             k: i64 = sub n, i
             k1: i64 = sub k, 1
             d: f64 = u[k1]
             e: f64 = u[i]
             g: f64 = add d, e
             yield g
           }
           return y
         }",
    );
}

#[test]
fn rows_of_a_matrix_are_read_again_and_again() {
    let program = with_lanes(
        "fn f(n: i64, m: i64, x: f64[n, m], w: f64[m, m]) {
           y: f64[n] = par i < n (stack) {
             s: f64 = loop k < m (s1: f64 = 0.0) {
               t: f64 = loop j < m (t1: f64 = s1) {
                 a: f64 = x[i, j]
                 b: f64 = w[k, j]
                 t2: f64 = fma a, b, t1
                 yield t2
               }
               yield t
             }
             yield s
           }
           return y
         }",
    );
    for n in SIZES {
        for m in [0, 1, 3, 9] {
            let x = Value::f64s(&[n as i64, m as i64], &numbers(n * m));
            let w = Value::f64s(&[m as i64, m as i64], &numbers(m * m));
            program.agree(&[i64_of(n as i64), i64_of(m as i64), x, w]);
        }
    }
}

#[test]
fn lanes_add_up_into_one_place_and_into_any() {
    let program = with_lanes(
        "fn f(n: i64, x: f64[n], at: i64[n]) {
           zero: f64[5] = fill 0.0
           total: f64, bins: f64[5] = par i < n acc (t: f64 add from 0.5, b: f64[5] add from zero) {
             a: f64 = x[i]
             acc_add t[] = a
             k: i64 = at[i]
             ok: bool = in_range k, 5
             k1: i64 = check ok R0001(k, 5) k
             acc_add b[k1] = a
             acc_add b[2] = 1.0
             yield
           }
           return total, bins
         }",
    );
    for n in SIZES {
        let at: Vec<i64> = (0..n as i64).map(|k| k * 3 % 5).collect();
        program.agree(&[i64_of(n as i64), f64s(&numbers(n)), i64s(&at)]);
    }
}

#[test]
fn greatest_and_least_accumulate_across_lanes() {
    let program = with_lanes(
        "fn f(n: i64, x: f64[n], k: i64[n]) {
           hi: f64, lo: f64 = par i < n acc (h: f64 max from -inf, l: f64 min from inf) {
             a: f64 = x[i]
             acc_add h[] = a
             acc_add l[] = a
             yield
           }
           return hi, lo
         }",
    );
    for n in SIZES {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n)), i64s(&vec![1; n])]);
    }
}

#[test]
fn every_element_type_has_lanes() {
    for elem in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"] {
        let text = format!(
            "fn f(n: i64, x: {elem}[n], y: {elem}[n]) {{
               a: {elem}[n], b: bool[n], c: f64[n] = par i < n (stack, stack, stack) {{
                 p: {elem} = x[i]
                 q: {elem} = y[i]
                 s: {elem} = add p, q
                 m: {elem} = mul s, p
                 d: {elem} = div m, q
                 less: bool = lt p, q
                 r: {elem} = select less, d, s
                 w: f64 = to_f64 r
                 yield r, less, w
               }}
               return a, b, c
             }}"
        );
        let program = with_lanes(&text);
        let elem = cotan_ir::Elem::from_name(elem).unwrap();
        for n in [1_i64, 16, 21] {
            let values = |step: i64| {
                let consts = (0..n).map(|k| {
                    if elem.is_float() {
                        cotan_ir::Const::float(elem, (k * step % 7) as f64 - 2.5)
                    } else {
                        cotan_ir::Const::integer(elem, i128::from(k * step % 7))
                    }
                });
                Value { elem, dims: vec![n], bits: consts.map(|c| c.bits()).collect() }
            };
            program.agree(&[i64_of(n), values(3), values(5)]);
        }
    }
}

/// A gather with a check, and one of the value that was read, so that a lower iteration may fail at a later check.
const TWO_CHECKS: &str = "fn f(n: i64, x: f64[n], k: i64, at: i64[k]) {
  y: f64[k] = par i < k (stack) {
    j: i64 = at[i]
    ok: bool = in_range j, n
    j2: i64 = check ok R0001(j, n) j @0:10..12
    a: f64 = x[j2]
    fine: bool = ge a, 0.0
    b: f64 = check fine R0009() a @0:20..22
    r: f64 = sqrt b
    yield r
  }
  return y
}";

#[test]
fn the_lowest_iteration_that_fails_is_reported() {
    let program = with_lanes(TWO_CHECKS);
    let x = f64s(&[1.0, 4.0, -9.0]);
    let run = |at: &[i64]| [i64_of(3), x.clone(), i64_of(at.len() as i64), i64s(at)];
    let out_of_range = |j: i64| RuntimeError::Check {
        kind: CheckKind::ALL.into_iter().find(|k| k.code() == "R0001").unwrap(),
        args: vec![i128::from(j), 3],
        span: Span::new(0, 10, 12),
    };
    for before in [0, 3, 15, 16, 40] {
        let fine = vec![1; before];
        // The first check fails in a later lane than the second.
        let found = program.fail(&run(&[&fine[..], &[2, 7, 0]].concat()));
        assert!(matches!(found, RuntimeError::Check { span, .. } if span == Span::new(0, 20, 22)), "{found:?}");
        let found = program.fail(&run(&[&fine[..], &[9, 2, -1]].concat()));
        assert_eq!(found, out_of_range(9));
        program.agree(&run(&[&fine[..], &[0, 1, 0]].concat()));
    }
}

/// Every check before every effect, so that whole strips hope that none fails.
const CHECKS_FIRST: &str = "fn f(n: i64, x: ELEM[n], k: i64, at: i64[k]) {
  zero: ELEM[5] = fill 0.0_ELEM
  y: ELEM[k], bins: ELEM[5] = par i < k (stack) acc (b: ELEM[5] add from zero) {
    j: i64 = at[i]
    ok: bool = in_range j, n
    j2: i64 = check ok R0001(j, n) j @0:10..12
    l: i64 = mul j2, j2
    low: bool = in_range l, 5
    l2: i64 = check low R0001(l, 5) l @0:20..22
    a: ELEM = x[j2]
    acc_add b[l2] = a
    c: ELEM = mul a, a
    yield c
  }
  return y, bins
}";

#[test]
fn a_strip_that_hopes_in_vain_ends_where_its_first_lane_fails() {
    for elem in ["f32", "f64"] {
        let text =
            CHECKS_FIRST.replace("0.0_ELEM", if elem == "f32" { "0.0_f32" } else { "0.0" }).replace("ELEM", elem);
        let program = with_lanes(&text);
        let nest = CompileOptions::default().nest(&parse_function(&text, Registry::standard()).unwrap()).to_string();
        assert!(nest.contains("fails"), "no strip hopes:\n{nest}");
        let elem = Elem::from_name(elem).unwrap();
        let x =
            Value { elem, dims: vec![4], bits: [1.5, -2.5, 4.0, 0.25].map(|x| Const::float(elem, x).bits()).to_vec() };
        let run = |at: &[i64]| [i64_of(4), x.clone(), i64_of(at.len() as i64), i64s(at)];
        for n in [1, 7, 16, 31, 32, 40, 53] {
            let fine: Vec<i64> = (0..n).map(|i| i % 3).collect();
            program.agree(&run(&fine));
            for first in 0..n as usize {
                // The first check fails there, or the second one; and both do again in later lanes and strips.
                for (bad, code) in [(4, 10), (-1, 10), (3, 20)] {
                    let mut at = fine.clone();
                    at.iter_mut().skip(first + 1).step_by(5).for_each(|at| *at = 7 - bad);
                    at[first] = bad;
                    let found = program.fail(&run(&at));
                    assert!(
                        matches!(found, RuntimeError::Check { span, .. } if span == Span::new(0, code, code + 2)),
                        "{found:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_check_in_a_loop_stops_the_lanes_that_fail() {
    let program = with_lanes(
        "fn f(n: i64, x: f64[n], least: f64) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             p: bool = gt a, 0.0
             t: i64, go: bool, r: f64, k: i64 = while j (g: bool = p, r1: f64 = a, k1: i64 = 0) {
               r2: f64 = mul r1, 0.5
               k2: i64 = add k1, 1
               ok: bool = gt r2, least
               r3: f64 = check ok R0001(k2, 4) r2 @0:1..2
               g2: bool = gt r3, 1.0
               yield g2, r3, k2
             }
             yield r
           }
           return y
         }",
    );
    for n in SIZES {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n)), f64_of(0.0)]);
    }
    program.fail(&[i64_of(40), f64s(&numbers(40)), f64_of(0.7)]);
}

#[test]
fn what_is_wanted_by_one_lane_only_is_not_read_for_the_others() {
    let program = with_lanes(
        "fn f(n: i64, x: f64[n], m: i64, table: f64[m]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             p: bool = le a, 1000.0
             b: f64 = switch p {
               yield a
             } {
               c: f64 = table[0]
               d: f64 = loop j < m (d1: f64 = c) {
                 e: f64 = table[j]
                 d2: f64 = add d1, e
                 yield d2
               }
               yield d
             }
             yield b
           }
           return y
         }",
    );
    // An empty table is not read: no lane takes the arm.
    program.agree(&[i64_of(20), f64s(&numbers(20)), i64_of(0), f64s(&[])]);
    let mut x = numbers(20);
    x[17] = 2000.0;
    program.agree(&[i64_of(20), f64s(&x), i64_of(3), f64s(&[1.0, 2.0, 3.5])]);
}

#[test]
fn large_arrays_of_lanes_give_way_to_one_iteration_after_the_other() {
    let program = with_lanes(
        "fn f(n: i64, m: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             t: f64[m] = par j < m (stack) {
               k: f64 = to_f64 j
               c: f64 = mul a, k
               yield c
             }
             u: f64 = loop j1 < m (u1: f64 = 0.0) {
               c1: f64 = t[j1]
               u2: f64 = add u1, c1
               yield u2
             }
             yield u
           }
           return y
         }",
    );
    for m in [0, 5, 50_000] {
        program.agree(&[i64_of(40), i64_of(m), f64s(&numbers(40))]);
    }
}

#[test]
fn an_arm_that_no_lane_takes_reads_no_array_of_the_lanes() {
    let program = with_lanes(
        "fn f(n: i64, x: f64[n], k: i64) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             t: f64[40] = par j < 40 (stack) {
               b: f64 = x[i]
               c: f64 = to_f64 j
               d: f64 = mul b, c
               yield d
             }
             p: bool = gt a, 1000.0
             b1: f64 = switch p {
               e: f64 = t[k]
               yield e
             } {
               yield a
             }
             yield b1
           }
           return y
         }",
    );
    // Far out of the array, and out of the memory of the process.
    program.agree(&[i64_of(40), f64s(&numbers(40)), i64_of(1 << 44)]);
    let mut x = numbers(40);
    x[33] = 2000.0;
    program.agree(&[i64_of(40), f64s(&x), i64_of(39)]);
}

#[test]
fn long_rows_that_are_read_again_are_not_held_for_all_lanes() {
    let program = with_lanes(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           y: f64[n] = par i < n (stack) {
             s: f64 = loop k < 2 (s1: f64 = 0.0) {
               t: f64 = loop j < m (t1: f64 = s1) {
                 a: f64 = x[i, j]
                 t2: f64 = add a, t1
                 yield t2
               }
               yield t
             }
             yield s
           }
           return y
         }",
    );
    // Short ones are; a function keeps their memory for its next call.
    for m in [100, 100_000] {
        let args = [i64_of(8), i64_of(m), Value::f64s(&[8, m], &numbers(8 * m as usize))];
        program.agree(&args);
        let outcome = program.on_one_thread().call_with(&args, &CallOptions::default()).unwrap();
        assert!(outcome.statistics.peak_bytes <= 1 << 16, "{m}: {} bytes", outcome.statistics.peak_bytes);
    }
}
