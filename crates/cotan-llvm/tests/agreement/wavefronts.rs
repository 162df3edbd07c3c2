//! Nests of sequential loops on several threads: the bits of the interpreter, however small the pieces are.

use crate::agreement::harness::{Program, f64_of, i64_of, irrational};
use cotan_llvm::TaskSizes;
use cotan_ops::Value;
use cotan_runtime::Watch;
use cotan_runtime::{CallOptions, RuntimeError};

/// One iteration of each loop is a piece, and nothing has lanes instead.
const SMALLEST: TaskSizes = TaskSizes { most_ranges: 1e9, bytes: 1e9, worth: 0.0, ..TaskSizes::SMALLEST };
/// A few of each are.
const SMALL: TaskSizes = TaskSizes { steps_of_task: 300.0, steps_of_range: 60.0, most_ranges: 4.0, ..SMALLEST };
/// There is no memory for what stages hand on.
const TIGHT: TaskSizes = TaskSizes { bytes: 1.0, ..SMALLEST };

/// Down the rows of a matrix, and along each of them.
const SWEEP: &str = "fn f(n: i64, m: i64, start: f64[n, m], x: f64) {
  last: i64 = sub n, 1
  g: f64[n, m], sums: f64[n] = loop down < n (g.1: f64[n, m] = start) {
    i: i64 = sub last, down
    first: f64 = to_f64 i
    sum: f64, g.2: f64[n, m] = loop j < m (s: f64 = first, g.3: f64[n, m] = g.1) {
      old: f64 = g.3[i, j]
      p: f64 = mul old, x
      s.1: f64 = add s, p
      v: f64 = sin s.1
      g.4: f64[n, m] = update g.3[i, j] = v
      yield s.1, g.4
    }
    yield g.2, sum
  }
  return g, sums
}";

/// The program in pieces of all sizes, as a wavefront.
fn programs(text: &str) -> Vec<Program> {
    let programs = in_pieces(text);
    for program in &programs {
        assert!(program.llvm_ir(None).contains("@cotan_wavefront"), "{text}");
    }
    programs
}

/// The program in pieces of all sizes, and as it is usual.
fn in_pieces(text: &str) -> Vec<Program> {
    let programs = [SMALLEST, SMALL, TIGHT].map(|tasks| Program::in_tasks(text, tasks));
    programs.into_iter().chain([Program::new(text)]).collect()
}

#[test]
fn layers_over_time() {
    let programs = programs(
        "fn f(T: i64, L: i64, B: i64, x: f64[T, B], w: f64[L, B], h0: f64[L, B], from: i64) {
           h: f64[L, B], total: f64, sums: f64[T] = loop t < T (h.1: f64[L, B] = h0, total.1: f64 = 0.5) {
             row: f64[B] = x[t]
             m: i64 = add t, from
             scale: f64 = to_f64 m
             half: f64 = mul scale, 0.125
             start: f64[B] = sin row
             y: f64[B], h.2: f64[L, B] = loop l < L (y.1: f64[B] = start, h.3: f64[L, B] = h.1) {
               hr: f64[B] = h.3[l]
               wr: f64[B] = w[l]
               a: f64[B] = par k < B (stack) {
                 ye: f64 = y.1[k]
                 we: f64 = wr[k]
                 he: f64 = hr[k]
                 p: f64 = mul ye, we
                 q: f64 = add p, he
                 r: f64 = add q, half
                 z: f64 = tanh r
                 yield z
               }
               h.4: f64[L, B] = update h.3[l] = a
               yield a, h.4
             }
             s: f64 = par e < B (add from 0.0) {
               ye.1: f64 = y[e]
               o: f64 = row[e]
               p.1: f64 = mul ye.1, o
               yield p.1
             }
             d: f64 = mul s, half
             total.2: f64 = add total.1, d
             yield h.2, total.2, s
           }
           return h, total, sums
         }",
    );
    for program in &programs {
        for [t, l, b] in [[0, 3, 2], [1, 1, 1], [40, 3, 5], [7, 9, 2], [90, 2, 0], [11, 0, 3], [300, 5, 17]] {
            let array = |dims: &[i64]| Value::f64s(dims, &irrational(dims.iter().product::<i64>() as usize));
            let sizes = [t, l, b].map(i64_of);
            let [t, l, b] = [t, l, b];
            let arrays = [array(&[t, b]), array(&[l, b]), array(&[l, b]), i64_of(3)];
            program.agree(&[sizes.as_slice(), &arrays].concat());
        }
    }
}

#[test]
fn a_table_of_distances() {
    // Usually it has lanes.
    let programs = in_pieces(
        "fn f(n: i64, m: i64, a: f64[n], b: f64[m], n1: i64, m1: i64, start: f64[n1, m1]) {
           rows: i64 = sub n1, 1
           columns: i64 = sub m1, 1
           d: f64[n1, m1] = loop i < rows (d.1: f64[n1, m1] = start) {
             u: f64 = a[i]
             i.1: i64 = add i, 1
             d.2: f64[n1, m1] = loop j < columns (d.3: f64[n1, m1] = d.1) {
               v: f64 = b[j]
               j.1: i64 = add j, 1
               above: f64 = d.3[i, j.1]
               left: f64 = d.3[i.1, j]
               across: f64 = d.3[i, j]
               step: f64 = sub u, v
               cost: f64 = abs step
               one: f64 = min above, left
               best: f64 = min one, across
               next: f64 = add best, cost
               d.4: f64[n1, m1] = update d.3[i.1, j.1] = next
               yield d.4
             }
             yield d.2
           }
           return d
         }",
    );
    for program in &programs {
        for [n, m] in [[0, 0], [1, 1], [5, 3], [2, 40], [64, 50], [200, 170]] {
            let (a, b) = (irrational(n as usize), irrational(m as usize));
            let start = Value::f64s(&[n + 1, m + 1], &irrational(((n + 1) * (m + 1)) as usize));
            let args = [i64_of(n), i64_of(m), Value::f64s(&[n], &a), Value::f64s(&[m], &b)];
            program.agree(&[args.as_slice(), &[i64_of(n + 1), i64_of(m + 1), start]].concat());
        }
    }
}

#[test]
fn a_sweep_that_runs_down_with_sums_that_each_row_carries() {
    let programs = programs(SWEEP);
    for program in &programs {
        for [n, m] in [[0, 4], [1, 1], [9, 30], [50, 41]] {
            let start = Value::f64s(&[n, m], &irrational((n * m) as usize));
            program.agree(&[i64_of(n), i64_of(m), start, f64_of(0.7)]);
        }
    }
}

/// Two products, each with a sequential loop: what the first one gives lies in memory of the iteration, and is read behind
/// the second one. Found by random programs: it was read again there, where nobody had written it.
const TWO_PRODUCTS: &str = "fn f(n: i64, d: i64, x: f64, y: f64, a: f64[n], m: f64[n, d]) {
  s: f64, last: f64 = loop k < d (s.1: f64 = x, last.1: f64 = y) {
    e: f64[n], h: f64[n] = par i < n (stack, stack) {
      v: f64 = m[i, k]
      yield v, 0.5
    }
    p: f64 = matmul e, a {0}
    q: f64 = matmul h, a {1}
    yield p, s.1
  }
  return s, last
}";

#[test]
fn what_one_part_makes_in_memory_of_its_own_is_not_read_again_in_another() {
    for program in programs(TWO_PRODUCTS) {
        for [n, d] in [[4, 2], [4, 3], [700, 5], [1, 1], [0, 2]] {
            let [a, m] = [&[n][..], &[n, d][..]]
                .map(|dims| Value::f64s(dims, &irrational(dims.iter().product::<i64>() as usize)));
            program.agree(&[i64_of(n), i64_of(d), f64_of(0.3), f64_of(-0.4), a, m]);
        }
    }
}

/// The count of an inner loop depends on the number of the iteration. Found by random programs: the estimate of its work was
/// taken in front of the loop, where there is no such number.
const COUNTED_ANEW: &str = "fn f(n: i64, d: i64, x: f64, a: f64[n]) {
  s: f64, all: f64[d] = loop k < d (s.1: f64 = x) {
    byte: u8 = to_u8 k
    rest: u8 = rem byte, 3_u8
    wide: i64 = to_i64 rest
    count: i64 = max wide, 0
    state: f64[n] = loop i < count (state.1: f64[n] = a) {
      state.2: f64[n] = sin state.1
      yield state.2
    }
    sum: f64 = par j < n (add from 0.0) {
      e: f64 = state[j]
      yield e
    }
    most: f64 = max sum, x
    yield most, most
  }
  return s, all
}";

#[test]
fn the_work_of_a_part_may_depend_on_the_number_of_the_iteration() {
    for program in programs(COUNTED_ANEW) {
        for [n, d] in [[4, 2], [3, 7], [5_000, 4], [1, 1], [0, 2]] {
            let a = Value::f64s(&[n], &irrational(n as usize));
            program.agree(&[i64_of(n), i64_of(d), f64_of(0.3), a]);
        }
    }
}

#[test]
fn a_wavefront_can_be_stopped() {
    let [n, m] = [400, 300];
    let start = Value::f64s(&[n, m], &irrational((n * m) as usize));
    let args = [i64_of(n), i64_of(m), start, f64_of(0.7)];
    for program in programs(SWEEP) {
        for f in program.on_all_threads() {
            let call = |watch: Watch| {
                let options = CallOptions { watch: Some(watch.into()), ..CallOptions::default() };
                f.call_with(&args, &options).map(drop)
            };
            assert_eq!(call(Watch::new(Some(1000))), Err(RuntimeError::OutOfSteps));
            assert_eq!(call(Watch::new(Some(1 << 40))), Ok(()));
            let watch = Watch::new(None);
            watch.cancel();
            assert_eq!(call(watch), Err(RuntimeError::Cancelled));
        }
    }
}
