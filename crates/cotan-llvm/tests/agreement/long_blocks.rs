//! Long straight-line code.

use crate::agreement::harness::{Program, f64_of};
use std::fmt::Write;

/// `x` after so many steps, alternately a sum and a product with one of two parameters; every hundredth step is kept.
fn chain(n_steps: usize) -> String {
    let mut text = String::from("fn f(x: f64, y: f64) {\n  v0: f64 = add x, y\n");
    for k in 1..n_steps {
        let (name, other) = if k % 2 == 0 { ("mul", "0.9999") } else { ("add", "y") };
        writeln!(text, "  v{k}: f64 = {name} v{}, {other}", k - 1).unwrap();
    }
    let kept: Vec<String> = (0..n_steps).step_by(100).map(|k| format!("v{k}")).collect();
    writeln!(text, "  return v{}, {}\n}}", n_steps - 1, kept.join(", ")).unwrap();
    text
}

#[test]
fn a_block_cut_into_segments_agrees() {
    let program = Program::new(&chain(20_000));
    program.agree(&[f64_of(0.75), f64_of(-0.5)]);
}

#[test]
fn updates_of_one_array_in_a_long_block_agree() {
    let mut text = String::from("fn f(x: f64[7]) {\n  v0: f64[7] = add x, x\n");
    for k in 0..4000 {
        writeln!(text, "  a{k}: f64 = v{k}[{}]\n  b{k}: f64 = mul a{k}, 0.75\n", k % 5).unwrap();
        writeln!(text, "  v{}: f64[7] = update v{k}[{}] = b{k}", k + 1, k % 7).unwrap();
    }
    let program = Program::new(&(text + "  return v4000\n}"));
    program.agree(&[crate::agreement::harness::f64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])]);
}
