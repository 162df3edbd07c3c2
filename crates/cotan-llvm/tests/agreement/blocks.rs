//! Reductions that fill blocks where iterations run side by side: all lanes at once, or each at a time of its own.

use crate::agreement::harness::{Program, f64s, i64_of, i64s, numbers};
use cotan_ir::parse_function;
use cotan_llvm::CompileOptions;
use cotan_ops::{Registry, Value};

/// A program, and how blocks of its lanes end: `by` for one lane after the other.
fn with_lanes(text: &str, ends: &[&str]) -> Program {
    let nest = CompileOptions::default().nest(&parse_function(text, Registry::standard()).unwrap()).to_string();
    for end in ["close blocks", "combine levels"] {
        // One value is that of one iteration: where lanes do not pay, there are none.
        let is_of_lanes = |line: &&str| line.starts_with(end) && !line.contains(" of 1, ");
        let found: Vec<&str> = nest.lines().map(str::trim).filter(is_of_lanes).collect();
        let is_like = |(line, end): (&&str, &&str)| line.contains(" by ") == (*end == "by");
        assert!(found.len() == ends.len() && found.iter().zip(ends).all(is_like), "{found:?}:\n{nest}");
    }
    Program::new(text)
}

/// Numbers of values around those that fill blocks.
const LENGTHS: [i64; 12] = [4096, 0, 4097, 1, 4095, 8192, 3, 8191, 4096, 12_300, 16, 8193];

fn lengths(n: usize) -> Vec<i64> {
    LENGTHS.into_iter().cycle().take(n).collect()
}

/// How many values iteration `i` reduces: around those that fill blocks. Lanes would not go over rows whose lengths are data.
const LENGTH: &str = "round: i64 = rem i, 5
           blocks: i64 = mul round, 2048
           step: i64 = rem i, 3
           next: i64 = add blocks, step
           before: i64 = sub next, 1
           k: i64 = max before, 0";

#[test]
fn each_lane_may_reduce_another_number_of_values() {
    let program = with_lanes(
        &format!(
            "fn f(n: i64, m: i64, x: f64[m]) {{
               y: f64[n], z: i64[n], all: bool[n] = par i < n (stack, stack, stack) {{
                 {LENGTH}
                 s: f64, t: i64, q: bool = par j < k (add from 0.25, max from -5, and from true) {{
                   a: f64 = x[j]
                   b: i64 = to_i64 a
                   p: bool = lt a, 17.0
                   yield a, b, p
                 }}
                 yield s, t, q
               }}
               return y, z, all
             }}"
        ),
        &["by", "by", "by"],
    );
    for n in [1, 12, 70] {
        program.agree(&[i64_of(n as i64), i64_of(12_300), f64s(&numbers(12_300))]);
    }
}

#[test]
fn lanes_that_are_done_keep_their_partial_results_while_others_close_blocks() {
    // Blocks end at the same number in all lanes, but some have no more rows.
    let program = with_lanes(
        "fn f(n: i64, rows: i64[n], m: i64, x: f64[m]) {
           y: f64[n] = par i < n (stack) {
             k: i64 = rows[i]
             s: f64 = par r < k, j < 64 (add from 0.25) {
               b: i64 = mul r, 64
               c: i64 = add b, j
               a: f64 = x[c]
               yield a
             }
             yield s
           }
           return y
         }",
        &["by"],
    );
    let rows: Vec<i64> = [70, 1, 64, 0, 63, 130, 65, 64].into_iter().cycle().take(43).collect();
    program.agree(&[i64_of(43), i64s(&rows), i64_of(130 * 64), f64s(&numbers(130 * 64))]);
}

/// What the lanes do that take an arm of a branch.
fn in_an_arm(reduction: &str, ends: &[&str]) -> Program {
    with_lanes(
        &format!(
            "fn f(n: i64, m: i64, x: f64[m]) {{
               y: f64[n] = par i < n (stack) {{
                 {LENGTH}
                 small: bool = lt k, 100
                 r: f64 = switch small {{
                   w: f64 = to_f64 k
                   yield w
                 }} {{
                   {reduction}
                   yield s
                 }}
                 yield r
               }}
               return y
             }}"
        ),
        ends,
    )
}

#[test]
fn the_lanes_of_an_arm_reduce_together() {
    let program = in_an_arm(
        "s: f64 = par j < m (add from 0.25) {
           c: i64 = rem j, k
           a: f64 = x[c]
           yield a
         }",
        &["together"],
    );
    for m in [0, 4095, 4096, 4097, 8192] {
        program.agree(&[i64_of(43), i64_of(m), f64s(&numbers(m as usize))]);
    }
}

#[test]
fn the_lanes_of_an_arm_reduce_each_its_own_values() {
    let program = in_an_arm(
        "s: f64 = par j < k (max from 0.25) {
           a: f64 = x[j]
           yield a
         }",
        &["by"],
    );
    program.agree(&[i64_of(43), i64_of(12_300), f64s(&numbers(12_300))]);
}

#[test]
fn lanes_leave_a_loop_around_a_reduction_one_after_the_other() {
    let program = with_lanes(
        "fn f(n: i64, trips: i64[n], m: i64, x: f64[m]) {
           y: f64[n] = par i < n (stack) {
             k: i64 = trips[i]
             t: f64 = loop j < k (t1: f64 = 0.5) {
               u: f64 = par l < m (add from t1) {
                 a: f64 = x[l]
                 b: f64 = mul a, t1
                 yield b
               }
               v: f64 = mul u, 0.001
               yield v
             }
             yield t
           }
           return y
         }",
        &["together"],
    );
    let trips: Vec<i64> = (0..37).map(|k| k * 5 % 4).collect();
    for m in [100, 4096, 5000] {
        program.agree(&[i64_of(37), i64s(&trips), i64_of(m), f64s(&numbers(m as usize))]);
    }
}

#[test]
fn tensors_are_reduced_in_lanes() {
    let text = |count: &str, numbers: &str| {
        format!(
            "fn f(n: i64, length: i64[n], m: i64, x: f64[m, 3]) {{
               y: f64[n, 3] = par i < n (stack) {{
                 k: i64 = length[i]
                 zero: f64[3] = fill 0.25
                 s: f64[3] = par j < {count} (add from zero) {{
                   c: i64 = rem j, {numbers}
                   row: f64[3] = x[c]
                   yield row
                 }}
                 yield s
               }}
               return y
             }}"
        )
    };
    let x = Value::f64s(&[5000, 3], &numbers(15_000));
    let program = Program::new(&text("m", "k"));
    let few: Vec<i64> = lengths(20).into_iter().map(|k| k.clamp(1, 5000)).collect();
    program.agree(&[i64_of(20), i64s(&few), i64_of(5000), x.clone()]);
    let program = Program::new(&text("k", "m"));
    program.agree(&[i64_of(20), i64s(&lengths(20)), i64_of(5000), x]);
}
