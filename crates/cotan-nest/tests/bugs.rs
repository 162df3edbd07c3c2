//! What a nest does that no nest may: it is found when it happens, with the node.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{Const, parse_function};
use cotan_loops::{CPU, DEVICE, LoopFunction, Node, Operand, VerifiedNests, lower};
use cotan_nest::{Options, RuntimeError, run};
use cotan_ops::{Registry, Value};

const COPY: &str = "fn f(n: i64, x: f64[n]) {
    y: f64[n] = par i < n (stack) {
      a: f64 = x[i]
      yield a
    }
    return y
  }";

fn nest() -> LoopFunction {
    lower(&parse_function(COPY, Registry::standard()).unwrap(), &CPU)
}

fn run_it(nest: LoopFunction, n: i64, options: &Options) -> Result<Vec<Value>, RuntimeError> {
    let nests = VerifiedNests::new(vec![nest]).unwrap();
    run(&nests, "f", &[Const::i64(n).into(), Value::f64s(&[n], &vec![0.5; n as usize])], options)
}

/// The loop of the function.
fn change_loop(nest: &mut LoopFunction, change: impl Fn(&mut cotan_loops::For)) {
    for node in &mut nest.body {
        if let Node::For(l) = node {
            change(l);
        }
    }
}

#[test]
fn a_read_behind_the_end_is_a_bug_with_its_node() {
    let mut nest = nest();
    change_loop(&mut nest, |l| l.count = Operand::i64(4));
    let error = run_it(nest, 3, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "bug: elements 3, 1 of them, of an array of 3, in `a = x[i]`");
}

#[test]
fn what_nobody_wrote_is_a_pattern() {
    let mut nest = nest();
    change_loop(&mut nest, |l| l.count = Operand::i64(2));
    let found = run_it(nest, 3, &Options::default()).unwrap()[0].floats().unwrap();
    assert!(found[..2] == [0.5, 0.5] && found[2] > 1e100, "{found:?}");
}

#[test]
fn a_value_for_no_element_of_a_sum_is_a_bug() {
    let text = "fn f(n: i64, x: f64[n]) {
        s: f64[n] = par i < 2 (add from x) {
          yield x
        }
        return s
      }";
    let mut nest = lower(&parse_function(text, Registry::standard()).unwrap(), &DEVICE);
    for node in &mut nest.body {
        if let Node::Reduce(reduction) = node {
            reduction.sums[0].extents = vec![Operand::i64(2)];
        }
    }
    let error = run_it(nest, 3, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "bug: element 2 of a sum that has fewer, in `s[k] add= x`");
}

#[test]
fn limits_end_a_run() {
    let steps = Options { steps: 10, ..Options::default() };
    assert_eq!(run_it(nest(), 1000, &steps), Err(RuntimeError::OutOfSteps));
    let memory = Options { max_bytes: 1000, ..Options::default() };
    let error = run_it(nest(), 100, &memory).unwrap_err();
    let expected = "out of memory: `y` needs 800 bytes; 800 bytes are held, and the limit is 1000 bytes";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn arguments_have_to_fit() {
    let nests = VerifiedNests::new(vec![nest()]).unwrap();
    let wrong = |args: &[Value]| run(&nests, "f", args, &Options::default()).unwrap_err().to_string();
    assert_eq!(wrong(&[]), "expected 2 arguments, found 0");
    let args = [Const::i64(3).into(), Value::f64s(&[2], &[1.0, 2.0])];
    assert_eq!(wrong(&args), "argument 1: expected f64[3], found f64[2]");
}
