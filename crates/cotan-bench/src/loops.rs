//! Loops whose length depends on data, with the inputs that the published figures use.

use crate::{Block, Instance};
use anyhow::{Result, bail};
use cotan::host::{Arguments, HostValue};

/// The names of the loops.
pub const LOOPS: [&str; 3] = ["newton", "mass_spring", "ode_rk4"];

/// The instance of that name.
pub fn loop_instance(name: &str) -> Result<Instance> {
    match name {
        "newton" => Ok(newton("n1e5", 100_000)),
        "mass_spring" => Ok(mass_spring()),
        "ode_rk4" => Ok(ode_rk4()),
        other => bail!("there is no loop `{other}`: expected one of {}", LOOPS.join(", ")),
    }
}

fn vector(n: usize, element: impl Fn(f64) -> f64) -> HostValue {
    let elements: Vec<f64> = (0..n).map(|i| element(i as f64)).collect();
    HostValue::f64s(&[n as i64], &elements)
}

/// Newton's method for so many numbers.
pub fn newton(name: &str, n: usize) -> Instance {
    let a = vector(n, |i| 0.5 + 7.5 * (0.618_033_988_749_894_9 * i).fract());
    let args = Arguments::from([("a".to_owned(), a)]);
    let program = ("examples/loops/newton.cot", include_str!("../../../examples/loops/newton.cot"));
    Instance::of_example("newton", "newton_gradient", name, program, args, Block::in_order(&[("a", n)]))
}

fn mass_spring() -> Instance {
    let n = 256;
    let args = Arguments::from([
        ("x0".to_owned(), vector(n, |i| i + 0.1 * (0.3 * i).sin())),
        ("k".to_owned(), vector(n - 1, |i| 10.0 + (0.1 * i).sin())),
        ("steps".to_owned(), HostValue::i64(1000)),
        ("dt".to_owned(), HostValue::f64(0.01)),
        ("c".to_owned(), HostValue::f64(0.05)),
        ("beta".to_owned(), HostValue::f64(0.5)),
    ]);
    let program = ("examples/loops/mass_spring.cot", include_str!("../../../examples/loops/mass_spring.cot"));
    let blocks = Block::in_order(&[("x0", n), ("k", n - 1)]);
    Instance::of_example("mass_spring", "mass_spring_gradient", "256x1000", program, args, blocks)
}

fn ode_rk4() -> Instance {
    let args = Arguments::from([
        ("p".to_owned(), HostValue::f64s(&[6], &[1.5, 1.0, 3.0, 1.0, 1.0, 1.0])),
        ("steps".to_owned(), HostValue::i64(10_000)),
        ("h".to_owned(), HostValue::f64(0.001)),
    ]);
    let program = ("examples/loops/ode_rk4.cot", include_str!("../../../examples/loops/ode_rk4.cot"));
    let blocks = Block::in_order(&[("all six", 6)]);
    Instance::of_example("ode_rk4", "ode_rk4_gradient", "10k_steps", program, args, blocks)
}
