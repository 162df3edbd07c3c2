//! Records of unknown length in lanes: stacks that the lanes of a strip share.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, i64s, numbers};
use crate::agreement::lanes::{SIZES, with_lanes};
use cotan_ir::{CheckKind, parse_function};
use cotan_llvm::CompileOptions;
use cotan_ops::Registry;
use cotan_runtime::{CallOptions, RuntimeError};

/// A program whose strips keep records in stacks.
fn with_stacks(text: &str) -> Program {
    let nest = CompileOptions::default().nest(&parse_function(text, Registry::standard()).unwrap()).to_string();
    let strips = nest.split("else {").next().and_then(|nest| nest.split_once("lanes("));
    assert!(strips.is_some_and(|(_, strip)| strip.contains(" stack ")), "no strip has a stack:\n{nest}");
    Program::new(text)
}

/// Runs a function of a vector, which records in stacks, at every size.
fn agree_on_vectors(text: &str) {
    let program = with_stacks(text);
    for n in SIZES {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n))]);
    }
}

/// The steps of a `while`, from the last one back.
const BACK: &str = "fn f(n: i64, x: f64[n]) {
  y: ELEM[n], trips: i64[n] = par i < n (stack, stack) {
    a: f64 = x[i]
    a1: f64 = abs a
    some: bool = gt a1, 0.5
    k: i64, go: bool, r: f64, seen: ELEM[k] record value = while j (g: bool = some, r1: f64 = a1) {
      r2: f64 = mul r1, 0.75
      g2: bool = gt r2, 0.5
      kept: ELEM = KEPT
      yield g2, r2, kept
    }
    last: i64 = sub k, 1
    s: ELEM = loop d < k (s1: ELEM = START) {
      back: i64 = sub last, d
      e: ELEM = seen[back]
      s2: ELEM = STEP
      yield s2
    }
    yield s, k
  }
  return y, trips
}";

#[test]
fn what_a_while_records_is_read_from_its_end() {
    for (elem, kept, start, step) in [
        ("f64", "add r1, r2", "0.25", "fma s1, 0.5, e"),
        ("i64", "mul j, 3", "7", "sub e, s1"),
        ("bool", "lt r2, 0.9", "false", "ne e, s1"),
    ] {
        let parts = [("ELEM", elem), ("KEPT", kept), ("START", start), ("STEP", step)];
        let text = parts.iter().fold(BACK.to_owned(), |text, (name, part)| text.replace(name, part));
        agree_on_vectors(&text);
    }
}

#[test]
fn a_record_of_a_loop_inside_is_a_log_of_the_loop_around() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             m: i64 = rem i, 4
             total: i64, r: f64, log: f64[total] = loop o < m (at: i64 = 0, r1: f64 = a) acc (l: f64[0] log) {
               some: bool = lt o, i
               at1: i64, go: bool, r2: f64 = while j (g: bool = some, r3: f64 = r1) {
                 r4: f64 = mul r3, 0.5
                 p: i64 = add at, j
                 acc_add l[p] = r4
                 size: f64 = abs r4
                 g2: bool = gt size, 0.25
                 yield g2, r4
               }
               at2: i64 = add at, at1
               r5: f64 = add r2, 1.0
               yield at2, r5
             }
             last: i64 = sub total, 1
             s: f64 = loop d < total (s1: f64 = r) {
               back: i64 = sub last, d
               e: f64 = log[back]
               s2: f64 = fma s1, 0.5, e
               yield s2
             }
             yield s
           }
           return y
         }",
    );
}

#[test]
fn a_record_may_have_arrays_as_elements_and_a_loop_inside_another_record() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             start: f64[3] = fill a
             some: bool = gt a, -0.5
             k: i64, go: bool, u: f64[3], seen: f64[k, 3] record value = while j (g: bool = some, v: f64[3] = start) {
               c: i64 = rem j, 3
               e: f64 = v[c]
               m: i64, go1: bool, w: f64, inner: f64[m] record value = while l (g1: bool = true, w1: f64 = e) {
                 w2: f64 = mul w1, 0.5
                 size: f64 = abs w2
                 more: bool = gt size, 0.3
                 yield more, w2, w1
               }
               p: i64 = sub m, 1
               f: f64 = inner[p]
               w3: f64 = fma f, 0.5, w
               v1: f64[3] = update v[c] = w3
               j1: i64 = add j, 1
               q: i64 = rem i, 7
               g3: bool = lt j1, q
               yield g3, v1, v
             }
             last: i64 = sub k, 1
             s: f64 = loop d < k (s1: f64 = 0.5) {
               back: i64 = sub last, d
               column: i64 = rem d, 3
               h: f64 = seen[back, column]
               s2: f64 = fma s1, 0.5, h
               yield s2
             }
             yield s
           }
           return y
         }",
    );
}

#[test]
fn the_lanes_of_an_arm_push_where_they_are() {
    agree_on_vectors(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             m: i64 = rem i, 6
             total: i64, log: f64[total] = loop o < m (at: i64 = 0) acc (l: f64[0] log) {
               t: i64 = add o, i
               third: i64 = rem t, 3
               pushes: bool = eq third, 0
               at2: i64 = switch pushes {
                 yield at
               } {
                 b: f64 = to_f64 o
                 c: f64 = mul a, b
                 acc_add l[at] = c
                 at1: i64 = add at, 1
                 yield at1
               }
               yield at2
             }
             s: f64 = loop d < total (s1: f64 = 0.5) {
               e: f64 = log[d]
               s2: f64 = fma s1, 0.5, e
               yield s2
             }
             yield s
           }
           return y
         }",
    );
}

#[test]
fn a_lane_that_fails_while_others_record_ends_the_call() {
    let program = with_stacks(
        "fn f(n: i64, x: f64[n], m: i64) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             k: i64, go: bool, r: f64, seen: f64[k] record value = while j (g: bool = true, r1: f64 = a) {
               t: i64 = add i, j
               ok: bool = in_range t, m
               t1: i64 = check ok R0001(t, m) t @0:10..12
               e: f64 = to_f64 t1
               r2: f64 = fma r1, 0.5, e
               j1: i64 = add j, 1
               q: i64 = rem i, 5
               g2: bool = lt j1, q
               yield g2, r2, r1
             }
             last: i64 = sub k, 1
             b: f64 = seen[last]
             c: f64 = add b, r
             yield c
           }
           return y
         }",
    );
    for n in [1, 9, 40, 70] {
        let run = |m: usize| [i64_of(n as i64), f64s(&numbers(n)), i64_of(m as i64)];
        program.agree(&run(n + 5));
        let found = program.fail(&run(n / 2));
        let is_range = |kind: CheckKind| kind.code() == "R0001";
        assert!(matches!(found, RuntimeError::Check { kind, .. } if is_range(kind)), "{found:?}");
    }
}

#[test]
fn the_bytes_of_records_are_those_of_one_iteration() {
    // The first record is long where the second is short: no iteration has more than 10 elements.
    let program = with_stacks(
        "fn f(n: i64, x: f64) {
           y: f64[n] = par i < n (stack) {
             m: i64 = rem i, 10
             k: i64, go: bool, r: f64, seen: f64[k] record value = while j (g: bool = true, r1: f64 = x) {
               r2: f64 = mul r1, 0.5
               g2: bool = lt j, m
               yield g2, r2, r1
             }
             m2: i64 = sub 7, m
             some: bool = ge m2, 0
             k2: i64, go2: bool, s: f64, seen2: f64[k2] record value = while l (h: bool = some, s1: f64 = r) {
               s2: f64 = mul s1, 0.5
               h2: bool = lt l, m2
               yield h2, s2, s1
             }
             p: i64 = sub k, 1
             a: f64 = seen[p]
             b: f64 = add a, s
             yield b
           }
           return y
         }",
    );
    for (n, most) in [(1, 9), (32, 10), (500, 10)] {
        for f in program.on_all_threads() {
            let found = f.call_with(&[i64_of(n), f64_of(0.3)], &CallOptions::default()).unwrap();
            assert_eq!(found.statistics.record_bytes, 8 * most, "{n}");
        }
        program.agree(&[i64_of(n), f64_of(0.3)]);
    }
}

#[test]
fn a_parallel_loop_writes_into_the_record_of_the_loop_around() {
    let program = with_lanes(
        "fn f(n: i64, x: f64[n], m: i64, at: i64[m]) {
           k: i64, go: bool, u: f64[n], seen: f64[k, n] record value = while j (g: bool = true, v: f64[n] = x) {
             w: f64[n] = par i < n (stack) {
               a: f64 = v[i]
               b: f64 = mul a, 0.5
               yield b
             }
             j1: i64 = add j, 1
             g2: bool = lt j1, m
             yield g2, w, w
           }
           y: f64[m, n] = par s < m (stack) {
             p: i64 = at[s]
             row: f64[n] = seen[p]
             yield row
           }
           return u, y
         }",
    );
    for n in SIZES {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n)), i64_of(3), i64s(&[2, 0, 1])]);
    }
}

#[test]
fn a_record_whose_length_each_iteration_knows_is_one_of_all_lanes() {
    let text = "fn f(n: i64, x: f64[n], m: i64[n]) {
        y: f64[n] = par i < n (stack) {
          a: f64 = x[i]
          k: i64 = m[i]
          r: f64, seen: f64[k] record value, rows: f64[k, 2] record value = loop j < k (r1: f64 = a) {
            b: f64 = to_f64 j
            r2: f64 = fma r1, 0.5, b
            row: f64[2] = fill r2
            yield r2, r1, row
          }
          last: i64 = sub k, 1
          s: f64 = loop d < k (s1: f64 = r) {
            back: i64 = sub last, d
            e: f64 = seen[back]
            h: f64 = rows[d, 1]
            s2: f64 = fma s1, 0.5, e
            s3: f64 = add s2, h
            yield s3
          }
          yield s
        }
        return y
      }";
    let program = with_stacks(text);
    for n in SIZES {
        let lengths: Vec<i64> = (0..n as i64).map(|i| 7 * i % 11).collect();
        let args = [i64_of(n as i64), f64s(&numbers(n)), i64s(&lengths)];
        program.agree(&args);
        let most = lengths.iter().fold(0, |most, k| most.max(*k));
        for f in program.on_all_threads() {
            let found = f.call_with(&args, &CallOptions::default()).unwrap();
            assert_eq!(found.statistics.record_bytes, 24 * most);
        }
    }
    let limited = CallOptions { max_bytes: 1 << 20, ..CallOptions::default() };
    for too_many in [1 << 20, 1 << 61, i64::MAX] {
        let found = program.on_one_thread().call_with(&[i64_of(9), f64s(&[0.5; 9]), i64s(&[too_many; 9])], &limited);
        assert!(matches!(found, Err(RuntimeError::OutOfMemory(_))), "{found:?}");
    }
}
