//! What a second thread gains: a call on two threads beside two calls on one thread each.
//!
//! Two copies of a program that run at the same time share caches and memory, and on many machines more than that, so
//! even they do not do twice the work. A call on two threads is held against what they do.

use crate::Instance;
use anyhow::{Context, Result};
use cotan::host::Value;
use cotan::host::fit_arguments;
use cotan::{Compiler, Engine, Function};
use cotan_measure::{check, function};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// A sample is at least this long.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(20);
/// There are at least this many samples of everything.
const FEWEST_SAMPLES: usize = 5;

/// Seconds for each call of a derivative; the best of samples that took turns.
#[derive(Clone, Debug, Serialize)]
pub struct Throughput {
    /// The objective.
    pub objective: String,
    /// Which input.
    pub instance: String,
    /// On one thread.
    pub one_s: f64,
    /// On two threads.
    pub two_s: f64,
    /// On one thread, while a copy does the same on another one.
    pub beside_a_copy_s: f64,
}

impl Throughput {
    /// How much more two copies do than one.
    pub fn gain_of_copies(&self) -> f64 {
        2.0 * self.one_s / self.beside_a_copy_s
    }

    /// How much faster a call on two threads is.
    pub fn gain_of_threads(&self) -> f64 {
        self.one_s / self.two_s
    }

    /// The gain of two threads as a part of that of two copies.
    pub fn ratio(&self) -> f64 {
        self.gain_of_threads() / self.gain_of_copies()
    }
}

/// The lines of a table.
pub fn throughput_table(rows: &[Throughput]) -> Vec<String> {
    let head = format!(
        "{:<10} {:<14} {:>12} {:>12} {:>14} {:>8} {:>8} {:>7}",
        "objective", "instance", "one thread", "two threads", "beside a copy", "gain", "copies", "ratio"
    );
    let line = |row: &Throughput| {
        format!(
            "{:<10} {:<14} {:>10.3}ms {:>10.3}ms {:>12.3}ms {:>8.2} {:>8.2} {:>7.2}",
            row.objective,
            row.instance,
            1e3 * row.one_s,
            1e3 * row.two_s,
            1e3 * row.beside_a_copy_s,
            row.gain_of_threads(),
            row.gain_of_copies(),
            row.ratio()
        )
    };
    std::iter::once(head).chain(rows.iter().map(line)).collect()
}

/// Times the derivative of an instance, or the function if it has none, for so long. The compiler has two threads or
/// more.
pub fn throughput(compiler: &Compiler, instance: &Instance, budget: Duration) -> Result<Throughput> {
    let request = instance.gradient.as_ref().unwrap_or(&instance.function);
    let compiled = function(compiler, &check(compiler, instance)?, request, Engine::CPU)?;
    let one = compiled.on_threads(NonZeroUsize::MIN);
    let two = compiled.on_threads(NonZeroUsize::MIN.saturating_add(1));
    let args = fit_arguments(one.entry(), &instance.args)?;
    let mut first = Repeated::new(&one, &args)?;
    let mut second = Repeated::new(&one, &args)?;
    let mut both = Repeated::new(&two, &args)?;
    let mut repeats = 1;
    while first.timed(repeats)? < SHORTEST_SAMPLE && repeats < 1 << 16 {
        repeats *= 2;
    }
    let mut best = [f64::INFINITY; 3];
    let mut n_samples = 0;
    let start = Instant::now();
    while n_samples < FEWEST_SAMPLES || start.elapsed() < budget {
        let sample = [first.timed(repeats)?, both.timed(repeats)?, together(&mut first, &mut second, repeats)?];
        for (best, time) in best.iter_mut().zip(sample) {
            *best = best.min(time.as_secs_f64() / f64::from(repeats));
        }
        n_samples += 1;
    }
    let [one_s, two_s, beside_a_copy_s] = best;
    let (objective, instance) = (instance.objective.clone(), instance.name.clone());
    Ok(Throughput { objective, instance, one_s, two_s, beside_a_copy_s })
}

/// A function that is called again and again, with memory for its results.
struct Repeated<'a> {
    function: &'a Function,
    args: &'a [Value],
    results: Vec<Value>,
}

impl<'a> Repeated<'a> {
    fn new(function: &'a Function, args: &'a [Value]) -> Result<Repeated<'a>> {
        Ok(Repeated { function, args, results: function.call_flat(args)? })
    }

    fn timed(&mut self, repeats: u32) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..repeats {
            let earlier = std::mem::take(&mut self.results);
            self.results = std::hint::black_box(self.function.call_again(self.args, earlier)?);
        }
        Ok(start.elapsed())
    }
}

/// The time that two copies take that start together, until both are done.
fn together(first: &mut Repeated, second: &mut Repeated, repeats: u32) -> Result<Duration> {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            barrier.wait();
            second.timed(repeats)
        });
        barrier.wait();
        let start = Instant::now();
        first.timed(repeats)?;
        let other = other.join().ok().context("the other copy stopped")?;
        other.map(|_| start.elapsed())
    })
}
