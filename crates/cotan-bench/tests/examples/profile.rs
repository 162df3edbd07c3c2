//! Profiles count what a program says, and time what runs.

use crate::examples::instances::compiler;
use cotan::cpu::Probe;
use cotan::host::{Arguments, HostValue, fit_arguments};
use cotan::{Engine, Request};
use cotan_bench::{Block, Instance, Peak, Tolerance, profile};
use std::time::Duration;

/// Two loops that stay apart: a running sum, and the same once more.
const SOURCE: &str = "fn twice[N](x: f64[N]) -> f64[N] {
  let mut y = x
  for i in 1..N {
    y[i] = y[i - 1] * 0.5 + x[i]
  }
  let mut z = y
  for i in 1..N {
    z[i] = z[i - 1] * 0.25 + y[i]
  }
  z
}";

fn instance(n: usize) -> Instance {
    let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
    Instance {
        objective: "twice".to_owned(),
        name: "n".to_owned(),
        file: "twice.cot".to_owned(),
        source: SOURCE.to_owned(),
        function: Request::function("twice"),
        gradient: None,
        args: Arguments::from([("x".to_owned(), HostValue::f64s(&[n as i64], &x))]),
        blocks: Block::in_order(&[]),
        tolerance: Tolerance::default(),
    }
}

#[test]
fn the_operations_and_bytes_of_a_loop_are_those_of_its_iterations() {
    let peak = Peak { flops: 1e9, bytes: 1e9 };
    let found = profile(&compiler(1), &instance(1001), Duration::ZERO, Some(peak)).expect("it runs");
    // A loop reads two elements of 8 bytes and writes one; a copy reads and writes each of 1001.
    let loops: Vec<_> = found.nests.iter().filter(|nest| nest.flops > 0).collect();
    let counts: Vec<(i64, i64)> = loops.iter().map(|nest| (nest.flops, nest.bytes)).collect();
    assert_eq!(counts, [(2000, 24_000), (2000, 24_000)], "{found:?}");
    let copies: Vec<i64> = found.nests.iter().filter(|nest| nest.flops == 0).map(|nest| nest.bytes).collect();
    assert_eq!(copies, [16_016, 16_016], "{found:?}");
    for nest in loops {
        assert!(nest.seconds > 0.0 && nest.seconds <= found.seconds, "{found:?}");
        assert_eq!(nest.of_flops, Some(2000.0 / nest.seconds / 1e9));
        assert_eq!(nest.of_bytes, Some(24_000.0 / nest.seconds / 1e9));
    }
}

#[test]
fn probes_change_no_result() {
    let (compiler, instance) = (compiler(1), instance(1001));
    let program = compiler.check(&instance.file, &instance.source);
    let function = compiler.function(&program, &instance.function, Engine::CPU).expect("it compiles");
    let args = fit_arguments(function.entry(), &instance.args).expect("arguments that fit");
    let expected = function.call_flat(&args).expect("it runs");
    for probe in [Probe::Times, Probe::Counts] {
        let probed = compiler.probed(&function, probe).expect("it compiles");
        assert_eq!(probed.call(&args).expect("it runs"), expected, "{probe:?}");
    }
}
