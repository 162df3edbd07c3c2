//! The memory of calls: what they hold at most, that a repeated call takes nothing anew, and the errors at the limit.

use crate::agreement::harness::{Program, f64s, i64_of, numbers};
use cotan_ir::{AllocationSite, OutOfMemory, Span};
use cotan_ops::Value;
use cotan_runtime::{CallOptions, CompiledFunction, RuntimeError, Statistics};

/// What is held grows by so many bytes at a time.
const CHUNK: usize = 64 << 10;

fn limited(max_bytes: usize) -> CallOptions {
    CallOptions { max_bytes, ..CallOptions::default() }
}

fn statistics(f: &CompiledFunction, args: &[Value]) -> Statistics {
    f.call_with(args, &CallOptions::default()).unwrap().statistics
}

fn out_of_memory(f: &CompiledFunction, args: &[Value], options: &CallOptions) -> OutOfMemory {
    match f.call_with(args, options) {
        Err(RuntimeError::OutOfMemory(error)) => error,
        other => panic!("expected to run out of memory, found {other:?}"),
    }
}

fn site(name: &str, span: Span, is_record: bool) -> Option<AllocationSite> {
    Some(AllocationSite { name: name.into(), span, is_record })
}

// ---- errors

const LARGE: &str = "fn f(n: i64, m: i64) {
  s: f64 = par i < n (add from 0.0) @0:1..50 {
    z: f64[m, m] = fill 1.0 @0:30..40
    a: f64 = z[0, 0]
    yield a
  }
  return s
}";

#[test]
fn a_tensor_without_room_is_an_error_that_names_it() {
    let f = Program::new(LARGE);
    let f = f.on_one_thread();
    let z = site("z", Span::new(0, 30, 40), false);
    let error = out_of_memory(f, &[i64_of(1), i64_of(1000)], &limited(1 << 20));
    assert_eq!((error.wanted, error.limit, &error.site), (8_000_000, Some(1 << 20), &z));
    let error = out_of_memory(f, &[i64_of(1), i64_of(1 << 40)], &CallOptions::default());
    assert_eq!((error.wanted, &error.site), (i64::MAX as u64, &z));
    let outcome = f.call_with(&[i64_of(1), i64_of(10)], &limited(1 << 20)).unwrap();
    assert_eq!(outcome.values, [Value::f64s(&[], &[1.0])]);
}

#[test]
fn a_result_without_room_is_an_error() {
    let program = Program::new(
        "fn f(n: i64) {
           y: f64[n] = fill 1.0
           return y
         }",
    );
    let f = program.on_one_thread();
    let y = site("y", Span::NONE, false);
    for (n, options, wanted) in [
        (1 << 58, CallOptions::default(), 1 << 61),
        (i64::MAX, CallOptions::default(), i64::MAX as u64),
        (1000, limited(100), 8000),
    ] {
        let error = out_of_memory(f, &[i64_of(n)], &options);
        assert_eq!((error.wanted, &error.site), (wanted, &y));
    }
    assert_eq!(f.call(&[i64_of(2)]), Ok(vec![f64s(&[1.0, 1.0])]));
}

/// Records one element per iteration, in a while and in a counted loop.
const RECORDS: &str = "fn f(n: i64, m: i64) {
  k: i64, go: bool, seen: i64[k] record value = while j (on: bool = true) @0:10..20 {
    i: i64 = add j, 1
    more: bool = lt i, n
    yield more, j
  }
  s: i64, old: i64[m] record value = loop l < m (a: i64 = 1) @0:30..40 {
    b: i64 = add a, l
    yield b, a
  }
  x: i64 = seen[0]
  p: i64 = sub m, 1
  q: i64 = max p, 0
  none: bool = lt p, 0
  y: i64 = switch none {
    yield 0
  } {
    z: i64 = old[q]
    yield z
  }
  return k, s, x, y
}";

#[test]
fn a_record_without_room_is_an_error_that_names_its_loop() {
    let program = Program::new(RECORDS);
    for f in program.on_all_threads() {
        let error = out_of_memory(f, &[i64_of(i64::MAX), i64_of(0)], &limited(1 << 20));
        assert_eq!(error.site, site("seen", Span::new(0, 10, 20), true));
        assert_eq!(error.limit, Some(1 << 20));
        assert!((1 << 20) - 64 * 1024 < error.wanted && error.wanted <= (1 << 20) + 8, "{error}");
        let error = out_of_memory(f, &[i64_of(1), i64_of(1 << 40)], &limited(1 << 20));
        assert_eq!(error.site, site("old", Span::new(0, 30, 40), true));
        assert_eq!(error.wanted, 1 << 43);
    }
}

#[test]
fn the_error_comes_within_a_chunk_of_the_limit() {
    let program = Program::new(RECORDS);
    let limit = 1 << 20;
    let elements = |bytes: usize| i64_of(bytes as i64 / 8);
    for f in program.on_all_threads() {
        for args in [|n| [n, i64_of(0)], |n| [i64_of(1), n]] {
            f.call_with(&args(elements(limit - CHUNK)), &limited(limit)).unwrap();
            out_of_memory(f, &args(elements(limit + CHUNK)), &limited(limit));
            // What the failed call has left is no hindrance.
            f.call_with(&args(elements(limit - CHUNK)), &limited(limit)).unwrap();
        }
    }
}

// ---- what is held

#[test]
fn memory_of_an_iteration_is_used_again() {
    let program = Program::new(LARGE);
    // Arrays of all lanes are there at a time, so 32 of them.
    let outcome = program.on_one_thread().call_with(&[i64_of(10_000), i64_of(100)], &limited(1 << 22)).unwrap();
    assert_eq!(outcome.values, [Value::f64s(&[], &[10_000.0])]);
}

#[test]
fn a_call_holds_its_records_and_at_most_a_chunk_more_for_each() {
    let program = Program::new(RECORDS);
    for n in [100_000, 1_000_000] {
        let held = statistics(program.on_one_thread(), &[i64_of(n), i64_of(n)]).peak_bytes;
        let records = 16 * n as usize;
        assert!(records <= held && held < records + 3 * CHUNK, "{held} bytes were held for {records}");
    }
}

#[test]
fn a_call_of_equal_sizes_takes_nothing_from_the_machine() {
    let nested = Program::new(
        "fn f(n: i64, m: i64) {
           s: i64 = loop o < n (sum: i64 = 0) {
             w: i64[m] = fill o
             k: i64, go: bool, seen: i64[k] record value = while j (on: bool = true) {
               i: i64 = add j, 1
               more: bool = lt i, m
               e: i64 = w[j]
               yield more, e
             }
             x: i64 = seen[o]
             t: i64 = add sum, x
             yield t
           }
           return s
         }",
    );
    let sizes = [i64_of(20), i64_of(50_000)];
    assert_eq!(nested.agree(&sizes), [i64_of(190)]);
    for program in [nested, Program::new(RECORDS)] {
        for f in program.on_all_threads() {
            let first = statistics(f, &sizes);
            let second = statistics(f, &sizes);
            assert_eq!((second.allocations, second.peak_bytes), (0, first.peak_bytes));
        }
    }
}

#[test]
fn iterations_of_a_parallel_loop_share_the_memory_of_their_thread() {
    let program = Program::new(
        "fn f(n: i64, m: i64) {
           y: i64[n] = par o < n (stack) {
             e: i64 = rem o, 50
             k: i64, go: bool, seen: i64[k] record value = while j (on: bool = true) {
               more: bool = lt j, e
               yield more, j
             }
             x: i64 = seen[e]
             yield x
           }
           return y
         }",
    );
    let n = 100_000;
    for (f, threads) in program.on_all_threads().iter().zip([1, 2, 4]) {
        let found = f.call_with(&[i64_of(n), i64_of(0)], &CallOptions::default()).unwrap();
        assert_eq!(found.statistics.record_bytes, 50 * 8);
        let held = found.statistics.peak_bytes;
        assert!(held <= threads * (16 << 10), "{held} bytes were held by {threads} threads");
        assert_eq!(found.values, [Value::i64s(&[n], &(0..n).map(|o| o % 50).collect::<Vec<_>>())]);
    }
}

#[test]
fn records_that_are_alive_at_once_are_counted() {
    let program = Program::new(RECORDS);
    for f in program.on_all_threads() {
        assert_eq!(statistics(f, &[i64_of(10), i64_of(12)]).record_bytes, 8 * 10 + 8 * 12);
    }
    let nested = Program::new(
        "fn f(n: i64, m: i64) {
           s: i64, outer: i64[n] record value = loop o < n (sum: i64 = 0) {
             r: i64, inner: i64[m] record value = loop j < m (a: i64 = o) {
               b: i64 = add a, j
               yield b, a
             }
             u: i64, few: i64[3] record value = loop l < 3 (c: i64 = o) {
               d: i64 = add c, l
               yield d, c
             }
             x: i64 = inner[0]
             y: i64 = few[0]
             z: i64 = add x, y
             t: i64 = add sum, z
             yield t, sum
           }
           e: i64 = outer[0]
           return s, e
         }",
    );
    for f in nested.on_all_threads() {
        assert_eq!(statistics(f, &[i64_of(10), i64_of(12)]).record_bytes, 8 * 10 + 8 * 12 + 8 * 3);
    }
}

#[test]
fn runs_before_the_one_that_is_told_leave_warm_memory_and_nothing_else() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], bad: bool) {
           y: f64[n] = reverse x {0}
           e: f64 = y[0]
           token: i64 = print 0, e {62}
           fine: bool = not bad
           z: f64[n] = check fine R0009() y @0:1..2
           again: f64[n] = reverse z {0}
           u: f64[n] = update again[0] = 0.5
           return u, token
         }",
    );
    for f in program.on_all_threads() {
        for warm_ups in [0, 1, 5] {
            let call = |bad: bool, x: &[f64], warm_ups: u32| {
                let args = [i64_of(x.len() as i64), f64s(x), cotan_ir::Const::bool(bad).into()];
                let mut output = String::new();
                let options = CallOptions { warm_ups, ..CallOptions::default() };
                (f.call_with_output(&args, &options, &mut |text| output += text), output)
            };
            // Larger than before, so that nothing is warm yet.
            let n = 1000 << warm_ups;
            let x = numbers(n);
            let (outcome, output) = call(false, &x, warm_ups);
            let outcome = outcome.unwrap();
            let expected = [&[0.5], &x[1..]].concat();
            assert_eq!((&outcome.values[0], &output), (&f64s(&expected), &format!(">{:?}", x[n - 1])));
            assert_eq!(outcome.statistics.allocations == 0, warm_ups > 0, "{warm_ups} runs before");
            let (refused, output) = call(true, &x, warm_ups);
            assert!(matches!(refused, Err(RuntimeError::Check { .. })) && output == format!(">{:?}", x[n - 1]));
        }
    }
}
