//! Failing checks: kind, arguments and source text are those of the interpreter; the first failure wins.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, i64s, numbers};
use cotan_ir::{CheckKind, Span};
use cotan_runtime::Watch;
use cotan_runtime::{CallOptions, RuntimeError};
use std::sync::Arc;

#[test]
fn every_kind_reports_its_arguments_and_place() {
    for (k, kind) in CheckKind::ALL.into_iter().enumerate() {
        let program = Program::new(&format!(
            "fn f(p: bool, a: i64, b: i8) {{
               c: i64 = check p {}(a, b, 7) a @3:{k}..{}
               return c
             }}",
            kind.code(),
            k + 5
        ));
        let args = |p: bool| {
            [cotan_ir::Const::bool(p).into(), i64_of(-4), cotan_ir::Const::integer(cotan_ir::Elem::I8, -9).into()]
        };
        program.agree(&args(true));
        let span = Span::new(3, k as u32, k as u32 + 5);
        assert_eq!(program.fail(&args(false)), RuntimeError::Check { kind, args: vec![-4, -9, 7], span });
    }
}

const GATHER: &str = "fn f(n: i64, x: f64[n], k: i64, at: i64[k]) {
  y: f64[k] = par i < k (stack) {
    j: i64 = at[i]
    ok: bool = in_range j, n
    j2: i64 = check ok R0001(j, n) j @0:10..12
    a: f64 = x[j2]
    yield a
  }
  return y
}";

#[test]
fn the_lowest_failing_iteration_wins_on_any_number_of_threads() {
    let program = Program::new(GATHER);
    let k = 200_000usize;
    let mut at: Vec<i64> = (0..k as i64).map(|i| i % 5).collect();
    let args = |at: &[i64]| [i64_of(5), f64s(&numbers(5)), i64_of(k as i64), i64s(at)];
    program.agree(&args(&at));
    for (place, wrong) in [(k - 1, 5), (123_456, -1), (7, 99)] {
        at[place] = wrong;
        let span = Span::new(0, 10, 12);
        let expected = RuntimeError::Check { kind: CheckKind::IndexRange, args: vec![wrong.into(), 5], span };
        assert_eq!(program.fail(&args(&at)), expected);
    }
}

#[test]
fn of_a_sum_without_an_end_the_value_that_fails_is_the_error() {
    // There is no memory for what blocks of so many values give.
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           s: f64 = par i < 9223372036854775806 (add from 0.0) {
             ok: bool = in_range i, n
             j: i64 = check ok R0001(i, n) i @0:10..12
             a: f64 = x[j]
             yield a
           }
           return s
         }",
    );
    let expected = RuntimeError::Check { kind: CheckKind::IndexRange, args: vec![5, 5], span: Span::new(0, 10, 12) };
    assert_eq!(program.fail(&[i64_of(5), f64s(&numbers(5))]), expected);
}

#[test]
fn the_first_lane_that_fails_does_not_wait_for_loops_without_an_end() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             s: f64 = loop k < 4611686018427387904 (a: f64 = 0.0) {
               j: i64 = add i, k
               ok: bool = in_range j, n
               at: i64 = check ok R0001(j, n) j @0:10..12
               b: f64 = x[at]
               c: f64 = add a, b
               yield c
             }
             yield s
           }
           return y
         }",
    );
    let expected = RuntimeError::Check { kind: CheckKind::IndexRange, args: vec![40, 40], span: Span::new(0, 10, 12) };
    assert_eq!(program.fail(&[i64_of(40), f64s(&numbers(40))]), expected);
}

#[test]
fn a_check_in_a_loop_stops_at_its_iteration() {
    let program = Program::new(
        "fn f(n: i64, x: i64[n]) {
           s: i64 = loop i < n (a: i64 = 0) {
             b: i64 = x[i]
             ok: bool = add_fits a, b
             c: i64 = add a, b
             d: i64 = check ok R0003(a, b) c @1:2..3
             nz: bool = ne b, 13
             e: i64 = check nz R0004() d @1:4..5
             yield e
           }
           return s
         }",
    );
    program.agree(&[i64_of(3), i64s(&[1, 2, 3])]);
    program.fail(&[i64_of(3), i64s(&[1, i64::MAX, 13])]);
    program.fail(&[i64_of(3), i64s(&[1, 13, i64::MAX])]);
}

#[test]
fn a_check_names_a_run_time_size() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], m: i64) {
           ok: bool = eq n, m
           y: f64[m] = check ok R0007(n, m) x
           z: f64[m] = par i < m (stack) {
             a: f64 = y[i]
             yield a
           }
           return z
         }",
    );
    program.agree(&[i64_of(2), f64s(&[1.0, 2.0]), i64_of(2)]);
    program.fail(&[i64_of(2), f64s(&[1.0, 2.0]), i64_of(3)]);
}

#[test]
fn a_failing_callee_fails_its_caller() {
    let program = Program::new(
        "fn f(n: i64) {
           a: i64 = call g(n)
           return a
         }
         fn g(n: i64) {
           ok: bool = ge n, 0
           m: i64 = check ok R0008(n) n @0:1..2
           return m
         }",
    );
    program.agree(&[i64_of(2)]);
    program.fail(&[i64_of(-2)]);
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let program = Program::new(GATHER);
    let f = program.on_one_thread();
    let refused = |args: &[cotan_ops::Value]| matches!(f.call(args), Err(RuntimeError::Argument(_)));
    assert!(refused(&[i64_of(5)]));
    assert!(refused(&[i64_of(5), f64s(&numbers(4)), i64_of(0), i64s(&[])]));
    assert!(refused(&[i64_of(5), i64s(&[1, 2, 3, 4, 5]), i64_of(0), i64s(&[])]));
    assert_eq!(f.call(&[i64_of(1), f64s(&[2.0]), i64_of(1), i64s(&[0])]), Ok(vec![f64s(&[2.0])]));
}

#[test]
fn an_endless_loop_can_be_stopped() {
    let program = Program::new(
        "fn f() {
           k: i64, go: bool = while i (on: bool = true) {
             yield true
           }
           return k
         }",
    );
    let watch = Arc::new(Watch::new(Some(1_000_000)));
    let options = CallOptions { watch: Some(watch), ..CallOptions::default() };
    assert_eq!(program.on_one_thread().call_with(&[], &options), Err(RuntimeError::OutOfSteps));
    let watch = Arc::new(Watch::new(None));
    watch.cancel();
    let options = CallOptions { watch: Some(watch), ..CallOptions::default() };
    assert_eq!(program.on_one_thread().call_with(&[], &options), Err(RuntimeError::Cancelled));
}

#[test]
fn an_endless_loop_around_a_loop_without_iterations_can_be_stopped() {
    let program = Program::new(
        "fn f(n: i64) {
           k: i64, go: bool, total: i64 = while i (on: bool = true, before: i64 = 0) {
             after: i64 = loop j < n (sum: i64 = before) {
               more: i64 = add sum, j
               yield more
             }
             yield true, after
           }
           return k, total
         }",
    );
    let stopped_after = |watch: Watch| {
        let options = CallOptions { watch: Some(Arc::new(watch)), ..CallOptions::default() };
        program.on_one_thread().call_with(&[i64_of(0)], &options)
    };
    assert_eq!(stopped_after(Watch::new(Some(1_000_000))), Err(RuntimeError::OutOfSteps));
    let watch = Watch::new(None);
    watch.cancel();
    assert_eq!(stopped_after(watch), Err(RuntimeError::Cancelled));
}

const SUM: &str = "fn f(n: i64) {
  total: i64 = loop i < n (before: i64 = 7) {
    shifted: i64 = xor before, i
    after: i64 = add shifted, 3
    yield after
  }
  return total
}";

#[test]
fn a_loop_without_loops_in_it_can_be_stopped_while_it_runs() {
    let program = Program::new(SUM);
    let watch = Arc::new(Watch::new(None));
    let options = CallOptions { watch: Some(Arc::clone(&watch)), ..CallOptions::default() };
    let stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            watch.cancel();
        });
        program.on_one_thread().call_with(&[i64_of(1 << 50)], &options)
    });
    assert_eq!(stopped, Err(RuntimeError::Cancelled));
}

#[test]
fn a_watched_loop_in_pieces_gives_what_the_whole_one_gives() {
    let program = Program::new(SUM);
    let f = program.on_one_thread();
    // Pieces have some ten thousand iterations.
    for n in [-5, 0, 1, 7, 40_000, 65_536, 200_001, 1_000_000] {
        let watch = Some(Arc::new(Watch::new(None)));
        let options = CallOptions { watch, ..CallOptions::default() };
        let watched = f.call_with(&[i64_of(n)], &options).map(|outcome| outcome.values);
        assert_eq!(watched, f.call(&[i64_of(n)]), "{n}");
    }
}

#[test]
fn loops_poll_unless_they_are_known_to_be_short() {
    let polls = |outer: i64, inner: i64, most: i64| {
        let program = Program::new(&format!(
            "fn f(m: i64) {{
               k: i64 = min m, {most}
               t: f64 = loop i < {outer} (t1: f64 = 1.0) {{
                 t2: f64 = loop j < {inner} (t3: f64 = t1) {{
                   t4: f64 = loop l < k (t5: f64 = t3) {{
                     t6: f64 = mul t5, 0.5
                     yield t6
                   }}
                   yield t4
                 }}
                 yield t2
               }}
               return t
             }}"
        ));
        program.llvm_ir(None).contains("@cotan_poll")
    };
    assert!(!polls(1, 1, 4096));
    assert!(polls(1, 1, 4097));
    assert!(!polls(8, 16, 32));
    assert!(polls(8, 16, 33));
}

#[test]
fn short_loops_take_their_steps_off_the_budget_of_the_loop_around() {
    // Blocks of a reduction, and sums of a few numbers each.
    let program = Program::new(
        "fn f(n: i64, m: i64) {
           s: f64 = par i < n (add from 0.0) {
             a: f64 = to_f64 i
             yield a
           }
           k: i64 = min m, 50
           t: f64 = loop j < n (t1: f64 = s) {
             u: f64 = loop l < k (u1: f64 = t1) {
               u2: f64 = mul u1, 0.5
               yield u2
             }
             yield u
           }
           return t
         }",
    );
    let run = |n: i64, m: i64, steps: i64| {
        let watch = Some(Arc::new(Watch::new(Some(steps))));
        let options = CallOptions { watch, ..CallOptions::default() };
        program.on_one_thread().call_with(&[i64_of(n), i64_of(m)], &options).map(|_| ())
    };
    for (n, m) in [(100_000, 0), (100_000, 20), (5000, 1_000_000)] {
        let n_steps = n * (1 + m.min(50));
        assert_eq!(run(n, m, n_steps), Err(RuntimeError::OutOfSteps), "{n}, {m}");
        assert_eq!(run(n, m, n + n_steps + n_steps / 10), Ok(()), "{n}, {m}");
    }
}

#[test]
fn d7_a_loop_that_ends_before_it_begins_takes_no_steps_and_gives_none_back() {
    let program = Program::new(
        "fn f(n: i64, k: i64) {
           t: f64 = loop i < n (t1: f64 = 1.0) {
             u: f64 = loop j < k (u1: f64 = t1) {
               u2: f64 = mul u1, 0.5
               yield u2
             }
             yield u
           }
           s: f64 = loop l < k (s1: f64 = t) {
             s2: f64 = add s1, 1.0
             yield s2
           }
           return s
         }",
    );
    let run = |n: i64, k: i64, steps: Option<i64>| {
        let options = CallOptions { watch: Some(Arc::new(Watch::new(steps))), ..CallOptions::default() };
        program.on_one_thread().call_with(&[i64_of(n), i64_of(k)], &options).map(|outcome| outcome.values)
    };
    for k in [-1, -1000, -9_000_000_000_000_000_000, i64::MIN] {
        program.agree(&[i64_of(3), i64_of(k)]);
        assert_eq!(run(1000, k, None), Ok(vec![f64_of(1.0)]), "{k}");
        assert_eq!(run(1000, k, Some(10_000)), run(1000, k, None), "{k}");
        assert_eq!(run(100_000, k, Some(10_000)), Err(RuntimeError::OutOfSteps), "{k}");
    }
    // More iterations than can be counted are too many for any budget that they get through.
    assert_eq!(run(1, i64::MAX, Some(1_000_000)), Err(RuntimeError::OutOfSteps));
}

#[test]
fn a_function_is_called_from_several_threads() {
    let program = Program::new(GATHER);
    let f = program.on_one_thread();
    std::thread::scope(|scope| {
        for t in 0..4 {
            scope.spawn(move || {
                for _ in 0..50 {
                    let at = [t % 3, 2 - t % 3];
                    let x = [1.0, 2.0, 3.0];
                    let expected = f64s(&[x[at[0] as usize], x[at[1] as usize]]);
                    assert_eq!(f.call(&[i64_of(3), f64s(&x), i64_of(2), i64s(&at)]), Ok(vec![expected]));
                }
            });
        }
    });
}
