//! Checkpointing: how often iterations are repeated, and how much is alive at one time.

use crate::oracle;

use cotan_interp::{Limits as RunLimits, Options, run_counted};
use cotan_ir::Mode;
use cotan_ops::Value;
use oracle::{derive, float_results, gradient, int, length_values, map, module, scalar, vector};

/// `n` iterations of so many squares each, one of the other. They are cheap: nobody keeps them.
fn recurrence(squares: usize, checkpoint: &str) -> String {
    let chain: String = (0..squares).map(|k| format!("    y{}: f64 = mul y{k}, y{k}\n", k + 1)).collect();
    format!(
        "fn f(x: f64, n: i64) {{\n  r: f64 = loop i < n (y0: f64 = x){checkpoint} {{\n{chain}    yield y{squares}\n  }}\n  return r\n}}\n"
    )
}

/// The primitives that the gradient of a recurrence evaluates.
fn primitives(squares: usize, checkpoint: &str, n: i64) -> u64 {
    let args = [scalar(0.999), int(n)];
    gradient(&mut module(&recurrence(squares, checkpoint)), "f", &args).1.primitives
}

/// How many iterations a scheme adds to those of the gradient that keeps everything. What else it computes does not
/// depend on what an iteration does, so it cancels in the difference of two of them.
fn run_again(checkpoint: &str, n: i64) -> u64 {
    let added = |squares| primitives(squares, checkpoint, n) - primitives(squares, "", n);
    added(3) - added(2)
}

/// The least number of iterations to be run for the reversal of `n`, by trying every distance, where the first state is
/// held and there is room for `free` more.
fn least(n: usize, free: usize) -> u64 {
    let mut table = vec![vec![0u64; n + 1]; free + 1];
    for f in 0..=free {
        for n in 2..=n {
            let alone = (n * (n - 1) / 2) as u64;
            let split = |m: usize| m as u64 + table[f - 1][n - m] + table[f][m];
            table[f][n] = if f == 0 { alone } else { (1..n).map(split).min().unwrap_or(alone) };
        }
    }
    table[free][n]
}

#[test]
fn a_budget_of_the_least_number_of_states_runs_no_iteration_more_often_than_needed() {
    // Four states, and segments of one iteration, which is run once more when it is reversed.
    for n in [1, 2, 3, 4, 5, 10, 35, 36, 70, 90] {
        assert_eq!(run_again(" checkpoint budget 16", n), least(n as usize, 3) + n as u64, "{n} iterations");
    }
}

#[test]
fn a_budget_is_spent_on_states_and_on_segments() {
    // Half of the bytes hold eight numbers, the other half four numbers with their iterations.
    for segments in [9, 16, 40] {
        let n = 8 * segments;
        let expected = 8 * least(segments as usize, 3) + n as u64;
        assert_eq!(run_again(" checkpoint budget 128", n), expected, "{segments} segments");
    }
    // Seventeen states of sixteen bytes, forty numbers, and a sixteenth for alignment.
    assert_eq!(run_again(" checkpoint budget 640", 4000), 40 * least(100, 16) + 4000);
}

#[test]
fn a_budget_that_holds_everything_runs_the_loop_once_more() {
    assert_eq!(run_again(" checkpoint budget 1000000", 1000), 1000);
}

#[test]
fn levels_run_the_loop_once_more_for_each_level_but_one() {
    assert_eq!(run_again(" checkpoint sqrt", 1000), 1000);
    assert_eq!(run_again(" checkpoint every 10", 1000), 1000);
    assert_eq!(run_again(" checkpoint levels 1", 1000), 0);
    assert_eq!(run_again(" checkpoint levels 2", 1000), 1000);
    assert_eq!(run_again(" checkpoint levels 3", 1000), 2000);
}

/// The bytes that the gradient has alive at one time, at 8 a number whatever its type, to the next 8.
fn peak(text: &str, args: &[Value]) -> u64 {
    let mut module = module(text);
    let results = oracle::run(&module, "f", args);
    let f = module.function("f").expect("a function").clone();
    let vjp = derive(&mut module, "f", Mode::Vjp);
    let ones = float_results(&f).into_iter().map(|k| map(&results[k], |_| 1.0));
    let args: Vec<Value> = args.iter().cloned().chain(length_values(&module, "f", &results)).chain(ones).collect();
    let runs_within = |bytes: u64| {
        let limits = RunLimits { bytes, ..RunLimits::default() };
        run_counted(&module, &vjp.name, &args, &Options { limits, ..Options::default() }).is_ok()
    };
    let (mut too_few, mut enough) = (0, 1 << 18);
    assert!(runs_within(enough));
    while enough - too_few > 8 {
        let middle = (too_few + enough) / 2;
        *(if runs_within(middle) { &mut enough } else { &mut too_few }) = middle;
    }
    enough
}

/// What a gradient of the functions below needs besides records: arguments, results, the state in hand.
const REST: u64 = 600;

#[test]
fn the_records_of_a_counted_loop_hold_the_budget() {
    let args = [scalar(0.7), int(2000)];
    let everything = peak(&recurrence(1, ""), &args);
    assert!(everything >= 2 * 8000, "{everything}");
    for bytes in [200, 1000, 5000] {
        let found = peak(&recurrence(1, &format!(" checkpoint budget {bytes}")), &args);
        assert!(found <= bytes + REST, "{bytes} bytes: {found}");
    }
}

#[test]
fn the_records_of_a_while_hold_the_budget() {
    let text = |checkpoint: &str| {
        format!(
            "
fn f(x: f64, n: i64) {{
  any: bool = lt 0, n
  k: i64, r: bool, a: f64, b: f64 = while i (more: bool = any, p: f64 = x, q: f64 = 1.0){checkpoint} {{
    s: f64 = sin p
    c: f64 = mul q, s
    d: f64 = add c, 0.5
    j: i64 = add i, 1
    go: bool = lt j, n
    yield go, d, s
  }}
  return a
}}
"
        )
    };
    let args = [scalar(0.7), int(1500)];
    assert!(peak(&text(""), &args) >= 24_000);
    for bytes in [400, 3000] {
        let found = peak(&text(&format!(" checkpoint budget {bytes}")), &args);
        assert!(found <= bytes + REST, "{bytes} bytes: {found}");
    }
    // Segments of one, two, three and so on: the number of states and the longest segment are the root of twice the trips.
    let found = peak(&text(" checkpoint sqrt"), &args);
    assert!(found <= 55 * 4 * 8 + 55 * 2 * 8 + REST, "{found}");
}

#[test]
fn an_array_that_nobody_reads_is_no_part_of_a_state() {
    let text = |checkpoint: &str| {
        format!(
            "
fn f(x: f64, n: i64, out: f64[n]) {{
  r: f64, path: f64[n] = loop i < n (p: f64 = x, o: f64[n] = out){checkpoint} {{
    s: f64 = sin p
    t: f64[n] = update o[i] = s
    yield s, t
  }}
  return path
}}
"
        )
    };
    let n = 1000;
    let args = [scalar(0.7), int(n), vector(&vec![0.0; n as usize])];
    let everything = peak(&text(""), &args);
    let found = peak(&text(" checkpoint budget 800"), &args);
    assert!(found + 8 * n as u64 <= everything + 800 + REST, "{found} of {everything}");
}

#[test]
fn an_array_rewritten_by_an_inner_loop_is_kept_per_segment_and_not_logged() {
    let text = |checkpoint: &str| {
        format!(
            "
fn f(x: f64[20], n: i64) {{
  r: f64[20] = loop i < n (a: f64[20] = x){checkpoint} {{
    next: f64[20] = loop j < 20 (b: f64[20] = a) {{
      e: f64 = b[j]
      s: f64 = sin e
      c: f64[20] = update b[j] = s
      yield c
    }}
    yield next
  }}
  return r
}}
"
        )
    };
    let args = [vector(&[0.3; 20]), int(100)];
    let everything = peak(&text(""), &args);
    // Ten states of segments, and the log of one: old values, places. (The interpreter has it twice for a moment.)
    let root = peak(&text(" checkpoint sqrt"), &args);
    let budget = peak(&text(" checkpoint budget 4000"), &args);
    // Without checkpoints the nest is one loop, which records the element that each iteration reads.
    assert!(everything >= 100 * 20 * 8, "{everything}");
    assert!(root <= 10 * 160 + 2 * 10 * 320 + 3 * REST, "{root}");
    assert!(budget <= 4000 + 2 * 320 + 3 * REST, "{budget}");
}
